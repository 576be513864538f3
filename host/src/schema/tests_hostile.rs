//! Schemas and arguments that are made to hang the host, to overflow its stack or to make it open something.
//!
//! Each runs in a thread with the 2 MiB of a worker of tokio.

use std::{
    thread,
    time::{Duration, Instant},
};

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{Schema, parse_arguments};

/// Compiles, checks and corrects within the stack of a worker and a few seconds of a debug build on a busy machine.
#[track_caller]
pub(super) fn survives(schema: &Value, arguments: Value, expected: Expect) {
    survives_text(schema.to_string(), arguments, expected);
}

#[track_caller]
pub(super) fn survives_text(schema: String, arguments: Value, expected: Expect) {
    let started = Instant::now();
    let run = move || match Schema::compile(&schema, 1 << 16) {
        Ok(schema) => {
            let violations: Vec<String> = schema.check(&arguments).iter().map(ToString::to_string).collect();
            schema.correct(&arguments);
            if violations.is_empty() { "valid".to_owned() } else { violations.join(", ") }
        }
        Err(error) => format!("refused: {error}"),
    };
    let told = thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
    assert!(started.elapsed() < Duration::from_secs(10), "took {:?}", started.elapsed());
    expected.assert_eq(&told);
}

/// `{"x": value}` for a schema of `x`.
pub(super) fn x(value: Value) -> Value {
    json!({ "x": value })
}

pub(super) fn object(x: Value, defs: Value) -> Value {
    json!({ "type": "object", "properties": { "x": x }, "$defs": defs })
}

/// `levels` objects around `core`.
fn nested(levels: usize, core: Value) -> Value {
    (0..levels).fold(core, |inner, _| json!({ "a": inner }))
}

/// Definitions `n0` to `n<levels>`, each made from the reference to the next.
fn chain(levels: usize, last: Value, link: impl Fn(Value) -> Value) -> Value {
    let links = (0..levels).map(|n| (format!("n{n}"), link(json!({ "$ref": format!("#/$defs/n{}", n + 1) }))));
    Value::Object(links.chain([(format!("n{levels}"), last)]).collect())
}

fn first() -> Value {
    json!({ "$ref": "#/$defs/n0" })
}

#[test]
fn a_schema_that_is_itself_is_refused() {
    survives(
        &json!({ "type": "object", "$ref": "#" }),
        json!({}),
        expect!["refused: schema applies itself to the same value without end, put a property or an item between"],
    );
    survives(
        &json!({ "type": "object", "$dynamicAnchor": "a", "allOf": [{ "$dynamicRef": "#a" }] }),
        json!({}),
        expect!["refused: schema applies itself to the same value without end, put a property or an item between"],
    );
    let both = json!({ "n0": { "allOf": [{ "$ref": "#/$defs/n1" }] }, "n1": { "allOf": [first(), first()] } });
    survives(
        &object(first(), both),
        x(json!(1)),
        expect!["refused: schema applies itself to the same value without end, put a property or an item between"],
    );
    let negated = json!({ "n0": { "not": { "not": first() } } });
    survives(
        &object(first(), negated),
        x(json!(1)),
        expect!["refused: schema applies itself to the same value without end, put a property or an item between"],
    );
}

#[test]
fn doubling_for_one_value_is_refused() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let doubled = chain(30, json!({ "type": "integer" }), |next| json!({ keyword: [next, next] }));
        survives(
            &object(first(), doubled),
            x(json!("s")),
            expect!["refused: schema is too complex, it takes more than 100000 steps for a single value"],
        );
    }
    let marked =
        (0..25).fold(json!({}), |inner, _| json!({ "anyOf": [inner], "unevaluatedProperties": { "type": "integer" } }));
    survives(
        &object(marked, json!({})),
        x(json!({ "y": 1 })),
        expect!["refused: schema is too complex, it takes more than 100000 steps for a single value"],
    );
}

