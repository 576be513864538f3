//! Hooks: which run, in which order, and what each can do to a call.

use expect_test::expect;
use serde_json::json;

use crate::support::{Run, TestEnv};

/// Runs a tool with the guests `hostile` and `order` installed. Without warnings in the log, which is written beside what
/// is shown and not in its order.
fn call(tool: &str, arguments: serde_json::Value) -> Run {
    let env = TestEnv::new().guest("hostile").guest("order");
    // A loop is cut after 200 ms and not after ten seconds.
    env.config("[limits]\ncpu = \"200ms\"\n").run(&["--log", "error", "call", tool, &arguments.to_string()])
}

#[test]
fn global_hooks_run_outside_the_tools_own_each_in_the_order_added() {
    call("steps", json!({"answer": {"n": 1}})).check(expect![[r#"
        {"n":1,"ok":true}
        --- stderr
        [order]
        global before of steps
        own before 1
        own before 2
        the tool
        global after of steps
        own after 1: {"n":1}
        own after 2
        [exit 0]
    "#]]);
}

#[test]
fn a_call_through_an_alias_or_an_address_fires_the_hooks_of_the_real_tool() {
    let real = call("steps", json!({"answer": {}})).to_string();
    assert_eq!(call("walk", json!({"answer": {}})).to_string(), real);
    assert_eq!(call("order.steps", json!({"answer": {}})).to_string(), real);
}

#[test]
fn a_before_hook_that_fails_stops_the_later_ones_the_tool_and_all_after_hooks() {
    call("steps", json!({"stop": true})).check(expect![[r#"
        {"error":"own before 1 says no","name":"steps","args":{"stop":true},"ok":false}
        --- stderr
        [order]
        global before of steps
        own before 1 stops it
        [exit 1]
    "#]]);
}

#[test]
fn after_hooks_do_not_run_when_the_tool_raised() {
    call("steps", json!({"raise": "no"})).check(expect![[r#"
        {"error":"no","name":"steps","args":{"raise":"no"},"ok":false}
        --- stderr
        [order]
        global before of steps
        own before 1
        own before 2
        the tool
        [exit 1]
    "#]]);
}

#[test]
fn after_hooks_see_the_tools_own_object_also_when_it_is_an_error() {
    call("steps", json!({"answer": {"error": "mine"}})).check(expect![[r#"
        {"error":"mine","ok":false}
        --- stderr
        [order]
        global before of steps
        own before 1
        own before 2
        the tool
        global after of steps
        own after 1: {"error":"mine"}
        own after 2
        [exit 1]
    "#]]);
    let seen = call("echo", json!({"after": "see"})).json();
    assert_eq!(seen["seen"], r#"{"arguments":{"after":"see"},"text":"{\"after\":\"see\"}"}"#, "without `ok`");
}

#[test]
fn what_a_before_hook_raises_goes_to_the_model() {
    call("echo", json!({"before": "raise"})).check(expect![[r#"
        {"error":"the hook says no","name":"echo","args":{"before":"raise"},"ok":false}
        --- stderr
        [order]
        global before of echo
        [exit 1]
    "#]]);
}

#[test]
fn a_before_hook_that_traps_or_never_ends_stops_the_call() {
    call("echo", json!({"before": "trap"})).check(expect![[r#"
        {"error":"a before hook of plugin `hostile` could not be evaluated, so the call was stopped: it trapped: wasm `unreachable` instruction executed","name":"echo","args":{"before":"trap"},"ok":false}
        --- stderr
        [order]
        global before of echo
        [exit 1]
    "#]]);
    call("echo", json!({"before": "spin"})).check(expect![[r#"
        {"error":"a before hook of plugin `hostile` could not be evaluated, so the call was stopped: it used more than its 200 ms of CPU time","name":"echo","args":{"before":"spin"},"ok":false}
        --- stderr
        [order]
        global before of echo
        [exit 4]
    "#]]);
}

#[test]
fn a_before_hook_may_replace_the_arguments() {
    let result = call("echo", json!({"before": "replace", "with": {"n": 7}})).json();
    assert_eq!(result["arguments"], json!({"n": 7}));
}

#[test]
fn arguments_that_a_hook_put_in_are_validated_again() {
    call("echo", json!({"before": "replace", "with": {"n": "seven"}})).check(expect![[r#"
        {"error":"a hook of plugin `hostile` replaced the arguments by invalid ones: argument `/n`: expected an integer, got \"seven\"","ok":false}
        --- stderr
        [order]
        global before of echo
        [exit 1]
    "#]]);
    call("echo", json!({"before": "replace", "with": [1]})).check(expect![[r#"
        {"error":"a hook of plugin `hostile` replaced the arguments by invalid ones: arguments: expected an object, got [1]","ok":false}
        --- stderr
        [order]
        global before of echo
        [exit 1]
    "#]]);
}

#[test]
fn arguments_that_a_hook_put_in_are_corrected_like_any_others() {
    let result = call("echo", json!({"before": "replace", "with": {"n": "7"}})).json();
    assert_eq!(result["arguments"], json!({"n": 7}));
    let result = call("echo", json!({"before": "replace", "with": null})).json();
    assert_eq!(result["arguments"], json!({}));
}

#[test]
fn an_after_hook_may_replace_the_result() {
    let run = call("echo", json!({"after": "replace", "with": {"n": 1}}));
    assert_eq!((run.json(), run.status), (json!({"n": 1, "ok": true}), 0));
    let run = call("echo", json!({"after": "replace", "with": {"error": "no"}}));
    assert_eq!((run.json(), run.status), (json!({"error": "no", "ok": false}), 1));
}

#[test]
fn an_after_hook_that_replaces_the_result_by_no_object_is_a_failure() {
    call("echo", json!({"after": "replace", "with": [1]})).check(expect![[r#"
        {"error":"the tool already ran, then an after hook of plugin `hostile` replaced the result by a list, expected a JSON object","name":"echo","args":{"after":"replace","with":[1]},"ok":false}
        --- stderr
        [order]
        global before of echo
        global after of echo
        [exit 1]
    "#]]);
}

#[test]
fn an_after_hook_that_fails_says_that_the_tool_already_ran() {
    call("echo", json!({"after": "raise"})).check(expect![[r#"
        {"error":"the tool already ran, then an after hook of plugin `hostile` failed: the hook regrets","name":"echo","args":{"after":"raise"},"ok":false}
        --- stderr
        [order]
        global before of echo
        global after of echo
        [exit 1]
    "#]]);
    call("echo", json!({"after": "trap"})).check(expect![[r#"
        {"error":"the tool already ran, then an after hook of plugin `hostile` trapped: wasm `unreachable` instruction executed","name":"echo","args":{"after":"trap"},"ok":false}
        --- stderr
        [order]
        global before of echo
        global after of echo
        [exit 1]
    "#]]);
}

#[test]
fn a_question_of_a_hook_is_never_asked_where_nobody_can_answer() {
    let env = TestEnv::new().guest("hostile");
    // Not even when what is piped in would say yes.
    let run = env.finish(env.command(&["call", "echo", r#"{"before":"ask"}"#]), "y\ny\n");
    assert_eq!(run.status, 3);
    run.check(expect![[r#"
        {"error":"User denied permission: echo: nobody can answer here","name":"echo","args":{"before":"ask"},"ok":false}
        --- stderr
         WARN User denied permission: echo: nobody can answer here tool=hostile.echo
        [exit 3]
    "#]]);
}

#[test]
fn a_hook_may_name_a_tool_that_does_not_exist() {
    let run = TestEnv::new().guest("order").run(&["tools"]);
    assert!(run.stderr.is_empty() && !run.stdout.contains("later"), "{run}");
}

#[test]
fn a_hook_stands_before_another_plugins_tool() {
    let run = call("echo", json!({}));
    assert!(run.stderr.contains("global before of echo\nglobal after of echo\n"), "{run}");
}

#[test]
fn a_nested_call_goes_through_validation_and_hooks() {
    let env = TestEnv::new().guest("hostile").guest("order");
    let nested = json!({"tool": "steps", "arguments": {"answer": {"n": 1}}}).to_string();
    env.run(&["--grant", "hostile:call-tool=*", "call", "nest", &nested]).check(expect![[r#"
        {"n":1,"ok":true}
        --- stderr
        [order]
        global before of nest
        global before of steps
        own before 1
        own before 2
        the tool
        global after of steps
        own after 1: {"n":1}
        own after 2
        global after of nest
        [exit 0]
    "#]]);
    let invalid = json!({"tool": "echo", "arguments": {"n": "five"}}).to_string();
    env.run(&["--grant", "hostile:call-tool=*", "call", "nest", &invalid]).check(expect![[r#"
        {"error":"argument `/n`: expected an integer, got \"five\"","ok":false}
        --- stderr
        [order]
        global before of nest
        global after of nest
        [exit 1]
    "#]]);
}
