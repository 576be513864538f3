//! The stub: a provider without a model. It thinks, says something, and calls the first tool once.
//!
//! Apart, because it is what tests and a first look run on: the whole path works before any key is set.

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::completion::{Completion, Request, StopReason};
use crate::host_request::{ReplyEvent, Usage};
use crate::tool::ToolDefinition;
use crate::transcript::{Role, ToolCall};

/// How deep a required object is filled in; a schema may refer to itself.
const DEPTH: usize = 8;

pub(super) async fn fetch(request: &Request, pieces: &mpsc::Sender<ReplyEvent>) -> Completion {
    let answered = request.messages.last().is_some_and(|it| it.role == Role::Tool);
    let prompt = request.messages.iter().rev().find(|it| it.role == Role::User).map_or("", |it| it.content.as_str());
    let mut events = Vec::new();
    let mut reason = StopReason::End;
    match (answered, request.tools.first()) {
        (true, _) => events.push(ReplyEvent::Saying("The tool has answered. That is all a stub can do.".into())),
        (false, tool) => {
            events.push(ReplyEvent::Thinking("A stub has no thoughts of its own.".into()));
            events.push(ReplyEvent::Saying(format!("You said: {prompt}")));
            if let Some(tool) = tool {
                events.push(ReplyEvent::Doing(call(tool, request.messages.len())));
                reason = StopReason::ToolCalls;
            }
        }
    }
    let words = |text: &str| text.split_whitespace().count() as u64;
    let input = request.messages.iter().map(|it| words(&it.content)).sum();
    events.push(ReplyEvent::Usage(Usage { input, output: 1, ..Usage::default() }));
    for event in events {
        // Whoever stopped listening has cancelled.
        let _ = pieces.send(event).await;
    }
    Completion { reason, replay: None }
}

fn call(tool: &ToolDefinition, place: usize) -> ToolCall {
    let arguments = sample(&tool.parameters, &tool.parameters, DEPTH);
    ToolCall { id: format!("stub-{place}"), name: tool.name.to_string(), arguments: arguments.to_string() }
}

/// A value that a schema describes: an example, else what it requires.
fn sample(schema: &Value, root: &Value, depth: usize) -> Value {
    let given = ["const", "default"].into_iter().find_map(|it| schema.get(it));
    let listed = ["examples", "enum"].into_iter().find_map(|it| schema.get(it)?.get(0));
    if let Some(value) = given.or(listed) {
        return value.clone();
    }
    if depth == 0 {
        return Value::Null;
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|it| root.pointer(it.strip_prefix('#')?))
    {
        return sample(target, root, depth - 1);
    }
    if let Some(first) = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|it| schema.get(it)?.get(0)) {
        return sample(first, root, depth - 1);
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        Some(kind) => kind.as_str(),
        None => None,
    };
    match kind {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array") => {
            let fill = schema.get("minItems").and_then(Value::as_u64).is_some_and(|it| it > 0);
            let item = schema.get("items").filter(|_| fill).map(|it| sample(it, root, depth - 1));
            Value::Array(item.into_iter().collect())
        }
        Some("null") => Value::Null,
        Some("object") => object(schema, root, depth),
        _ if schema.get("properties").is_some() => object(schema, root, depth),
        _ => json!("stub"),
    }
}

fn object(schema: &Value, root: &Value, depth: usize) -> Value {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let any = Value::Bool(true);
    let filled = required.map(|name| {
        let property = schema.get("properties").and_then(|it| it.get(name)).unwrap_or(&any);
        (name.to_owned(), sample(property, root, depth - 1))
    });
    Value::Object(filled.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: Value, expected: Value) {
        assert_eq!(sample(&schema, &schema, DEPTH), expected);
    }

    #[test]
    fn what_the_schema_requires_is_filled_in_and_nothing_else() {
        let schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "n": {"type": "integer", "minimum": 3}, "more": {"type": "string"}},
            "required": ["path", "n"]
        });
        check(schema, json!({"path": "stub", "n": 3}));
        check(json!({"type": "object"}), json!({}));
    }

    #[test]
    fn an_example_of_the_tool_is_taken_as_it_is() {
        check(json!({"type": "object", "examples": [{"path": "README.md"}]}), json!({"path": "README.md"}));
    }

    #[test]
    fn references_and_alternatives_are_followed_and_a_recursive_schema_ends() {
        let schema = json!({
            "type": "object",
            "properties": {"node": {"$ref": "#/$defs/node"}, "kind": {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}},
            "required": ["node", "kind"],
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"]}}
        });
        let value = sample(&schema, &schema, DEPTH);
        assert_eq!(value["kind"], json!("a"));
        assert!(value["node"]["next"].is_object());
    }
}
