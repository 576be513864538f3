//! The errors of `jsonschema` in our words.
//!
//! Its messages quote whole values and schemas, and name one limit where the schema has two.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::{Map, Value};

use super::{Violation, expected, text};

/// Alternatives of `anyOf` and `oneOf` of which the expected types are listed.
const MAX_ALTERNATIVES: usize = 5;
/// Alternatives within alternatives that are told; the errors of all levels multiply, and so would the sentence.
const MAX_LEVELS: usize = 3;
/// What is wrong with the closest alternative, as far as it is told.
const MAX_CLOSEST: usize = 3;

/// What the errors are about.
pub(super) struct Subject<'a> {
    /// The schema; `null` when the errors are about the schema itself.
    document: &'a Value,
    /// What was checked.
    arguments: &'a Value,
    /// Alternatives this is within.
    level: usize,
}

impl<'a> Subject<'a> {
    pub(super) fn new(document: &'a Value, arguments: &'a Value) -> Subject<'a> {
        Subject { document, arguments, level: 0 }
    }

    /// The sentence for one error.
    pub(super) fn violation(&self, invalid: &ValidationError<'_>) -> Violation {
        let at = invalid.instance_path().as_str();
        match invalid.kind() {
            // The argument that is missing is the subject, not the object it is missing from.
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                Violation::at(&text::join(at, name), &missing(self.document, invalid, name))
            }
            _ => Violation::at(at, &self.problem(invalid)),
        }
    }

    /// What was expected and what came, without where.
    pub(super) fn problem(&self, invalid: &ValidationError<'_>) -> String {
        let document = self.document;
        let instance = invalid.instance();
        let got = format!("got {}", text::value(instance));
        let limit = reported_limit(invalid.kind());
        let schema = parent(document, invalid).unwrap_or(&limit);
        let length = |n: usize, kind| format!("expected {}, got {n}", expected::kind_phrase(schema, kind));
        match invalid.kind() {
            Kind::Type { kind } => {
                let kinds = match kind {
                    TypeKind::Single(kind) => vec![kind.as_str()],
                    TypeKind::Multiple(kinds) => kinds.iter().map(|kind| kind.as_str()).collect(),
                };
                let phrases = kinds.into_iter().map(|kind| expected::kind_phrase(schema, kind)).collect();
                format!("expected {}, {got}", text::any_of(phrases, expected::MAX_CHOICES))
            }
            Kind::Minimum { .. }
            | Kind::Maximum { .. }
            | Kind::ExclusiveMinimum { .. }
            | Kind::ExclusiveMaximum { .. } => {
                let integer = expected::types(schema).contains(&"integer");
                let kind = if integer { "integer" } else { "number" };
                format!("expected {}, {got}", expected::kind_phrase(schema, kind))
            }
            Kind::MinLength { .. } | Kind::MaxLength { .. } => {
                let n = instance.as_str().map_or(0, |string| string.chars().count());
                format!("{}: {}", length(n, "string"), text::value(instance))
            }
            Kind::MinItems { .. } | Kind::MaxItems { .. } => length(instance.as_array().map_or(0, Vec::len), "array"),
            Kind::MinProperties { .. } | Kind::MaxProperties { .. } => {
                length(instance.as_object().map_or(0, Map::len), "object")
            }
            Kind::AdditionalItems { limit } => {
                let n = instance.as_array().map_or(0, Vec::len);
                format!("expected at most {}, got {n}", text::counted(limit, "item", "items"))
            }
            Kind::AdditionalProperties { unexpected } => {
                let known = schema.get("properties").and_then(Value::as_object);
                let known: Vec<String> = known.into_iter().flatten().map(|(name, _)| backticked(name)).collect();
                let only = match known.is_empty() {
                    true => String::new(),
                    false => format!(", expected only {}", text::listed(known, expected::MAX_CHOICES, "and")),
                };
                format!("unexpected {}{only}", names(unexpected))
            }
            Kind::UnevaluatedProperties { unexpected } => format!("unexpected {}", names(unexpected)),
            Kind::UnevaluatedItems { unexpected } => {
                format!(
                    "unexpected {}",
                    text::counted(unexpected.len(), "item", "items") + " that no part of the schema allows"
                )
            }
            Kind::AnyOf { context } => self.alternatives(invalid, schema.get("anyOf"), context),
            Kind::OneOfNotValid { context } => self.alternatives(invalid, schema.get("oneOf"), context),
            Kind::OneOfMultipleValid { context } => {
                let fits = context.iter().filter(|errors| errors.is_empty()).count();
                format!("fits {fits} of the {} alternatives, expected exactly one, {got}", context.len())
            }
            Kind::Constant { expected_value } => format!("expected {}, {got}", text::value(expected_value)),
            Kind::Enum { options } => {
                let options = options.as_array().map_or(&[][..], Vec::as_slice);
                format!("expected {}, {got}", expected::one_of(options))
            }
            Kind::Contains => format!("expected an array with {}, {got}", contained(document, schema)),
            Kind::FalseSchema => match self.unwanted_names(invalid) {
                Some(names) => format!("unexpected {names}, expected no other properties"),
                None => format!("not allowed, {got}"),
            },
            Kind::Format { format } => format!("expected a string in the format `{}`, {got}", text::name(format)),
            Kind::ContentEncoding { content_encoding } => {
                format!("expected a string encoded as `{}`, {got}", text::name(content_encoding))
            }
            Kind::ContentMediaType { content_media_type } => {
                format!("expected a string that holds `{}`, {got}", text::name(content_media_type))
            }
            Kind::FromUtf8 { .. } => format!("expected a string that encodes UTF-8, {got}"),
            Kind::MultipleOf { multiple_of } => format!("expected a multiple of {}, {got}", text::value(multiple_of)),
            Kind::Not { schema } => match expected::phrase(document, schema) {
                Some(phrase) => format!("expected anything but {phrase}, {got}"),
                None => format!("fits what `not` forbids, {got}"),
            },
            Kind::Pattern { pattern } => format!("expected a string that matches `{}`, {got}", text::name(pattern)),
            Kind::PropertyNames { error } => {
                format!("name of a property: {}", self.problem(error))
            }
            Kind::Required { property } => format!("{} is missing", backticked(property.as_str().unwrap_or_default())),
            Kind::UniqueItems => format!("expected items that all differ, {got}"),
            Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
                format!("a pattern could not be matched, {got}")
            }
            Kind::Custom { .. } | Kind::Referencing(_) => format!("does not match the schema, {got}"),
        }
    }

    /// Types, when that is what all alternatives miss; the closest alternative otherwise.
    fn alternatives(
        &self,
        invalid: &ValidationError<'_>,
        schemas: Option<&Value>,
        context: &[Vec<ValidationError<'static>>],
    ) -> String {
        let got = text::value(invalid.instance());
        let here = |error: &ValidationError<'_>| error.instance_path() == invalid.instance_path();
        let misses_kind = |errors: &[ValidationError<'_>]| {
            let kind = |error: &ValidationError<'_>| {
                here(error) && matches!(error.kind(), Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. })
            };
            errors.iter().any(kind)
        };
        let n = context.len();
        let closest = (context.iter().enumerate())
            .filter(|(_, errors)| !misses_kind(errors))
            .min_by_key(|(_, errors)| (errors.iter().any(|error| is_tag(error)), errors.len()));
        let Some((idx, errors)) = closest else {
            let schemas = schemas.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let mut phrases: Vec<String> = Vec::new();
            for phrase in schemas.iter().filter_map(|schema| expected::phrase(self.document, schema)) {
                if !phrases.contains(&phrase) {
                    phrases.push(phrase);
                }
            }
            return match phrases.is_empty() {
                true => format!("fits none of the {n} alternatives, got {got}"),
                false => format!("expected {}, got {got}", text::any_of(phrases, MAX_ALTERNATIVES)),
            };
        };
        if self.level >= MAX_LEVELS {
            return format!("fits none of the {n} alternatives, got {got}");
        }
        let inner = Subject { level: self.level + 1, ..*self };
        let told = errors.iter().take(MAX_CLOSEST).map(|error| match error.kind() {
            Kind::Required { .. } => inner.violation(error).to_string(),
            _ if here(error) => inner.problem(error),
            _ => inner.violation(error).to_string(),
        });
        let told: Vec<String> = told.collect();
        format!("fits none of the {n} alternatives, the closest is number {}: {}", idx + 1, told.join("; "))
    }

    /// With `additionalProperties` and nothing beside it, `jsonschema` names the value and not the property.
    fn unwanted_names(&self, invalid: &ValidationError<'_>) -> Option<String> {
        let keyword = invalid.schema_path().as_str().rsplit('/').next();
        let object = self.arguments.pointer(invalid.instance_path().as_str())?.as_object()?;
        let whole = matches!(keyword, Some("additionalProperties" | "unevaluatedProperties"));
        let all: Vec<String> = object.keys().cloned().collect();
        (whole && !all.is_empty()).then(|| names(&all))
    }
}

