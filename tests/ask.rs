//! `bellglass ask`: one turn for scripts. Only the reply goes to standard output.

use std::process::{Command, Stdio};

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::{PluginText, Run, TestEnv};

/// Asks the guest `script`, whose options are given.
#[track_caller]
fn script(options: &[&str]) -> Run {
    let env = TestEnv::scripted().guest("hostile");
    env.run(&ask(options))
}

/// A command line that asks the guest `script`.
pub(crate) fn ask<'a>(options: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["ask", "hi", "-p", "script", "--template", "t", "--log", "error"];
    options.iter().for_each(|it| arguments.extend(["-o", it]));
    arguments
}

/// `ask` with these words, and a model that says what the prompt is.
fn repeat(env: &TestEnv, words: &[&str]) -> Command {
    env.command(&[&["-p", "script", "-o", "repeat=true", "ask"], words].concat())
}

#[test]
fn only_the_reply_goes_to_standard_output() {
    let env = TestEnv::new().file("README.md", "one two\n");
    env.run(&["ask", "hello"]).check(expect![[r#"
        The tool has answered. That is all a stub can do.
        --- stderr
        A stub has no thoughts of its own.
        + wc({"path":"README.md"})
        [exit 0]
    "#]]);
}

#[test]
fn what_tools_and_hooks_print_goes_to_standard_error() {
    let env = TestEnv::scripted().guest("order");
    let calls = r#"calls=[{"id":"1","name":"steps","arguments":"{\"answer\":{}}"}]"#;
    env.run(&ask(&[calls, r#"say=["Let me see."]"#])).check(expect![[r#"
        {"ok":true}
        --- stderr
        + steps({"answer":{}})
        [order]
        global before of steps
        own before 1
        own before 2
        the tool
        global after of steps
        own after 1: {}
        own after 2
        [exit 0]
    "#]]);
}

#[test]
fn the_words_of_the_prompt_are_joined() {
    let env = TestEnv::scripted();
    let run = env.finish(repeat(&env, &["what", "is", "  this?"]), "");
    assert_eq!(run.success(), "what is   this?\n");
}

#[test]
fn without_a_prompt_and_a_pipe_it_is_wrong_usage() {
    let env = TestEnv::new();
    env.run(&["ask"]).check(expect![[r#"
        --- stderr
        error: no prompt: give one (`bellglass ask 'what is here?'`), or pipe one in
        [exit 2]
    "#]]);
    assert_eq!(env.run(&["ask", " ", ""]).status, 2);
    assert_eq!(env.finish(env.command(&["ask"]), " \n\n").status, 2);
    let mut command = env.command(&["ask"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_is_piped_in_is_the_prompt_or_is_appended_to_it() {
    let env = TestEnv::scripted();
    assert_eq!(env.finish(repeat(&env, &[]), "from a pipe\n").success(), "from a pipe\n");
    assert_eq!(env.finish(repeat(&env, &["sum", "up"]), "a\nb\n").success(), "sum up\n\na\nb\n");
    assert_eq!(env.finish(repeat(&env, &["-", "sum"]), "a\n").success(), "sum\n\na\n");
}

#[test]
fn a_prompt_never_waits_for_an_open_standard_input_that_sends_nothing() {
    let env = TestEnv::scripted();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = repeat(&env, &["hi"]);
    let output = command.stdin(reader).output().unwrap();
    drop(writer);
    env.shown(&output).check(expect![[r#"
        hi
        --- stderr
         WARN nothing came on standard input for 1 s: going on without; `-` waits for it
        [exit 0]
    "#]]);
}

#[test]
fn input_that_is_no_utf8_is_read_all_the_same() {
    let env = TestEnv::scripted().file("input", b"caf\xe9\n");
    let mut command = repeat(&env, &["sum"]);
    let output = command.stdin(std::fs::File::open(env.work().join("input")).unwrap()).output().unwrap();
    assert_eq!(env.shown(&output).success(), "sum\n\ncaf\u{fffd}\n");
}

#[test]
fn a_blank_reply_is_an_error() {
    script(&[]).check(expect![[r#"
        --- stderr
        error: the reply is empty
        [exit 1]
    "#]]);
    script(&[r#"say=["", " \n"]"#]).check(expect![[r#"
        --- stderr
        error: the reply is empty
        [exit 1]
    "#]]);
}

#[test]
fn a_reply_in_pieces_ends_in_one_newline() {
    let pieces = r#"say=["","Aye","","."," \n\n"]"#;
    assert_eq!(script(&[pieces, r#"think=["","hm","\n"]"#]).to_string(), "Aye. \n--- stderr\nhm\n[exit 0]\n");
}

#[test]
fn control_sequences_in_a_reply_are_marks() {
    let run = script(&[r#"say=["a\u001b]52;c;eA==\u0007b"]"#, r#"think=["\u001b[2J"]"#]);
    assert_eq!(run.to_string(), "a␛]52;c;eA==␇b\n--- stderr\n␛[2J\n[exit 0]\n");
}

#[test]
fn as_json_there_is_one_object_with_reply_calls_usage_and_error() {
    let env = TestEnv::new().file("README.md", "one two\n");
    env.run(&["ask", "--json", "--ephemeral", "hello"]).check(expect![[r#"
        {
          "reply": "The tool has answered. That is all a stub can do.",
          "tool_calls": [
            {
              "name": "wc",
              "arguments": {
                "path": "README.md"
              },
              "error": null,
              "ok": true
            }
          ],
          "usage": {
            "input_tokens": 84,
            "output_tokens": 2
          },
          "session": null,
          "error": null,
          "ok": true
        }
        --- stderr
        A stub has no thoughts of its own.
        + wc({"path":"README.md"})
        [exit 0]
    "#]]);
}

#[test]
fn as_json_a_failure_is_an_object_as_well() {
    let env = TestEnv::new().guest("hostile").config("limits.attempts = 1\n");
    env.run(&["ask", "--json", "--ephemeral", "hello", "-p", "fails"]).check(expect![[r#"
        {
          "reply": null,
          "tool_calls": [],
          "usage": {
            "input_tokens": 0,
            "output_tokens": 0
          },
          "session": null,
          "error": "no reply: the server is busy: 429 Too Many Requests",
          "ok": false
        }
        --- stderr
        error: no reply: the server is busy: 429 Too Many Requests
        [exit 1]
    "#]]);
    let run = env.run(&["ask", "--json", "--ephemeral", "hello", "-p", "nope"]);
    assert_eq!((run.status, run.json()["ok"].clone()), (2, json!(false)), "{run}");
}

#[test]
fn standard_output_is_json_and_nothing_else_whatever_is_logged() {
    let env = TestEnv::new().guest("hostile").plugin("broken.wasm", "no component");
    let run = env.run(&["--log", "trace", "ask", "--json", "hello"]);
    assert_eq!(run.json()["ok"], true);
    assert!(run.stderr.contains("warning: cannot load plugin"), "{run}");
}

#[test]
fn a_later_count_of_tokens_replaces_an_earlier_one_of_the_same_request() {
    let env = TestEnv::scripted();
    let usage = r#"usage=[[10,0],[10,5]]"#;
    let calls = r#"calls=[{"id":"1","name":"wc","arguments":"{}"}]"#;
    let one = env.run(&[&ask(&[r#"say=["Aye."]"#, usage])[..], &["--json", "--ephemeral"]].concat());
    assert_eq!(one.json()["usage"], json!({"input_tokens": 10, "output_tokens": 5}));
    let two = env.run(&[&ask(&[calls, usage])[..], &["--json", "--ephemeral"]].concat());
    assert_eq!(two.json()["usage"], json!({"input_tokens": 20, "output_tokens": 10}), "two requests");
}

#[test]
fn an_unknown_provider_is_wrong_usage_that_lists_those_there_are() {
    let env = TestEnv::new().guest("hostile");
    env.run(&["ask", "hi", "-p", "\u{1b}nope"]).check(expect![[r#"
        --- stderr
        error: unknown provider `␛nope`, expected one of: stub, anthropic, gemini, ollama, openai, openai-responses, fails, traps, speaks, loops, puppet
        [exit 2]
    "#]]);
}

#[test]
fn a_busy_server_is_asked_again_after_a_wait_that_is_told() {
    let env = TestEnv::new().guest("hostile").config("limits.attempts = 2\n");
    let run = env.run(&["ask", "hi", "-p", "fails"]);
    assert!(run.stderr.contains("waiting: the server is busy: 429 Too Many Requests; asking again in"), "{run}");
    assert!(run.stderr.contains("s (attempt 2 of 2)\nerror: no reply"), "{run}");
}

#[test]
fn a_failure_of_the_provider_is_no_reply() {
    let env = TestEnv::new().guest("hostile").config("limits.attempts = 1\n");
    env.run(&["ask", "hi", "-p", "fails"]).check(expect![[r#"
        --- stderr
        error: no reply: the server is busy: 429 Too Many Requests
        [exit 1]
    "#]]);
    env.run(&["ask", "hi", "-p", "traps"]).check(expect![[r#"
        --- stderr
        error: no reply: its plugin trapped: wasm `unreachable` instruction executed
        [exit 1]
    "#]]);
}

#[test]
fn the_provider_gets_the_model_that_was_named_or_its_own_default() {
    let model = |arguments: &[&str]| {
        let env = TestEnv::scripted();
        let run = env.run(&[&ask(&["see=true"])[..], arguments].concat());
        run.json()["model"].clone()
    };
    assert_eq!(model(&[]), "script-1");
    assert_eq!(model(&["-m", "big-1"]), "big-1");
}

#[test]
fn the_model_is_told_of_the_tools_by_their_real_names() {
    let env = TestEnv::scripted().guest("order");
    assert_eq!(env.run(&ask(&["see=true"])).json()["tools"], json!(["wc", "task", "steps", "look"]));
}

#[test]
fn the_same_call_with_the_same_result_three_times_ends_the_turn() {
    let env = TestEnv::new().guest("hostile");
    env.run(&["ask", "hi", "-p", "loops"]).check(expect![[r#"
        --- stderr
        + wc({"path":"nope"})
        - wc: not found: nope
        + wc({"path":"nope"})
        - wc: not found: nope
        + wc({"path":"nope"})
        - wc: not found: nope
        error: the turn was stopped: the model made the same call 3 times and got the same result
        [exit 4]
    "#]]);
}

#[test]
fn the_rounds_of_a_turn_are_limited() {
    let env = TestEnv::new().file("README.md", "one\n");
    env.run(&["ask", "hi", "--max-rounds", "1"]).check(expect![[r#"
        --- stderr
        A stub has no thoughts of its own.
        + wc({"path":"README.md"})
        error: the turn was stopped after 1 round; `--max-rounds` sets another limit
        [exit 4]
    "#]]);
    assert_eq!(env.run(&["ask", "hi", "--max-rounds", "2"]).status, 0);
    assert_eq!(env.run(&["ask", "hi", "--max-rounds", "0"]).status, 2);
}

/// What the model said after it made these calls: the results, one in a line.
#[track_caller]
fn results(calls: &Value) -> Vec<Value> {
    let run = script(&[&format!("calls={calls}")]);
    run.stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

#[test]
fn a_model_may_leave_arguments_out_and_what_is_no_object_comes_back_as_an_error() {
    let echo = |id: &str, arguments: &str| json!({"id": id, "name": "echo", "arguments": arguments});
    let calls = json!([
        echo("a", ""),
        echo("b", " "),
        echo("c", "null"),
        echo("d", "[1]"),
        echo("e", "{\"n\":"),
        echo("f", "{}{}")
    ]);
    let results = results(&calls);
    for empty in &results[..3] {
        assert_eq!(empty["arguments"], json!({}));
    }
    assert_eq!(results[3], json!({"error": "arguments: expected an object, got [1]", "ok": false}));
    for broken in &results[4..] {
        let error = broken["error"].as_str().unwrap();
        assert!(error.starts_with("arguments: expected a JSON object, got text that is not JSON"), "{error}");
    }
}

#[test]
fn a_model_that_asks_for_a_tool_that_is_not_there_is_told_which_are() {
    let results = results(
        &json!([{"id": "a", "name": "\u{1b}[2J", "arguments": "{}"}, {"id": "b", "name": "", "arguments": "{}"}]),
    );
    for result in results {
        let error = result["error"].as_str().unwrap();
        assert!(error.starts_with("unknown tool `") && error.contains("expected one of: wc, "), "{error}");
    }
}

#[test]
fn results_come_in_the_order_asked_and_missing_or_repeated_ids_get_new_ones() {
    let echo = |id: &str, n: u32| json!({"id": id, "name": "echo", "arguments": format!("{{\"n\":{n}}}")});
    let results = results(&json!([echo("", 1), echo("same", 2), echo("same", 3), echo("", 4)]));
    let numbers: Vec<_> = results.iter().map(|it| it["arguments"]["n"].clone()).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
}

#[test]
fn a_call_that_the_output_limit_cut_is_not_run() {
    let run = script(&["cut=true", r#"calls=[{"id":"1","name":"echo","arguments":"{\"n\":1}"}]"#]);
    assert_eq!(
        run.to_string(),
        "{\"error\":\"the output limit cut this call off: it was not run\",\"ok\":false}\n[exit 0]\n"
    );
}

#[test]
fn text_that_shows_a_call_is_not_a_call() {
    let shown = r#"{"name":"echo","arguments":{}}"#;
    let run = script(&[&format!("say={}", json!([shown]))]);
    assert_eq!(run.to_string(), format!("{shown}\n[exit 0]\n"));
}

#[test]
fn the_stub_makes_no_call_where_there_are_no_tools() {
    // Plugins of the same names take the place of the bundled ones that have a tool.
    let nothing = |name: &str| PluginText { name: name.into(), ..PluginText::default() }.build();
    let env = TestEnv::new().plugin("wc.wasm", nothing("wc")).plugin("task.wasm", nothing("task"));
    env.run(&["ask", "hi"]).check(expect![[r#"
        You said: hi
        --- stderr
        warning: plugin `task` in `$ENV/home/.agents/plugins/task.wasm` (user) replaces `task` (bundled)
        warning: plugin `wc` in `$ENV/home/.agents/plugins/wc.wasm` (user) replaces `wc` (bundled)
        A stub has no thoughts of its own.
        [exit 0]
    "#]]);
}
