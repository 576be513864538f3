//! `settings`: what the user's configuration says under the plugin's name.

use crate::bindings::bellglass::plugin::settings::Host;
use crate::sandbox::guest::Identity;

/// The plugin's own settings, and no other's.
pub(crate) struct View<'a> {
    pub identity: &'a Identity,
}

impl Host for View<'_> {
    async fn get(&mut self) -> wasmtime::Result<String> {
        Ok(self.identity.settings.clone())
    }

    async fn has_secret(&mut self, _name: String) -> wasmtime::Result<bool> {
        // No secret can be stored yet, so none is granted.
        Ok(false)
    }
}
