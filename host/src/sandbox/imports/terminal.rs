//! `terminal`: what a plugin shows and asks. Everything stands under its name.

use crate::bindings::bellglass::plugin::terminal::{Host, Style};
use crate::bindings::convert;
use crate::host_request::{Ask, Show};
use crate::sandbox::files::read_beneath;
use crate::sandbox::imports::port::Port;
use crate::secrets::redact;

/// Bytes of a file that are shown; more is no reading for a terminal.
const SHOWN_FILE: usize = 256 << 10;

impl Port<'_> {
    async fn show(&self, bytes: usize, show: Show) -> wasmtime::Result<()> {
        self.output.spend(bytes)?;
        if let Err(reason) = self.send(Ask::Show(show)).await {
            tracing::debug!(plugin = %self.caller.plugin, "not shown: {reason}");
        }
        Ok(())
    }
}

/// Text as it may be shown: a server may have sent a secret back.
fn clean(text: String) -> String {
    redact(&text).into_owned()
}

impl Host for Port<'_> {
    async fn say(&mut self, text: String, style: Style) -> wasmtime::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        self.show(text.len(), Show::Say(clean(text), convert::style(style))).await
    }

    async fn print(&mut self, text: String) -> wasmtime::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        self.show(text.len(), Show::Print(clean(text))).await
    }

    async fn thinking(&mut self, text: String) -> wasmtime::Result<()> {
        self.show(text.len(), Show::Thinking(clean(text))).await
    }

    async fn doing(&mut self, name: String, arguments: String, state: String) -> wasmtime::Result<()> {
        let bytes = name.len() + arguments.len() + state.len();
        let [name, arguments, state] = [name, arguments, state].map(clean);
        self.show(bytes, Show::Doing { name, arguments, state }).await
    }

    async fn waiting(&mut self) -> wasmtime::Result<()> {
        self.show(1, Show::Waiting).await
    }

    async fn display_file(&mut self, path: String, fallback: Option<String>) -> wasmtime::Result<()> {
        let folders = self.folders.to_vec();
        let wanted = path.clone();
        let read = tokio::task::spawn_blocking(move || read_beneath::read(&folders, &wanted, SHOWN_FILE)).await;
        let text = read.ok().flatten().or(fallback).unwrap_or(path);
        self.say(text, Style::Plain).await
    }

    async fn ask(&mut self, prompt: String) -> wasmtime::Result<Option<String>> {
        self.output.spend(prompt.len())?;
        Ok(Port::wait(self, |reply| Ask::Line(clean(prompt), reply)).await.ok().flatten())
    }

    async fn is_interactive(&mut self) -> wasmtime::Result<bool> {
        Ok(Port::ask(self, Ask::IsInteractive).await.unwrap_or(false))
    }
}