#[test]
fn doubling_through_children_is_checked_as_long_as_it_is_cheap() {
    let twice = json!({ "n0": { "properties": { "a": { "allOf": [first(), first()] } }, "maxProperties": 1 } });
    survives(
        &object(first(), twice.clone()),
        x(nested(60, json!({}))),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
    survives(&object(first(), twice.clone()), x(nested(6, json!({}))), expect!["valid"]);
    survives(
        &object(first(), twice),
        x(nested(3, json!({ "a": 1, "b": 2 }))),
        expect!["argument `/x/a/a/a`: expected an object of at most 1 property, got 2"],
    );
    let straight = chain(100, json!({}), |next| json!({ "properties": { "a": { "allOf": [next, next] } } }));
    survives(
        &object(first(), straight.clone()),
        x(nested(100, json!(1))),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
    survives(&object(first(), straight), x(nested(4, json!(1))), expect!["valid"]);
    let marked = json!({ "n0": { "anyOf": [{ "properties": { "a": first() } }, { "properties": { "a": first() } }], "unevaluatedProperties": false } });
    survives(
        &object(first(), marked),
        x(nested(60, json!({ "b": 1 }))),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
    let listed = json!({ "n0": { "prefixItems": [first()], "contains": first(), "unevaluatedItems": false } });
    let list = (0..60).fold(json!([]), |inner, _| json!([inner]));
    survives(
        &object(first(), listed),
        x(list),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
    let conditional = json!({ "n0": { "if": { "properties": { "a": first() } }, "then": { "properties": { "a": first() } }, "else": false } });
    survives(
        &object(first(), conditional),
        x(nested(60, json!(1))),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
}

#[test]
fn long_chains_of_references_fit_on_the_stack() {
    survives(
        &object(first(), chain(2000, json!({ "type": "integer" }), |next| next)),
        x(json!("s")),
        expect!["refused: schema is nested too deep, at most 64 levels are allowed"],
    );
    survives(
        &object(first(), chain(60, json!({ "type": "integer" }), |next| next)),
        x(json!("s")),
        expect![[r#"argument `/x`: expected an integer, got "s""#]],
    );
    let children = chain(1200, json!({}), |next| json!({ "properties": { "a": next } }));
    survives(&object(first(), children), x(nested(120, json!(1))), expect!["valid"]);
}

#[test]
fn deep_nesting_fits_on_the_stack() {
    let text = format!(r#"{{"type":"object","x":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    survives_text(text, json!({}), expect!["refused: schema is not JSON"]);
    let items = (0..60).fold(json!({ "type": "integer" }), |inner, _| json!({ "items": inner }));
    survives(
        &object(items, json!({})),
        x((0..60).fold(json!("s"), |inner, _| json!([inner]))),
        expect![[
            r#"argument `/x/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0`: expected an integer, got "s""#
        ]],
    );
    let any = json!({ "n0": { "type": "object", "additionalProperties": first() } });
    survives(&object(first(), any.clone()), x(nested(126, json!({}))), expect!["valid"]);
    survives(
        &object(first(), any.clone()),
        x(nested(126, json!(1))),
        expect![
            "argument `/x/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a…`: expected an object, got 1"
        ],
    );
    survives(
        &object(first(), any),
        x(nested(500, json!({}))),
        expect!["arguments: nested too deep, this schema allows 128 levels"],
    );
}

#[test]
fn as_many_validators_as_are_allowed_fit_on_the_stack() {
    let links: [fn(Value) -> Value; 6] = [
        |next| json!({ "allOf": [{ "anyOf": [next] }] }),
        |next| json!({ "oneOf": [next, false] }),
        |next| json!({ "if": true, "then": next }),
        |next| json!({ "not": { "not": next } }),
        |next| json!({ "dependentSchemas": { "a": next }, "type": ["object", "integer"] }),
        |next| json!({ "$ref": next["$ref"], "unevaluatedItems": false, "minProperties": 0 }),
    ];
    let last: [fn() -> Value; 3] = [
        || json!({ "type": "object", "additionalProperties": first() }),
        || json!({ "type": "object", "properties": { "a": first(), "b": true }, "additionalProperties": false }),
        || json!({ "type": "object", "allOf": [{ "properties": { "a": first() } }], "minProperties": 0 }),
    ];
    for (link, last) in links.iter().flat_map(|link| last.iter().map(move |last| (link, last))) {
        for in_place in [1, 2, 8, 17] {
            let schema = object(first(), chain(in_place, last(), link));
            // Seventeen `unevaluatedItems` for one value are refused.
            let Ok(compiled) = Schema::compile(&schema.to_string(), 1 << 16) else { continue };
            let max_depth = compiled.bounds.max_depth;
            survives(&schema, x(nested(max_depth - 2, json!({}))), expect!["valid"]);
            let run = move || compiled.check(&x(nested(max_depth - 2, json!("s")))).len();
            let n = thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
            assert!(n >= 1);
        }
    }
}

#[test]
fn raw_values_do_not_hide_depth() {
    let mut text = "[".repeat(100) + &"]".repeat(100);
    for _ in 0..3 {
        text = format!("{}{}{}", "[".repeat(100), json!({ "$serde_json::private::RawValue": text }), "]".repeat(100));
    }
    survives_text(
        format!(r#"{{"type":"object","x":{text}}}"#),
        json!({}),
        expect!["refused: schema is nested too deep, at most 128 levels are allowed"],
    );
    if let Ok(arguments) = parse_arguments(&format!(r#"{{"x":{text}}}"#)) {
        survives(
            &json!({ "type": "object" }),
            arguments,
            expect!["arguments: nested too deep, this schema allows 128 levels"],
        );
    }
}

#[test]
fn long_lists_of_alternatives_end_soon() {
    let consts: Vec<Value> = (0..3000).map(|n| json!({ "const": n })).collect();
    survives(
        &object(json!({ "oneOf": consts }), json!({})),
        x(json!("s")),
        expect![[r#"argument `/x`: expected 0, 1, 2, 3, 4 or 2995 more, got "s""#]],
    );
    let strings: Vec<Value> = (0..2000).map(|_| json!({ "type": "null" })).collect();
    survives(
        &object(json!({ "anyOf": strings }), json!({})),
        x(json!("s".repeat(4 << 20))),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
}
