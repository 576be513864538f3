//! Random schemas and arguments: nothing panics, a correction is valid and is the last one.

use proptest::{collection, prelude::*, sample, test_runner::Config};
use serde_json::{Map, Value, json};

use super::{Schema, parse_arguments, text};

/// Arguments for each schema: compiling takes a thousand times as long as checking.
const ARGUMENTS_A_SCHEMA: usize = 12;

fn key() -> impl Strategy<Value = String> {
    sample::select(vec!["a", "b", "c/d", "n0"]).prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    let number = prop_oneof![Just("0".to_owned()), "-?[1-9][0-9]{0,25}", "[0-9]\\.[0-9]{1,3}", "[1-9]e[0-9]{1,4}",];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(|number| serde_json::from_str(&number).unwrap()),
        "\\PC{0,6}".prop_map(Value::String),
        any::<String>().prop_map(Value::String),
    ]
}

/// Any value, often one that is written into a string as models do.
fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            collection::vec((key(), inner.clone()), 0..4).prop_map(|entries| entries.into_iter().collect()),
            inner.clone().prop_map(|value| Value::String(value.to_string())),
            inner,
        ]
    })
}

fn arguments() -> impl Strategy<Value = Value> {
    collection::vec((key(), value()), 0..4).prop_map(|entries| entries.into_iter().collect())
}

/// One keyword with a value that mostly suits it.
fn keyword(schema: BoxedStrategy<Value>) -> impl Strategy<Value = (String, Value)> {
    let types = ["array", "boolean", "integer", "null", "number", "object", "string", "strin"];
    let references = ["#", "#/$defs/n0", "#/$defs/n1", "#/properties/a", "#anchor", "other.json", "#/%24defs/n0"];
    let applicators = [
        "not",
        "if",
        "then",
        "else",
        "items",
        "contains",
        "additionalProperties",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    ];
    let limits = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    ];
    let patterns = ["^a", "[a-z]+$", "(a|b)*c", "a{1,9}", "(?=a)", "("];
    let list = collection::vec(schema.clone(), 1..3);
    let map = collection::vec((key(), schema.clone()), 1..3);
    let of = |names: &'static [&'static str]| sample::select(names).prop_map(str::to_owned);
    prop_oneof![
        4 => sample::select(types.to_vec()).prop_map(|kind| ("type".to_owned(), json!(kind))),
        1 => collection::vec(sample::select(types[..7].to_vec()), 1..3).prop_map(|kinds| ("type".to_owned(), json!(kinds))),
        2 => sample::select(references.to_vec()).prop_map(|reference| ("$ref".to_owned(), json!(reference))),
        3 => (sample::select(applicators.to_vec()), schema).prop_map(|(name, schema)| (name.to_owned(), schema)),
        3 => (sample::select(limits.to_vec()), 0..4_u8).prop_map(|(name, limit)| (name.to_owned(), json!(limit))),
        2 => (of(&["allOf", "anyOf", "oneOf", "prefixItems"]), list).prop_map(|(name, list)| (name, json!(list))),
        4 => (of(&["properties", "patternProperties", "dependentSchemas", "$defs"]), map)
            .prop_map(|(name, map)| (name, Value::Object(map.into_iter().collect()))),
        1 => collection::vec(value(), 1..4).prop_map(|values| ("enum".to_owned(), json!(values))),
        1 => value().prop_map(|value| ("const".to_owned(), value)),
        1 => collection::vec(key(), 1..3).prop_map(|keys| ("required".to_owned(), json!(keys))),
        1 => (key(), collection::vec(key(), 1..3)).prop_map(|(key, keys)| ("dependentRequired".to_owned(), json!({ key: keys }))),
        1 => sample::select(patterns.to_vec()).prop_map(|pattern| ("pattern".to_owned(), json!(pattern))),
        1 => any::<bool>().prop_map(|unique| ("uniqueItems".to_owned(), json!(unique))),
        1 => Just(("$dynamicAnchor".to_owned(), json!("anchor"))),
    ]
}

fn subschema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!({})), any::<bool>().prop_map(Value::Bool), Just(json!({ "type": "integer" }))];
    leaf.prop_recursive(4, 32, 4, |inner| {
        collection::vec(keyword(inner.boxed()), 0..4).prop_map(|keywords| Value::Object(keywords.into_iter().collect()))
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let keywords = collection::vec(keyword(subschema().boxed()), 0..5);
    (keywords, subschema(), subschema()).prop_map(|(keywords, n0, n1)| {
        let mut root: Map<String, Value> = keywords.into_iter().collect();
        root.insert("type".to_owned(), json!("object"));
        root.insert("$defs".to_owned(), json!({ "n0": n0, "n1": n1 }));
        Value::Object(root)
    })
}

fn config(cases: u32) -> Config {
    Config { failure_persistence: None, ..Config::with_cases(cases) }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn checks_agree_with_the_judge_and_corrections_are_valid(
        schema in schema(),
        all in collection::vec(arguments(), ARGUMENTS_A_SCHEMA),
    ) {
        let Ok(schema) = Schema::compile(&schema.to_string(), 1 << 20) else { return Ok(()) };
        for arguments in all {
            let violations = schema.check(&arguments);
            prop_assert_eq!(violations.is_empty(), schema.validator.is_valid(&arguments));
            prop_assert!(violations.len() <= super::MAX_VIOLATIONS + 1);
            for violation in &violations {
                prop_assert!(!violation.to_string().contains(|c: char| c.is_control()));
                prop_assert!(violation.to_string().chars().count() < 8000);
            }
            if let Some(corrected) = schema.correct(&arguments) {
                prop_assert!(!violations.is_empty() && !corrected.notes.is_empty());
                prop_assert!(schema.check(&corrected.arguments).is_empty());
                prop_assert_eq!(schema.correct(&corrected.arguments), None);
            }
        }
    }
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn whatever_a_model_writes_is_an_object_or_a_violation(text in prop_oneof![any::<String>(), value().prop_map(|v| v.to_string())]) {
        if let Ok(arguments) = parse_arguments(&text) {
            prop_assert!(arguments.is_object());
        }
    }

    #[test]
    fn an_integer_in_a_string_keeps_its_digits(integer in "-?[1-9][0-9]{0,60}") {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
        let schema = Schema::compile(&schema.to_string(), 1000).unwrap();
        let corrected = schema.correct(&json!({ "a": integer })).unwrap();
        prop_assert_eq!(corrected.arguments.to_string(), format!(r#"{{"a":{integer}}}"#));
    }

    #[test]
    fn any_text_is_shown_short_and_harmless(text in any::<String>()) {
        for shown in [text::name(&text), text::value(&json!(text))] {
            prop_assert!(!shown.contains(|c: char| c.is_control()));
            prop_assert!(shown.chars().count() <= 61 * 10);
        }
        super::pattern::states(&text);
        super::pattern::backtracking(&text);
    }
}
