//! `toolbox`: the other tools, for plugins with a `call-tool` grant.

use crate::bindings::bellglass::plugin::toolbox::{Hook, Host};
use crate::bindings::bellglass::plugin::types::ToolDefinition;
use crate::bindings::convert;
use crate::capability::Kind;
use crate::host_request::Ask;
use crate::sandbox::imports::port::Port;
use crate::tool::Outcome;

impl Port<'_> {
    /// Whether the plugin may call any tool at all. Which ones is decided by the toolbox, on the real name.
    fn may_look(&self) -> Result<(), String> {
        self.needs(self.caller.grants.may_call_some(), Kind::CallTool)
    }
}

impl Host for Port<'_> {
    async fn run(&mut self, name: String, arguments: String) -> wasmtime::Result<String> {
        let answer = match self.may_look() {
            Ok(()) => self.wait(|reply| Ask::RunTool(name, arguments, reply)).await,
            Err(denied) => Err(denied),
        };
        Ok(answer.unwrap_or_else(|error| Outcome::refused(error).to_json()))
    }

    async fn definitions(&mut self) -> wasmtime::Result<Result<Vec<ToolDefinition>, String>> {
        if let Err(denied) = self.may_look() {
            return Ok(Err(denied));
        }
        let definitions = self.ask(Ask::Definitions).await;
        Ok(definitions.map(|it| it.iter().map(convert::definition_to_wit).collect()))
    }

    async fn find(&mut self, name: String) -> wasmtime::Result<Result<ToolDefinition, String>> {
        if let Err(denied) = self.may_look() {
            return Ok(Err(denied));
        }
        let wanted = name.clone();
        let found = self.ask(|reply| Ask::FindTool(wanted, reply)).await;
        Ok(found.map(|it| match it {
            Some(definition) => convert::definition_to_wit(&definition),
            None => convert::stand_in(&name),
        }))
    }

    async fn validate(&mut self, name: String, arguments: String) -> wasmtime::Result<Result<Vec<String>, String>> {
        if let Err(denied) = self.may_look() {
            return Ok(Err(denied));
        }
        Ok(self.ask(|reply| Ask::Validate(name, arguments, reply)).await)
    }

    async fn hooks(&mut self) -> wasmtime::Result<Result<Vec<Hook>, String>> {
        if let Err(denied) = self.may_look() {
            return Ok(Err(denied));
        }
        let hooks = self.ask(Ask::Hooks).await;
        Ok(hooks.map(|it| it.into_iter().map(convert::hook_to_wit).collect()))
    }
}
