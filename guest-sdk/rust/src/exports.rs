//! The exports of the component: each takes the author's [`Setup`] and asks it.

use crate::{
    Setup,
    bindings::{
        bellglass::plugin::types::{Command, ToolDefinition},
        exports::bellglass::plugin::{
            commands, hooks,
            manifest::{self, PluginInfo},
            providers, tools,
        },
    },
};
use std::cell::OnceCell;

/// What [`export!`](crate::export) knows of the author's crate.
pub trait Author {
    /// The package's name, for a plugin that does not say its own.
    const NAME: &'static str;
    /// The package's version.
    const VERSION: &'static str;
    /// The package's description.
    const DESCRIPTION: &'static str;

    /// The author's function.
    fn setup(setup: &mut Setup);
}

/// Sets the plugin up once in the life of the instance, which is the one call, or the session where the plugin asked for
/// that.
fn plugin<A: Author, T>(ask: impl FnOnce(&Setup) -> T) -> T {
    thread_local! {
        static PLUGIN: OnceCell<Setup> = const { OnceCell::new() };
    }
    PLUGIN.with(|plugin| {
        ask(plugin.get_or_init(|| {
            let mut plugin = Setup::new(A::NAME, A::VERSION, A::DESCRIPTION);
            A::setup(&mut plugin);
            plugin
        }))
    })
}

impl<A: Author> manifest::Guest for A {
    fn describe() -> PluginInfo {
        plugin::<A, _>(Setup::describe)
    }
}

impl<A: Author> tools::Guest for A {
    fn list_tools() -> Vec<ToolDefinition> {
        plugin::<A, _>(Setup::list_tools)
    }

    fn call_tool(name: String, arguments: String) -> Result<String, String> {
        plugin::<A, _>(|plugin| plugin.call_tool(&name, &arguments))
    }
}

impl<A: Author> hooks::Guest for A {
    fn list_hooks() -> Vec<hooks::Hook> {
        plugin::<A, _>(Setup::list_hooks)
    }

    fn before(hook: u32, tool: String, arguments: String) -> Result<hooks::Decision, String> {
        plugin::<A, _>(|plugin| plugin.run_before(hook, &tool, &arguments))
    }

    fn after(hook: u32, tool: String, arguments: String, outcome: String) -> Result<Option<String>, String> {
        plugin::<A, _>(|plugin| plugin.run_after(hook, &tool, &arguments, &outcome))
    }
}

impl<A: Author> commands::Guest for A {
    fn list_commands() -> Vec<Command> {
        plugin::<A, _>(Setup::list_commands)
    }

    fn complete(name: String, partial: String) -> Vec<String> {
        plugin::<A, _>(|plugin| plugin.complete(&name, &partial))
    }

    fn run_command(name: String, arguments: Option<String>) -> Result<(), String> {
        plugin::<A, _>(|plugin| plugin.run_command(&name, arguments.as_deref()))
    }
}

impl<A: Author> providers::Guest for A {
    fn list_providers() -> Vec<providers::Provider> {
        plugin::<A, _>(Setup::list_providers)
    }

    fn list_models(provider: String, options: String) -> Result<Vec<providers::Model>, providers::ProviderError> {
        plugin::<A, _>(|plugin| plugin.list_models(&provider, &options))
    }

    fn fetch(request: providers::Request) -> Result<providers::Completion, providers::ProviderError> {
        plugin::<A, _>(|plugin| plugin.fetch(request))
    }
}