/// The schema object that holds the keyword that failed.
fn parent<'a>(document: &'a Value, invalid: &ValidationError<'_>) -> Option<&'a Map<String, Value>> {
    let (parent, keyword) = invalid.schema_path().as_str().rsplit_once('/')?;
    let schema = document.pointer(parent)?.as_object()?;
    // The path of an embedded resource counts from that resource; then it leads elsewhere or nowhere.
    schema.contains_key(keyword).then_some(schema)
}

/// The limit that an error carries, for when its schema cannot be found.
fn reported_limit(kind: &Kind) -> Map<String, Value> {
    let (keyword, limit) = match kind {
        Kind::Minimum { limit } => ("minimum", limit.clone()),
        Kind::Maximum { limit } => ("maximum", limit.clone()),
        Kind::ExclusiveMinimum { limit } => ("exclusiveMinimum", limit.clone()),
        Kind::ExclusiveMaximum { limit } => ("exclusiveMaximum", limit.clone()),
        Kind::MinLength { limit } => ("minLength", (*limit).into()),
        Kind::MaxLength { limit } => ("maxLength", (*limit).into()),
        Kind::MinItems { limit } => ("minItems", (*limit).into()),
        Kind::MaxItems { limit } => ("maxItems", (*limit).into()),
        Kind::MinProperties { limit } => ("minProperties", (*limit).into()),
        Kind::MaxProperties { limit } => ("maxProperties", (*limit).into()),
        _ => return Map::new(),
    };
    Map::from_iter([(keyword.to_owned(), limit)])
}

