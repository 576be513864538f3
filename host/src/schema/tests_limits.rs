//! Large arguments, extreme numbers, patterns and references: what is bounded by counting or never opened.

use std::{fmt::Write as _, fs, thread};

use expect_test::expect;
use serde_json::{Value, json};

use super::{
    Schema,
    tests_hostile::{object, survives, survives_text, x},
};

#[test]
fn large_arguments_end_soon() {
    let many = |item: Value| x(Value::Array(vec![item; 100_000]));
    survives(
        &object(json!({ "items": { "type": "string" } }), json!({})),
        many(json!(1)),
        expect![
            "argument `/x/0`: expected a string, got 1, argument `/x/1`: expected a string, got 1, argument `/x/2`: expected a string, got 1, argument `/x/3`: expected a string, got 1, argument `/x/4`: expected a string, got 1, argument `/x/5`: expected a string, got 1, argument `/x/6`: expected a string, got 1, argument `/x/7`: expected a string, got 1, argument `/x/8`: expected a string, got 1, argument `/x/9`: expected a string, got 1, argument `/x/10`: expected a string, got 1, argument `/x/11`: expected a string, got 1, argument `/x/12`: expected a string, got 1, argument `/x/13`: expected a string, got 1, argument `/x/14`: expected a string, got 1, argument `/x/15`: expected a string, got 1, and 99984 more"
        ],
    );
    survives(&object(json!({ "items": { "type": "integer" } }), json!({})), many(json!(1)), expect!["valid"]);
    let choices: Vec<Value> = (0..4000).map(|n| json!([n])).collect();
    survives(
        &object(json!({ "items": { "enum": choices } }), json!({})),
        many(json!([9999])),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
    let holes: Vec<Value> = (0..1000).map(|n| json!({ "contains": { "const": n } })).collect();
    survives(
        &object(json!({ "allOf": holes }), json!({})),
        many(json!(5000)),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
    let unique = object(json!({ "uniqueItems": true }), json!({}));
    survives(
        &unique,
        x((0..100_000).map(|n| json!({ "a": [n] })).collect()),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
    let alike = (0..20_000).map(|n| format!("1{n:0400}")).collect::<Vec<_>>().join(",");
    survives(
        &unique,
        x(serde_json::from_str(&format!("[{alike}]")).unwrap()),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
    let close = (0..250).map(|n| format!("1.{n:01900}1")).collect::<Vec<_>>().join(",");
    survives(
        &unique,
        x(serde_json::from_str(&format!("[{close}]")).unwrap()),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
    // `[]`, `[[]]` and `[[],[]]` hash alike.
    let shapes: Vec<Value> =
        (0..100).flat_map(|m| (0..100).map(move |n| json!([vec![json!([]); m], vec![json!([]); n]]))).collect();
    survives(
        &unique,
        x(shapes.into()),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
    survives(&unique, x((0..1000).map(|n| json!({ "id": n })).collect()), expect!["valid"]);
    survives(&unique, x((0..100_000).map(|n| json!(n.to_string())).collect()), expect!["valid"]);
    let long: Vec<Value> =
        (0..15).map(|n| serde_json::from_str(&format!("{}{}", n + 1, "7".repeat(2000))).unwrap()).collect();
    survives(
        &object(json!({ "items": { "enum": long, "multipleOf": 0.7 } }), json!({})),
        many(long[3].clone()),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
    let forbidden: Vec<Value> = (0..5000).map(|n| json!(n)).collect();
    survives(
        &object(json!({ "items": { "not": { "enum": forbidden } } }), json!({})),
        many(json!(1)),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
}

#[test]
fn extreme_numbers_end_soon() {
    let with = |rest: &str| format!(r#"{{"type":"object","properties":{{"x":{{{rest}}}}}}}"#);
    survives_text(
        with(r#""minLength":1e400"#),
        json!({}),
        expect!["refused: keyword `/properties/x/minLength`: expected an integer, got 1e+400"],
    );
    survives_text(
        with(r#""minItems":18446744073709551617"#),
        x(json!([1])),
        expect!["argument `/x`: expected an array of at least 18446744073709551617 items, got 1"],
    );
    survives_text(with(r#""multipleOf":1e-400"#), x(json!(5)), expect!["valid"]);
    survives_text(with(r#""multipleOf":1e-999999999"#), x(json!(5)), expect!["valid"]);
    survives_text(with(r#""maximum":1e999999999"#), x(json!(5)), expect!["valid"]);
    survives_text(
        with(&format!(r#""multipleOf":1{}"#, "0".repeat(3000))),
        x(json!(5)),
        expect!["refused: keyword `/properties/x/multipleOf`: expected a number of at most 2048 digits, got 3001"],
    );
    let huge = |number: &str| serde_json::from_str(&format!(r#"{{"x":{number}}}"#)).unwrap();
    survives_text(with(r#""type":"integer""#), huge("1e999999999"), expect!["valid"]);
    survives_text(
        with(r#""multipleOf":3,"maximum":7"#),
        huge("1e999999999"),
        expect![
            "argument `/x`: expected a number of at most 7, got 1e+999999999, argument `/x`: expected a multiple of 3, got 1e+999999999"
        ],
    );
    survives_text(
        with(r#""multipleOf":0.01"#),
        huge("1e-999999999"),
        expect!["argument `/x`: expected a multiple of 0.01, got 1e-999999999"],
    );
    survives_text(
        with(r#""multipleOf":3"#),
        huge(&"7".repeat(1_000_000)),
        expect!["arguments: expected a number of at most 2048 digits, got 1000000"],
    );
}

#[test]
fn patterns_run_in_linear_time() {
    let pattern = |pattern: &str| object(json!({ "pattern": pattern }), json!({}));
    survives(
        &pattern("(a+)+$"),
        x(json!("a".repeat(50_000) + "b")),
        expect![[
            r#"argument `/x`: expected a string that matches `(a+)+$`, got "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…"#
        ]],
    );
    survives(
        &pattern("(?=a)b"),
        json!({}),
        expect![
            "refused: pattern `(?=a)b` at `/properties/x/pattern` uses look-around, which the linear-time engine does not have"
        ],
    );
    survives(
        &pattern(r"(a)\1"),
        json!({}),
        expect![[
            r#"refused: pattern `(a)\1` at `/properties/x/pattern` uses a back-reference, which the linear-time engine does not have"#
        ]],
    );
    survives(
        &pattern("((a{1,100}){1,100}){1,100}"),
        json!({}),
        expect![
            "refused: pattern `((a{1,100}){1,100}){1,100}` at `/properties/x/pattern` is no regular expression, or takes more than 1048576 bytes when compiled"
        ],
    );
    survives(
        &pattern("(("),
        json!({}),
        expect![
            "refused: pattern `((` at `/properties/x/pattern` is no regular expression, or takes more than 1048576 bytes when compiled"
        ],
    );
    survives(
        &json!({ "type": "object", "patternProperties": { "(?!a)b": {} } }),
        json!({}),
        expect![
            "refused: pattern `(?!a)b` at `/patternProperties/(?!a)b` uses look-around, which the linear-time engine does not have"
        ],
    );
    survives(
        &pattern(r"^[\w.-]{1,64}@[a-z]{1,63}(\.[a-z]{1,63}){0,10}$"),
        x(json!("a.b@example.com")),
        expect!["valid"],
    );
    // Each byte may be a step in each of 500 states.
    survives(
        &pattern("[ab]*a[ab]{500}c"),
        x(json!("ab".repeat(1 << 20))),
        expect!["arguments: too much to check, it takes more than 8000000 steps with this schema"],
    );
    let names = (0..2000).fold(String::new(), |mut names, n| {
        let _ = write!(names, r#","^p{n}{{9}}":{{}}"#);
        names
    });
    survives_text(
        format!(r#"{{"type":"object","patternProperties":{{{}}}}}"#, &names[1..]),
        json!({ "p1": 1 }),
        expect![
            "refused: pattern `^p10{9}` at `/patternProperties/^p10{9}` is no regular expression, or takes more than 524 bytes when compiled"
        ],
    );
}

#[test]
fn formats_and_contents_of_older_drafts_end_soon() {
    for rest in [
        json!({ "format": "regex" }),
        json!({ "contentMediaType": "application/json" }),
        json!({ "format": "email" }),
        json!({ "format": "uri" }),
    ] {
        let schema = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": { "x": rest } });
        for text in ["(", "[", "a", "(a*)*"] {
            let compiled = Schema::compile(&schema.to_string(), 1 << 16).unwrap();
            let arguments = x(json!(text.repeat(1 << 20)));
            let run = move || compiled.check(&arguments).len();
            assert!(thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap() <= 1);
        }
    }
}

#[test]
fn references_that_leave_the_document_open_nothing() {
    let file = std::env::temp_dir().join("bellglass-schema-reference.json");
    fs::write(&file, r#"{"type":"integer"}"#).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let http = format!("http://{}/x.json", listener.local_addr().unwrap());
    for outside in [http.clone(), format!("file://{}", file.display()), file.display().to_string(), "x.json".to_owned()]
    {
        for keyword in ["$ref", "$dynamicRef"] {
            let text = object(json!({ keyword: outside }), json!({})).to_string();
            let told = Schema::compile(&text, 1 << 16).unwrap_err().to_string();
            assert!(told.contains("leads outside the schema"), "{told}");
        }
        let rebased = json!({ "$id": outside, "type": "object", "properties": { "x": { "$ref": "other.json" } } });
        assert!(Schema::compile(&rebased.to_string(), 1 << 16).is_err());
        let dialect = json!({ "$schema": outside, "type": "object" });
        assert!(Schema::compile(&dialect.to_string(), 1 << 16).is_err());
        let inner = object(json!({ "$id": "https://example.com/i", "$schema": outside, "type": "integer" }), json!({}));
        let _ = Schema::compile(&inner.to_string(), 1 << 16);
        // A name is only a name.
        let named = json!({ "$id": outside, "type": "object" });
        let _ = Schema::compile(&named.to_string(), 1 << 16);
    }
    assert!(listener.accept().is_err(), "a connection was opened");
    fs::remove_file(file).unwrap();
    survives(
        &object(json!({ "$ref": "https://example.com/x" }), json!({})),
        json!({}),
        expect![
            "refused: reference `https://example.com/x` at `/properties/x/$ref` leads outside the schema, write its target below `$defs`"
        ],
    );
    survives(
        &object(json!({ "$ref": "#/$defs/none" }), json!({})),
        json!({}),
        expect![
            "refused: reference `#/$defs/none` at `/properties/x/$ref` leads outside the schema, write its target below `$defs`"
        ],
    );
    survives(
        &object(json!({ "$ref": "#none" }), json!({})),
        json!({}),
        expect![
            "refused: reference `#none` at `/properties/x/$ref` leads outside the schema, write its target below `$defs`"
        ],
    );
    survives(
        &json!({ "$schema": "https://example.com/x", "type": "object" }),
        json!({}),
        expect!["refused: `$schema` is `https://example.com/x`, expected a draft of json-schema.org from 4 to 2020-12"],
    );
}
