//! What went wrong with a request, in the words of `wasi:http`.
//!
//! Apart, because the client wraps its causes several deep, and a guest deserves to know which it was.

use std::error::Error as StdError;
use std::io::{self, ErrorKind};
use std::net::IpAddr;

use wasmtime_wasi_http::Error;

/// A name leads to addresses of this kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address} is a {what} address")]
pub(super) struct Refused {
    pub address: IpAddr,
    pub what: &'static str,
}

/// A name leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name has no address")]
pub(super) struct NoAddress;

/// The address that was refused, where that is the cause.
pub(super) fn refused(error: &reqwest::Error) -> Option<&Refused> {
    causes(error).find_map(|it| it.downcast_ref())
}

/// Sorts an error of the client.
pub(super) fn sorted(error: &reqwest::Error) -> Error {
    if causes(error).any(|it| it.is::<NoAddress>()) {
        return Error::DnsError { rcode: Some("NXDOMAIN".into()), info_code: None };
    }
    if error.is_dns() {
        return Error::DnsError { rcode: None, info_code: None };
    }
    if error.is_timeout() {
        return if error.is_connect() { Error::ConnectionTimeout } else { Error::HttpResponseTimeout };
    }
    if let Some(tls) = causes(error).find_map(|it| it.downcast_ref::<rustls::Error>()) {
        return match tls {
            rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => Error::TlsCertificateError,
            rustls::Error::AlertReceived(alert) => Error::TlsAlertReceived {
                alert_id: Some(u8::from(*alert)),
                alert_message: alert.as_str().map(str::to_owned),
            },
            _ => Error::TlsProtocolError,
        };
    }
    // What the guest's own body failed with.
    if causes(error).any(|it| it.is::<Error>()) {
        return Error::HttpProtocolError;
    }
    if let Some(io) = causes(error).find_map(|it| it.downcast_ref::<io::Error>()) {
        return match io.kind() {
            ErrorKind::ConnectionRefused => Error::ConnectionRefused,
            ErrorKind::TimedOut => Error::ConnectionTimeout,
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => Error::DestinationUnavailable,
            ErrorKind::UnexpectedEof if error.is_body() || error.is_decode() => Error::HttpResponseIncomplete,
            _ if error.is_connect() => Error::DestinationUnavailable,
            _ => Error::ConnectionTerminated,
        };
    }
    if error.is_body() || error.is_decode() {
        return Error::HttpResponseIncomplete;
    }
    if error.is_connect() {
        return Error::DestinationUnavailable;
    }
    let ended = causes(error).any(|it| it.to_string().contains("connection closed"));
    if ended { Error::ConnectionTerminated } else { Error::HttpProtocolError }
}

/// The error and its causes. An error of IO hides what it was made of from `source`.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    let mut next: Option<&(dyn StdError + 'static)> = Some(error);
    std::iter::from_fn(move || {
        let this = next?;
        let inside = this.downcast_ref::<io::Error>().and_then(|it| it.get_ref());
        next = inside.map(|it| it as &(dyn StdError + 'static)).or_else(|| this.source());
        Some(this)
    })
}
