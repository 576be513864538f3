//! Where a provider sends its reply while [`fetch`](crate::Provider::fetch) runs.

use crate::{bindings::bellglass::plugin::types::ToolCall, imports::reply};

pub use crate::bindings::bellglass::plugin::reply::{Event, Usage};

/// A piece of the model's thinking.
pub fn thinking(text: impl Into<String>) {
    emit(&Event::Thinking(text.into()));
}

/// A piece of the model's answer.
pub fn saying(text: impl Into<String>) {
    emit(&Event::Saying(text.into()));
}

/// A call of a tool, once it is whole. Its arguments are passed on as the model wrote them; the host judges them.
pub fn doing(call: ToolCall) {
    emit(&Event::Doing(call));
}

/// Tokens of this request so far; a later one replaces an earlier one.
pub fn usage(usage: Usage) {
    emit(&Event::Usage(usage));
}

/// Any of these.
pub fn emit(event: &Event) {
    reply::emit(event);
}
