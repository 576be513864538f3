//! JSON Schemas of arguments as the host wants them: draft 2020-12, an object at the root, whole in itself.

use super::Example;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The schema of `A`, with what it refers to written in place unless it refers to itself.
pub(super) fn of<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = match settings.into_generator().into_root_schema_for::<A>().to_value() {
        Value::Object(schema) => schema,
        // `true`, the schema of a `Value`: any object will do.
        _ => Map::new(),
    };
    // Both speak of the Rust type; what the tool does is said by its own description.
    schema.shift_remove("title");
    schema.shift_remove("description");
    if !schema.contains_key("type") {
        schema.insert("type".to_owned(), Value::from("object"));
    }
    let mut schema = Value::Object(schema);
    drop_rust_formats(&mut schema);
    schema
}

/// Names such as `uint32` are formats of Rust, not of JSON Schema, and some model APIs refuse what they do not know.
fn drop_rust_formats(schema: &mut Value) {
    match schema {
        Value::Object(keys) => {
            let of_rust = |format: &Value| {
                format.as_str().is_some_and(|format| {
                    matches!(format, "float" | "double") || format.trim_start_matches('u').starts_with("int")
                })
            };
            if keys.get("format").is_some_and(of_rust) {
                keys.shift_remove("format");
            }
            keys.values_mut().for_each(drop_rust_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_rust_formats),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The schema as text, with the examples' arguments under `examples`.
pub(super) fn with_examples(mut schema: Value, examples: &[Example]) -> String {
    if let (Value::Object(keys), false) = (&mut schema, examples.is_empty()) {
        let calls = examples.iter().filter_map(|example| serde_json::from_str(&example.arguments).ok());
        keys.insert("examples".to_owned(), Value::Array(calls.collect()));
    }
    schema.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    /// For whoever reads the code
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Arguments {
        /// Where to look
        path: String,
        depth: Option<u32>,
        #[serde(default)]
        order: Order,
    }

    #[derive(Default, Deserialize, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Order {
        #[default]
        Name,
        Size,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Tree {
        children: Vec<Tree>,
    }

    #[test]
    fn a_schema_holds_what_the_model_needs_and_no_more() {
        let expected = json!({
            "type": "object",
            "properties": {
                "path": {"description": "Where to look", "type": "string"},
                "depth": {"type": ["integer", "null"], "minimum": 0},
                "order": {"type": "string", "enum": ["name", "size"], "default": "name"},
            },
            "required": ["path"],
        });
        assert_eq!(of::<Arguments>(), expected);
    }

    #[test]
    fn a_value_takes_any_object() {
        assert_eq!(of::<Value>(), json!({"type": "object"}));
        assert_eq!(of::<super::super::NoArguments>()["type"], "object");
    }

    #[test]
    fn a_type_that_holds_itself_refers_inside_its_schema() {
        let schema = of::<Tree>();
        assert_eq!(schema["type"], "object");
        let text = schema.to_string();
        assert!(text.contains(r##""$ref":"#"##), "{text}");
    }

    #[test]
    fn examples_are_listed_with_every_digit() {
        let example = Example { arguments: r#"{"id":9007199254740993.10}"#.into(), result: "{}".into() };
        let text = with_examples(json!({"type": "object"}), &[example]);
        assert_eq!(text, r#"{"type":"object","examples":[{"id":9007199254740993.10}]}"#);
    }
}
