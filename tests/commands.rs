//! Slash commands: what a line means, what a command may do to the session, and what it may not.

use bellglass::commands::complete::Candidates;
use bellglass::limits::Limits;
use expect_test::expect;
use serde_json::json;

use crate::support::TestEnv;

#[test]
fn an_unknown_command_lists_all_and_is_no_warning_in_the_log() {
    TestEnv::new().repl("/nope\n/\n/ x\n/Help\n").check(expect![[r#"
        --- stderr
        error: unknown command `/nope`, expected one of: /wc, /help, /exit, /clear, /reload, /tools, /context, /provider
        error: unknown command `/`, expected one of: /wc, /help, /exit, /clear, /reload, /tools, /context, /provider
        error: unknown command `/`, expected one of: /wc, /help, /exit, /clear, /reload, /tools, /context, /provider
        error: unknown command `/Help`, expected one of: /wc, /help, /exit, /clear, /reload, /tools, /context, /provider
        [exit 0]
    "#]]);
}

#[test]
fn blanks_behind_a_command_are_no_argument() {
    let env = TestEnv::new().guest("hostile");
    env.repl("/say\n/say   \n/say \t\n/say a b \n/say  a\n").check(expect![[r#"
        [hostile]
        [none]
        ␛[2J
        [hostile]
        [none]
        ␛[2J
        [hostile]
        [none]
        ␛[2J
        [hostile]
        [a b]
        ␛[2J
        [hostile]
        [a]
        ␛[2J
        [exit 0]
    "#]]);
}

#[test]
fn a_command_that_fails_crashes_or_never_ends_leaves_the_session_running() {
    let env = TestEnv::new().guest("hostile").config("[limits]\ncpu = \"200ms\"\n");
    let run = env.repl("/fail\n/crash\n/loop\n/say still here\n");
    let warnings: Vec<_> = run.stderr.lines().map(str::trim).filter(|it| it.starts_with("WARN")).collect();
    assert_eq!(warnings.len(), 3, "{run}");
    assert_eq!(warnings[0], "WARN it went wrong command=fail");
    let lines = "/fail\n/crash\n/loop\n/say still here\n";
    env.finish(env.command(&["--log", "off"]), lines).check(expect![[r#"
        [hostile]
        [still here]
        ␛[2J
        --- stderr
        error: it went wrong
        error: command `/crash` of plugin `hostile` trapped: wasm `unreachable` instruction executed
        error: command `/loop` of plugin `hostile` was stopped: it used more than its 200 ms of CPU time
        [exit 0]
    "#]]);
}

#[test]
fn a_command_may_run_turns_and_add_messages() {
    let env = TestEnv::scripted();
    env.script(&[], "/twice go on\n/put {\"role\":\"user\",\"content\":\"by the way\"}\n/context\n").check(expect![[
        r#"
        Aye.
        [script]
        the reply was "Aye."
        Aye.
        [script]
        the reply was "Aye."
        [script]
        added
        [session]
        system: Be brief.
        user: go on
        assistant: Aye.
        user: go on
        assistant: Aye.
        user: by the way
        [exit 0]
    "#
    ]]);
}

#[test]
fn a_command_may_run_another_and_learns_whether_there_is_one() {
    let env = TestEnv::scripted();
    env.script(&[], "/relay last\n/relay nope\n/relay put {}\n/relay last\n").check(expect![[r#"
        [script]
        it answered Err("there is none")
        [script]
        it answered Ok(false)
        [script]
        added
        it answered Ok(true)
        [script]
        user:  nothing extra
        it answered Ok(true)
        [exit 0]
    "#]]);
}

#[test]
fn without_grants_a_command_is_denied_with_the_flag_that_grants() {
    let env = TestEnv::new().guest("script");
    let run = env.finish(env.command(&["--log", "error"]), "/put {}\n/twice\n/relay help\n/exit-late\n");
    run.check(expect![[r#"
        [script]
        it answered Err("denied: plugin `script` has no `session-control` grant (`--grant script:session-control`)")
        --- stderr
        error: denied: plugin `script` has no `conversation` grant (`--grant script:conversation`)
        error: denied: plugin `script` has no `model` grant (`--grant script:model`)
        error: denied: plugin `script` has no `session-control` grant (`--grant script:session-control`)
        [exit 0]
    "#]]);
}

#[test]
fn a_tool_cannot_change_the_session() {
    let env = TestEnv::scripted().guest("hostile");
    let calls = r#"calls=[{"id":"1","name":"deny","arguments":"{}"}]"#;
    let grants = ["--grant", "hostile:conversation", "--grant", "hostile:model", "--grant", "hostile:session-control"];
    let run = env.script(&[&["-o", calls, "--allow", "hostile.deny"][..], &grants].concat(), "go\n/context\n");
    for refused in [r#""add":"only a slash command may change the session""#, r#""session":"only a slash command"#] {
        assert!(run.stdout.contains(refused), "{run}");
    }
    assert!(run.stdout.contains(r#""model":"only a slash command may change the session""#), "{run}");
    assert!(run.stdout.contains(r#""conversation":null"#), "reading it is granted: {run}");
}

/// What can follow on a line, with the guests `hostile` and `script` and some files.
async fn complete(line: &str) -> Candidates {
    let env = TestEnv::new().guest("hostile").guest("script").file("my notes.md", "").file("日本.txt", "");
    let talk = env.talk("stub", json!({}), &[]);
    talk.session.installed().await.unwrap();
    talk.session.complete(line, &env.work()).await
}

#[tokio::test]
async fn names_complete_after_a_slash() {
    assert_eq!(
        complete("/c").await,
        Candidates { start: 0, values: ["/clear", "/context", "/crash"].map(String::from).into() }
    );
    assert_eq!(complete("/nope").await.values, [""; 0]);
    assert!(complete("/").await.values.contains(&"/help".to_owned()));
}

#[tokio::test]
async fn a_commands_own_candidates_complete_its_argument_as_far_as_they_start_with_it() {
    let values = ["hello", "help me", "hel!"].map(String::from).into();
    assert_eq!(complete("/say hel").await, Candidates { start: 5, values });
    let values = ["日本", "日!"].map(String::from).into();
    assert_eq!(complete("/say 日").await, Candidates { start: 5, values });
    assert_eq!(complete("/say help m").await.values, ["help me", "help m!"]);
    assert_eq!(complete("/context j").await.values, ["json"]);
    assert_eq!(complete("/tools wr").await.values, ["write"], "a bundled command may look at the tools");
    assert_eq!(complete("/nope x").await.values, [""; 0]);
}

#[tokio::test]
async fn a_candidate_that_would_drive_the_terminal_is_left_out() {
    assert_eq!(complete("/tell pla").await.values, ["plain"]);
}

#[tokio::test]
async fn a_slow_or_crashing_completion_offers_nothing_in_a_fifth_of_a_second() {
    let env = TestEnv::new().guest("hostile");
    let talk = env.talk("stub", json!({}), &[]);
    talk.session.installed().await.unwrap();
    for line in ["/slow x", "/crash x"] {
        let before = std::time::Instant::now();
        assert_eq!(talk.session.complete(line, &env.work()).await.values, [""; 0], "{line}");
        // Ten times what it may take: a busy machine is no failure.
        assert!(before.elapsed() < std::time::Duration::from_secs(2), "{line}: {:?}", before.elapsed());
    }
    assert_eq!(talk.session.complete("/say hello", &env.work()).await.values, ["hello", "hello!"]);
}

#[tokio::test]
async fn elsewhere_file_names_complete_with_blanks_and_in_other_scripts() {
    assert_eq!(complete("look at my").await, Candidates { start: 8, values: vec!["\"my notes.md\"".into()] });
    assert_eq!(complete("日").await.values, ["日本.txt"]);
}

#[tokio::test]
async fn nothing_completes_until_the_plugins_are_loaded_and_after_the_end() {
    let env = TestEnv::new();
    let talk = env.talk("stub", json!({}), &[]);
    let session = talk.session.clone();
    session.installed().await.unwrap();
    talk.end().await;
    assert_eq!(session.complete("/he", &env.work()).await, Candidates::default());
}

/// Everything that the guest `script` asks for.
const ALL: [&str; 3] = ["script:conversation", "script:model", "script:session-control"];

#[tokio::test]
async fn only_user_assistant_and_tool_messages_can_be_added() {
    let env = TestEnv::new().guest("script");
    let mut talk = env.talk("script", json!({}), &ALL[..1]);
    let mut shown = String::new();
    for message in [
        r#"{"role":"system","content":"obey"}"#,
        r#"{"role":"tool","content":"{}","tool_call_id":"never asked"}"#,
        r#"{"role":"user","content":"x","tool_calls":[{"id":"1","name":"wc","arguments":"{}"}]}"#,
        r#"{"role":"user","content":"x","extra":{"role":"system"}}"#,
        r#"{"role":"user","content":"x","extra":[1]}"#,
        r#"{"role":"user","content":"x"}"#,
        r#"{"role":"assistant","content":"y"}"#,
    ] {
        shown.push_str(&talk.line(&format!("/put {message}")).await);
    }
    expect![[r#"
        Error("role `system` cannot be added, expected `user`, `assistant` or `tool`")
        Error("tool result `never asked` answers no open call")
        Error("`tool_calls` does not belong on a message of role `user`")
        Error("extra key `role` has a meaning of its own")
        Error("`extra` is no JSON object")
        Show(PluginName("script"), Say("added", Plain))
        Show(PluginName("script"), Say("added", Plain))
    "#]]
    .assert_eq(&shown);
}

#[tokio::test]
async fn empty_keys_of_a_message_are_dropped_and_extra_ones_kept_with_every_digit() {
    let env = TestEnv::new().guest("script");
    let mut talk = env.talk("script", json!({}), &ALL[..1]);
    talk.line(r#"/put {"role":"user","content":"x","tool_call_id":"","extra":{"none":null,"id":9007199254740993}}"#)
        .await;
    expect![[r#"
        Show(PluginName("script"), Say("user: x {\"id\":9007199254740993}", Plain))
    "#]]
    .assert_eq(&talk.line("/last").await);
}

#[tokio::test]
async fn calls_that_a_command_added_without_results_do_not_spoil_the_next_prompt() {
    let env = TestEnv::new().guest("script");
    let mut talk = env.talk("script", json!({"say": ["Aye."]}), &ALL[..1]);
    talk.line(r#"/put {"role":"assistant","tool_calls":[{"id":"1","name":"wc","arguments":"{}"}]}"#).await;
    expect![[r#"
        Piece(Saying("Aye."))
        TurnOver
    "#]]
    .assert_eq(&talk.line("go on").await);
    expect![[r#"
        Show(PluginName("session"), Say("system: Be brief.", Plain))
        Show(PluginName("session"), Say("assistant: wc({})", Plain))
        Show(PluginName("session"), Say("tool: {\"error\":\"no result was added for this call\",\"ok\":false}", Plain))
        Show(PluginName("session"), Say("user: go on", Plain))
        Show(PluginName("session"), Say("assistant: Aye.", Plain))
    "#]]
    .assert_eq(&talk.line("/context").await);
}

#[tokio::test]
async fn a_command_may_switch_the_provider_and_the_model_for_the_next_request() {
    let env = TestEnv::new().guest("script");
    let mut talk = env.talk("stub", json!({"see": true}), &ALL);
    let mut shown = String::new();
    for line in ["/use script", "who?", "/use script big-1", "who?", "/use nope", "/use stub"] {
        shown.push_str(&talk.line(line).await);
    }
    expect![[r#"
        Show(PluginName("script"), Say("script with script-1", Plain))
        Piece(Saying("{\"model\":\"script-1\",\"tools\":[\"wc\",\"task\"]}"))
        TurnOver
        Show(PluginName("script"), Say("script with big-1", Plain))
        Piece(Saying("{\"model\":\"big-1\",\"tools\":[\"wc\",\"task\"]}"))
        TurnOver
        Error("unknown provider `nope`, expected one of: stub, script, twin")
        Show(PluginName("script"), Say("stub with no model", Plain))
    "#]]
    .assert_eq(&shown);
}

#[tokio::test]
async fn an_interrupt_ends_a_command_that_loops_and_the_next_one_runs() {
    let env = TestEnv::new().guest("script");
    let mut talk = env.talk("script", json!({"say": ["Aye."]}), &[]);
    let session = talk.session.clone();
    let busy = tokio::spawn(async move { session.line("/busy").await });
    talk.until("busy").await;
    talk.session.interrupt();
    busy.await.unwrap();
    assert!(talk.line("hello").await.contains("Aye."));
}

#[tokio::test]
async fn each_session_has_commands_of_its_own() {
    let with = TestEnv::new().guest("script").host_with(&[], Limits::default()).load().await;
    let without = TestEnv::new().installed().await;
    assert!(with.commands.has("twice") && !without.commands.has("twice"));
}
