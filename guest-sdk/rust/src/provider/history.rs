//! [`History`]: the conversation as model APIs take it.
//!
//! They want user and assistant in turn, a user first, no blank text, one result for each call, and arguments that are an
//! object. The host keeps what was really said; here it is put into that order for one request.

use crate::{Message, Role, ToolCall};
use serde_json::{Value, json};
use std::{borrow::Cow, collections::HashMap};

/// What stands where a user said nothing.
const NO_TEXT: &str = "(no text)";
/// What stands where a tool gave nothing.
const NO_OUTPUT: &str = "(no output)";
/// What stands where a user would have to speak between two replies.
const GO_ON: &str = "(go on)";

/// A conversation, with user and assistant in turn.
///
/// ```
/// use bellglass_guest::{Message, ToolCall, provider::{History, Said, Turn}};
///
/// let mut reply = Message::assistant("");
/// reply.tool_calls.push(ToolCall { id: "1".into(), name: "wc".into(), arguments: "{}".into() });
/// let messages = [
///     Message::new(bellglass_guest::Role::System, "Be brief."),
///     Message::user("Count."),
///     Message::user("Quickly."),
///     reply,
///     Message::tool("1", ""),
/// ];
/// let history = History::new(&messages);
/// assert_eq!(history.system, "Be brief.");
/// let Turn::User(said) = &history.turns[0] else { panic!() };
/// assert!(matches!(&said[..], [Said::Text(text)] if text == "Count.\n\nQuickly."));
/// let Turn::User(said) = &history.turns[2] else { panic!() };
/// assert!(matches!(&said[..], [Said::Result(result)] if result.name == "wc" && result.content == "(no output)"));
/// ```
#[derive(Clone, Debug)]
pub struct History<'a> {
    /// The system prompt; empty for none.
    pub system: String,
    /// User first, then in turn.
    pub turns: Vec<Turn<'a>>,
}

/// What one side says before the other does.
#[derive(Clone, Debug)]
pub enum Turn<'a> {
    /// Results of the calls before, then text; at least one of both.
    User(Vec<Said<'a>>),
    /// A reply with text or calls; see [`parts`](super::parts).
    Assistant(&'a Message),
}

/// A part of what the user's side says.
#[derive(Clone, Debug)]
pub enum Said<'a> {
    /// Text that is not blank. Never two in a row.
    Text(Cow<'a, str>),
    /// What came of a call.
    Result(ToolResult<'a>),
}

/// The result of a tool call.
#[derive(Clone, Debug)]
pub struct ToolResult<'a> {
    /// The call that it answers.
    pub id: &'a str,
    /// The tool that was called.
    pub name: &'a str,
    /// What the model is told; never blank.
    pub content: &'a str,
    /// It is an object whose `ok` is false.
    pub failed: bool,
}

impl<'a> History<'a> {
    /// Puts messages into the order that APIs want.
    #[must_use]
    pub fn new(messages: &'a [Message]) -> Self {
        let mut history = Self { system: String::new(), turns: Vec::new() };
        let mut names = HashMap::new();
        for message in messages {
            let content = message.content.trim_end();
            match message.role {
                Role::System if content.is_empty() => {}
                Role::System => {
                    if !history.system.is_empty() {
                        history.system.push_str("\n\n");
                    }
                    history.system.push_str(content);
                }
                Role::User => history.say(Cow::Borrowed(if content.trim().is_empty() { NO_TEXT } else { content })),
                Role::Tool => {
                    let id = message.tool_call_id.as_deref().unwrap_or_default();
                    let name = names.get(id).copied().unwrap_or_default();
                    history.user().push(Said::Result(ToolResult::new(id, name, content)));
                }
                Role::Assistant => {
                    names.extend(message.tool_calls.iter().map(|call| (&*call.id, &*call.name)));
                    if content.trim().is_empty() && message.tool_calls.is_empty() {
                        continue;
                    }
                    if !matches!(history.turns.last(), Some(Turn::User(_))) {
                        history.say(Cow::Borrowed(GO_ON));
                    }
                    history.turns.push(Turn::Assistant(message));
                }
            }
        }
        if history.turns.is_empty() {
            history.say(Cow::Borrowed(GO_ON));
        }
        history
    }

    fn user(&mut self) -> &mut Vec<Said<'a>> {
        if !matches!(self.turns.last(), Some(Turn::User(_))) {
            self.turns.push(Turn::User(Vec::new()));
        }
        match self.turns.last_mut() {
            Some(Turn::User(said)) => said,
            _ => unreachable!("it was pushed"),
        }
    }

    fn say(&mut self, text: Cow<'a, str>) {
        let said = self.user();
        match said.last_mut() {
            Some(Said::Text(before)) => {
                let before = before.to_mut();
                before.push_str("\n\n");
                before.push_str(&text);
            }
            _ => said.push(Said::Text(text)),
        }
    }
}

