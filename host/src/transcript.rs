//! The conversation: messages that are only ever added, each tool call followed by its result.
//! Separate because every provider refuses a conversation that breaks these rules, and plugins and files may try.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

mod message;

pub use message::{Message, MessageError, Role, ToolCall};

/// The messages of a session, without the system prompt, which is rendered anew for each request.
///
/// Results follow the calls that they answer: nothing else is added while a call is open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Message>", into = "Vec<Message>")]
pub struct Transcript {
    messages: Vec<Message>,
}

/// Why a message cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptError {
    /// The system prompt is no part of it.
    #[error("role `system` cannot be added, expected `user`, `assistant` or `tool`")]
    System,
    /// Calls wait for their results.
    #[error("a message of role `{role}` cannot follow call `{id}`, which has no result yet")]
    OpenCall {
        /// The role of the refused message.
        role: Role,
        /// The first call without result.
        id: String,
    },
    /// A result of nothing.
    #[error("tool result `{0}` answers no open call")]
    NoCall(String),
    /// Two calls of one reply have the same id, or one has none.
    #[error("call id `{0}` is empty or not the only one of its reply")]
    CallId(String),
    /// Something that only a message of another role has.
    #[error("`{key}` does not belong on a message of role `{role}`")]
    Misplaced {
        /// What it is.
        key: &'static str,
        /// Where it was.
        role: Role,
    },
    /// An extra key that has a meaning of its own.
    #[error("extra key `{0}` has a meaning of its own")]
    Reserved(String),
}

impl Transcript {
    /// Adds a message at the end. Extra keys that are null are dropped, all others are kept.
    pub fn add(&mut self, mut message: Message) -> Result<(), TranscriptError> {
        self.check(&message)?;
        message.extra.retain(|_, value| !value.is_null());
        message.replay = message.replay.filter(|replay| !replay.is_null());
        message.tool_call_id = message.tool_call_id.filter(|id| !id.is_empty());
        self.messages.push(message);
        Ok(())
    }

    /// Returns the newest message.
    pub fn last(&self) -> Option<&Message> {
        self.messages.last()
    }

    /// Returns all messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns what a provider gets: the system prompt unless it is blank, the conversation, then `extra`.
    pub fn messages_with(&self, system: &str, extra: &[Message]) -> Vec<Message> {
        let system = (!system.trim().is_empty()).then(|| Message::new(Role::System, system));
        system.into_iter().chain(self.messages.iter().chain(extra).cloned()).collect()
    }

    /// Removes all messages.
    pub fn clear(&mut self) {
        self.messages.clear();
    }

    /// Returns the calls that have no result yet, in the order asked. They are all of the last reply.
    pub fn unanswered_calls(&self) -> Vec<&ToolCall> {
        let results = self.messages.iter().rev().take_while(|message| message.role == Role::Tool);
        let answered: HashSet<&str> = results.filter_map(|result| result.tool_call_id.as_deref()).collect();
        let reply = self.messages.iter().rev().find(|message| message.role != Role::Tool);
        let calls = reply.map_or(&[][..], |reply| &reply.tool_calls);
        calls.iter().filter(|call| !answered.contains(&*call.id)).collect()
    }

    /// Gives every call without result a failed one that says why, and returns how many there were.
    pub fn close_open_calls(&mut self, reason: &str) -> usize {
        let failure = Value::Object(Map::from_iter([
            ("error".to_owned(), Value::from(reason)),
            ("ok".to_owned(), Value::Bool(false)),
        ]));
        let failure = failure.to_string();
        let open: Vec<String> = self.unanswered_calls().iter().map(|call| call.id.clone()).collect();
        self.messages.extend(open.iter().map(|id| Message::tool(id, &failure)));
        open.len()
    }

    /// Gives calls new ids where they have none, or one that the conversation or the same reply used before.
    ///
    /// Some model APIs give no ids or start again at each reply, others refuse a repeated one.
    pub fn make_ids_unique(&self, calls: &mut [ToolCall]) {
        let all_calls = self.messages.iter().flat_map(|message| &message.tool_calls);
        let mut used: HashSet<String> = all_calls.map(|call| call.id.clone()).collect();
        // The ids that are fine first, so that none of them is taken by a new one.
        let mut needs_id = Vec::new();
        for call in calls {
            if call.id.is_empty() || !used.insert(call.id.clone()) {
                needs_id.push(call);
            }
        }
        let mut n = used.len();
        for call in needs_id {
            while used.contains(&format!("call_{n}")) {
                n += 1;
            }
            call.id = format!("call_{n}");
            used.insert(call.id.clone());
        }
    }

    /// Makes a transcript of messages from elsewhere, such as a file that was cut off.
    ///
    /// Open calls are closed with `reason`; what still cannot be added is left out and returned with its place.
    pub fn repaired(messages: Vec<Message>, reason: &str) -> (Transcript, Vec<(usize, TranscriptError)>) {
        let mut transcript = Transcript::default();
        let mut left_out = Vec::new();
        for (place, message) in messages.into_iter().enumerate() {
            // Closed only for a message that can follow: a stray one must not cost a call its result.
            if let Err(TranscriptError::OpenCall { .. }) = transcript.check(&message) {
                transcript.close_open_calls(reason);
            }
            if let Err(error) = transcript.add(message) {
                left_out.push((place, error));
            }
        }
        transcript.close_open_calls(reason);
        (transcript, left_out)
    }

    /// What can be said of the message alone comes first: `repaired` relies on it.
    fn check(&self, message: &Message) -> Result<(), TranscriptError> {
        let role = message.role;
        if role == Role::System {
            return Err(TranscriptError::System);
        }
        if role != Role::Assistant && !message.tool_calls.is_empty() {
            return Err(TranscriptError::Misplaced { key: "tool_calls", role });
        }
        let answers = message.tool_call_id.as_deref().filter(|id| !id.is_empty());
        if role != Role::Tool && answers.is_some() {
            return Err(TranscriptError::Misplaced { key: "tool_call_id", role });
        }
        if let Some(key) = message.extra.keys().find(|key| message::KEYS.contains(&key.as_str())) {
            return Err(TranscriptError::Reserved(key.clone()));
        }
        let mut ids = HashSet::new();
        if let Some(call) = message.tool_calls.iter().find(|call| call.id.is_empty() || !ids.insert(&call.id)) {
            return Err(TranscriptError::CallId(shown(&call.id)));
        }
        let open = self.unanswered_calls();
        if role == Role::Tool {
            let id = answers.unwrap_or_default();
            return match open.iter().any(|call| call.id == id) {
                true => Ok(()),
                false => Err(TranscriptError::NoCall(shown(id))),
            };
        }
        match open.first() {
            Some(call) => Err(TranscriptError::OpenCall { role, id: shown(&call.id) }),
            None => Ok(()),
        }
    }
}

impl TryFrom<Vec<Message>> for Transcript {
    type Error = TranscriptError;

    fn try_from(messages: Vec<Message>) -> Result<Transcript, TranscriptError> {
        let mut transcript = Transcript::default();
        messages.into_iter().try_for_each(|message| transcript.add(message))?;
        Ok(transcript)
    }
}

impl From<Transcript> for Vec<Message> {
    fn from(transcript: Transcript) -> Vec<Message> {
        transcript.messages
    }
}

fn shown(text: &str) -> String {
    crate::text::visible_line(crate::text::first_chars(text, 80)).into_owned()
}

#[cfg(test)]
mod tests;
