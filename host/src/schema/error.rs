//! Why a schema is refused when its plugin is loaded.
//!
//! Separate from violations because the reader is another one: the author of the plugin, not the model.

use jsonschema::{ReferencingError, ValidationError, error::ValidationErrorKind};
use serde_json::Value;

use super::{pattern, sentence::Subject, text};

/// Why the schema of a tool was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is no JSON, or nested deeper than the parser goes.
    #[error("schema is not JSON")]
    NotJson(#[source] serde_json::Error),
    /// The text is longer than the limit.
    #[error("schema has {bytes} bytes, at most {max} are allowed")]
    TooLarge {
        /// Length of the text.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The root does not say that arguments are an object.
    #[error("schema has {found}, write `\"type\": \"object\"` at the root")]
    RootType {
        /// What the root has instead.
        found: String,
    },
    /// A reference, or the `$schema`, leads to something that is not in the document.
    #[error("reference `{reference}` at `{pointer}` leads outside the schema, write its target below `$defs`")]
    Reference {
        /// Where the reference is, empty if unknown.
        pointer: String,
        /// The reference.
        reference: String,
    },
    /// `$schema` names a dialect that is not one of the published drafts.
    #[error("`$schema` is `{dialect}`, expected a draft of json-schema.org from 4 to 2020-12")]
    Dialect {
        /// The value of `$schema`.
        dialect: String,
    },
    /// A keyword has a value that it cannot have.
    #[error("keyword `{pointer}`: {problem}")]
    Keyword {
        /// Where the keyword is.
        pointer: String,
        /// What was expected and what came.
        problem: String,
    },
    /// A pattern that the linear-time engine does not run.
    #[error("pattern `{pattern}` at `{pointer}` {problem}")]
    Pattern {
        /// Where the pattern is.
        pointer: String,
        /// The pattern.
        pattern: String,
        /// Why it does not run.
        problem: String,
    },
    /// Subschemas that apply each other to the same value without end.
    #[error("schema applies itself to the same value without end, put a property or an item between")]
    Endless,
    /// Too many levels of nesting, or of subschemas for one value.
    #[error("schema is nested too deep, at most {max} levels are allowed")]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// One value would take too many steps.
    #[error("schema is too complex, it takes more than {max} steps for a single value")]
    TooComplex {
        /// The limit.
        max: u64,
    },
}

/// The error for a root that is not `"type": "object"`.
pub(super) fn root_type(document: &Value) -> SchemaError {
    let found = match document {
        Value::Object(map) => match map.get("type") {
            Some(other) => format!("type `{}`", text::value(other)),
            None => "no type".to_owned(),
        },
        other => format!("`{}` for an object", text::value(other)),
    };
    SchemaError::RootType { found }
}

/// The error for what `jsonschema` refuses.
pub(super) fn from_build(document: &Value, invalid: &ValidationError<'_>, pattern_bytes: usize) -> SchemaError {
    let path = invalid.instance_path().as_str();
    let pointer = text::pointer(path);
    match invalid.kind() {
        ValidationErrorKind::Referencing(ReferencingError::UnknownSpecification { specification }) => {
            SchemaError::Dialect { dialect: text::name(specification) }
        }
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. }) => {
            SchemaError::Reference { pointer, reference: text::name(uri) }
        }
        ValidationErrorKind::Referencing(_) => SchemaError::Keyword {
            pointer,
            problem: "holds an identifier or a reference that cannot be followed".to_owned(),
        },
        ValidationErrorKind::Format { format } if format == "regex" => {
            let pattern = invalid.instance().as_str().unwrap_or_default();
            let problem = match pattern::backtracking(pattern) {
                Some(what) => format!("uses {what}, which the linear-time engine does not have"),
                None => format!("is no regular expression, or takes more than {pattern_bytes} bytes when compiled"),
            };
            SchemaError::Pattern { pointer, pattern: text::name(pattern), problem }
        }
        _ if path.rsplit('/').next() == Some("type") => SchemaError::Keyword {
            pointer,
            problem: format!(
                "expected `array`, `boolean`, `integer`, `null`, `number`, `object` or `string`, or a list of them, got {}",
                text::value(invalid.instance())
            ),
        },
        _ => {
            let subject = Subject::new(&Value::Null, document);
            SchemaError::Keyword { pointer, problem: subject.problem(invalid) }
        }
    }
}
