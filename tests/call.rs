//! `bellglass call`: one tool, one JSON object on standard output.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::{PluginText, TestEnv};

/// Runs the tool `echo`, and returns the arguments as the guest got them: parsed, and as text.
#[track_caller]
fn echoed(arguments: &str) -> (Value, String) {
    let run = TestEnv::new().guest("hostile").run(&["call", "echo", arguments]);
    let result = run.json();
    assert_eq!(result["ok"], true, "{run}");
    (result["arguments"].clone(), result["text"].as_str().unwrap().to_owned())
}

/// What a tool that answers with this text comes to.
#[track_caller]
fn answered(text: &str) -> Value {
    let arguments = json!({"text": text}).to_string();
    TestEnv::new().guest("hostile").run(&["call", "answer", &arguments]).json()
}

#[test]
fn a_result_is_one_json_object_and_nothing_else() {
    let env = TestEnv::new().file("README.md", "hello big world\nline two\n");
    env.run(&["call", "wc", r#"{"path":"README.md"}"#]).check(expect![[r#"
        {"lines":2,"words":5,"bytes":25,"ok":true}
        [exit 0]
    "#]]);
}

#[test]
fn a_plugin_as_text_is_a_plugin() {
    let env = TestEnv::new().plugin("text.wasm", PluginText::with_tool("text", "speak").build());
    env.run(&["call", "speak"]).check(expect![[r#"
        {"from":"text","ok":true}
        [exit 0]
    "#]]);
}

#[test]
fn a_result_with_an_error_is_a_failure_and_exits_with_1() {
    TestEnv::new().run(&["call", "wc", r#"{"path":"nope"}"#]).check(expect![[r#"
        {"error":"not found: nope","ok":false}
        [exit 1]
    "#]]);
}

#[test]
fn an_error_that_is_null_or_false_is_none() {
    assert_eq!(answered(r#"{"error":null,"n":1}"#), json!({"error": null, "n": 1, "ok": true}));
    assert_eq!(answered(r#"{"error":false}"#), json!({"error": false, "ok": true}));
    assert_eq!(answered(r#"{"error":""}"#), json!({"error": "", "ok": false}));
    assert_eq!(answered(r#"{"error":{"code":7}}"#), json!({"error": {"code": 7}, "ok": false}));
}

#[test]
fn what_a_tool_says_of_ok_is_replaced() {
    assert_eq!(answered(r#"{"ok":true,"error":"no"}"#), json!({"ok": false, "error": "no"}));
    assert_eq!(answered(r#"{"ok":"maybe"}"#), json!({"ok": true}));
}

#[test]
fn arguments_that_do_not_fit_are_named_by_pointer_with_what_was_expected_and_what_came() {
    let env = TestEnv::new().guest("hostile");
    env.run(&["call", "echo", r#"{"n":"five","flag":[1],"list":{}}"#]).check(expect![[r#"
        {"error":"argument `/n`: expected an integer, got \"five\", argument `/flag`: expected a boolean, got [1], argument `/list`: expected an array, got {}","ok":false}
        [exit 1]
    "#]]);
    env.run(&["call", "wc", "{}"]).check(expect![[r#"
        {"error":"argument `/path`: missing, expected a string","ok":false}
        [exit 1]
    "#]]);
}

#[test]
fn arguments_that_do_not_fit_reach_neither_hooks_nor_tool() {
    let env = TestEnv::new().guest("hostile").guest("order");
    let run = env.run(&["call", "echo", r#"{"n":"five","before":"trap"}"#]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{run}");
}

#[test]
fn extra_arguments_reach_the_tool() {
    assert_eq!(echoed(r#"{"extra":{"deep":[null]}}"#).0, json!({"extra": {"deep": [null]}}));
}

#[test]
fn extra_arguments_that_the_schema_forbids_are_an_error() {
    let closed = r#"{"type":"object","properties":{"a":{}},"additionalProperties":false}"#;
    let plugin = PluginText { schema: closed.into(), ..PluginText::with_tool("text", "speak") };
    let env = TestEnv::new().plugin("text.wasm", plugin.build());
    env.run(&["call", "speak", r#"{"a":1,"b":2}"#]).check(expect![[r#"
        {"error":"arguments: unexpected `b`, expected only `a`","ok":false}
        [exit 1]
    "#]]);
}

#[test]
fn an_unknown_tool_is_an_error_that_lists_those_there_are() {
    let env = TestEnv::new().guest("order");
    env.run(&["call", "wcc", "{}"]).check(expect![[r#"
        {"error":"unknown tool `wcc`, expected one of: wc, task, steps, look","ok":false}
        [exit 1]
    "#]]);
    env.run(&["call", "\u{1b}[2J", "{}"]).check(expect![[r#"
        {"error":"unknown tool `␛[2J`, expected one of: wc, task, steps, look","ok":false}
        [exit 1]
    "#]]);
}

#[test]
fn an_alias_and_the_address_of_a_tool_call_it() {
    let env = TestEnv::new().guest("hostile");
    for name in ["echo", "repeat", "hostile.echo"] {
        assert_eq!(env.run(&["call", name, r#"{"n":1}"#]).json()["arguments"], json!({"n": 1}), "{name}");
    }
    assert_eq!(env.run(&["call", "hostile.repeat"]).status, 1, "an address is the real name");
}

#[test]
fn no_arguments_are_an_empty_object_however_they_are_written() {
    for none in ["", " \n\t", "null", " null ", "{}", " { } "] {
        assert_eq!(echoed(none), (json!({}), "{}".into()), "{none:?}");
    }
}

#[test]
fn arguments_that_are_no_object_are_an_error() {
    let env = TestEnv::new().guest("hostile");
    let error = |arguments: &str| {
        let run = env.run(&["call", "echo", arguments]);
        assert_eq!(run.status, 1, "{run}");
        format!("{arguments}: {}\n", run.json()["error"].as_str().unwrap())
    };
    let errors: String = ["5", "\"text\"", "[1]", "true", "-1", "{", "{}{}", "{'a':1}"].map(error).concat();
    expect![[r#"
        5: arguments: expected an object, got 5
        "text": arguments: expected an object, got "text"
        [1]: arguments: expected an object, got [1]
        true: arguments: expected an object, got true
        -1: arguments: expected an object, got -1
        {: arguments: expected a JSON object, got text that is not JSON: EOF while parsing an object at line 1 column 1
        {}{}: arguments: expected a JSON object, got text that is not JSON: trailing characters at line 1 column 3
        {'a':1}: arguments: expected a JSON object, got text that is not JSON: key must be a string at line 1 column 2
    "#]]
    .assert_eq(&errors);
}

#[test]
fn numbers_keep_every_digit_both_ways() {
    for number in ["9007199254740993", "18446744073709551617", "-0.1000000000000000055511151231257827", "1e+400"] {
        let (_, text) = echoed(&format!(r#"{{"id":{number}}}"#));
        assert_eq!(text, format!(r#"{{"id":{number}}}"#));
        let arguments = json!({"text": format!(r#"{{"id":{number}}}"#)}).to_string();
        let run = TestEnv::new().guest("hostile").run(&["call", "answer", &arguments]);
        assert_eq!(run.success(), format!("{{\"id\":{number},\"ok\":true}}\n"));
    }
}

#[test]
fn keys_keep_their_order_and_one_that_stands_twice_has_the_value_that_was_validated() {
    assert_eq!(echoed(r#"{"z":1,"a":2}"#).1, r#"{"z":1,"a":2}"#);
    assert_eq!(echoed(r#"{"n":"evil","n":1}"#).1, r#"{"n":1}"#);
}

#[test]
fn mistakes_of_models_that_lose_nothing_are_corrected_and_logged() {
    let (arguments, _) = echoed(r#"{"n":"5","flag":"true","list":"[1]"}"#);
    assert_eq!(arguments, json!({"n": 5, "flag": true, "list": [1]}));
    let env = TestEnv::new().guest("hostile");
    let run = env.run(&["call", "echo", r#"{"n":"9007199254740993"}"#, "--log", "info"]);
    assert_eq!(run.json()["text"], r#"{"n":9007199254740993}"#);
    let note = "INFO corrected an argument: /n: \"9007199254740993\" -> 9007199254740993";
    assert_eq!(run.stderr.trim(), note);
}

#[test]
fn an_answer_that_is_no_object_is_a_failure_that_names_the_rule() {
    let error = |text: &str| {
        let result = answered(text);
        assert_eq!(result["ok"], false, "{result}");
        format!("{text:?}: {}\n", result["error"].as_str().unwrap())
    };
    let errors: String = ["[1]", "\"x\"", "5", "true", "null", "", "{", "{} {}", "{\"a\":1e}"].map(error).concat();
    expect![[r#"
        "[1]": tool `hostile.answer` must answer with a JSON object, it answered with a list
        "\"x\"": tool `hostile.answer` must answer with a JSON object, it answered with text
        "5": tool `hostile.answer` must answer with a JSON object, it answered with a number
        "true": tool `hostile.answer` must answer with a JSON object, it answered with a boolean
        "null": tool `hostile.answer` must answer with a JSON object, it answered with nothing
        "": tool `hostile.answer` must answer with a JSON object, it answered with nothing
        "{": tool `hostile.answer` must answer with a JSON object, it answered with text that is no JSON
        "{} {}": tool `hostile.answer` must answer with a JSON object, it answered with text that is no JSON
        "{\"a\":1e}": tool `hostile.answer` must answer with a JSON object, it answered with text that is no JSON
    "#]]
    .assert_eq(&errors);
}

#[test]
fn what_a_tool_raises_becomes_a_result_with_its_arguments_and_a_warning_in_the_log() {
    let env = TestEnv::new().guest("hostile");
    env.run(&["call", "raise", r#"{"text":"it broke"}"#]).check(expect![[r#"
        {"error":"it broke","name":"raise","args":{"text":"it broke"},"ok":false}
        --- stderr
         WARN it broke tool=hostile.raise
        [exit 1]
    "#]]);
}

#[test]
fn a_tool_that_traps_is_a_failure_and_the_next_call_works() {
    let env = TestEnv::new().guest("hostile");
    env.run(&["call", "trap"]).check(expect![[r#"
        {"error":"tool `hostile.trap` trapped: wasm `unreachable` instruction executed","name":"trap","args":{},"ok":false}
        --- stderr
         WARN tool `hostile.trap` trapped: wasm `unreachable` instruction executed tool=hostile.trap
        [exit 1]
    "#]]);
    assert_eq!(env.run(&["call", "echo"]).status, 0);
}

#[test]
fn arguments_come_from_standard_input_for_a_dash() {
    let env = TestEnv::new().file("README.md", "one\n");
    let run = env.finish(env.command(&["call", "wc", "-"]), "{\"path\":\"README.md\"}\n");
    assert_eq!(run.success(), "{\"lines\":1,\"words\":1,\"bytes\":4,\"ok\":true}\n");
    let run = env.finish(env.command(&["call", "wc", "-"]), "");
    assert_eq!(run.json()["error"], "argument `/path`: missing, expected a string", "{run}");
}

#[test]
fn arguments_on_standard_input_over_the_limit_are_wrong_usage() {
    let env = TestEnv::new().config("[limits]\nvalue = \"1KiB\"\n");
    env.finish(env.command(&["call", "wc", "-"]), &"é".repeat(600)).check(expect![[r#"
        --- stderr
        error: the arguments on standard input are larger than 1 KiB
        [exit 2]
    "#]]);
}

#[test]
fn wrong_usage_exits_with_2_and_says_what_is_right() {
    let env = TestEnv::new();
    env.run(&["call"]).check(expect![[r#"
        --- stderr
        error: the following required arguments were not provided:
          <TOOL>

        Usage: bellglass call <TOOL> [JSON]

        For more information, try '--help'.
        [exit 2]
    "#]]);
    env.run(&["call", "wc", "{}", "more"]).check(expect![[r#"
        --- stderr
        error: unexpected argument 'more' found

        Usage: bellglass call [OPTIONS] <TOOL> [JSON]

        For more information, try '--help'.
        [exit 2]
    "#]]);
    env.run(&["--log", "loud", "call", "wc"]).check(expect![[r#"
        --- stderr
        error: invalid value 'loud' for '--log <LEVEL>': expected one of: off, error, warn, info, debug, trace

        For more information, try '--help'.
        [exit 2]
    "#]]);
    env.run(&["--grant", "wc:fly=.", "call", "wc"]).check(expect![[r#"
        --- stderr
        error: invalid value 'wc:fly=.' for '--grant <PLUGIN:KIND=VALUE>': unknown kind of grant `fly`, expected `read`, `write`, `http`, `credential`, `run`, `call-tool`, `env`, `conversation`, `model` or `session-control`

        For more information, try '--help'.
        [exit 2]
    "#]]);
    env.run(&["-C", "nowhere", "call", "wc"]).check(expect![[r#"
        --- stderr
        error: `-C nowhere`: there is no such folder
        [exit 2]
    "#]]);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let env = TestEnv::new().plugin("broken.wasm", "no component");
    for arguments in
        [&["call", "wc"][..], &["tools"], &["tools", "--json"], &["plugin", "list"], &["ask", "hi"], &["--help"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = env.command(arguments);
        let output = command.stdin(std::process::Stdio::null()).stdout(writer).output().unwrap();
        let run = env.shown(&output);
        assert!(!run.stderr.contains("panicked") && matches!(run.status, 0 | 1), "{arguments:?} {run}");
    }
}

#[test]
fn a_closed_standard_error_is_no_panic() {
    let env = TestEnv::new().guest("hostile").plugin("broken.wasm", "no component");
    for (arguments, status) in
        [(&["call", "nope"][..], 1), (&["call", "raise"], 1), (&["tools"], 0), (&["tools", "nope"], 1), (&["call"], 2)]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = env.command(arguments);
        let output = command.stdin(std::process::Stdio::null()).stderr(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?} {}", env.shown(&output));
    }
}

#[test]
fn a_question_that_nobody_can_answer_denies_the_call_and_exits_with_3() {
    let env = TestEnv::new().guest("hostile");
    env.run(&["call", "echo", r#"{"before":"ask"}"#]).check(expect![[r#"
        {"error":"User denied permission: echo: nobody can answer here","name":"echo","args":{"before":"ask"},"ok":false}
        --- stderr
         WARN User denied permission: echo: nobody can answer here tool=hostile.echo
        [exit 3]
    "#]]);
}

#[test]
fn nothing_but_the_result_goes_to_standard_output_whatever_is_logged_and_shown() {
    let env = TestEnv::new().guest("hostile").guest("order").plugin("broken.wasm", "no component");
    let run = env.run(&["--log", "trace", "call", "steps", r#"{"answer":{"n":1}}"#]);
    assert_eq!(run.stdout, "{\"n\":1,\"ok\":true}\n");
    assert!(run.stderr.contains("the tool\n"), "{run}");
    let run = env.run(&["call", "log-much", r#"{"n":2}"#, "--log", "debug"]);
    assert_eq!(run.stdout, "{\"ok\":true}\n");
    assert!(run.stderr.contains("INFO") && run.stderr.contains("lll"), "{run}");
}
