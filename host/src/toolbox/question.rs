//! A hook's question to the person: yes lets the call go on, anything else stops it.
//!
//! Apart, because where nobody can answer the answer is no.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::host_request::{Ask, CallContext, Caller, Entry, HostRequest};
use crate::plugin::Plugin;

/// Asks. `Err` holds what follows the refusal: a colon and the reason, or nothing.
pub(super) async fn ask(plugin: &Arc<Plugin>, question: &str, context: &CallContext) -> Result<(), String> {
    let nobody = || ": nobody can answer here".to_owned();
    let Some(requests) = &context.requests else { return Err(nobody()) };
    let caller =
        Caller { plugin: plugin.name().clone(), entry: Entry::Hook, grants: plugin.grants(), context: context.clone() };
    let (reply, interactive) = oneshot::channel();
    let request = HostRequest { caller: caller.clone(), ask: Ask::IsInteractive(reply) };
    requests.send(request).await.map_err(|_| nobody())?;
    if !interactive.await.unwrap_or(false) {
        return Err(nobody());
    }
    let (reply, answer) = oneshot::channel();
    let prompt = format!("{question} [y/N] ");
    requests.send(HostRequest { caller, ask: Ask::Line(prompt, reply) }).await.map_err(|_| nobody())?;
    let answer = answer.await.ok().flatten().unwrap_or_default();
    match answer.trim() {
        "y" | "Y" | "yes" | "Yes" => Ok(()),
        "" | "n" | "N" | "no" | "No" => Err(String::new()),
        // Whatever else was typed is why not, and goes to the model.
        reason => Err(format!(": {reason}")),
    }
}
