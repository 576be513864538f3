//! Corrections that lose nothing, one line a case.

use expect_test::{Expect, expect};

use super::{Schema, parse_arguments};

/// Corrects `{"x": value}` against the schema of `x`.
#[track_caller]
fn check(property: &str, value: &str, expected: Expect) {
    let text = format!(
        r##"{{"type":"object","properties":{{"x":{property}}},"$defs":{{"int":{{"type":"integer"}}}}}}"##
    );
    let schema = Schema::compile(&text, 1 << 16).unwrap();
    let arguments = parse_arguments(&format!(r#"{{"x":{value}}}"#)).unwrap();
    let shown = match schema.correct(&arguments) {
        Some(corrected) => {
            assert!(schema.check(&corrected.arguments).is_empty());
            format!("{} [{}]", corrected.arguments["x"], corrected.notes.join("; "))
        }
        None => "none".to_owned(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn numbers_in_strings_keep_their_digits() {
    check(r#"{"type":"integer"}"#, r#""5""#, expect![[r#"5 [/x: "5" -> 5]"#]]);
    check(r#"{"type":"integer"}"#, r#""18446744073709551617""#, expect![[r#"18446744073709551617 [/x: "18446744073709551617" -> 18446744073709551617]"#]]);
    check(r#"{"type":"number"}"#, r#""-1.50""#, expect![[r#"-1.50 [/x: "-1.50" -> -1.50]"#]]);
    check(r#"{"type":"integer"}"#, r#""5.0""#, expect![[r#"5.0 [/x: "5.0" -> 5.0]"#]]);
    check(r##"{"$ref":"#/$defs/int"}"##, r#""7""#, expect![[r#"7 [/x: "7" -> 7]"#]]);
    check(r#"{"type":["integer","null"]}"#, r#""7""#, expect![[r#"7 [/x: "7" -> 7]"#]]);
}

#[test]
fn strings_that_are_not_exactly_the_value_stay() {
    for value in [r#""5.5""#, r#"" 5""#, r#""5 ""#, r#""05""#, r#""+5""#, r#""0x5""#, r#""five""#, r#""""#, r#""5,000""#, r#""NaN""#] {
        check(r#"{"type":"integer"}"#, value, expect!["none"]);
    }
    for value in [r#""True""#, r#""yes""#, r#""1""#, r#"" true""#, "1", r#""null""#] {
        check(r#"{"type":"boolean"}"#, value, expect!["none"]);
    }
    check(r#"{"type":"integer"}"#, r#""{\"$serde_json::private::Number\":\"5\"}""#, expect!["none"]);
    check(r#"{"type":"null"}"#, r#""null""#, expect!["none"]);
    check(r#"{"type":"object"}"#, r#""{\"a\":1,\"a\":2}""#, expect!["none"]);
    check(r#"{"type":"array"}"#, r#""[1,2""#, expect!["none"]);
    check(r#"{"type":"array"}"#, r#""a,b""#, expect!["none"]);
    check(r#"{"type":"string"}"#, "5", expect!["none"]);
}

#[test]
fn booleans_arrays_and_objects_in_strings_become_values() {
    check(r#"{"type":"boolean"}"#, r#""true""#, expect![[r#"true [/x: "true" -> true]"#]]);
    check(r#"{"type":"array","items":{"type":"string"}}"#, r#""[\"5\"]""#, expect![[r#"["5"] [/x: "[\"5\"]" -> ["5"]]"#]]);
    check(r#"{"type":"object"}"#, r#"" {\"a:\\\"b\":1} ""#, expect![[r#"{"a:\"b":1} [/x: " {\"a:\\\"b\":1} " -> {"a:\"b":1}]"#]]);
}

#[test]
fn corrections_reach_into_what_was_a_string() {
    check(r#"{"type":"array","items":{"type":"integer"}}"#, r#"["1","2",3]"#, expect![[r#"[1,2,3] [/x/0: "1" -> 1; /x/1: "2" -> 2]"#]]);
    check(r#"{"type":"array","items":{"type":"integer"}}"#, r#""[\"1\",2]""#, expect![[r#"[1,2] [/x: "[\"1\",2]" -> ["1",2]; /x/0: "1" -> 1]"#]]);
    check(r#"{"type":"object","properties":{"a/b":{"type":"boolean"}}}"#, r#"{"a/b":"false"}"#, expect![[r#"{"a/b":false} [/x/a~1b: "false" -> false]"#]]);
}

#[test]
fn alternatives_are_taken_only_if_they_are_valid_then() {
    check(r#"{"anyOf":[{"type":"integer"},{"type":"boolean"}]}"#, r#""true""#, expect![[r#"true [/x: "true" -> true]"#]]);
    check(r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#, r#""7""#, expect![[r#"7 [/x: "7" -> 7]"#]]);
    check(r#"{"anyOf":[{"type":"integer","maximum":3},{"type":"null"}]}"#, r#""7""#, expect!["none"]);
    check(r#"{"oneOf":[{"type":"integer"},{"type":"number"}]}"#, r#""7""#, expect!["none"]);
    let by_kind = r#"{"oneOf":[{"properties":{"k":{"const":"a"},"v":{"type":"integer"}}},{"properties":{"k":{"const":"b"},"v":{"type":"string"},"w":{"type":"integer"}}}]}"#;
    check(by_kind, r#"{"k":"b","v":"5","w":"6"}"#, expect![[r#"{"k":"b","v":"5","w":6} [/x/w: "6" -> 6]"#]]);
}

#[test]
fn nothing_is_touched_where_the_schema_demands_nothing() {
    check(r#"{"type":"string"}"#, r#""5""#, expect!["none"]);
    check("{}", r#""[1]""#, expect!["none"]);
    check(r#"{"anyOf":[{"type":"integer"},{"type":"string"}]}"#, r#""5""#, expect!["none"]);
    check(r#"{"properties":{"s":{"type":"string"},"n":{"type":"integer"}}}"#, r#"{"s":"5","n":"6"}"#, expect![[r#"{"s":"5","n":6} [/x/n: "6" -> 6]"#]]);
}

#[test]
fn one_part_that_cannot_be_repaired_leaves_all_as_it_was() {
    check(r#"{"items":{"type":"integer"}}"#, r#"["1","x"]"#, expect!["none"]);
    check(r#"{"type":"integer","maximum":4}"#, r#""5""#, expect!["none"]);
}

#[test]
fn arguments_that_are_one_string_become_an_object() {
    let schema = Schema::compile(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#, 1000).unwrap();
    let corrected = schema.correct(&serde_json::json!(r#"{"n":"5"}"#)).unwrap();
    expect![[r#"{"n":5} ["arguments: \"{\\\"n\\\":\\\"5\\\"}\" -> {\"n\":\"5\"}", "/n: \"5\" -> 5"]"#]].assert_eq(&format!("{} {:?}", corrected.arguments, corrected.notes));
}
