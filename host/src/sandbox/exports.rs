//! The exports of a plugin as calls: one type for each, with its arguments and its answer.
//!
//! Apart, so that "run it in a fresh instance" and "run it in the one instance" are written once for all of them.

use std::future::Future;

use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

use crate::bindings::bellglass::plugin::types;
use crate::bindings::exports::bellglass::plugin::{commands, hooks, manifest, providers, tools};
use crate::bindings::{PACKAGE, VERSION};
use crate::fault::Fault;
use crate::sandbox::guest::Guest;

/// What a component exports, of what the host can use. Each interface is optional.
#[derive(Clone)]
pub(crate) struct Exports {
    pub manifest: Option<manifest::GuestIndices>,
    pub tools: Option<tools::GuestIndices>,
    pub hooks: Option<hooks::GuestIndices>,
    pub commands: Option<commands::GuestIndices>,
    pub providers: Option<providers::GuestIndices>,
}

impl Exports {
    /// Looks at what is there. An interface that is there and lacks a function is [`Fault::Missing`]: left out silently, a
    /// plugin would load without its tools.
    pub(crate) fn probe(pre: &InstancePre<Guest>) -> Result<Self, Fault> {
        macro_rules! probe {
            ($interface:ident) => {{
                let name = stringify!($interface);
                let exported = pre.component().get_export_index(None, &format!("{PACKAGE}/{name}@{VERSION}")).is_some();
                match $interface::GuestIndices::new(pre) {
                    Ok(indices) => Some(indices),
                    Err(_) if !exported => None,
                    Err(error) => return Err(other_shape(name, &error)),
                }
            }};
        }
        Ok(Self {
            manifest: probe!(manifest),
            tools: probe!(tools),
            hooks: probe!(hooks),
            commands: probe!(commands),
            providers: probe!(providers),
        })
    }
}

fn other_shape(interface: &'static str, error: &wasmtime::Error) -> Fault {
    tracing::debug!("`{interface}` has another shape: {error:#}");
    Fault::Missing(interface)
}

/// One exported function with its arguments.
pub(crate) trait Export: Send {
    /// What the guest answers.
    type Answer: Send;

    /// Bytes that go in.
    fn size(&self) -> usize {
        0
    }

    /// Calls the function.
    fn call(
        self,
        store: &mut Store<Guest>,
        instance: &Instance,
        exports: &Exports,
    ) -> impl Future<Output = wasmtime::Result<Self::Answer>> + Send;
}

/// Implements [`Export`] for a type: the interface it is in, the generated function, the arguments.
macro_rules! export {
    ($name:ty, $interface:ident, $answer:ty, $self:ident, size: $size:expr, $function:ident($($argument:expr),*)) => {
        impl Export for $name {
            type Answer = $answer;

            fn size(&$self) -> usize {
                $size
            }

            async fn call(
                $self,
                store: &mut Store<Guest>,
                instance: &Instance,
                exports: &Exports,
            ) -> wasmtime::Result<$answer> {
                let Some(indices) = &exports.$interface else {
                    return Err(Fault::Missing(stringify!($interface)).into());
                };
                let guest = indices.load(&mut *store, instance);
                let guest = guest.map_err(|it| other_shape(stringify!($interface), &it))?;
                guest.$function(store, $($argument),*).await
            }
        }
    };
}

/// No function at all: the instance is made, and its start functions run.
pub(crate) struct Start;

impl Export for Start {
    type Answer = ();

    async fn call(self, _: &mut Store<Guest>, _: &Instance, _: &Exports) -> wasmtime::Result<()> {
        Ok(())
    }
}

/// `manifest.describe`
pub(crate) struct Describe;
export!(Describe, manifest, manifest::PluginInfo, self, size: 0, call_describe());

/// `tools.list-tools`
pub(crate) struct ListTools;
export!(ListTools, tools, Vec<types::ToolDefinition>, self, size: 0, call_list_tools());

/// `tools.call-tool`
pub(crate) struct CallTool<'a> {
    pub name: &'a str,
    pub arguments: &'a String,
}
export!(
    CallTool<'_>, tools, Result<String, String>, self,
    size: self.arguments.len(), call_call_tool(self.name, self.arguments)
);

/// `hooks.list-hooks`
pub(crate) struct ListHooks;
export!(ListHooks, hooks, Vec<hooks::Hook>, self, size: 0, call_list_hooks());

/// `hooks.before`
pub(crate) struct Before<'a> {
    pub hook: u32,
    pub tool: &'a str,
    pub arguments: &'a String,
}
export!(
    Before<'_>, hooks, Result<hooks::Decision, String>, self,
    size: self.arguments.len(), call_before(self.hook, self.tool, self.arguments)
);

/// `hooks.after`
pub(crate) struct After<'a> {
    pub hook: u32,
    pub tool: &'a str,
    pub arguments: &'a String,
    pub outcome: &'a String,
}
export!(
    After<'_>, hooks, Result<Option<String>, String>, self,
    size: self.arguments.len().max(self.outcome.len()), call_after(self.hook, self.tool, self.arguments, self.outcome)
);

/// `commands.list-commands`
pub(crate) struct ListCommands;
export!(ListCommands, commands, Vec<types::Command>, self, size: 0, call_list_commands());

/// `commands.complete`
pub(crate) struct Complete<'a> {
    pub name: &'a str,
    pub partial: &'a str,
}
export!(
    Complete<'_>, commands, Vec<String>, self,
    size: self.partial.len(), call_complete(self.name, self.partial)
);

/// `commands.run-command`
pub(crate) struct RunCommand<'a> {
    pub name: &'a str,
    pub argument: Option<&'a str>,
}
export!(
    RunCommand<'_>, commands, Result<(), String>, self,
    size: self.argument.map_or(0, str::len), call_run_command(self.name, self.argument)
);

/// `providers.list-providers`
pub(crate) struct ListProviders;
export!(ListProviders, providers, Vec<providers::Provider>, self, size: 0, call_list_providers());

/// `providers.fetch`
pub(crate) struct Fetch<'a> {
    pub request: &'a providers::Request,
}
export!(
    Fetch<'_>, providers, Result<providers::Completion, providers::ProviderError>, self,
    size: 0, call_fetch(self.request)
);
