//! Messages of a conversation, made by hand.

use crate::bindings::bellglass::plugin::types::{Message, Role, ToolDefinition};
use serde_json::Value;

impl Message {
    /// What the user says.
    #[must_use]
    pub fn user(content: impl Into<String>) -> Self {
        Self::new(Role::User, content)
    }

    /// What the model says.
    #[must_use]
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// The result of the tool call `id`.
    #[must_use]
    pub fn tool(id: impl Into<String>, content: impl Into<String>) -> Self {
        Self { tool_call_id: Some(id.into()), ..Self::new(Role::Tool, content) }
    }

    /// A message of this role with nothing but text.
    #[must_use]
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), tool_calls: Vec::new(), tool_call_id: None, replay: None, extra: None }
    }
}

impl Role {
    /// The name that model APIs use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

impl ToolDefinition {
    /// The JSON Schema of the arguments; null if it is not JSON.
    #[must_use]
    pub fn schema(&self) -> Value {
        serde_json::from_str(&self.parameters).unwrap_or_default()
    }
}
