//! A reply that has to be JSON of a shape: the schema, what the model is told of it, and what is wrong with a reply.

use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use crate::cli::Usage;
use crate::schema::Schema;

/// Largest schema that is read, in bytes.
const LARGEST: usize = 1 << 20;

/// The schema of a reply. One that is not of an object is put into one, under this key, so that the same checker serves.
const REPLY: &str = "reply";

/// The shape of a reply.
pub(super) struct Shape {
    text: String,
    schema: Schema,
    wrapped: bool,
}

impl Shape {
    /// Reads the file of a schema.
    pub(super) fn load(path: &Path) -> anyhow::Result<Self> {
        let shown = crate::text::visible_line(&path.to_string_lossy()).into_owned();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the schema `{shown}`"))?;
        let wrong =
            |error: String| anyhow::Error::from(Usage(format!("`{shown}` cannot be used as a schema: {error}")));
        Self::parse(text).map_err(wrong)
    }

    fn parse(text: String) -> Result<Self, String> {
        let document: Value = serde_json::from_str(&text).map_err(|error| format!("it is no JSON: {error}"))?;
        let wrapped = document.get("type").and_then(Value::as_str) != Some("object");
        let source = if wrapped { wrap(document) } else { text.clone() };
        let schema = Schema::compile(&source, LARGEST).map_err(|error| error.to_string())?;
        Ok(Self { text, schema, wrapped })
    }

    /// The prompt, with what the reply has to be.
    pub(super) fn request(&self, prompt: &str) -> String {
        let schema = self.text.trim();
        format!("{prompt}\n\nAnswer with one JSON value that fits this JSON Schema, and with nothing else:\n\n{schema}")
    }

    /// What is said of a reply that does not fit.
    pub(super) fn again(&self, wrong: &str) -> String {
        format!(
            "That does not fit the schema: {wrong}\n\nAnswer again, with one JSON value that fits it and nothing else."
        )
    }

    /// The JSON of a reply, as the model wrote it; models like to put it into a fenced block.
    pub(super) fn read(&self, reply: &str) -> Result<String, String> {
        let json = unfenced(reply.trim());
        let value: Value = serde_json::from_str(json).map_err(|error| format!("it is no JSON: {error}"))?;
        let value = if self.wrapped { serde_json::json!({REPLY: value}) } else { value };
        let errors = self.schema.check(&value);
        if errors.is_empty() {
            return Ok(json.to_owned());
        }
        Err(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
    }
}

/// References to the root of the schema point into the wrapper then.
fn wrap(mut document: Value) -> String {
    let definitions = document.as_object_mut().and_then(|it| it.shift_remove("$defs"));
    let mut object = serde_json::json!({"type": "object", "properties": {REPLY: document}, "required": [REPLY]});
    if let (Some(definitions), Some(object)) = (definitions, object.as_object_mut()) {
        object.insert("$defs".to_owned(), definitions);
    }
    object.to_string()
}

/// The inside of a fenced block that is the whole reply.
fn unfenced(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|it| it.strip_suffix("```"));
    inside.and_then(|it| it.split_once('\n')).map_or(text, |it| it.1.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: &str, reply: &str, expected: Result<&str, &str>) {
        let shape = Shape::parse(schema.to_owned()).unwrap();
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(shape.read(reply), expected);
    }

    #[test]
    fn a_reply_fits_with_or_without_a_fence_and_keeps_every_digit() {
        let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
        check(schema, "{\"n\": 9007199254740993}", Ok("{\"n\": 9007199254740993}"));
        check(schema, "```json\n{\"n\":1}\n```\n", Ok("{\"n\":1}"));
        check(schema, "{}", Err("argument `/n`: missing, expected an integer"));
        check(schema, "here: {}", Err("it is no JSON: expected value at line 1 column 1"));
    }

    #[test]
    fn a_schema_need_not_be_of_an_object() {
        check(r##"{"type":"array","items":{"$ref":"#/$defs/n"},"$defs":{"n":{"type":"integer"}}}"##, "[1]", Ok("[1]"));
        check(r#"{"enum":["yes","no"]}"#, "\"yes\"", Ok("\"yes\""));
        assert!(Shape::parse("{\"type\":\"array\"}".into()).unwrap().read("{}").is_err());
    }
}
