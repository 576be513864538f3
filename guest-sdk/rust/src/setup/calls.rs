//! What the host asks of a plugin, answered from its [`Setup`]. Apart from registering, and without wasm, so that tests
//! run the code that the host runs.

use super::Setup;
use crate::{
    bindings::{
        bellglass::plugin::types::{Command as ListedCommand, ToolDefinition},
        exports::bellglass::plugin::{hooks, manifest::PluginInfo, providers},
    },
    hook::Hook,
    provider::{Completion, Model, ProviderEntry, ProviderError},
    tool::Tool,
};

impl Setup {
    pub(crate) fn describe(&self) -> PluginInfo {
        self.manifest.to_wit()
    }

    pub(crate) fn list_tools(&self) -> Vec<ToolDefinition> {
        self.tools.iter().map(Tool::definition).collect()
    }

    pub(crate) fn call_tool(&self, name: &str, arguments: &str) -> Result<String, String> {
        match self.tools.iter().find(|tool| tool.name == name) {
            Some(tool) => tool.call(arguments),
            None => Err(format!("this plugin has no tool `{name}`")),
        }
    }

    pub(crate) fn list_hooks(&self) -> Vec<hooks::Hook> {
        self.hooks.iter().map(Hook::to_wit).collect()
    }

    pub(crate) fn run_before(&self, hook: u32, tool: &str, arguments: &str) -> Result<hooks::Decision, String> {
        self.hook(hook)?.run_before(tool, arguments)
    }

    pub(crate) fn run_after(
        &self,
        hook: u32,
        tool: &str,
        arguments: &str,
        outcome: &str,
    ) -> Result<Option<String>, String> {
        self.hook(hook)?.run_after(tool, arguments, outcome)
    }

    fn hook(&self, place: u32) -> Result<&Hook, String> {
        let hook = usize::try_from(place).ok().and_then(|place| self.hooks.get(place));
        hook.ok_or_else(|| format!("this plugin has no hook {place}"))
    }

    pub(crate) fn list_commands(&self) -> Vec<ListedCommand> {
        self.commands.iter().map(|command| command.to_wit()).collect()
    }

    pub(crate) fn complete(&self, name: &str, partial: &str) -> Vec<String> {
        let command = self.commands.iter().find(|command| command.name == name);
        command.map(|command| command.complete(partial)).unwrap_or_default()
    }

    pub(crate) fn run_command(&self, name: &str, argument: Option<&str>) -> Result<(), String> {
        match self.commands.iter().find(|command| command.name == name) {
            Some(command) => command.run(argument),
            None => Err(format!("this plugin has no command `/{name}`")),
        }
    }

    pub(crate) fn list_providers(&self) -> Vec<providers::Provider> {
        self.providers.iter().map(ProviderEntry::to_wit).collect()
    }

    pub(crate) fn list_models(&self, provider: &str, options: &str) -> Result<Vec<Model>, ProviderError> {
        self.provider_entry(provider)?.list_models(options)
    }

    pub(crate) fn fetch(&self, request: providers::Request) -> Result<Completion, ProviderError> {
        self.provider_entry(&request.provider)?.fetch(request)
    }

    pub(crate) fn provider_entry(&self, name: &str) -> Result<&ProviderEntry, ProviderError> {
        let entry = self.providers.iter().find(|entry| entry.name == name);
        entry.ok_or_else(|| ProviderError::Rejected(format!("this plugin has no provider `{name}`")))
    }
}

/// What only tests look at.
#[cfg(not(target_family = "wasm"))]
impl Setup {
    pub(crate) fn tools(&self) -> &[Tool] {
        &self.tools
    }

    pub(crate) fn asked(&self) -> &[(crate::Capability, std::borrow::Cow<'static, str>)] {
        &self.manifest.asked
    }

    pub(crate) fn lifetime(&self) -> crate::Lifetime {
        self.manifest.lifetime
    }
}
