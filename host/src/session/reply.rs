//! One reply of a provider: its pieces are shown as they come and put together; what failed for a while is asked again.
//!
//! Apart from the turn, because retries and silence belong to the request, and the turn sees one answer.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::agent::Reply;
use crate::completion::{ProviderError, Request};
use crate::host_request::{CallContext, ReplyEvent};
use crate::limits::Limits;
use crate::provider::Provider;
use crate::retry::Retries;
use crate::session::Output;

/// Pieces of a reply that may wait before the provider waits.
const PIECES: usize = 64;

/// Asks until there is a reply, an error that is final, or no attempt left. No tool has run yet on the strength of a reply that
/// broke off, so asking again is safe.
pub(super) async fn reply(
    provider: Provider,
    request: Request,
    context: CallContext,
    outputs: mpsc::Sender<Output>,
    limits: Limits,
) -> Result<Reply, ProviderError> {
    let retries = Retries { attempts: limits.attempts, longest: limits.retry_wait };
    let mut attempt = 1;
    loop {
        // Sub-agents talk to the same server: one that was told to wait makes all of them wait.
        provider.gate().wait().await;
        let error = match once(&provider, &request, &context, &outputs, limits.reply_idle).await {
            Ok(reply) => return Ok(reply),
            Err(error) => error,
        };
        let Some(wait) = retries.wait(attempt, &error, random()) else { return Err(error) };
        if matches!(error, ProviderError::Busy(..)) {
            provider.gate().close(wait);
        }
        attempt += 1;
        let retry = Output::Retry { reason: error.to_string(), wait, attempt, attempts: retries.attempts };
        let _ = outputs.send(retry).await;
        tokio::time::sleep(wait).await;
    }
}

async fn once(
    provider: &Provider,
    request: &Request,
    context: &CallContext,
    outputs: &mpsc::Sender<Output>,
    idle: Duration,
) -> Result<Reply, ProviderError> {
    let (pieces, mut received) = mpsc::channel(PIECES);
    let mut reply = Reply::default();
    let fetch = provider.fetch(request, pieces, context.clone());
    tokio::pin!(fetch);
    let mut usage = None;
    let mut completion = None;
    let silence = tokio::time::sleep(idle);
    tokio::pin!(silence);
    loop {
        tokio::select! {
            biased;
            piece = received.recv() => {
                silence.as_mut().reset(Instant::now() + idle);
                let Some(piece) = piece else { break };
                match &piece {
                    ReplyEvent::Saying(text) => reply.text.push_str(text),
                    ReplyEvent::Doing(call) => reply.calls.push(call.clone()),
                    ReplyEvent::Thinking(_) => {}
                    // A later one replaces an earlier one: what is shown is the last, so that requests can be added up.
                    ReplyEvent::Usage(_) => {
                        usage = Some(piece);
                        continue;
                    }
                }
                let _ = outputs.send(Output::Piece(piece)).await;
            }
            done = &mut fetch, if completion.is_none() => completion = Some(done),
            // Dropping the request ends the guest and its connection.
            () = &mut silence => {
                let silent = crate::fault::seconds(idle);
                return Err(ProviderError::Broken(format!("nothing came for {silent}")));
            }
        }
    }
    let completion = match completion {
        Some(completion) => completion,
        None => fetch.await,
    };
    if let Some(usage) = usage {
        let _ = outputs.send(Output::Piece(usage)).await;
    }
    let completion = completion?;
    reply.replay = completion.replay;
    reply.cut = Reply::is_cut(completion.reason);
    Ok(reply)
}

/// From 0 to 1. Not for secrets.
fn random() -> f64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let bits = std::collections::hash_map::RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(bits >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}
