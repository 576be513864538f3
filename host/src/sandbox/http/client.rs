//! The clients of one plugin: made when they are first needed, dropped with its rights.
//!
//! Apart, because a connection that is kept alive asks no rule any more: what a client may reach is fixed when it is made, and
//! no two plugins share one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use wasmtime_wasi_http::Error;

use crate::capability::{Host, Origin, Scheme, VariableName, special};
use crate::limits::Limits;
use crate::network::NetworkSettings;
use crate::question::{Choice, Question};
use crate::sandbox::http::Outgoing;
use crate::sandbox::http::resolve::{Resolver, Rule};
use crate::sandbox::http::rules::{Passage, Target, is_local, is_this_machine};
use crate::sandbox::http::tls;
use crate::secrets::Secrets;

/// Connections to one host that are kept for the next request.
const IDLE_CONNECTIONS: usize = 8;

/// What one plugin's requests need: clients, secrets, limits, and which hosts the person allowed in this session.
#[derive(Debug, Default)]
pub(crate) struct Network {
    settings: NetworkSettings,
    secrets: Arc<Secrets>,
    limits: HttpLimits,
    clients: Mutex<HashMap<Key, Arc<OnceCell<reqwest::Client>>>>,
    allowed: Mutex<HashSet<Origin>>,
    /// Held while a person is asked: one question at a time.
    asking: tokio::sync::Mutex<()>,
}

/// The limits on requests, of [`Limits`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HttpLimits {
    pub body: usize,
    pub idle: Duration,
    pub connect: Duration,
    pub first_byte: Duration,
    pub requests: usize,
}

/// What a client may reach.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// Addresses of the internet at large.
    Public(Scheme),
    /// The user's proxy, which goes on from there.
    Proxied(Scheme),
    /// One origin, wherever its name leads. For another port of the same host there is another client, or none.
    Named(Origin),
}

impl Network {
    pub(crate) fn new(settings: NetworkSettings, secrets: Arc<Secrets>, limits: &Limits) -> Network {
        let limits = HttpLimits {
            body: limits.http_body,
            idle: limits.http_idle,
            connect: limits.http_connect,
            first_byte: limits.http_first_byte,
            requests: limits.http_requests,
        };
        Network { settings, secrets, limits, ..Network::default() }
    }

    pub(super) fn limits(&self) -> HttpLimits {
        self.limits
    }

    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Whether there is a value for the secret, as far as is known without reading it.
    pub(crate) fn has_secret(&self, name: &VariableName) -> bool {
        self.secrets.kept(name).is_some()
    }

    /// The client that goes to a target and to nowhere that the passage does not lead.
    pub(super) async fn client(&self, target: &Target, passage: Passage) -> Result<reqwest::Client, Error> {
        let origin = &target.origin;
        let proxy = self.settings.proxy.clone().filter(|_| !is_direct(origin.host()));
        let key = match (&proxy, passage) {
            (Some(_), _) => Key::Proxied(origin.scheme()),
            (None, Passage::Public) => Key::Public(origin.scheme()),
            (None, Passage::Named) => Key::Named(origin.clone()),
        };
        if proxy.is_some() {
            self.check_before_proxy(target, passage).await?;
        }
        let cell = {
            let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
            clients.entry(key).or_default().clone()
        };
        cell.get_or_try_init(|| self.make(origin, passage, proxy)).await.cloned()
    }

    async fn make(&self, origin: &Origin, passage: Passage, proxy: Option<Origin>) -> Result<reqwest::Client, Error> {
        let failed = |error: &dyn std::fmt::Display| {
            tracing::error!("cannot send requests: {error}");
            Error::ConfigurationError
        };
        let needs_tls =
            origin.scheme() == Scheme::Https || proxy.as_ref().is_some_and(|it| it.scheme() == Scheme::Https);
        let tls = if needs_tls {
            let ca_file = self.settings.ca_file.clone();
            let made = tokio::task::spawn_blocking(move || tls::settings(ca_file.as_deref())).await;
            made.map_err(|it| failed(&it))?
        } else {
            tls::none()
        };
        let rule = match (&proxy, passage, origin.host()) {
            (Some(_), ..) => Rule::Proxy,
            (None, Passage::Named, Host::Name(name)) => Rule::Named(name.clone()),
            (None, ..) => Rule::Public,
        };
        let resolver = Resolver { lookup: self.settings.lookup.clone(), rule };
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls.map_err(|it| failed(&it))?)
            .dns_resolver(resolver)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(self.limits.connect)
            .pool_max_idle_per_host(IDLE_CONNECTIONS);
        let builder = match proxy {
            // Proxies of the environment are for other programs: whoever set one did not choose it for plugins.
            None => builder.no_proxy(),
            Some(proxy) => {
                // Given one, the client asks the environment for no other.
                builder.proxy(reqwest::Proxy::all(proxy.to_string()).map_err(|it| failed(&it))?)
            }
        };
        builder.build().map_err(|it| failed(&it))
    }

    /// Behind a proxy somebody else connects. What this machine can see of the address is checked all the same.
    async fn check_before_proxy(&self, target: &Target, passage: Passage) -> Result<(), Error> {
        let Host::Name(name) = target.origin.host() else { return Ok(()) };
        if passage == Passage::Named {
            return Ok(());
        }
        let resolver = Resolver { lookup: self.settings.lookup.clone(), rule: Rule::Public };
        match resolver.addresses(name).await {
            Err(error) if error.is::<super::error::Refused>() => {
                tracing::warn!("no request is sent to {}: {error}", target.origin);
                Err(Error::DestinationIpProhibited)
            }
            // Where only the proxy knows names, this machine finds none.
            _ => Ok(()),
        }
    }

    /// Asks the person whether a plugin may use a host that only a grant for any host covers.
    pub(super) async fn ask(&self, outgoing: &Outgoing, origin: &Origin) -> bool {
        let caller = &outgoing.caller;
        let is_allowed = || self.allowed.lock().unwrap_or_else(PoisonError::into_inner).contains(origin);
        if is_allowed() {
            return true;
        }
        let _pause = outgoing.deadline.pause();
        let _one_at_a_time = self.asking.lock().await;
        // Somebody may have asked about the same host meanwhile.
        if is_allowed() {
            return true;
        }
        // Who was refused once asks no second time in the same call.
        if outgoing.requests.is_refused(origin) {
            return false;
        }
        let question = Question {
            subject: format!("Plugin `{}` wants to send requests to a host that no grant names.", caller.plugin),
            lines: vec![origin.to_string()],
            choices: vec![
                Choice::new('y', "yes, this once"),
                Choice::new('s', "session: yes, until it ends"),
                Choice::new('n', "no"),
            ],
        };
        match caller.context.choose(caller, question).await.map(|it| it.key) {
            Some('y') => true,
            Some('s') => {
                self.allowed.lock().unwrap_or_else(PoisonError::into_inner).insert(origin.clone());
                true
            }
            _ => {
                outgoing.requests.refuse(origin);
                false
            }
        }
    }
}

/// Whether a proxy elsewhere could not mean the same machine.
fn is_direct(host: &Host) -> bool {
    match host {
        Host::V4(address) => special((*address).into()).is_some(),
        Host::V6(address) => special((*address).into()).is_some(),
        Host::Name(_) => is_this_machine(host) || is_local(host),
        Host::Any | Host::Below(_) => false,
    }
}