impl<'a> ToolResult<'a> {
    fn new(id: &'a str, name: &'a str, content: &'a str) -> Self {
        /// All that is read of a result, which may be long.
        #[derive(serde::Deserialize)]
        struct Ok {
            ok: bool,
        }
        let failed = serde_json::from_str::<Ok>(content).is_ok_and(|result| !result.ok);
        Self { id, name, content: if content.trim().is_empty() { NO_OUTPUT } else { content }, failed }
    }
}

/// The arguments of a call as an object, for APIs that take no other. What the model wrote otherwise stands below
/// `not_an_object`, so that it sees its mistake.
#[must_use]
pub fn arguments(call: &ToolCall) -> Value {
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(arguments)) => Value::Object(arguments),
        Ok(Value::Null) => json!({}),
        _ if call.arguments.trim().is_empty() => json!({}),
        _ => json!({"not_an_object": call.arguments}),
    }
}

#[cfg(test)]
mod tests {
    use super::{History, Said, Turn, arguments};
    use crate::{Message, Role, ToolCall};
    use serde_json::json;

    fn call(id: &str, arguments: &str) -> ToolCall {
        ToolCall { id: id.to_owned(), name: format!("tool-{id}"), arguments: arguments.to_owned() }
    }

    fn shown(messages: &[Message]) -> Vec<String> {
        let said = |said: &Said<'_>| match said {
            Said::Text(text) => format!("{text:?}"),
            Said::Result(result) => format!(
                "{}:{}={}{}",
                result.id,
                result.name,
                result.content,
                if result.failed { " failed" } else { "" }
            ),
        };
        let turn = |turn: &Turn<'_>| match turn {
            Turn::User(parts) => format!("user {}", parts.iter().map(said).collect::<Vec<_>>().join(" ")),
            Turn::Assistant(message) => format!("assistant {:?}", message.content),
        };
        History::new(messages).turns.iter().map(turn).collect()
    }

    #[test]
    fn user_and_assistant_speak_in_turn() {
        let mut calls = Message::assistant(" ");
        calls.tool_calls = vec![call("1", "{}"), call("2", "{}")];
        let messages = [
            Message::new(Role::System, "s"),
            Message::assistant("first"),
            Message::user(" \n"),
            Message::assistant(""),
            Message::user("two"),
            calls,
            Message::tool("1", " "),
            Message::tool("2", r#"{"error":"no","ok":false}"#),
            Message::user("three"),
            Message::assistant("a"),
            Message::assistant("b"),
        ];
        assert_eq!(
            shown(&messages),
            [
                "user \"(go on)\"",
                "assistant \"first\"",
                "user \"(no text)\\n\\ntwo\"",
                "assistant \" \"",
                "user 1:tool-1=(no output) 2:tool-2={\"error\":\"no\",\"ok\":false} failed \"three\"",
                "assistant \"a\"",
                "user \"(go on)\"",
                "assistant \"b\"",
            ]
        );
        assert_eq!(shown(&[]), ["user \"(go on)\""]);
    }

    #[test]
    fn arguments_are_an_object_with_every_digit() {
        for (text, expected) in [
            ("", "{}"),
            ("  ", "{}"),
            ("null", "{}"),
            (r#"{"id":9007199254740993}"#, r#"{"id":9007199254740993}"#),
            ("{}{}", r#"{"not_an_object":"{}{}"}"#),
            ("[1]", r#"{"not_an_object":"[1]"}"#),
            (r#"{"cut"#, r#"{"not_an_object":"{\"cut"}"#),
        ] {
            assert_eq!(arguments(&call("1", text)).to_string(), expected);
        }
        assert_eq!(arguments(&call("1", "5")), json!({"not_an_object": "5"}));
    }
}
