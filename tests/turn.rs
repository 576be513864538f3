//! One turn from the prompt to its end: what is recorded, also when it is cut short.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::{Talk, TestEnv};

/// A model that makes these calls.
fn calls(calls: &[(&str, Value)]) -> Value {
    let call = |(place, (name, arguments)): (usize, &(&str, Value))| json!({"id": format!("call-{place}"), "name": name, "arguments": arguments.to_string()});
    json!({"say": ["Well."], "calls": calls.iter().enumerate().map(call).collect::<Vec<_>>()})
}

/// Begins a line, and interrupts it when something is shown that holds this.
async fn interrupted(talk: &mut Talk, line: &'static str, text: &str) {
    let session = talk.session.clone();
    let running = tokio::spawn(async move { session.line(line).await });
    talk.until(text).await;
    talk.session.interrupt();
    running.await.unwrap();
}

#[tokio::test]
async fn a_turn_records_prompt_reply_calls_and_results() {
    let env = TestEnv::new().guest("script").guest("hostile");
    let mut talk = env.talk("script", calls(&[("echo", json!({"n": 1})), ("raise", json!({"text": "no"}))]), &[]);
    talk.line("hello").await;
    expect![[r#"
        Show(PluginName("session"), Say("system: Be brief.", Plain))
        Show(PluginName("session"), Say("user: hello", Plain))
        Show(PluginName("session"), Say("assistant: Well. echo({\"n\":1}) raise({\"text\":\"no\"})", Plain))
        Show(PluginName("session"), Say("tool: {\"arguments\":{\"n\":1},\"text\":\"{\\\"n\\\":1}\",\"ok\":true}", Plain))
        Show(PluginName("session"), Say("tool: {\"error\":\"no\",\"name\":\"raise\",\"args\":{\"text\":\"no\"},\"ok\":false}", Plain))
        Show(PluginName("session"), Say("assistant: {\"arguments\":{\"n\":1},\"text\":\"{\\\"n\\\":1}\",\"ok\":true} {\"error\":\"no\",\"name\":\"raise\",\"args\":{\"text\":\"no\"}…", Plain))
    "#]].assert_eq(&talk.line("/context").await);
}

#[tokio::test]
async fn an_interrupt_while_tools_run_leaves_a_result_for_each_call() {
    let env = TestEnv::new().guest("script").guest("hostile");
    let mut talk =
        env.talk("script", calls(&[("echo", json!({})), ("spin", json!({})), ("sleep", json!({"n": 100_000}))]), &[]);
    interrupted(&mut talk, "hello", "Called(\"echo\"").await;
    expect![[r#"
        TurnOver
        Error("interrupted")
        Show(PluginName("session"), Say("system: Be brief.", Plain))
        Show(PluginName("session"), Say("user: hello", Plain))
        Show(PluginName("session"), Say("assistant: Well. echo({}) spin({}) sleep({\"n\":100000})", Plain))
        Show(PluginName("session"), Say("tool: {\"arguments\":{},\"text\":\"{}\",\"ok\":true}", Plain))
        Show(PluginName("session"), Say("tool: {\"error\":\"interrupted by the user\",\"ok\":false}", Plain))
        Show(PluginName("session"), Say("tool: {\"error\":\"interrupted by the user\",\"ok\":false}", Plain))
    "#]]
    .assert_eq(&talk.line("/context").await);
}

#[tokio::test]
async fn an_interrupt_while_the_model_replies_leaves_the_prompt_alone() {
    let env = TestEnv::new().guest("script");
    let mut talk = env.talk("script", json!({"hang": true, "say": ["Let me think"]}), &["script:model"]);
    interrupted(&mut talk, "hello", "Let me think").await;
    expect![[r#"
        TurnOver
        Error("interrupted")
        Show(PluginName("session"), Say("system: Be brief.", Plain))
        Show(PluginName("session"), Say("user: hello", Plain))
    "#]]
    .assert_eq(&talk.line("/context").await);
    interrupted(&mut talk, "hello again", "Let me think").await;
    talk.line("/use stub").await;
    let shown = talk.line("and now?").await;
    assert!(shown.contains("You said: and now?"), "{shown}");
}

#[tokio::test]
async fn an_interrupt_of_a_turn_that_a_command_runs_ends_both() {
    let env = TestEnv::new().guest("script");
    let mut talk = env.talk("script", json!({"hang": true, "say": ["Let me think"]}), &["script:model"]);
    interrupted(&mut talk, "/twice x", "Let me think").await;
    expect![[r#"
        TurnOver
        Show(PluginName("session"), Say("system: Be brief.", Plain))
        Show(PluginName("session"), Say("user: x", Plain))
    "#]]
    .assert_eq(&talk.line("/context").await);
}

#[test]
fn an_interrupted_ask_exits_with_130_and_says_so() {
    let env = TestEnv::scripted();
    let mut command =
        env.command(&["ask", "hi", "-p", "script", "-o", "hang=true", "-o", "think=[\"hm\\n\"]", "--json"]);
    command.args(["--log", "off"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert_eq!(line, "hm\n");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    stderr.read_to_string(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    let run = env.shown(&output);
    assert_eq!((run.status, line.as_str()), (130, "hm\nerror: interrupted\n"), "{run}");
    assert_eq!(run.json()["error"], "interrupted");
}

#[test]
fn a_result_that_is_too_long_is_cut_in_the_middle_and_kept_whole_in_a_file() {
    let env = TestEnv::scripted().guest("hostile").config("[limits]\nmodel_result = \"1KiB\"\n");
    let model = calls(&[("big-result", json!({"n": 5000}))]);
    let calls = format!("calls={}", model["calls"]);
    let run = env.run(&["ask", "hi", "-p", "script", "--template", "t", "-o", &calls]);
    let (cut, note) = run.stdout.trim_end().rsplit_once("\n[").unwrap();
    assert!(cut.len() <= 1024 && cut.starts_with("{\"text\":\"xxx") && cut.ends_with("xxx\",\"ok\":true}"), "{cut}");
    let path = note.strip_prefix("5021 bytes in all; the whole result is in $ENV/").unwrap().strip_suffix(']').unwrap();
    let whole = std::fs::read_to_string(env.home().parent().unwrap().join(path)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&whole).unwrap()["text"], "x".repeat(5000));
}

#[tokio::test]
async fn a_prompt_may_begin_with_blanks_and_hold_a_slash() {
    let env = TestEnv::new().guest("script");
    let mut talk = env.talk("script", json!({"repeat": true}), &[]);
    for prompt in [" /help", "what is /help?", "a\n/help"] {
        assert_eq!(talk.line(prompt).await, format!("Piece(Saying({prompt:?}))\nTurnOver\n"));
    }
}

#[tokio::test]
async fn replay_data_goes_back_to_the_provider_that_wrote_it_and_to_no_other() {
    let env = TestEnv::new().guest("script");
    let mut talk = env.talk("script", json!({"replay": true}), &["script:model"]);
    let mut shown = String::new();
    for line in ["one", "two", "/use twin", "three", "four", "/use script", "five"] {
        shown.push_str(&talk.line(line).await);
    }
    expect![[r#"
        Piece(Saying("got back []"))
        TurnOver
        Piece(Saying("got back [\"{\\\"of\\\":\\\"script\\\"}\"]"))
        TurnOver
        Show(PluginName("script"), Say("twin with no model", Plain))
        Piece(Saying("got back []"))
        TurnOver
        Piece(Saying("got back [\"{\\\"of\\\":\\\"twin\\\"}\"]"))
        TurnOver
        Show(PluginName("script"), Say("script with script-1", Plain))
        Piece(Saying("got back [\"{\\\"of\\\":\\\"script\\\"}\", \"{\\\"of\\\":\\\"script\\\"}\"]"))
        TurnOver
    "#]]
    .assert_eq(&shown);
}
