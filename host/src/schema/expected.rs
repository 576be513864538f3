//! What a schema expects, as a phrase: `an integer from 1 to 7`.
//!
//! Says the whole range although `jsonschema` reports one end, so that the next attempt does not fail at the other.

use serde_json::{Map, Value};

use super::text;

/// References followed for a phrase; more of them say too little about the place at hand.
const MAX_REFERENCES: usize = 4;
/// Choices listed one by one.
pub(super) const MAX_CHOICES: usize = 12;

/// A phrase for what a subschema expects, if it says so itself or through a reference.
pub(super) fn phrase(document: &Value, schema: &Value) -> Option<String> {
    let schema = followed(document, schema)?;
    if let Some(value) = schema.get("const") {
        return Some(text::value(value));
    }
    if let Some(Value::Array(choices)) = schema.get("enum") {
        return Some(one_of(choices));
    }
    let types = types(schema);
    if types.is_empty() {
        return None;
    }
    let phrases = types.into_iter().map(|kind| kind_phrase(schema, kind)).collect();
    Some(text::any_of(phrases, MAX_CHOICES))
}

/// `"a", "b" or "c"`.
pub(super) fn one_of(choices: &[Value]) -> String {
    text::any_of(choices.iter().map(text::value).collect(), MAX_CHOICES)
}

/// The names in `type`, as written.
pub(super) fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A phrase for one type, with the limits that the schema sets for it.
pub(super) fn kind_phrase(schema: &Map<String, Value>, kind: &str) -> String {
    match kind {
        "integer" => format!("an integer{}", number_range(schema)),
        "number" => format!("a number{}", number_range(schema)),
        "string" => format!("a string{}", count(schema, "minLength", "maxLength", "character", "characters")),
        "array" => format!("an array{}", count(schema, "minItems", "maxItems", "item", "items")),
        "object" => format!("an object{}", count(schema, "minProperties", "maxProperties", "property", "properties")),
        "boolean" => "a boolean".to_owned(),
        other => text::name(other),
    }
}

fn number_range(schema: &Map<String, Value>) -> String {
    // In draft 4 the exclusive limits are booleans beside the limits.
    let limit = |inclusive: &str, exclusive: &str| {
        let number = |key| schema.get(key).filter(|value| value.is_number()).map(text::value);
        let excluded = schema.get(exclusive) == Some(&Value::Bool(true));
        let value = number(inclusive);
        match number(exclusive) {
            Some(value) => Some((value, true)),
            None => value.map(|value| (value, excluded)),
        }
    };
    let low = limit("minimum", "exclusiveMinimum");
    let high = limit("maximum", "exclusiveMaximum");
    match (low, high) {
        (Some((low, false)), Some((high, false))) => format!(" from {low} to {high}"),
        (low, high) => {
            let low =
                low.map(|(value, excluded)| format!("{}{value}", if excluded { "over " } else { "of at least " }));
            let high =
                high.map(|(value, excluded)| format!("{}{value}", if excluded { "under " } else { "of at most " }));
            match (low, high) {
                (Some(low), Some(high)) => format!(" {low} and {high}"),
                (Some(end), None) | (None, Some(end)) => format!(" {end}"),
                (None, None) => String::new(),
            }
        }
    }
}

fn count(schema: &Map<String, Value>, min: &str, max: &str, noun: &str, plural: &str) -> String {
    let limit = |key| schema.get(key).filter(|value| value.is_number()).map(text::value);
    match (limit(min), limit(max)) {
        (Some(min), Some(max)) if min == max => format!(" of {}", text::counted(min, noun, plural)),
        (Some(min), Some(max)) => format!(" of {min} to {}", text::counted(max, noun, plural)),
        (Some(min), None) => format!(" of at least {}", text::counted(min, noun, plural)),
        (None, Some(max)) => format!(" of at most {}", text::counted(max, noun, plural)),
        (None, None) => String::new(),
    }
}

/// The schema that a chain of plain references inside the document ends at.
pub(super) fn followed<'a>(document: &'a Value, schema: &'a Value) -> Option<&'a Map<String, Value>> {
    let mut map = schema.as_object()?;
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = map.get("$ref").and_then(Value::as_str) else { break };
        let target = reference.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
        let Some(Value::Object(target)) = target else { break };
        map = target;
    }
    Some(map)
}
