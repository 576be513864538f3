//! Repairs of what models get wrong without losing anything, such as `"5"` for an integer.
//!
//! Guided by the errors of `jsonschema` and not by a second reading of the schema: only a string that an error names
//! is changed, and only if the whole is valid afterwards.

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use super::{EXPLAIN_STEPS, Schema, cost, measure, text};

/// Attempts for one call; alternatives within alternatives multiply.
const MAX_ATTEMPTS: usize = 32;

/// Arguments that became valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Corrected {
    /// The arguments as they are now.
    pub arguments: Value,
    /// One line for each change, for the log: `/limit: "5" -> 5`.
    pub notes: Vec<String>,
}

/// Repairs invalid arguments; nothing if they are valid, or if they cannot be made so.
pub(super) fn correct(schema: &Schema, arguments: &Value) -> Option<Corrected> {
    // A string may hold what is deeper than all that is around it.
    let max_depth = schema.bounds.max_depth;
    let depth = measure::measure(arguments, max_depth).ok()?.depth;
    let deepest = if holds_json(arguments) { max_depth } else { depth };
    let corrected = schema.bounds.on_stack(deepest, || {
        let mut attempts = MAX_ATTEMPTS;
        repair(schema, arguments.clone(), Vec::new(), &mut attempts)
    });
    corrected.flatten().filter(|corrected| !corrected.notes.is_empty())
}

/// Whether any string starts as an array or an object does.
fn holds_json(value: &Value) -> bool {
    match value {
        Value::String(string) => string.trim_start_matches(json_space).starts_with(['[', '{']),
        Value::Array(items) => items.iter().any(holds_json),
        Value::Object(map) => map.values().any(holds_json),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// One string that is to become what it holds.
struct Fix {
    pointer: String,
    value: Value,
}

fn repair(schema: &Schema, arguments: Value, notes: Vec<String>, attempts: &mut usize) -> Option<Corrected> {
    *attempts = attempts.checked_sub(1)?;
    measure::measure(&arguments, schema.bounds.max_depth).ok()?;
    // Not for arguments whose errors cannot all be gathered: there are many attempts, and each needs all of them.
    cost::count(&schema.graph, &arguments, EXPLAIN_STEPS)?;
    if schema.validator.is_valid(&arguments) {
        return Some(Corrected { arguments, notes });
    }
    let errors: Vec<ValidationError<'_>> = schema.validator.iter_errors(&arguments).collect();
    // What the schema demands without a choice comes first, all of it at once.
    let demanded = fixes(&errors);
    let choices = match demanded.is_empty() {
        true => alternatives(&errors),
        false => vec![demanded],
    };
    drop(errors);
    choices.into_iter().find_map(|fixes| {
        let mut repaired = arguments.clone();
        let mut notes = notes.clone();
        for Fix { pointer, value } in fixes {
            // A string that was replaced is not there for a second error about it.
            let Some(place) = repaired.pointer_mut(&pointer).filter(|place| place.is_string()) else { continue };
            let subject = if pointer.is_empty() { "arguments".to_owned() } else { text::pointer(&pointer) };
            notes.push(format!("{subject}: {} -> {}", text::value(place), text::value(&value)));
            *place = value;
        }
        repair(schema, repaired, notes, attempts)
    })
}

/// The strings of the wrong type that hold a value of the right one.
fn fixes(errors: &[ValidationError<'_>]) -> Vec<Fix> {
    errors.iter().filter_map(fix).collect()
}

fn fix(error: &ValidationError<'_>) -> Option<Fix> {
    let Kind::Type { kind } = error.kind() else { return None };
    let value = held(error.instance().as_str()?)?;
    let fits = |kind: JsonType| match kind {
        // Whether a number counts as an integer is left to the schema's draft.
        JsonType::Integer | JsonType::Number => value.is_number(),
        JsonType::Boolean => value.is_boolean(),
        JsonType::Array => value.is_array(),
        JsonType::Object => value.is_object(),
        JsonType::Null | JsonType::String => false,
    };
    let wanted = match kind {
        TypeKind::Single(kind) => fits(*kind),
        TypeKind::Multiple(kinds) => kinds.iter().any(fits),
    };
    wanted.then(|| Fix { pointer: error.instance_path().as_str().to_owned(), value })
}

/// The fixes that each alternative of each `anyOf` and `oneOf` needs, in the order of the schema.
fn alternatives(errors: &[ValidationError<'_>]) -> Vec<Vec<Fix>> {
    let mut choices = Vec::new();
    for error in errors {
        let (Kind::AnyOf { context } | Kind::OneOfNotValid { context }) = error.kind() else { continue };
        for errors in context {
            let demanded = fixes(errors);
            if demanded.is_empty() {
                choices.extend(alternatives(errors));
            } else {
                choices.push(demanded);
            }
        }
    }
    choices
}

/// The value that a string holds exactly, if it is a number, a boolean, an array or an object.
fn held(string: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(string).ok()?;
    let exact = match &value {
        // JSON allows space around it, and a number has none of its own.
        Value::Number(_) => {
            string.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && !string.ends_with(json_space)
        }
        Value::Bool(_) => string == "true" || string == "false",
        // A name that is there twice would be lost.
        Value::Array(_) | Value::Object(_) => n_names(&value) == n_colons(string),
        Value::Null | Value::String(_) => false,
    };
    exact.then_some(value)
}

fn json_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn n_names(value: &Value) -> usize {
    match value {
        Value::Object(map) => map.len() + map.values().map(n_names).sum::<usize>(),
        Value::Array(items) => items.iter().map(n_names).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Colons of a JSON text that are not inside strings: one for each name that was written.
fn n_colons(json: &str) -> usize {
    let mut n = 0;
    let mut in_string = false;
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => drop(bytes.next()),
            b':' if !in_string => n += 1,
            _ => {}
        }
    }
    n
}
