//! `session`: slash commands, and the session itself. Listing is free; the rest needs `session-control`.

use crate::bindings::bellglass::plugin::session::Host;
use crate::bindings::bellglass::plugin::types::Command;
use crate::bindings::convert;
use crate::capability::Kind;
use crate::host_request::Ask;
use crate::sandbox::imports::port::Port;

impl Port<'_> {
    fn may_control(&self) -> Result<(), String> {
        self.needs(self.caller.grants.has_session_control(), Kind::SessionControl)
    }
}

impl Host for Port<'_> {
    async fn commands(&mut self) -> wasmtime::Result<Vec<Command>> {
        let commands = self.ask(Ask::Commands).await.unwrap_or_default();
        Ok(commands.into_iter().map(convert::command_to_wit).collect())
    }

    async fn completions(&mut self, name: String, partial: String) -> wasmtime::Result<Vec<String>> {
        Ok(self.ask(|reply| Ask::Completions(name, partial, reply)).await.unwrap_or_default())
    }

    async fn run_command(&mut self, name: String, arguments: Option<String>) -> wasmtime::Result<Result<bool, String>> {
        if let Err(denied) = self.may_control() {
            return Ok(Err(denied));
        }
        Ok(self.wait(|reply| Ask::RunCommand(name, arguments, reply)).await.and_then(|it| it))
    }

    async fn reload(&mut self) -> wasmtime::Result<Result<(), String>> {
        if let Err(denied) = self.may_control() {
            return Ok(Err(denied));
        }
        Ok(self.ask(Ask::Reload).await.and_then(|it| it))
    }

    async fn exit(&mut self) -> wasmtime::Result<Result<(), String>> {
        if let Err(denied) = self.may_control() {
            return Ok(Err(denied));
        }
        Ok(self.ask(Ask::Exit).await.and_then(|it| it))
    }
}
