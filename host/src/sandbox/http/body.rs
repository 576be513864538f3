//! Bodies on their way through: in pieces, as they come, under the limits.
//!
//! Apart, because nothing of a body is ever kept, and every limit on one is counted here.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use http_body::{Body, Frame, SizeHint};
use reqwest::Url;
use tokio::time::{Instant, Sleep};
use wasmtime_wasi_http::{Error, WasiBody};

use crate::capability::Origin;
use crate::sandbox::http::error;
use crate::sandbox::http::mask::{self, Mask};
use crate::uses::Uses;

/// What is kept of one call's requests: how many are not read to their end, and which hosts the person refused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests(Arc<Kept>);

#[derive(Debug, Default)]
struct Kept {
    open: AtomicUsize,
    refused: Mutex<HashSet<Origin>>,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Connection(Arc<Kept>);

impl Requests {
    /// Notes that the person refused a host.
    pub(super) fn refuse(&self, origin: &Origin) {
        self.0.refused.lock().unwrap_or_else(PoisonError::into_inner).insert(origin.clone());
    }

    /// Whether the person refused a host in this call.
    pub(super) fn is_refused(&self, origin: &Origin) -> bool {
        self.0.refused.lock().unwrap_or_else(PoisonError::into_inner).contains(origin)
    }

    /// Takes one of so many, if one is left.
    pub(super) fn take(&self, most: usize) -> Option<Connection> {
        let more = |n: usize| (n < most).then_some(n + 1);
        self.0.open.fetch_update(SeqCst, SeqCst, more).ok().map(|_| Connection(self.0.clone()))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, SeqCst);
    }
}

/// Makes the request of the client from that of the guest.
pub(super) fn request(method: Method, url: Url, headers: HeaderMap, body: WasiBody) -> reqwest::Request {
    let mut request = reqwest::Request::new(method, url);
    *request.headers_mut() = headers;
    if !body.is_end_stream() {
        *request.body_mut() = Some(reqwest::Body::wrap(RequestBody(Mutex::new(body))));
    }
    request
}

/// The body of a guest's request. The client wants to share it between threads, and never does.
struct RequestBody(Mutex<WasiBody>);

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Pin::new(self.0.get_mut().unwrap_or_else(PoisonError::into_inner)).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}

/// The body of a response, as the guest reads it.
pub(super) struct ResponseBody {
    inner: reqwest::Body,
    /// The limit in bytes and what is left of it; none for a stream without end.
    total: Option<(usize, usize)>,
    idle: Duration,
    /// Runs while the guest waits; made when it first does.
    timer: Option<Pin<Box<Sleep>>>,
    is_waiting: bool,
    mask: Mask,
    /// What comes after the rest of the data.
    trailers: Option<HeaderMap>,
    connection: Option<Connection>,
    uses: Arc<Uses>,
}

impl ResponseBody {
    pub(super) fn new(
        inner: reqwest::Body,
        most: Option<usize>,
        idle: Duration,
        mask: Mask,
        connection: Connection,
        uses: Arc<Uses>,
    ) -> Self {
        let total = most.map(|it| (it, it));
        let connection = Some(connection);
        Self { inner, total, idle, timer: None, is_waiting: false, mask, trailers: None, connection, uses }
    }

    /// A piece came in: it counts, and the timer starts anew when the guest waits again.
    fn count(&mut self, bytes: usize) -> Result<(), Error> {
        self.is_waiting = self.is_waiting && bytes == 0;
        let Some((limit, left)) = &mut self.total else { return Ok(()) };
        match left.checked_sub(bytes) {
            Some(less) => {
                *left = less;
                Ok(())
            }
            None => {
                self.uses.limited();
                Err(Error::HttpResponseBodySize(Some(*limit as u64)))
            }
        }
    }

    /// Whether nothing has come for too long.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let until = Instant::now() + self.idle;
        let is_waiting = std::mem::replace(&mut self.is_waiting, true);
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if !is_waiting {
            timer.as_mut().reset(until);
        }
        ready!(timer.as_mut().poll(cx));
        self.uses.limited();
        Poll::Ready(Error::ConnectionReadTimeout)
    }

    fn poll_inner(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        loop {
            if let Some(trailers) = self.trailers.take() {
                return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
            }
            let Poll::Ready(polled) = Pin::new(&mut self.inner).poll_frame(cx) else {
                return self.poll_idle(cx).map(|it| Some(Err(it)));
            };
            let frame = match polled {
                Some(Ok(frame)) => frame,
                Some(Err(failed)) => return Poll::Ready(Some(Err(error::sorted(&failed)))),
                None => return Poll::Ready(self.mask.rest().map(|it| Ok(Frame::data(it)))),
            };
            let bytes = match frame.into_data() {
                Ok(bytes) => bytes,
                Err(frame) => {
                    let mut trailers = frame.into_trailers().unwrap_or_default();
                    mask::headers(&mut trailers, &self.mask);
                    self.trailers = Some(trailers);
                    match self.mask.rest() {
                        Some(rest) => return Poll::Ready(Some(Ok(Frame::data(rest)))),
                        None => continue,
                    }
                }
            };
            self.count(bytes.len())?;
            let bytes = self.mask.piece(bytes);
            // All of it may wait for the piece that shows whether it is the start of a secret.
            if !bytes.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if self.connection.is_none() {
            return Poll::Ready(None);
        }
        let frame = ready!(self.poll_inner(cx));
        // A guest that holds on to a body it has read to the end holds up nobody.
        if !matches!(frame, Some(Ok(_))) {
            self.connection = None;
            self.inner = reqwest::Body::default();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.connection.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_given_back_when_it_is_dropped() {
        let connections = Requests::default();
        let held: Vec<_> = (0..3).map_while(|_| connections.take(2)).collect();
        assert_eq!(held.len(), 2);
        drop(held);
        assert!(connections.take(1).is_some());
    }
}
