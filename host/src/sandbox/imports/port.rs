//! The way up: a guest's question becomes a [`HostRequest`], and its answer comes back.
//!
//! Apart, because six interfaces ask the session, and pausing the deadline and refusing politely must be the same in all.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::bindings::bellglass::plugin::types;
use crate::capability::{Grant, Kind};
use crate::host_request::{Ask, Caller, Entry, HostRequest};
use crate::sandbox::clock::Deadline;
use crate::sandbox::guest::OpenFolder;
use crate::sandbox::output::Output;

/// What an interface that asks the session needs of the store.
pub(crate) struct Port<'a> {
    pub caller: Caller,
    pub deadline: &'a Arc<Deadline>,
    pub output: &'a Output,
    /// What the plugin may read, for a file that the host shows for it.
    pub folders: &'a [OpenFolder],
}

impl Port<'_> {
    /// Asks something that the session knows. `Err` says that nobody is there to answer.
    pub(crate) async fn ask<R>(&self, ask: impl FnOnce(oneshot::Sender<R>) -> Ask) -> Result<R, String> {
        let (reply, answer) = oneshot::channel();
        self.send(ask(reply)).await?;
        answer.await.map_err(|_| NOBODY.to_owned())
    }

    /// Asks for something that takes the time of others: a person has none, and nested calls and turns have timers of their
    /// own. The guest's deadline stands still meanwhile.
    pub(crate) async fn wait<R>(&self, ask: impl FnOnce(oneshot::Sender<R>) -> Ask) -> Result<R, String> {
        let _pause = self.deadline.pause();
        self.ask(ask).await
    }

    /// Tells the session something that needs no answer.
    pub(crate) async fn send(&self, ask: Ask) -> Result<(), String> {
        if self.caller.entry == Entry::Loading {
            return Err("only `log` works while a plugin is loaded".into());
        }
        let Some(requests) = &self.caller.context.requests else { return Err(NOBODY.into()) };
        let request = HostRequest { caller: self.caller.clone(), ask };
        requests.send(request).await.map_err(|_| NOBODY.to_owned())
    }

    /// Notes that a right is used, or refuses in words where the plugin does not have it.
    pub(crate) fn needs(&self, has: bool, kind: Kind) -> Result<(), String> {
        let (plugin, uses) = (&self.caller.plugin, &self.caller.context.uses);
        // What is missing is noted as it would be granted: the kind alone.
        let grant = Grant::parse(kind.as_str()).expect("a kind alone is a grant");
        if has {
            uses.allowed(plugin, grant);
            Ok(())
        } else {
            uses.denied(plugin, grant);
            Err(denied(plugin.as_str(), kind.as_str()))
        }
    }
}

const NOBODY: &str = "there is no session here to answer";

/// The sentence for a right that is missing; names the plugin and the flag that grants it.
pub(crate) fn denied(plugin: &str, capability: &str) -> String {
    format!("denied: plugin `{plugin}` has no `{capability}` grant (`--grant {plugin}:{capability}`)")
}

impl types::Host for Port<'_> {}
