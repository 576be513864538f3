//! `reply`: where a provider sends its answer, piece by piece.

use tokio::sync::mpsc;

use crate::bindings::bellglass::plugin::reply::{Event, Host};
use crate::bindings::convert;
use crate::host_request::ReplyEvent;

/// The channel of the request that runs; none outside of one.
pub(crate) struct View<'a> {
    pub to: Option<&'a mpsc::Sender<ReplyEvent>>,
}

impl Host for View<'_> {
    async fn emit(&mut self, event: Event) -> wasmtime::Result<()> {
        match self.to {
            // Whoever stopped listening has cancelled, and drops this call.
            Some(to) => drop(to.send(convert::reply_event(event)).await),
            None => tracing::debug!("a reply outside of a request was dropped"),
        }
        Ok(())
    }
}
