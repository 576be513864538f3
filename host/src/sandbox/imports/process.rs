//! `process`: programs on the user's machine. This host runs none: every call is denied in words.

use crate::bindings::bellglass::plugin::process::{Host, Options, Output};
use crate::sandbox::guest::Identity;

/// Only the name, for the answer.
pub(crate) struct View<'a> {
    pub identity: &'a Identity,
}

impl View<'_> {
    fn denied(&self) -> String {
        format!("denied: plugin `{}` may not run programs: this host runs none for plugins", self.identity.name)
    }
}

impl Host for View<'_> {
    async fn run(&mut self, _command_line: String, _options: Options) -> wasmtime::Result<Result<Output, String>> {
        Ok(Err(self.denied()))
    }

    async fn run_argv(&mut self, _argv: Vec<String>, _options: Options) -> wasmtime::Result<Result<Output, String>> {
        Ok(Err(self.denied()))
    }
}
