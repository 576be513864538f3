//! `agents`: turns, sub-agents and the provider in use, for plugins with a `model` grant.

use std::sync::Arc;

use wasmtime::component::{Resource, ResourceTable};

use crate::bindings::SubAgent;
use crate::bindings::bellglass::plugin::agents::{AgentOptions, Host, HostAgent};
use crate::bindings::bellglass::plugin::types::Message;
use crate::bindings::convert;
use crate::capability::Kind;
use crate::host_request::Ask;
use crate::sandbox::imports::port::Port;
use crate::sub_agent::SubAgentOptions;

/// The way up, and the sub-agents that the guest holds.
pub(crate) struct View<'a> {
    pub port: Port<'a>,
    pub table: &'a mut ResourceTable,
}

impl Port<'_> {
    fn may_ask_model(&self) -> Result<(), String> {
        self.needs(self.caller.grants.has_model(), Kind::Model)
    }
}

impl Host for View<'_> {
    async fn turn(&mut self, prompt: String) -> wasmtime::Result<Result<String, String>> {
        if let Err(denied) = self.port.may_ask_model() {
            return Ok(Err(denied));
        }
        Ok(self.port.wait(|reply| Ask::Turn(prompt, reply)).await.and_then(|it| it))
    }

    async fn current_provider(&mut self) -> wasmtime::Result<Result<(String, Option<String>), String>> {
        if let Err(denied) = self.port.may_ask_model() {
            return Ok(Err(denied));
        }
        Ok(self.port.ask(Ask::CurrentProvider).await)
    }

    async fn provider_names(&mut self) -> wasmtime::Result<Result<Vec<String>, String>> {
        if let Err(denied) = self.port.may_ask_model() {
            return Ok(Err(denied));
        }
        Ok(self.port.ask(Ask::ProviderNames).await)
    }

    async fn use_provider(
        &mut self,
        name: String,
        model: Option<String>,
        options: Option<String>,
    ) -> wasmtime::Result<Result<(), String>> {
        if let Err(denied) = self.port.may_ask_model() {
            return Ok(Err(denied));
        }
        let options = match options.map(|it| serde_json::from_str(&it)).transpose() {
            Ok(options) => options,
            Err(error) => return Ok(Err(format!("options are no JSON: {error}"))),
        };
        Ok(self.port.ask(|reply| Ask::UseProvider(name, model, options, reply)).await.and_then(|it| it))
    }
}

impl HostAgent for View<'_> {
    async fn create(&mut self, options: AgentOptions) -> wasmtime::Result<Result<Resource<SubAgent>, String>> {
        if let Err(denied) = self.port.may_ask_model() {
            return Ok(Err(denied));
        }
        let AgentOptions { template, system_prompt, tools, provider, model, quiet } = options;
        let options = SubAgentOptions { template, system_prompt, tools, provider, model, quiet };
        match self.port.ask(|reply| Ask::CreateAgent(options, reply)).await.and_then(|it| it) {
            Ok(agent) => Ok(Ok(self.table.push(SubAgent(agent))?)),
            Err(error) => Ok(Err(error)),
        }
    }

    async fn turn(&mut self, agent: Resource<SubAgent>, prompt: String) -> wasmtime::Result<Result<String, String>> {
        if let Err(denied) = self.port.may_ask_model() {
            return Ok(Err(denied));
        }
        let agent = self.agent(&agent)?;
        Ok(self.port.wait(|reply| Ask::AgentTurn(agent, prompt, reply)).await.and_then(|it| it))
    }

    async fn messages(&mut self, agent: Resource<SubAgent>) -> wasmtime::Result<Vec<Message>> {
        let agent = self.agent(&agent)?;
        let transcript = agent.transcript.lock().await;
        Ok(transcript.messages().iter().map(convert::message_to_wit).collect())
    }

    async fn context(&mut self, agent: Resource<SubAgent>) -> wasmtime::Result<Vec<Message>> {
        let agent = self.agent(&agent)?;
        let messages = self.port.ask(|reply| Ask::AgentContext(agent, reply)).await.unwrap_or_default();
        Ok(messages.iter().map(convert::message_to_wit).collect())
    }

    async fn add(&mut self, agent: Resource<SubAgent>, message: Message) -> wasmtime::Result<Result<(), String>> {
        let agent = self.agent(&agent)?;
        let message = match convert::message_from_wit(message) {
            Ok(message) => message,
            Err(error) => return Ok(Err(error)),
        };
        Ok(agent.transcript.lock().await.add(message).map_err(|it| it.to_string()))
    }

    async fn clear(&mut self, agent: Resource<SubAgent>) -> wasmtime::Result<()> {
        self.agent(&agent)?.transcript.lock().await.clear();
        Ok(())
    }

    async fn drop(&mut self, agent: Resource<SubAgent>) -> wasmtime::Result<()> {
        self.table.delete(agent)?;
        Ok(())
    }
}

impl View<'_> {
    fn agent(&self, agent: &Resource<SubAgent>) -> wasmtime::Result<Arc<crate::sub_agent::SubAgent>> {
        Ok(self.table.get(agent)?.0.clone())
    }
}
