//! One entry of a transcript, and its JSON, in which a key that is empty is left out.
//! Separate because the shape of the JSON is a promise to files and plugins, apart from the rules of the conversation.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

/// The keys of a message's JSON that are fields; all others are extra.
pub(super) const KEYS: [&str; 5] = ["role", "content", "tool_calls", "tool_call_id", "replay"];

/// Who a message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The program itself: the prompt before the conversation.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool: the result of a call.
    Tool,
}

/// One call of a tool, as a model asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Ties the result to the call.
    pub id: String,
    /// The tool, by name, alias or address.
    pub name: String,
    /// JSON text as the model wrote it; not always JSON.
    #[serde(default)]
    pub arguments: String,
}

/// One entry of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who it is from.
    pub role: Role,
    /// Its text.
    pub content: String,
    /// On an assistant message: the calls that it asks for.
    pub tool_calls: Vec<ToolCall>,
    /// On a tool message: the call that it answers.
    pub tool_call_id: Option<String>,
    /// Opaque data of the provider that wrote the message, given back to the same provider only.
    pub replay: Option<Value>,
    /// Whatever else was put on the message.
    pub extra: Map<String, Value>,
}

/// Why a JSON object is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// No role, or none that there is.
    #[error("`role` is missing or unknown, expected `system`, `user`, `assistant` or `tool`")]
    Role,
    /// A key of the wrong type.
    #[error("`{key}` is of the wrong type, expected {expected}")]
    Type {
        /// The key.
        key: &'static str,
        /// What it should be.
        expected: &'static str,
    },
}

impl Message {
    /// Makes a message of a role and a text.
    pub fn new(role: Role, content: impl Into<String>) -> Message {
        Message {
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            replay: None,
            extra: Map::new(),
        }
    }

    /// Makes a message of the person.
    pub fn user(content: impl Into<String>) -> Message {
        Message::new(Role::User, content)
    }

    /// Makes a message of the model with the calls that it asks for.
    pub fn assistant(content: impl Into<String>, tool_calls: Vec<ToolCall>) -> Message {
        Message { tool_calls, ..Message::new(Role::Assistant, content) }
    }

    /// Makes the result of a call.
    pub fn tool(call_id: impl Into<String>, content: impl Into<String>) -> Message {
        Message { tool_call_id: Some(call_id.into()), ..Message::new(Role::Tool, content) }
    }

    /// Makes a message of its JSON object. Keys that are null or missing are empty.
    pub fn from_json(mut object: Map<String, Value>) -> Result<Message, MessageError> {
        let role = object.shift_remove("role").as_ref().and_then(Value::as_str).and_then(Role::parse);
        let mut message = Message::new(role.ok_or(MessageError::Role)?, "");
        message.content = text(&mut object, "content")?.unwrap_or_default();
        message.tool_calls = match object.shift_remove("tool_calls") {
            None | Some(Value::Null) => Vec::new(),
            Some(calls) => serde_json::from_value(calls).map_err(|_| MessageError::Type {
                key: "tool_calls",
                expected: "a list of objects with `id`, `name` and `arguments` as text",
            })?,
        };
        message.tool_call_id = text(&mut object, "tool_call_id")?;
        message.replay = object.shift_remove("replay").filter(|replay| !replay.is_null());
        message.extra = object;
        Ok(message)
    }
}

impl Role {
    /// Parses a role as it is written in JSON.
    pub fn parse(text: &str) -> Option<Role> {
        [Role::System, Role::User, Role::Assistant, Role::Tool].into_iter().find(|role| role.as_str() == text)
    }

    /// Returns the role as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", self.role.as_str())?;
        if !self.content.is_empty() {
            map.serialize_entry("content", &self.content)?;
        }
        if !self.tool_calls.is_empty() {
            map.serialize_entry("tool_calls", &self.tool_calls)?;
        }
        if let Some(id) = self.tool_call_id.as_deref().filter(|id| !id.is_empty()) {
            map.serialize_entry("tool_call_id", id)?;
        }
        if let Some(replay) = self.replay.as_ref().filter(|replay| !replay.is_null()) {
            map.serialize_entry("replay", replay)?;
        }
        // A field set in code may share a name with a key above; one key twice is no JSON that others accept.
        for (key, value) in self.extra.iter().filter(|(key, value)| !KEYS.contains(&key.as_str()) && !value.is_null()) {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Message {
    // By hand: `flatten` buffers numbers, and loses digits of those in `extra`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Message, D::Error> {
        Message::from_json(Map::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

fn text(object: &mut Map<String, Value>, key: &'static str) -> Result<Option<String>, MessageError> {
    match object.shift_remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
        Some(_) => Err(MessageError::Type { key, expected: "text" }),
    }
}
