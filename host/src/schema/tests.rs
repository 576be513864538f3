//! What the model is told, one line a case; and what a plugin's author is told.

use expect_test::{Expect, expect};

use super::{Schema, parse_arguments};

/// Checks `arguments` against a root that is an object with the keywords `rest`.
#[track_caller]
fn check(rest: &str, arguments: &str, expected: Expect) {
    let text = format!(r#"{{"type":"object",{rest}}}"#);
    let schema = Schema::compile(&text, 1 << 16).unwrap();
    let violations = schema.check(&parse_arguments(arguments).unwrap());
    let sentences: Vec<String> = violations.iter().map(ToString::to_string).collect();
    expected.assert_eq(&sentences.join(", "));
}

/// Checks `value` against `property`, the schema of the argument `x`.
#[track_caller]
fn check_x(property: &str, value: &str, expected: Expect) {
    check(&format!(r#""properties":{{"x":{property}}}"#), &format!(r#"{{"x":{value}}}"#), expected);
}

#[track_caller]
fn refused(schema: &str, expected: Expect) {
    expected.assert_eq(&Schema::compile(schema, 1 << 16).unwrap_err().to_string());
}

#[track_caller]
fn parsed(text: &str, expected: Expect) {
    let shown = match parse_arguments(text) {
        Ok(arguments) => arguments.to_string(),
        Err(violation) => violation.to_string(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_wrong_type_is_told_with_the_whole_range() {
    check_x(r#"{"type":"integer","minimum":1,"maximum":7}"#, r#""seven""#, expect![[r#"argument `/x`: expected an integer from 1 to 7, got "seven""#]]);
    check_x(r#"{"type":"integer"}"#, "1.5", expect!["argument `/x`: expected an integer, got 1.5"]);
    check_x(r#"{"type":"number","exclusiveMinimum":0}"#, "null", expect!["argument `/x`: expected a number over 0, got null"]);
    check_x(r#"{"type":["integer","null"]}"#, r#""a""#, expect![[r#"argument `/x`: expected null or an integer, got "a""#]]);
    check_x(r#"{"type":"string","minLength":1,"maxLength":5}"#, "5", expect!["argument `/x`: expected a string of 1 to 5 characters, got 5"]);
    check_x(r#"{"type":"array","minItems":2}"#, "{}", expect!["argument `/x`: expected an array of at least 2 items, got {}"]);
    check_x(r#"{"type":"object"}"#, "[1,2]", expect!["argument `/x`: expected an object, got [1,2]"]);
    check_x(r#"{"type":"boolean"}"#, r#""yes""#, expect![[r#"argument `/x`: expected a boolean, got "yes""#]]);
    check_x(r#"{"type":"null"}"#, "false", expect!["argument `/x`: expected null, got false"]);
}

#[test]
fn a_number_out_of_range_is_told_the_whole_range() {
    check_x(r#"{"type":"integer","minimum":1,"maximum":7}"#, "9", expect!["argument `/x`: expected an integer from 1 to 7, got 9"]);
    check_x(r#"{"minimum":1}"#, "0.5", expect!["argument `/x`: expected a number of at least 1, got 0.5"]);
    check_x(r#"{"type":"number","maximum":7}"#, "8", expect!["argument `/x`: expected a number of at most 7, got 8"]);
    check_x(r#"{"exclusiveMinimum":0,"exclusiveMaximum":1}"#, "1", expect!["argument `/x`: expected a number over 0 and under 1, got 1"]);
    check_x(r#"{"exclusiveMinimum":0,"maximum":1}"#, "2", expect!["argument `/x`: expected a number over 0 and of at most 1, got 2"]);
    check_x(r#"{"multipleOf":0.01}"#, "0.015", expect!["argument `/x`: expected a multiple of 0.01, got 0.015"]);
    check_x(r#"{"maximum":9007199254740992}"#, "9007199254740993", expect!["argument `/x`: expected a number of at most 9007199254740992, got 9007199254740993"]);
}

#[test]
fn strings_are_told_their_length_and_pattern() {
    check_x(r#"{"type":"string","maxLength":3}"#, r#""äöüß""#, expect![[r#"argument `/x`: expected a string of at most 3 characters, got 4: "äöüß""#]]);
    check_x(r#"{"minLength":1}"#, r#""""#, expect![[r#"argument `/x`: expected a string of at least 1 character, got 0: """#]]);
    check_x(r#"{"minLength":2,"maxLength":2}"#, r#""a""#, expect![[r#"argument `/x`: expected a string of 2 characters, got 1: "a""#]]);
    check_x(r#"{"pattern":"^[a-z]+$"}"#, r#""A1""#, expect![[r#"argument `/x`: expected a string that matches `^[a-z]+$`, got "A1""#]]);
}

#[test]
fn missing_arguments_are_the_subject() {
    check(r#""required":["path"],"properties":{"path":{"type":"string"}}"#, "{}", expect!["argument `/path`: missing, expected a string"]);
    check(r##""required":["a"],"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"enum":[1]}}"##, "{}", expect!["argument `/a`: missing, expected 1"]);
    check(r#""required":["a/b","c"]"#, "null", expect!["argument `/a~1b`: missing, argument `/c`: missing"]);
    check(r#""dependentRequired":{"a":["b"]}"#, r#"{"a":1}"#, expect!["argument `/b`: missing, needed beside `a`"]);
    check_x(r#"{"required":["y"]}"#, "{}", expect!["argument `/x/y`: missing"]);
}

#[test]
fn objects_are_told_what_they_may_hold() {
    check(r#""additionalProperties":false,"properties":{"a":{},"b":{}}"#, r#"{"c":1,"d":2}"#, expect!["arguments: unexpected `c` and `d`, expected only `a` and `b`"]);
    check(r#""additionalProperties":false"#, r#"{"c":1,"d":2}"#, expect!["arguments: unexpected `c` and `d`, expected no other properties"]);
    check(r#""additionalProperties":{"type":"integer"}"#, r#"{"c":"x"}"#, expect![[r#"argument `/c`: expected an integer, got "x""#]]);
    check(r#""patternProperties":{"^n":{"type":"integer"}}"#, r#"{"n1":"x"}"#, expect![[r#"argument `/n1`: expected an integer, got "x""#]]);
    check(r#""propertyNames":{"pattern":"^[a-z]+$"}"#, r#"{"A":1}"#, expect![[r#"arguments: name of a property: expected a string that matches `^[a-z]+$`, got "A""#]]);
    check(r#""propertyNames":{"maxLength":2}"#, r#"{"abc":1}"#, expect![[r#"arguments: name of a property: expected a string of at most 2 characters, got 3: "abc""#]]);
    check(r#""minProperties":2"#, r#"{"a":1}"#, expect!["arguments: expected an object of at least 2 properties, got 1"]);
    check(r#""maxProperties":1"#, r#"{"a":1,"b":2}"#, expect!["arguments: expected an object of at most 1 property, got 2"]);
    check(r#""properties":{"a":false}"#, r#"{"a":1}"#, expect!["argument `/a`: not allowed, got 1"]);
    check(r#""allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false"#, r#"{"a":1,"b":2}"#, expect!["arguments: unexpected `b`"]);
    check(r#""dependentSchemas":{"a":{"required":["b"]}}"#, r#"{"a":1}"#, expect!["argument `/b`: missing"]);
}

#[test]
fn arrays_are_told_what_they_may_hold() {
    check_x(r#"{"items":{"type":"string"}}"#, r#"["a",2,"c",4]"#, expect!["argument `/x/1`: expected a string, got 2, argument `/x/3`: expected a string, got 4"]);
    check_x(r#"{"minItems":1}"#, "[]", expect!["argument `/x`: expected an array of at least 1 item, got 0"]);
    check_x(r#"{"maxItems":2}"#, "[1,2,3]", expect!["argument `/x`: expected an array of at most 2 items, got 3"]);
    check_x(r#"{"uniqueItems":true}"#, "[1,2,1.0]", expect!["argument `/x`: expected items that all differ, got [1,2,1.0]"]);
    check_x(r#"{"contains":{"type":"string"}}"#, "[1]", expect!["argument `/x`: expected an array with at least 1 item like a string, got [1]"]);
    check_x(r#"{"contains":{"minimum":5},"minContains":2,"maxContains":3}"#, "[5]", expect!["argument `/x`: expected an array with 2 to 3 items that `contains` describes, got [5]"]);
    check_x(r#"{"prefixItems":[{"type":"integer"}],"items":false}"#, r#"["a",2]"#, expect![[r#"argument `/x/1`: not allowed, got 2, argument `/x/0`: expected an integer, got "a""#]]);
    check_x(r#"{"prefixItems":[{}],"unevaluatedItems":false}"#, "[1,2,3]", expect!["argument `/x`: unexpected 2 items that no part of the schema allows"]);
}

#[test]
fn choices_are_listed() {
    check_x(r#"{"enum":["a","b"]}"#, r#""c""#, expect![[r#"argument `/x`: expected "a" or "b", got "c""#]]);
    check_x(r#"{"enum":[1,2,3,4,5,6,7,8,9,10,11,12,13,14]}"#, "0", expect!["argument `/x`: expected 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 or 2 more, got 0"]);
    check_x(r#"{"const":{"a":[1]}}"#, r#"{"a":[2]}"#, expect![[r#"argument `/x`: expected {"a":[1]}, got {"a":[2]}"#]]);
    check_x(r#"{"not":{"type":"string"}}"#, r#""a""#, expect![[r#"argument `/x`: expected anything but a string, got "a""#]]);
    check_x(r#"{"not":{"minLength":1}}"#, r#""a""#, expect![[r#"argument `/x`: fits what `not` forbids, got "a""#]]);
}

#[test]
fn alternatives_are_told_by_type_or_by_the_closest() {
    check_x(r#"{"anyOf":[{"type":"string"},{"type":"integer","minimum":1}]}"#, "true", expect!["argument `/x`: expected a string or an integer of at least 1, got true"]);
    check_x(r#"{"anyOf":[{"type":"string"},{"type":"integer","minimum":1}]}"#, "0", expect!["argument `/x`: fits none of the 2 alternatives, the closest is number 2: expected an integer of at least 1, got 0"]);
    check_x(r#"{"oneOf":[{"const":"a"},{"const":"b"}]}"#, r#""c""#, expect![[r#"argument `/x`: expected "a" or "b", got "c""#]]);
    check_x(r#"{"oneOf":[{"type":"integer"},{"minimum":1}]}"#, "1", expect!["argument `/x`: fits 2 of the 2 alternatives, expected exactly one, got 1"]);
    check_x(r#"{"anyOf":[{"minLength":5},{"maxLength":0}]}"#, r#""ab""#, expect![[r#"argument `/x`: fits none of the 2 alternatives, the closest is number 1: expected a string of at least 5 characters, got 2: "ab""#]]);
    check_x(r#"{"oneOf":[{"required":["a","c"]},{"type":"object","required":["b"]}]}"#, "{}", expect!["argument `/x`: fits none of the 2 alternatives, the closest is number 2: argument `/x/b`: missing"]);
}

#[test]
fn conditions_are_told_by_what_they_demand() {
    check(r#""if":{"required":["a"]},"then":{"required":["b"]},"else":{"maxProperties":0}"#, r#"{"a":1}"#, expect!["argument `/b`: missing"]);
    check(r#""if":{"required":["a"]},"then":{"required":["b"]},"else":{"maxProperties":0}"#, r#"{"z":1}"#, expect!["arguments: expected an object of at most 0 properties, got 1"]);
}

#[test]
fn recursive_schemas_work() {
    let tree = r##""$ref":"#/$defs/node","$defs":{"node":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}"##;
    check(tree, r#"{"name":"a","children":[{"name":"b","children":[]}]}"#, expect![[""]]);
    check(tree, r#"{"name":"a","children":[{"name":"b","children":[{}]}]}"#, expect!["argument `/children/0/children/0/name`: missing, expected a string"]);
    let json = r##""properties":{"x":{"$ref":"#/$defs/v"}},"$defs":{"v":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/v"}}]}}"##;
    check(json, r#"{"x":[["a"],[[["b"]]]]}"#, expect![[""]]);
    check(json, r#"{"x":[["a"],[1]]}"#, expect!["argument `/x`: fits none of the 2 alternatives, the closest is number 2: argument `/x/1`: fits none of the 2 alternatives, the closest is number 2: argument `/x/1/0`: expected a string or an array, got 1"]);
    check(r##""$dynamicAnchor":"n","properties":{"n":{"$dynamicRef":"#n"}},"required":["v"]"##, r#"{"v":1,"n":{"n":{}}}"#, expect!["argument `/n/v`: missing, argument `/n/n/v`: missing"]);
}

#[test]
fn numbers_keep_every_digit() {
    for integer in ["9007199254740993", "18446744073709551617", "1.0", "1e400", "-0"] {
        check_x(r#"{"type":"integer"}"#, integer, expect![[""]]);
    }
    check_x(r#"{"const":9007199254740993}"#, "9007199254740992", expect!["argument `/x`: expected 9007199254740993, got 9007199254740992"]);
    check_x(r#"{"enum":[18446744073709551617]}"#, "18446744073709551616", expect!["argument `/x`: expected 18446744073709551617, got 18446744073709551616"]);
    parsed(r#"{"id":9007199254740993,"n":18446744073709551617}"#, expect![[r#"{"id":9007199254740993,"n":18446744073709551617}"#]]);
    // The sign of an exponent is written out by `serde_json`; the number is the same.
    parsed(r#"{"id":1e400}"#, expect![[r#"{"id":1e+400}"#]]);
}

#[test]
fn what_is_shown_is_short_and_drives_no_terminal() {
    check_x(r#"{"type":"integer"}"#, &format!("\"{}\"", "é".repeat(500)), expect![[r#"argument `/x`: expected an integer, got "ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…"#]]);
    check_x(r#"{"type":"integer"}"#, r#""\u001b]52;c;\u009b\u202e\u200b""#, expect![[r#"argument `/x`: expected an integer, got "\u001b]52;c;\u{9b}\u{202e}\u{200b}""#]]);
    check(r#""additionalProperties":{"type":"integer"}"#, r#"{"a\u001b~/b":""}"#, expect![[r#"argument `/a\u{1b}~0~1b`: expected an integer, got """#]]);
    check(r#""additionalProperties":false"#, r#"{"\u202ea\n":""}"#, expect![[r#"arguments: unexpected `\u{202e}a\u{a}`, expected no other properties"#]]);
}

#[test]
fn only_the_first_violations_are_told() {
    let numbers = vec!["1"; 40].join(",");
    check_x(r#"{"items":{"type":"string"}}"#, &format!("[{numbers}]"), expect!["argument `/x/0`: expected a string, got 1, argument `/x/1`: expected a string, got 1, argument `/x/2`: expected a string, got 1, argument `/x/3`: expected a string, got 1, argument `/x/4`: expected a string, got 1, argument `/x/5`: expected a string, got 1, argument `/x/6`: expected a string, got 1, argument `/x/7`: expected a string, got 1, argument `/x/8`: expected a string, got 1, argument `/x/9`: expected a string, got 1, argument `/x/10`: expected a string, got 1, argument `/x/11`: expected a string, got 1, argument `/x/12`: expected a string, got 1, argument `/x/13`: expected a string, got 1, argument `/x/14`: expected a string, got 1, argument `/x/15`: expected a string, got 1, and 24 more"]);
}

#[test]
fn older_drafts_work_without_a_resolver() {
    check(r##""$schema":"http://json-schema.org/draft-07/schema#","definitions":{"d":{"type":"integer"}},"properties":{"x":{"$ref":"#/definitions/d"}}"##, r#"{"x":"a"}"#, expect![[r#"argument `/x`: expected an integer, got "a""#]]);
    check(r#""$schema":"http://json-schema.org/draft-07/schema#","properties":{"x":{"items":[{}],"additionalItems":false}}"#, r#"{"x":[1,2]}"#, expect!["argument `/x`: expected at most 1 item, got 2"]);
    check(r#""$schema":"http://json-schema.org/draft-04/schema#","properties":{"x":{"minimum":1,"exclusiveMinimum":true}}"#, r#"{"x":1}"#, expect!["argument `/x`: expected a number over 1, got 1"]);
    check(r#""$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}"#, r#"{"a":1}"#, expect!["argument `/b`: missing, needed beside `a`"]);
    check(r#""$schema":"http://json-schema.org/draft-06/schema#","properties":{"x":{"format":"email"}}"#, r#"{"x":"a"}"#, expect![[r#"argument `/x`: expected a string in the format `email`, got "a""#]]);
    check(r##""$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"x":{"$recursiveRef":"#"}},"maxProperties":1"##, r#"{"x":{"x":{"a":1,"b":2}}}"#, expect!["argument `/x/x`: expected an object of at most 1 property, got 2"]);
}

#[test]
fn identifiers_inside_the_document_are_followed() {
    check(r##""$id":"https://example.com/a.json","properties":{"x":{"$ref":"b.json"},"y":{"$ref":"#c"}},"$defs":{"b":{"$id":"b.json","type":"integer"},"c":{"$anchor":"c","type":"null"}}"##, r#"{"x":"a","y":1}"#, expect![[r#"argument `/x`: expected an integer, got "a", argument `/y`: expected null, got 1"#]]);
}

#[test]
fn the_document_is_kept_as_written() {
    let text = r#"{"z":1,"type":"object","x-hint":[1.50,18446744073709551617],"a":{"$comment":"b"}}"#;
    assert_eq!(Schema::compile(text, 1000).unwrap().document().to_string(), text);
}

#[test]
fn texts_without_arguments_mean_none() {
    parsed("", expect!["{}"]);
    parsed(" \n\t", expect!["{}"]);
    parsed(" null ", expect!["{}"]);
}

#[test]
fn texts_that_are_no_object_are_violations() {
    parsed("5", expect!["arguments: expected an object, got 5"]);
    parsed(r#""text""#, expect![[r#"arguments: expected an object, got "text""#]]);
    parsed("[1]", expect!["arguments: expected an object, got [1]"]);
    parsed(r#"{"a":"#, expect!["arguments: expected a JSON object, got text that is not JSON: EOF while parsing a value at line 1 column 5"]);
    parsed(r#"{"a":1}{"b":2}"#, expect!["arguments: expected a JSON object, got text that is not JSON: trailing characters at line 1 column 8"]);
    parsed(&"[".repeat(200), expect!["arguments: expected a JSON object, got text that is not JSON: recursion limit exceeded at line 1 column 128"]);
}

#[test]
fn broken_schemas_are_refused_with_what_to_write() {
    refused("{", expect!["schema is not JSON"]);
    refused("[]", expect![[r#"schema has `[]` for an object, write `"type": "object"` at the root"#]]);
    refused(r#"{"properties":{"a":{}}}"#, expect![[r#"schema has no type, write `"type": "object"` at the root"#]]);
    refused(r#"{"type":["object","null"]}"#, expect![[r#"schema has type `["object","null"]`, write `"type": "object"` at the root"#]]);
    refused(r#"{"type":"object","properties":{"x":{"type":"strin"}}}"#, expect![[r#"keyword `/properties/x/type`: expected `array`, `boolean`, `integer`, `null`, `number`, `object` or `string`, or a list of them, got "strin""#]]);
    refused(r#"{"type":"object","properties":{"x":{"minimum":"x"}}}"#, expect![[r#"keyword `/properties/x/minimum`: expected a number, got "x""#]]);
    refused(r#"{"type":"object","required":"a"}"#, expect![[r#"keyword `/required`: expected an array, got "a""#]]);
    refused(r#"{"type":"object","properties":[]}"#, expect!["keyword `/properties`: expected an object, got []"]);
    refused(r#"{"type":"object","properties":{"x":{"enum":3}}}"#, expect!["keyword `/properties/x/enum`: expected an array, got 3"]);
    refused(r#"{"type":"object","properties":{"x":{"minLength":-1}}}"#, expect!["keyword `/properties/x/minLength`: expected a number of at least 0, got -1"]);
    refused(r#"{"type":"object","properties":{"x":3}}"#, expect!["keyword `/properties/x`: expected a boolean or an object, got 3"]);
    assert_eq!(Schema::compile("{} ", 2).unwrap_err().to_string(), "schema has 3 bytes, at most 2 are allowed");
}

#[test]
fn a_tagged_alternative_is_told_by_its_tag() {
    let by_kind = r#"{"oneOf":[{"properties":{"kind":{"const":"file"}},"required":["kind"]},{"properties":{"kind":{"const":"url"},"port":{"type":"integer"}},"required":["kind","href"]}]}"#;
    check_x(by_kind, r#"{"kind":"url","port":"x"}"#, expect![[r#"argument `/x`: fits none of the 2 alternatives, the closest is number 2: argument `/x/href`: missing; argument `/x/port`: expected an integer, got "x""#]]);
}
