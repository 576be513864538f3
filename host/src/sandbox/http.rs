//! Outgoing requests of guests: each is judged, gets its credentials, and goes out through the plugin's own client.
//!
//! Apart, because this is the one place through which every request of a guest goes, whatever its language and its WASI.

mod body;
mod client;
mod credentials;
mod error;
mod mask;
mod resolve;
mod rules;
mod tls;

use std::future::Future;
use std::sync::Arc;

use http::{Request, Response};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use crate::capability::{Capability, Grant, Origin};
use crate::host_request::{Caller, Entry};
use crate::sandbox::clock::Deadline;
use crate::sandbox::guest::Call;
use crate::sandbox::http::body::ResponseBody;
use crate::sandbox::http::error::Refused;
use crate::sandbox::http::rules::{Passage, Target};

pub(crate) use body::Requests;
pub(crate) use client::Network;

/// What runs beside a request, and how it ended.
type Done = Box<dyn Future<Output = Result<(), Error>> + Send>;

impl WasiHttpHooks for Call {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _sent: Done,
    ) -> Box<dyn Future<Output = Result<(Response<WasiBody>, Done), Error>> + Send> {
        if self.entry == Entry::Loading {
            return Box::new(async { Err(Error::HttpRequestDenied) });
        }
        let outgoing = Outgoing {
            network: self.identity.network.clone(),
            caller: self.caller(),
            deadline: self.deadline.clone(),
            requests: self.requests.clone(),
        };
        Box::new(async move {
            let response = outgoing.send(request, options.unwrap_or_default()).await?;
            // The client drives the connection itself: nothing is left to be done beside it.
            Ok((response, Box::new(async { Ok(()) }) as Done))
        })
    }
}

/// One request on its way out.
struct Outgoing {
    network: Arc<Network>,
    caller: Caller,
    deadline: Arc<Deadline>,
    requests: Requests,
}

impl Outgoing {
    async fn send(self, request: Request<WasiBody>, options: RequestOptions) -> Result<Response<WasiBody>, Error> {
        let target = Target::of(&request)?;
        let passage = self.judge(&target).await?;
        let limits = self.network.limits();
        let Some(connection) = self.requests.take(limits.requests) else {
            self.caller.context.uses.limited();
            return Err(Error::ConnectionLimitReached);
        };
        let (mut parts, body) = request.into_parts();
        rules::drop_hop_by_hop(&mut parts.headers);
        let masks = self.add_credentials(&target, &mut parts.headers).await;
        let client = self.network.client(&target, passage).await?;
        let outgoing = body::request(parts.method, target.url.clone(), parts.headers, body);
        tracing::debug!(plugin = %self.caller.plugin, origin = %target.origin, "request");
        self.caller.context.uses.allowed(&self.caller.plugin, grant_of(&target.origin));

        let first_byte = limits.first_byte.min(options.first_byte_timeout.unwrap_or(limits.first_byte));
        let answered = match tokio::time::timeout(first_byte, client.execute(outgoing)).await {
            Ok(answered) => answered,
            Err(_) => {
                self.note_limit(first_byte == limits.first_byte);
                return Err(Error::HttpResponseTimeout);
            }
        };
        let response: Response<reqwest::Body> = answered.map_err(|it| self.failed(&target, &it))?.into();
        let (mut parts, body) = response.into_parts();
        mask::headers(&mut parts.headers, &masks);
        let idle = limits.idle.min(options.between_bytes_timeout.unwrap_or(limits.idle));
        // A model speaks as long as it likes.
        let most = (self.caller.entry != Entry::Provider).then_some(limits.body);
        let body = ResponseBody::new(body, most, idle, masks, connection, self.caller.context.uses.clone());
        Ok(Response::from_parts(parts, http_body_util::BodyExt::boxed_unsync(body)))
    }

    /// Whether the request may go out, and to which addresses.
    async fn judge(&self, target: &Target) -> Result<Passage, Error> {
        match rules::judge(&self.caller.grants, target) {
            Ok(passage) => Ok(passage),
            Err(rules::No::Ask) if self.network.ask(self, &target.origin).await => Ok(Passage::Public),
            Err(rules::No::Ask | rules::No::Denied) => {
                let (plugin, grant) = (&self.caller.plugin, grant_of(&target.origin));
                tracing::warn!(
                    "plugin `{plugin}` may not send requests to {} (`{}`)",
                    target.origin,
                    grant.flag(plugin)
                );
                self.caller.context.uses.denied(plugin, grant);
                Err(Error::HttpRequestDenied)
            }
            Err(rules::No::Special(what)) => {
                self.refuse_address(target, what, None);
                Err(Error::DestinationIpProhibited)
            }
        }
    }

    fn failed(&self, target: &Target, error: &reqwest::Error) -> Error {
        if let Some(Refused { address, what }) = error::refused(error) {
            self.refuse_address(target, what, Some(*address));
            return Error::DestinationIpProhibited;
        }
        let (plugin, origin) = (&self.caller.plugin, &target.origin);
        let sorted = error::sorted(error);
        // Without the address: its path and query may hold what is nobody's business.
        tracing::info!(%plugin, %origin, "a request failed: {sorted}");
        if matches!(sorted, Error::ConnectionTimeout) {
            self.note_limit(true);
        }
        sorted
    }

    /// Says why an address is not reached, and with which grant it would be.
    fn refuse_address(&self, target: &Target, what: &str, address: Option<std::net::IpAddr>) {
        let plugin = &self.caller.plugin;
        let wanted = match address {
            // A name over `http` proves nothing: only the address itself can be granted.
            Some(address) if self.caller.grants.names(&target.origin) => target.origin.at_address(address),
            _ => target.origin.clone(),
        };
        let grant = grant_of(&wanted);
        let leads = address.map(|it| format!(", which leads to {it}")).unwrap_or_default();
        tracing::warn!(
            "plugin `{plugin}` may not send requests to {}{leads}: {what} addresses have to be granted by name and port \
             (`{}`)",
            target.origin,
            grant.flag(plugin)
        );
        self.caller.context.uses.denied(plugin, grant);
    }

    fn note_limit(&self, is_ours: bool) {
        if is_ours {
            self.caller.context.uses.limited();
        }
    }
}

fn grant_of(origin: &Origin) -> Grant {
    Grant::One(Capability::Http(origin.clone()))
}
