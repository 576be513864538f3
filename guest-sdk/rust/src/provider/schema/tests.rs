//! Schemas that servers refused, and what they get instead.

use super::Dialect;
use proptest::prelude::*;
use serde_json::{Value, json};

fn property(dialect: Dialect, schema: Value) -> Value {
    dialect.adapt(&json!({"type": "object", "properties": {"p": schema}})).unwrap()["properties"]["p"].clone()
}

#[test]
fn gemini_gets_what_it_understands() {
    for (schema, expected) in [
        (json!({"type": ["integer", "null"]}), json!({"type": "integer", "nullable": true})),
        (json!({"type": ["integer", "string"]}), json!({"anyOf": [{"type": "integer"}, {"type": "string"}]})),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), json!({"type": "string", "nullable": true})),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ),
        (json!({"allOf": [{"type": "integer"}, {"minimum": 3}]}), json!({"type": "integer", "minimum": 3})),
        (json!({"const": "a"}), json!({"enum": ["a"], "type": "string"})),
        (json!({"enum": [1, 2], "type": "integer"}), json!({"type": "integer"})),
        (json!({"type": "string", "format": "uri"}), json!({"type": "string"})),
        (json!({"type": "string", "format": "date-time"}), json!({"type": "string", "format": "date-time"})),
        (json!({"type": "object", "additionalProperties": false, "properties": {}}), json!({"type": "object"})),
        (json!({"properties": {"a": {}}}), json!({"properties": {"a": {"type": "string"}}, "type": "object"})),
        (json!({"type": "array"}), json!({"type": "array", "items": {"type": "string"}})),
        (json!({}), json!({"type": "string"})),
        (json!(true), json!({"type": "string"})),
    ] {
        assert_eq!(property(Dialect::OPEN_API, schema.clone()), expected, "{schema}");
    }
}

#[test]
fn the_others_get_it_as_it_is_without_references() {
    let untouched =
        json!({"type": ["integer", "null"], "anyOf": [{"minimum": 9007199254740993_u64}], "x-mine": [1, 2]});
    assert_eq!(property(Dialect::JSON_SCHEMA, untouched.clone()), untouched);
    assert_eq!(property(Dialect::JSON_SCHEMA, json!(true)), json!({}));
    assert_eq!(property(Dialect::JSON_SCHEMA, json!({"type": "array"})), json!({"type": "array", "items": {}}));
    let schema = json!({
        "$schema": "x",
        "properties": {"a": {"$ref": "#/$defs/n", "description": "mine"}, "b": {"$ref": "#/definitions/none"}},
        "$defs": {"n": {"type": "integer", "description": "theirs"}},
    });
    let expected = json!({"properties": {"a": {"type": "integer", "description": "mine"}, "b": {}}, "type": "object"});
    assert_eq!(Dialect::JSON_SCHEMA.adapt(&schema).unwrap(), expected);
}

#[test]
fn a_root_that_is_no_object_is_refused_with_the_reason() {
    for schema in [json!({"type": "string"}), json!({"anyOf": [{"type": "object"}]}), json!(true), json!(null)] {
        assert!(Dialect::JSON_SCHEMA.adapt(&schema).is_err(), "{schema}");
    }
    for schema in
        [json!({}), json!({"type": "object", "anyOf": [{"required": ["a"]}]}), json!({"type": ["object", "null"]})]
    {
        let expected = json!({"type": "object", "properties": {}});
        assert_eq!(Dialect::JSON_SCHEMA.adapt(&schema).unwrap(), expected, "{schema}");
        assert_eq!(Dialect::OPEN_API.adapt(&schema).unwrap(), json!({"type": "object"}), "{schema}");
    }
}

#[test]
fn references_in_circles_and_explosions_end() {
    let circle = json!({"properties": {"t": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"properties": {"t": {"$ref": "#/$defs/t"}}}}});
    let adapted = Dialect::JSON_SCHEMA.adapt(&circle).unwrap();
    assert_eq!(adapted["properties"]["t"], json!({"properties": {"t": {}}}));

    let mut bomb = json!({"properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": {}});
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        bomb["$defs"][format!("d{level}")] = json!({"properties": {"a": next, "b": next}});
    }
    for dialect in [Dialect::JSON_SCHEMA, Dialect::OPEN_API] {
        assert!(dialect.adapt(&bomb).unwrap().to_string().len() < 2_000_000);
    }
}

const WORDS: &[&str] =
    &["type", "anyOf", "allOf", "oneOf", "enum", "const", "properties", "items", "required", "$ref", "$defs", "format"];
const TEXTS: &[&str] = &["object", "null", "string", "integer", "array", "#", "#/properties", "#/$defs/a", ""];

/// Any JSON, with the words of schemas for keys.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::sample::select(TEXTS).prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(WORDS), inner), 0..5)
                .prop_map(|keys| Value::Object(keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_schema_ends_as_an_object_without_references_or_is_refused(schema in schema()) {
        for dialect in [Dialect::JSON_SCHEMA, Dialect::OPEN_API] {
            if let Ok(adapted) = dialect.adapt(&schema) {
                prop_assert_eq!(&adapted["type"], "object");
            }
        }
    }
}