/// Whether an error is about a property that tells alternatives apart, such as `{"kind": {"const": "file"}}`.
fn is_tag(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. })
}

fn missing<'a>(document: &'a Value, invalid: &ValidationError<'_>, name: &str) -> String {
    let schema = parent(document, invalid);
    let dependent =
        |schema: &'a Map<String, Value>| schema.get("dependentRequired").or_else(|| schema.get("dependencies"));
    if let Some(triggers) = schema.and_then(|schema| dependent(schema)?.as_object()) {
        let needed = |list: &Value| list.as_array().is_some_and(|list| list.iter().any(|item| item == name));
        let present = |trigger: &str| invalid.instance().get(trigger).is_some();
        if let Some((trigger, _)) = triggers.iter().find(|(trigger, list)| present(trigger) && needed(list)) {
            return format!("missing, needed beside {}", backticked(trigger));
        }
    }
    let property = schema.and_then(|schema| schema.get("properties")?.get(name));
    match property.and_then(|property| expected::phrase(document, property)) {
        Some(phrase) => format!("missing, expected {phrase}"),
        None => "missing".to_owned(),
    }
}

fn contained(document: &Value, schema: &Map<String, Value>) -> String {
    let limit = |key| schema.get(key).map(text::value);
    let range = match (limit("minContains"), limit("maxContains")) {
        (Some(min), Some(max)) => format!("{min} to {}", text::counted(max, "item", "items")),
        (None, Some(max)) => format!("1 to {}", text::counted(max, "item", "items")),
        (Some(min), None) => format!("at least {}", text::counted(min, "item", "items")),
        (None, None) => "at least 1 item".to_owned(),
    };
    match schema.get("contains").and_then(|item| expected::phrase(document, item)) {
        Some(phrase) => format!("{range} like {phrase}"),
        None => format!("{range} that `contains` describes"),
    }
}

fn names(names: &[String]) -> String {
    text::listed(names.iter().map(|name| backticked(name)).collect(), expected::MAX_CHOICES, "and")
}

fn backticked(name: &str) -> String {
    format!("`{}`", text::name(name))
}
