//! [`parts`]: one reply as it is sent back, with what only its provider understands in the places where it was.
//!
//! Some APIs refuse a conversation whose signed thinking is missing or stands elsewhere. The text and the calls of a message
//! are the host's; what a provider [keeps](super::Reply::keep) comes back as `replay`, with the order of all.

use crate::{Message, ToolCall};
use serde_json::{Value, json};

/// A part of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Part<'a> {
    /// What was kept, as it was.
    Kept(Value),
    /// Text that is not blank, and what was kept of it.
    Text(&'a str, Option<Value>),
    /// A call, and what was kept of it.
    Call(&'a ToolCall, Option<Value>),
}

impl PartialEq for ToolCall {
    fn eq(&self, other: &Self) -> bool {
        (&self.id, &self.name, &self.arguments) == (&other.id, &other.name, &other.arguments)
    }
}

/// The order of a reply while it comes.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    parts: Vec<Entry>,
    keeps: bool,
}

#[derive(Clone, Debug)]
enum Entry {
    Kept(Value),
    /// So many bytes.
    Text(usize, Option<Value>),
    Call(usize, Option<Value>),
}

impl Order {
    pub(super) fn keep(&mut self, value: Value) {
        self.keeps = true;
        self.parts.push(Entry::Kept(value));
    }

    pub(super) fn text(&mut self, length: usize) {
        match self.parts.last_mut() {
            Some(Entry::Text(before, None)) => *before += length,
            _ => self.parts.push(Entry::Text(length, None)),
        }
    }

    /// Keeps something of the text so far.
    pub(super) fn mark_text(&mut self, value: Value) {
        self.keeps = true;
        match self.parts.last_mut() {
            Some(Entry::Text(_, mark)) => *mark = Some(value),
            _ => self.parts.push(Entry::Text(0, Some(value))),
        }
    }

    pub(super) fn call(&mut self, call: usize) {
        if !self.parts.iter().any(|part| matches!(part, Entry::Call(other, _) if *other == call)) {
            self.parts.push(Entry::Call(call, None));
        }
    }

    pub(super) fn mark_call(&mut self, call: usize, value: Value) {
        self.keeps = true;
        for part in &mut self.parts {
            match part {
                Entry::Call(other, mark) if *other == call => *mark = Some(value.clone()),
                _ => {}
            }
        }
    }

    /// None where nothing is kept: then text and calls are all there is.
    pub(super) fn into_replay(self) -> Option<Value> {
        let entry = |entry| match entry {
            Entry::Kept(value) => json!({"kept": value}),
            Entry::Text(length, None) => json!({"text": length}),
            Entry::Text(length, Some(mark)) => json!({"text": length, "kept": mark}),
            Entry::Call(call, None) => json!({"call": call}),
            Entry::Call(call, Some(mark)) => json!({"call": call, "kept": mark}),
        };
        self.keeps.then(|| json!({"parts": self.parts.into_iter().map(entry).collect::<Vec<_>>()}))
    }
}

/// The parts of an assistant message in their order. All its text and every call is among them, whatever `replay` says.
///
/// ```
/// use bellglass_guest::{Message, json, provider::{Part, parts}};
///
/// let mut reply = Message::assistant("It is four.");
/// assert_eq!(parts(&reply), [Part::Text("It is four.", None)]);
/// reply.replay = Some(r#"{"parts": [{"kept": {"signature": "x"}}, {"text": 11}]}"#.to_owned());
/// assert_eq!(parts(&reply), [Part::Kept(json!({"signature": "x"})), Part::Text("It is four.", None)]);
/// ```
#[must_use]
pub fn parts(message: &Message) -> Vec<Part<'_>> {
    let replay: Value = message.replay.as_deref().and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default();
    let entries = replay["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut calls: Vec<Option<&ToolCall>> = message.tool_calls.iter().map(Some).collect();
    let mut text = &*message.content;
    let mut parts = Vec::new();
    for entry in entries {
        let mark = entry.get("kept").cloned();
        let number = |key: &str| entry[key].as_u64().and_then(|number| usize::try_from(number).ok());
        if let Some(length) = number("text") {
            // A text that was changed since is not cut where it was.
            let (said, rest) = text.split_at_checked(length).unwrap_or((text, ""));
            text = rest;
            parts.push(Part::Text(said, mark));
        } else if let Some(call) = number("call") {
            parts.extend(calls.get_mut(call).and_then(Option::take).map(|call| Part::Call(call, mark)));
        } else {
            parts.extend(mark.map(Part::Kept));
        }
    }
    let at = parts.iter().position(|part| matches!(part, Part::Call(..))).unwrap_or(parts.len());
    parts.insert(at, Part::Text(text, None));
    parts.extend(calls.into_iter().flatten().map(|call| Part::Call(call, None)));
    parts.retain(|part| !matches!(part, Part::Text(text, None) if text.trim().is_empty()));
    parts
}

#[cfg(test)]
mod tests {
    use super::{Order, Part, parts};
    use crate::{Message, ToolCall};
    use serde_json::json;

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.to_owned(), name: "f".to_owned(), arguments: "{}".to_owned() }
    }

    #[test]
    fn what_was_kept_comes_back_where_it_was() {
        let mut order = Order::default();
        order.keep(json!("thought"));
        order.text(2);
        order.text(1);
        order.call(1);
        order.keep(json!("more"));
        order.call(0);
        order.call(1);
        order.mark_call(0, json!("signed"));
        let mut message = Message::assistant("abcd");
        message.tool_calls = vec![call("x"), call("y"), call("z")];
        message.replay = order.into_replay().map(|it| it.to_string());
        let (x, y, z) = (call("x"), call("y"), call("z"));
        assert_eq!(
            parts(&message),
            [
                Part::Kept(json!("thought")),
                Part::Text("abc", None),
                Part::Text("d", None),
                Part::Call(&y, None),
                Part::Kept(json!("more")),
                Part::Call(&x, Some(json!("signed"))),
                Part::Call(&z, None),
            ]
        );
    }

    #[test]
    fn a_replay_that_does_not_fit_loses_neither_text_nor_calls() {
        let x = call("x");
        for replay in ["", "7", "{}", r#"{"parts":[{"text":99},{"call":7},{"huh":1},4]}"#, r#"{"parts":[{"text":1}]}"#]
        {
            let mut message = Message::assistant("日本");
            message.tool_calls = vec![call("x")];
            message.replay = Some(replay.to_owned());
            assert_eq!(parts(&message), [Part::Text("日本", None), Part::Call(&x, None)], "{replay}");
        }
        assert!(parts(&Message::assistant(" \n")).is_empty());
    }
}
