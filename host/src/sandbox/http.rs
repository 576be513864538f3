//! Outgoing requests of guests: none is sent.
//!
//! Apart, because this is the one place through which every request of a guest goes, whatever its language.

use std::future::Future;

use http::{Request, Response};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

/// Answers every request with `HTTP-request-denied`.
pub(crate) struct DenyAll;

type Done = Box<dyn Future<Output = Result<(), Error>> + Send>;

impl WasiHttpHooks for DenyAll {
    fn send_request(
        &mut self,
        _request: Request<WasiBody>,
        _options: Option<RequestOptions>,
        _sent: Done,
    ) -> Box<dyn Future<Output = Result<(Response<WasiBody>, Done), Error>> + Send> {
        Box::new(async { Err(Error::HttpRequestDenied) })
    }
}
