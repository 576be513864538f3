//! [`Manifest`]: who a plugin is and what it asks for.

use crate::{bindings::exports::bellglass::plugin::manifest as wit, capability::Capability};
use std::borrow::Cow;

pub use wit::Lifetime;

/// Who a plugin is and what it asks for. [`Setup::plugin`](crate::Setup::plugin) gives it.
#[derive(Debug)]
pub struct Manifest {
    pub(crate) name: Cow<'static, str>,
    pub(crate) version: Cow<'static, str>,
    pub(crate) description: Cow<'static, str>,
    pub(crate) asked: Vec<(Capability, Cow<'static, str>)>,
    pub(crate) lifetime: Lifetime,
}

impl Manifest {
    /// Asks for a capability; the user who is asked to grant it reads the reason. Call it once for each.
    pub fn asks(&mut self, capability: Capability, reason: impl Into<Cow<'static, str>>) -> &mut Self {
        self.asked.push((capability, reason.into()));
        self
    }

    /// How long the instance lives that runs tools and commands. [`Lifetime::Call`] unless set: nothing is left from
    /// one call to the next, and calls run in parallel. With [`Lifetime::Session`] what a handler's closure captured
    /// lasts, calls run one after another, and the plugin cannot call itself.
    pub fn lifetime(&mut self, lifetime: Lifetime) -> &mut Self {
        self.lifetime = lifetime;
        self
    }

    /// Another version than that of the package.
    pub fn version(&mut self, version: impl Into<Cow<'static, str>>) -> &mut Self {
        self.version = version.into();
        self
    }

    pub(crate) fn to_wit(&self) -> wit::PluginInfo {
        let capabilities = self
            .asked
            .iter()
            .map(|(capability, reason)| wit::CapabilityRequest {
                capability: capability.to_wit(),
                reason: reason.to_string(),
            })
            .collect();
        wit::PluginInfo {
            name: self.name.to_string(),
            version: self.version.to_string(),
            description: self.description.to_string(),
            capabilities,
            lifetime: self.lifetime,
            extra: None,
        }
    }
}
