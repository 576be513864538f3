//! Headers that the host fills in: secrets of the user, on the way to where they belong.
//!
//! Apart, because this is the one place where a secret leaves the program.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use zeroize::Zeroizing;

use crate::capability::{Credential, Grant, Scheme};
use crate::sandbox::http::mask::Mask;
use crate::sandbox::http::rules::{Target, is_this_machine};
use crate::sandbox::http::{Outgoing, grant_of};
use crate::secrets::SecretValue;

impl Outgoing {
    /// Sets the header of each granted credential for exactly this origin, whatever the guest put there. Returns the secrets
    /// that are sent.
    ///
    /// A secret without value is left out: a server of the user's own may need none.
    pub(super) async fn add_credentials(&self, target: &Target, headers: &mut HeaderMap) -> Mask {
        let mut sent = Vec::new();
        let plugin = &self.caller.plugin;
        for credential in self.caller.grants.credentials().filter(|it| it.origin().contains(&target.origin)) {
            let name = credential.secret();
            if !is_private(target) {
                tracing::warn!("secret `{name}` is not sent to {}: it would travel in clear", target.origin);
                continue;
            }
            // Whoever unlocks a keyring takes the time that it takes.
            let pause = self.deadline.pause();
            let value = self.network.secrets().value(name).await;
            drop(pause);
            match value {
                Ok(value) => {
                    if let Some((header, filled)) = header(credential, &value) {
                        headers.insert(header, filled);
                        let grant = Grant::Secret(name.clone(), Some(target.origin.clone()));
                        self.caller.context.uses.allowed(plugin, grant);
                        sent.push(value);
                    }
                }
                Err(error) => {
                    let wanted = grant_of(&target.origin);
                    tracing::warn!(
                        "plugin `{plugin}` sends a request to {} ({wanted}) without its secret: {error} (`bellglass secret set {name}`)",
                        target.origin
                    );
                    self.caller.context.uses.lacks(name);
                }
            }
        }
        Mask::new(sent)
    }
}

/// Whether nobody on the way can read along.
fn is_private(target: &Target) -> bool {
    target.origin.scheme() == Scheme::Https || is_this_machine(target.origin.host())
}

/// The header as it is sent; the client neither logs it nor keeps it in a table of compressed headers.
fn header(credential: &Credential, value: &SecretValue) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(credential.header().as_bytes()).ok()?;
    let text = Zeroizing::new(format!("{}{}", credential.prefix(), value.expose()));
    let mut filled = HeaderValue::from_str(&text).ok()?;
    filled.set_sensitive(true);
    Some((name, filled))
}
