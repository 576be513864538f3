//! [`TestPlugin`]: what a test calls and looks at.

use super::{
    dispatch,
    world::{self, World},
};
use crate::{
    Message, Model, ProviderError, Request, Setup, ToolDefinition,
    bindings::{
        bellglass::plugin::{reply::Event, types::Command},
        exports::bellglass::plugin::{hooks::Hook, manifest::PluginInfo, providers},
    },
    http::{self, split},
};
use serde_json::Value;
use std::{cell::RefCell, fmt, rc::Rc};

/// A plugin and the host that a test plays for it. [`plugin`](super::plugin) makes one.
pub struct TestPlugin {
    pub(super) world: Rc<RefCell<World>>,
}

impl TestPlugin {
    pub(super) fn new(setup: impl Fn(&mut Setup) + 'static) -> Self {
        let world = Rc::new(RefCell::new(World::new(setup)));
        world::enter(&world);
        Self { world }
    }

    /// Makes this plugin's host the one that imports reach.
    fn enter(&self) {
        world::enter(&self.world);
    }

    /// Calls a tool by name or alias, the plugin's own or a stand-in, with the plugin's hooks around it. Gives the whole
    /// result, with `ok`.
    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        self.enter();
        dispatch::call(tool, arguments)
    }

    /// Types `/name argument`.
    pub fn run_command(&self, name: &str, argument: Option<&str>) -> CommandRun {
        self.enter();
        let before = self.world.borrow().shown.len();
        let result = world::instance(|plugin| plugin.run_command(name, argument)).and_then(|result| result);
        CommandRun { said: self.world.borrow().shown[before..].to_owned(), result }
    }

    /// The candidates for `/name partial` that are left when those that do not start with it are gone.
    pub fn complete(&self, name: &str, partial: &str) -> Vec<String> {
        self.enter();
        let mut candidates = world::fresh().complete(name, partial);
        candidates.retain(|candidate| candidate.starts_with(partial));
        candidates
    }

    /// Sends one request to a provider of the plugin, and gives back what it passed on as well.
    pub fn fetch(
        &self,
        provider: &str,
        request: &Request,
    ) -> (Vec<Event>, Result<providers::Completion, ProviderError>) {
        self.enter();
        self.configure(&request.options);
        self.world.borrow_mut().events.clear();
        let plugin = world::fresh();
        let completion = plugin.provider_entry(provider).and_then(|entry| entry.provider().fetch(request));
        (std::mem::take(&mut self.world.borrow_mut().events), completion)
    }

    /// The models of a provider.
    ///
    /// # Errors
    ///
    /// What the provider says.
    pub fn list_models(&self, provider: &str, options: &Value) -> Result<Vec<Model>, ProviderError> {
        self.enter();
        self.configure(options);
        world::fresh().list_models(provider, &options.to_string())
    }

    /// What the user's own options name is granted.
    fn configure(&self, options: &Value) {
        let url = options["base_url"].as_str().and_then(|url| split(url).ok());
        let origin = url.map(|(scheme, authority, _)| format!("{scheme}://{authority}"));
        self.world.borrow_mut().configured = origin.into_iter().collect();
    }

    /// The HTTP requests that the plugin sent so far.
    #[must_use]
    pub fn requests(&self) -> Vec<http::Request> {
        self.world.borrow().requests.clone()
    }

    /// Who the plugin is and what it asks for.
    #[must_use]
    pub fn describe(&self) -> PluginInfo {
        self.instance().describe()
    }

    /// Its tools, as the host gets them.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolDefinition> {
        self.instance().list_tools()
    }

    /// Its hooks, as the host gets them.
    #[must_use]
    pub fn hooks(&self) -> Vec<Hook> {
        self.instance().list_hooks()
    }

    /// Its commands, as the host gets them.
    #[must_use]
    pub fn commands(&self) -> Vec<Command> {
        self.instance().list_commands()
    }

    /// Its providers, as the host gets them.
    #[must_use]
    pub fn providers(&self) -> Vec<providers::Provider> {
        self.instance().list_providers()
    }

    /// Everything that was shown so far.
    #[must_use]
    pub fn said(&self) -> String {
        self.world.borrow().shown.clone()
    }

    /// The lines of the log, such as `warn: no such file`.
    #[must_use]
    pub fn logged(&self) -> Vec<String> {
        self.world.borrow().logged.clone()
    }

    /// The conversation as it is now.
    #[must_use]
    pub fn messages(&self) -> Vec<Message> {
        self.world.borrow().conversation.clone()
    }

    /// The provider and model in use.
    #[must_use]
    pub fn provider(&self) -> (String, Option<String>) {
        self.world.borrow().provider.clone()
    }

    /// What the plugin stored under a key.
    #[must_use]
    pub fn stored(&self, key: &str) -> Option<Vec<u8>> {
        self.world.borrow().stored.get(key).cloned()
    }

    /// How often the plugin asked to load all plugins again.
    #[must_use]
    pub fn reloads(&self) -> usize {
        self.world.borrow().reloads
    }

    /// How often the plugin asked to end the session.
    #[must_use]
    pub fn exits(&self) -> usize {
        self.world.borrow().exits
    }

    pub(super) fn instance(&self) -> Rc<Setup> {
        self.enter();
        world::fresh()
    }
}

impl fmt::Debug for TestPlugin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TestPlugin").finish_non_exhaustive()
    }
}

/// What a slash command did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRun {
    said: String,
    result: Result<(), String>,
}

impl CommandRun {
    /// What it showed, without colours: `say` with its newline, errors after `error: `. Without the error of the command
    /// itself, which the host prints.
    #[must_use]
    pub fn said(&self) -> &str {
        &self.said
    }

    /// Why it failed, if it did.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.result.as_ref().err().map(String::as_str)
    }
}
