//! A model API as the agent sees it: one request in, pieces of a reply out.
//!
//! Apart from the plugins, because the stub needs none, and the agent must not care which it talks to.

mod gate;
mod stub;

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::audit::Kind;
use crate::bindings::convert;
use crate::completion::{Completion, ProviderError, Request};
use crate::host_request::{CallContext, Entry, ReplyEvent};
use crate::name::ItemName;
use crate::plugin::Plugin;
use crate::plugin::discover::Origin;
use crate::provider::gate::Gate;
use crate::uses::Uses;

/// The name of the provider that is always there.
pub const STUB: &str = "stub";

/// The providers of all plugins, and the stub.
#[derive(Clone, Debug)]
pub struct Providers {
    providers: Vec<Provider>,
    warnings: Vec<String>,
}

/// One provider.
#[derive(Clone, Debug)]
pub struct Provider {
    name: ItemName,
    description: String,
    default_model: Option<String>,
    source: Source,
    gate: Gate,
}

#[derive(Clone, Debug)]
enum Source {
    Stub,
    Plugin(Arc<Plugin>),
}

impl Providers {
    /// Registers the stub, then the providers of plugins in their order. A later one replaces an earlier one of its name.
    pub fn new(plugins: &[Arc<Plugin>]) -> Self {
        let stub = Provider {
            name: ItemName::try_from(STUB.to_owned()).expect("a plain word"),
            description: "Answers without a model, a network or a key".into(),
            default_model: None,
            source: Source::Stub,
            gate: Gate::default(),
        };
        let mut providers = Self { providers: vec![stub], warnings: Vec::new() };
        for plugin in plugins {
            for listed in &plugin.listing().providers {
                match ItemName::try_from(listed.name.clone()) {
                    Ok(name) => providers.add(Provider {
                        name,
                        description: listed.description.clone(),
                        default_model: listed.default_model.clone(),
                        source: Source::Plugin(plugin.clone()),
                        gate: Gate::default(),
                    }),
                    Err(error) => {
                        providers
                            .warnings
                            .push(format!("a provider of plugin `{}` is left out: {error}", plugin.name()));
                    }
                }
            }
        }
        providers
    }

    fn add(&mut self, provider: Provider) {
        let Some(old) = self.providers.iter_mut().find(|it| it.name == provider.name) else {
            return self.providers.push(provider);
        };
        let is_project =
            |it: &Provider| matches!(&it.source, Source::Plugin(plugin) if plugin.origin() == Origin::Project);
        if is_project(&provider) && !is_project(old) {
            self.warnings.push(format!("provider `{}` of a project plugin does not replace another", provider.name));
            return;
        }
        self.warnings.push(format!("provider `{}` of {} replaces that of {}", provider.name, provider.of(), old.of()));
        *old = provider;
    }

    /// All providers, the stub first.
    pub fn list(&self) -> &[Provider] {
        &self.providers
    }

    /// What was replaced or left out.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Finds a provider.
    ///
    /// # Errors
    ///
    /// A sentence that lists those there are.
    pub fn find(&self, name: &str) -> Result<&Provider, String> {
        self.providers.iter().find(|it| it.name.as_str() == name).ok_or_else(|| {
            let names: Vec<&str> = self.providers.iter().map(|it| it.name.as_str()).collect();
            format!("unknown provider `{}`, expected one of: {}", crate::text::visible_line(name), names.join(", "))
        })
    }
}

impl Provider {
    /// Its name, as in `-p NAME`.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// One line.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The model that is used when the user names none.
    pub fn default_model(&self) -> Option<&str> {
        self.default_model.as_deref()
    }

    /// Whether it may be asked now.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    fn of(&self) -> String {
        match &self.source {
            Source::Stub => "the program".into(),
            Source::Plugin(plugin) => format!("plugin `{}`", plugin.name()),
        }
    }

    /// Sends one request. The pieces of the reply come through `pieces`; dropping the future cancels.
    pub async fn fetch(
        &self,
        request: &Request,
        pieces: mpsc::Sender<ReplyEvent>,
        context: CallContext,
    ) -> Result<Completion, ProviderError> {
        match &self.source {
            Source::Stub => Ok(stub::fetch(request, &pieces).await),
            Source::Plugin(plugin) => {
                let request = convert::request(self.name(), request);
                let context = plugin.ready(Entry::Provider, context).await;
                let context = CallContext { reply: Some(pieces), ..context };
                let uses = Arc::<Uses>::default();
                let policy = plugin.policy().clone();
                let context = CallContext { uses: uses.clone(), policy, approved: false, tool: None, ..context };
                let answer = match plugin.fetch(context, &request).await {
                    Ok(answer) => answer,
                    Err(fault) => Err(ProviderError::Plugin(fault)),
                };
                let ended = match &answer {
                    Ok(_) => "ok",
                    Err(_) if !uses.denials().is_empty() => "denied",
                    Err(ProviderError::Plugin(fault)) if fault.is_limit() => "limit",
                    Err(_) => "error",
                };
                // The conversation is in the session, and is not written a second time.
                plugin.record(Kind::Provider, self.name(), "{}", ended, &uses);
                answer
            }
        }
    }
}
