//! `agents`: turns and the provider in use, for plugins with a `model` grant.

use wasmtime::component::Resource;

use crate::bindings::SubAgent;
use crate::bindings::bellglass::plugin::agents::{AgentOptions, Host, HostAgent};
use crate::bindings::bellglass::plugin::types::Message;
use crate::capability::Kind;
use crate::host_request::Ask;
use crate::sandbox::imports::port::Port;

const NO_SUB_AGENTS: &str = "this host makes no sub-agents";

impl Port<'_> {
    fn may_ask_model(&self) -> Result<(), String> {
        self.needs(self.caller.grants.has_model(), Kind::Model)
    }
}

impl Host for Port<'_> {
    async fn turn(&mut self, prompt: String) -> wasmtime::Result<Result<String, String>> {
        if let Err(denied) = self.may_ask_model() {
            return Ok(Err(denied));
        }
        Ok(self.wait(|reply| Ask::Turn(prompt, reply)).await.and_then(|it| it))
    }

    async fn current_provider(&mut self) -> wasmtime::Result<Result<(String, Option<String>), String>> {
        if let Err(denied) = self.may_ask_model() {
            return Ok(Err(denied));
        }
        Ok(self.ask(Ask::CurrentProvider).await)
    }

    async fn provider_names(&mut self) -> wasmtime::Result<Result<Vec<String>, String>> {
        if let Err(denied) = self.may_ask_model() {
            return Ok(Err(denied));
        }
        Ok(self.ask(Ask::ProviderNames).await)
    }

    async fn use_provider(
        &mut self,
        name: String,
        model: Option<String>,
        options: Option<String>,
    ) -> wasmtime::Result<Result<(), String>> {
        if let Err(denied) = self.may_ask_model() {
            return Ok(Err(denied));
        }
        let options = match options.map(|it| serde_json::from_str(&it)).transpose() {
            Ok(options) => options,
            Err(error) => return Ok(Err(format!("options are no JSON: {error}"))),
        };
        Ok(self.ask(|reply| Ask::UseProvider(name, model, options, reply)).await.and_then(|it| it))
    }
}

impl HostAgent for Port<'_> {
    async fn create(&mut self, _options: AgentOptions) -> wasmtime::Result<Result<Resource<SubAgent>, String>> {
        Ok(Err(self.may_ask_model().err().unwrap_or_else(|| NO_SUB_AGENTS.into())))
    }

    async fn turn(&mut self, _agent: Resource<SubAgent>, _prompt: String) -> wasmtime::Result<Result<String, String>> {
        Ok(Err(NO_SUB_AGENTS.into()))
    }

    async fn messages(&mut self, _agent: Resource<SubAgent>) -> wasmtime::Result<Vec<Message>> {
        Ok(Vec::new())
    }

    async fn context(&mut self, _agent: Resource<SubAgent>) -> wasmtime::Result<Vec<Message>> {
        Ok(Vec::new())
    }

    async fn add(&mut self, _agent: Resource<SubAgent>, _message: Message) -> wasmtime::Result<Result<(), String>> {
        Ok(Err(NO_SUB_AGENTS.into()))
    }

    async fn clear(&mut self, _agent: Resource<SubAgent>) -> wasmtime::Result<()> {
        Ok(())
    }

    async fn drop(&mut self, _agent: Resource<SubAgent>) -> wasmtime::Result<()> {
        Ok(())
    }
}
