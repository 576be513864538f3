//! A plugin: what a user names, with its listing, its rights, and calls into it.
//!
//! Apart from the sandbox, because from here on it is tools, hooks and commands, and no longer components and stores.

pub(crate) mod asking;
pub(crate) mod bundled;
pub mod discover;
pub mod inspect;

pub mod load;
mod record;
mod reserved;
mod resident;
pub mod rights;
mod waits;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::bindings::convert;
use crate::bindings::exports::bellglass::plugin::{hooks, providers};
use crate::capability::{Capability, GrantSet, Grants};
use crate::completion::{Completion, ProviderError};
use crate::fault::Fault;
use crate::host_request::{CallContext, Entry, Lent};
use crate::listing::Listing;
use crate::name::PluginName;
use crate::plugin::discover::Origin;
use crate::plugin::resident::Resident;
use crate::plugin::rights::Surroundings;
use crate::sandbox::exports::{After, Before, CallTool, Complete, Fetch, RunCommand};
use crate::sandbox::guest::Identity;
use crate::sandbox::{Sandbox, Terms};
use crate::schema::Schema;
use crate::secrets::redact;
use crate::tool::ToolDefinition;

/// A loaded plugin.
pub struct Plugin {
    listing: Listing,
    origin: Origin,
    path: PathBuf,
    hash: String,
    bytes: usize,
    asked: Vec<(Capability, String)>,
    tools: Vec<Tool>,
    sandbox: Arc<Sandbox>,
    surroundings: Arc<Surroundings>,
    /// How long it took to load, in microseconds.
    loaded_in: u64,
    /// Held while a person is asked what it may do.
    asking: tokio::sync::Mutex<()>,
    resident: Option<Resident>,
}

/// A tool of a plugin whose schema compiled.
#[derive(Clone)]
pub(crate) struct Tool {
    pub definition: ToolDefinition,
    pub schema: Arc<Schema>,
}

/// What a before hook wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Proceed,
    Replace(String),
    Ask(String),
}

/// How long a completion may take before the line goes on without any.
const COMPLETION: Duration = Duration::from_millis(200);

impl Plugin {
    /// Its name.
    pub fn name(&self) -> &PluginName {
        &self.listing.name
    }

    /// What it says of itself.
    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Where it comes from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Its file; for a bundled plugin its name.
    pub fn path(&self) -> &PathBuf {
        &self.path
    }

    /// The SHA-256 of its file, as `sha256sum` prints it.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The size of its file, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What it asks for, each with its reason.
    pub fn asked(&self) -> &[(Capability, String)] {
        &self.asked
    }

    /// What it may do: what it asks for, as far as it was granted.
    pub fn grants(&self) -> Arc<GrantSet> {
        self.sandbox.identity().grants.clone()
    }

    /// The definitions of its tools whose schema compiled.
    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.tools.iter().map(|it| &it.definition)
    }

    pub(crate) fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Makes an instance and drops it: whether the plugin starts at all.
    ///
    /// # Errors
    ///
    /// What stopped it.
    pub async fn try_instance(&self) -> Result<(), Fault> {
        self.sandbox.start(CallContext::top(None), self.terms(Entry::Loading)).await
    }

    /// Computes its rights again, after something was decided. Calls that run keep what they have.
    fn renew(&self) {
        self.sandbox.set_identity(self.identity_with(&Grants::default()));
    }

    /// Its identity with these grants beside those that it has.
    fn identity_with(&self, lent: &Grants) -> Identity {
        let mut warnings = Vec::new();
        let limits = self.sandbox.engine().limits();
        let subject = self.subject();
        let mut identity =
            rights::identity(&self.listing, &self.wanted(), &subject, lent, &self.surroundings, limits, &mut warnings);
        // The same storage has the same lock.
        identity.storage_lock = self.sandbox.identity().storage_lock.clone();
        for warning in warnings {
            tracing::warn!(plugin = %self.name(), "{}", crate::text::visible_line(&warning));
        }
        identity
    }

    fn lent<'a>(&self, context: &'a CallContext) -> Option<&'a Grants> {
        context.lent.as_deref().filter(|it: &&Lent| it.plugin == *self.name()).map(|it| &it.grants)
    }

    /// The sandbox for one call, with what was granted for it.
    fn sandbox_in(&self, context: &CallContext) -> Arc<Sandbox> {
        match self.lent(context) {
            Some(lent) => Arc::new(self.sandbox.with_identity(self.identity_with(lent))),
            None => self.sandbox.clone(),
        }
    }

    fn terms(&self, entry: Entry) -> Terms {
        let limits = self.sandbox.engine().limits();
        Terms { entry, cpu: limits.cpu, deadline: Some(limits.deadline) }
    }

    pub(crate) async fn call_tool(
        &self,
        context: CallContext,
        name: &str,
        arguments: &String,
    ) -> Result<Result<String, String>, Fault> {
        let terms = self.terms(Entry::Tool);
        match &self.resident {
            Some(resident) => resident.call_tool(&self.sandbox, context, terms, name, arguments).await,
            None => self.sandbox_in(&context).once(context, terms, CallTool { name, arguments }).await,
        }
    }

    pub(crate) async fn before(
        &self,
        context: CallContext,
        hook: u32,
        tool: &str,
        arguments: &String,
    ) -> Result<Result<Decision, String>, Fault> {
        let answer = self.sandbox.once(context, self.terms(Entry::Hook), Before { hook, tool, arguments }).await?;
        Ok(answer.map(|it| match it {
            hooks::Decision::Proceed => Decision::Proceed,
            hooks::Decision::Replace(arguments) => Decision::Replace(arguments),
            hooks::Decision::Ask(question) => Decision::Ask(redact(&question).into_owned()),
        }))
    }

    pub(crate) async fn after(
        &self,
        context: CallContext,
        hook: u32,
        tool: &str,
        arguments: &String,
        outcome: &String,
    ) -> Result<Result<Option<String>, String>, Fault> {
        let export = After { hook, tool, arguments, outcome };
        self.sandbox.once(context, self.terms(Entry::Hook), export).await
    }

    pub(crate) async fn run_command(
        &self,
        context: CallContext,
        name: &str,
        argument: Option<&str>,
    ) -> Result<Result<(), String>, Fault> {
        let terms = self.terms(Entry::Command);
        let done = match &self.resident {
            Some(resident) => resident.run_command(&self.sandbox, context, terms, name, argument).await,
            None => self.sandbox_in(&context).once(context, terms, RunCommand { name, argument }).await,
        };
        done.map(|it| it.map_err(|error| redact(&error).into_owned()))
    }

    pub(crate) async fn complete(&self, context: CallContext, name: &str, partial: &str) -> Result<Vec<String>, Fault> {
        let terms = Terms { deadline: Some(COMPLETION), ..self.terms(Entry::Completion) };
        self.sandbox.once(context, terms, Complete { name, partial }).await
    }

    pub(crate) async fn fetch(
        &self,
        context: CallContext,
        request: &providers::Request,
    ) -> Result<Result<Completion, ProviderError>, Fault> {
        // A reply may take as long as the model speaks: the caller watches the pieces.
        let terms = Terms { deadline: None, ..self.terms(Entry::Provider) };
        let answer = self.sandbox_in(&context).once(context, terms, Fetch { request }).await?;
        Ok(answer.map(|it| convert::completion(&request.provider, it)).map_err(convert::provider_error))
    }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin").field("name", self.name()).field("origin", &self.origin).finish_non_exhaustive()
    }
}
