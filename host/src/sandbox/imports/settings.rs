//! `settings`: what the user's configuration says under the plugin's name.

use crate::bindings::bellglass::plugin::settings::Host;
use crate::capability::VariableName;
use crate::sandbox::guest::Identity;

/// The plugin's own settings, and no other's.
pub(crate) struct View<'a> {
    pub identity: &'a Identity,
}

impl Host for View<'_> {
    async fn get(&mut self) -> wasmtime::Result<String> {
        Ok(self.identity.settings.clone())
    }

    async fn has_secret(&mut self, name: String) -> wasmtime::Result<bool> {
        // Of a secret that is not granted, a plugin learns not even that it is there.
        let name = VariableName::parse(&name).ok();
        let granted = name.filter(|name| self.identity.grants.credentials().any(|it| it.secret() == name));
        Ok(granted.is_some_and(|it| self.identity.network.has_secret(&it)))
    }
}
