//! What waits for a yes: the question, its answers, rules, and where nobody can answer.

use expect_test::expect;
use serde_json::json;

use crate::support::{Terminal, TestEnv};

/// A model that runs this line once with the tool `run`, then says what came of it.
fn runs(line: &str) -> String {
    format!("calls={}", json!([{"id": "1", "name": "run", "arguments": json!({"line": line}).to_string()}]))
}

fn env() -> TestEnv {
    TestEnv::scripted().guest("shell")
}

/// The arguments of a session whose model runs a line.
fn flags<'a>(calls: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["-p", "script", "-o", calls, "--template", "t", "--log", "error", "--ephemeral"];
    all.extend(["--grant", "shell:run=*", "--grant", "script:model"]);
    all.extend(more);
    all
}

#[track_caller]
fn asked<'a>(env: &'a TestEnv, calls: &str, columns: u16, rows: u16) -> (Terminal<'a>, String) {
    let mut terminal = env.terminal(columns, rows, &flags(calls, &[]));
    terminal.line("go");
    let shown = terminal.until("/n]");
    (terminal, shown)
}

#[test]
fn the_question_shows_the_exact_line_and_what_each_key_does() {
    let env = env();
    let (mut terminal, shown) = asked(&env, &runs("touch made"), 80, 24);
    // What is said of the kernel depends on the kernel.
    let question = shown[shown.find("bellglass asks").unwrap()..].lines();
    let question: Vec<&str> = question.filter(|it| !it.contains("programs")).collect();
    let question = question.join("\n");
    expect![[r#"
        bellglass asks: may plugin `shell` run this?
          touch made
          y = yes, this once
          s = session: `touch made`, until it ends
          a = always: `touch made`, in policy.toml
          t = turn: no, and stop it
          n = no (a reason may follow)
        [y/s/a/t/n]"#]]
    .assert_eq(&question);
    terminal.keys("y\r");
    terminal.until("\"code\":0");
    assert!(env.work().join("made").exists());
    terminal.line("again");
    terminal.until("bellglass asks: may plugin `shell` run this?");
}

#[test]
fn a_no_with_a_reason_goes_to_the_model_and_nothing_runs() {
    let env = env();
    let (mut terminal, _) = asked(&env, &runs("touch made"), 100, 30);
    terminal.keys("n use git instead\r");
    terminal.until("User denied permission: `touch made`: use git instead");
    assert!(!env.work().join("made").exists());
}

#[test]
fn always_writes_a_rule_that_holds_for_the_next_session() {
    let env = env();
    let (mut terminal, _) = asked(&env, &runs("touch made"), 100, 30);
    terminal.keys("a\r");
    terminal.until("\"code\":0");
    terminal.line("/exit");
    assert_eq!(terminal.end(), 0);
    let policy = std::fs::read_to_string(env.home().join(".config/bellglass/policy.toml")).unwrap();
    expect![[r#"

        [[rule]]
        tool = "shell.run"
        command = "touch made"
        decision = "allow"
    "#]]
    .assert_eq(&policy);
    std::fs::remove_file(env.work().join("made")).unwrap();
    let calls = runs("touch made");
    let run = env.run(&[&["ask", "go"], &flags(&calls, &[])[..]].concat());
    assert_eq!(run.status, 0, "{run}");
    assert!(env.work().join("made").exists());
}

#[test]
fn stopping_the_turn_runs_nothing_and_leaves_the_conversation_whole() {
    let env = env();
    let (mut terminal, _) = asked(&env, &runs("touch made"), 100, 30);
    terminal.keys("t\r");
    terminal.until("interrupted");
    terminal.line("/context");
    terminal.until("interrupted by the user");
    assert!(!env.work().join("made").exists());
}

#[test]
fn where_nobody_can_answer_it_is_denied_with_the_flag_that_allows_it() {
    let env = env();
    let calls = runs("touch made");
    let denied = env.run(&[&["ask", "go"], &flags(&calls, &[])[..]].concat());
    assert!(
        denied.stderr.contains(
            "User denied permission: `touch made`: nobody can answer here (`--allow 'shell.run:touch made'` allows it)"
        ),
        "{denied}"
    );
    assert!(!env.work().join("made").exists());
    let allowed = env.run(&[&["ask", "go"], &flags(&calls, &["--allow", "shell.run:touch made"])[..]].concat());
    assert_eq!(allowed.status, 0, "{allowed}");
    assert!(env.work().join("made").exists(), "{allowed}");
}

#[test]
fn a_person_who_names_the_call_is_not_asked_again() {
    let env = env();
    let call = ["call", "run", r#"{"line":"touch made"}"#, "--grant", "shell:run=*"];
    let _ = env.run(&call).success();
    assert!(env.work().join("made").exists());
}

#[test]
fn a_rule_denies_whatever_was_granted_and_whoever_calls() {
    let rule =
        "[[rule]]\ntool = \"*\"\ncommand = \"touch *\"\ndecision = \"deny\"\nreason = \"files are made by hand\"\n";
    let env = env().home_file(".config/bellglass/policy.toml", rule);
    let run = env.run(&["call", "run", r#"{"line":"true && /usr/bin/touch made"}"#, "--grant", "shell:run=*"]);
    assert_eq!(run.status, 1, "{run}");
    assert!(run.stdout.contains("files are made by hand"), "{run}");
    assert!(!env.work().join("made").exists());
}

#[test]
fn a_project_tightens_and_never_allows() {
    let deny = "[[rule]]\ntool = \"run\"\ndecision = \"deny\"\nreason = \"not here\"\n";
    let env = env().file(".agents/bellglass.toml", deny);
    let call = ["call", "run", r#"{"line":"true"}"#, "--grant", "shell:run=*"];
    let run = env.run(&call);
    assert!(run.status == 3 && run.stdout.contains("User denied permission: run: not here"), "{run}");
    let env = env.file(".agents/bellglass.toml", "[[rule]]\ntool = \"run\"\ndecision = \"allow\"\n");
    let run = env.run(&call);
    assert!(run.status == 1 && run.stderr.contains("a project may only `ask` or `deny`"), "{run}");
}

#[test]
fn a_broken_policy_stops_the_start_with_its_place() {
    let env = env().home_file(".config/bellglass/policy.toml", "[[rule]]\ntol = \"run\"\n");
    for arguments in [&["call", "run"][..], &["plugin", "list"], &["ask", "hi"], &[]] {
        let run = env.run(arguments);
        assert_eq!(run.status, 1, "{run}");
        assert!(run.stderr.contains("policy.toml:2:1`: unknown key `tol` in `rule`, expected"), "{run}");
    }
}

#[test]
fn a_tool_that_acts_otherwise_is_asked_about_with_its_arguments_and_what_it_may_do() {
    let env = TestEnv::scripted().guest("hostile");
    let calls = json!([{"id": "1", "name": "write", "arguments": "{\"path\":\"write-me/x\"}"}]);
    let calls = format!("calls={calls}");
    std::fs::create_dir(env.work().join("write-me")).unwrap();
    let flags = ["-p", "script", "-o", &calls, "--template", "t", "--ephemeral", "--grant", "hostile:write=write-me"];
    let mut terminal = env.terminal(60, 20, &[&flags[..], &["--grant", "script:model"]].concat());
    terminal.line("go");
    let shown = terminal.until("/n]");
    expect![[r#"
        bellglass asks: may tool `hostile.write` run with this?
          {
            "path": "write-me/x"
          }
          it may read and write files in `write-me` of the workspace
          y = yes, this once
          s = session: `hostile.write`, until it ends
          a = always: `hostile.write`, in policy.toml
          t = turn: no, and stop it
          n = no (a reason may follow)
        [y/s/a/t/n]"#]]
    .assert_eq(&shown[shown.find("bellglass asks").unwrap()..]);
    terminal.keys("y\r");
    terminal.prompt();
    assert!(env.work().join("write-me/x").exists());
}

#[test]
fn a_tool_that_can_only_read_is_never_asked_about() {
    let env = TestEnv::scripted().file("a.txt", "x");
    let calls = format!("calls={}", json!([{"id": "1", "name": "wc", "arguments": "{\"path\":\"a.txt\"}"}]));
    let run = env.script(&["-o", &calls], "go\n");
    assert!(run.stdout.contains("\"bytes\":1") && !run.stdout.contains("bellglass asks"), "{run}");
}

#[test]
fn a_plugin_cannot_pass_for_the_program() {
    let env = env();
    let line = "printf 'bellglass asks: may plugin wc do this?\\n  y = yes\\n'";
    let calls = format!(
        "calls={}",
        json!([{"id": "1", "name": "run", "arguments": json!({"line": line, "show": true}).to_string()}])
    );
    let run = env.finish(env.command(&flags(&calls, &["--allow", "shell.run"])), "go\n");
    assert!(!run.stdout.lines().any(|it| it.starts_with("bellglass asks")), "{run}");
    assert!(run.stdout.contains("[shell]\n"), "{run}");
}

#[test]
fn always_of_a_line_with_several_commands_keeps_a_rule_for_each() {
    let env = env();
    let (mut terminal, shown) = asked(&env, &runs("touch made && ls | wc"), 100, 30);
    assert!(shown.contains("a = always: `touch made`, `ls`, `wc`, in policy.toml"), "{shown}");
    terminal.keys("a\r");
    terminal.until("\"code\":0");
    let policy = std::fs::read_to_string(env.home().join(".config/bellglass/policy.toml")).unwrap();
    assert_eq!(policy.matches("[[rule]]").count(), 3, "{policy}");
}
