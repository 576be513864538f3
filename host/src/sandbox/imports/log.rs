//! `log`: lines for the host's log, under the plugin's name.

use crate::bindings::bellglass::plugin::log::{Host, Level};
use crate::name::PluginName;
use crate::sandbox::output::Output;
use crate::secrets::redact_tokens;
use crate::text::visible_line;

/// The log needs the name and the budget, and nothing else.
pub(crate) struct View<'a> {
    pub output: &'a Output,
    pub plugin: &'a PluginName,
}

impl Host for View<'_> {
    async fn log(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        self.output.spend(message.len())?;
        let plugin = self.plugin;
        for line in message.lines() {
            let line = redact_tokens(line);
            let line = visible_line(&line);
            match level {
                Level::Trace => tracing::trace!(target: "guest", %plugin, "{line}"),
                Level::Debug => tracing::debug!(target: "guest", %plugin, "{line}"),
                Level::Info => tracing::info!(target: "guest", %plugin, "{line}"),
                Level::Warn => tracing::warn!(target: "guest", %plugin, "{line}"),
                Level::Error => tracing::error!(target: "guest", %plugin, "{line}"),
            }
        }
        Ok(())
    }
}
