//! One request to a provider, and how its reply ended or why none came.
//!
//! Apart from the providers, because plugins are asked with it and the agent decides on its answer.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::tool::ToolDefinition;
use crate::transcript::Message;

/// What is sent to a provider.
#[derive(Clone, Debug)]
pub struct Request {
    /// The model; none for the provider's own choice.
    pub model: Option<String>,
    /// The user's options for the provider.
    pub options: Map<String, Value>,
    /// System prompt first.
    pub messages: Vec<Message>,
    /// What the model is told of the tools.
    pub tools: Vec<ToolDefinition>,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It is complete.
    End,
    /// It asks for tools.
    ToolCalls,
    /// The output limit cut it.
    Length,
    /// The model would not answer.
    Refused,
}

/// The end of a reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Why it ended.
    pub reason: StopReason,
    /// Opaque data to be given back to the same provider, whose name stands with it.
    pub replay: Option<Value>,
}

/// Replay data with the name of the provider that wrote it, as a transcript keeps it.
pub(crate) fn replay_of(provider: &str, data: Value) -> Value {
    serde_json::json!({"provider": provider, "data": data})
}

/// The replay data that this provider wrote. What is signed for one API is no other's business, and an error to it.
pub(crate) fn replay_for<'a>(provider: &str, replay: &'a Value) -> Option<&'a Value> {
    replay.get("data").filter(|_| replay.get("provider").is_some_and(|it| it == provider))
}

/// Why no reply came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// No key, or one that was refused.
    #[error("no or refused credentials: {0}")]
    Unauthorized(String),
    /// The server is busy; after how long it wants to be asked again, where it said.
    #[error("the server is busy: {0}")]
    Busy(String, Option<Duration>),
    /// The messages do not fit the model.
    #[error("the conversation is too long for the model: {0}")]
    ContextTooLong(String),
    /// The request can never succeed as it is.
    #[error("the request was rejected: {0}")]
    Rejected(String),
    /// The connection failed or the reply broke off.
    #[error("the reply broke off: {0}")]
    Broken(String),
    /// The provider's plugin ended without an answer.
    #[error("its plugin {0}")]
    Plugin(Fault),
}
