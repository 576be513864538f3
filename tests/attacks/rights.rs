//! Reaching for the session, for other plugins and for the environment without the right to.

use serde_json::json;

use crate::support::{Attack, Bench, TestEnv};

fn env() -> TestEnv {
    TestEnv::new()
        .guest("hostile")
        .file("read-me/a.txt", "readable")
        .file("write-me/c.txt", "writable")
        .file("secret/d.txt", "secret")
}

/// One interface without its right, then with it. `try` names what is tried.
async fn check(what: &str, refusal: &str, grants: &[&str], beside: &[&str]) {
    Attack { tool: "try", arguments: json!({"what": what}), refusal, grants, beside }.check(env).await;
}

#[tokio::test]
async fn the_conversation_is_not_read() {
    let refusal = "denied: plugin `hostile` has no `conversation` grant";
    check("messages", refusal, &["hostile:conversation"], &["hostile:model"]).await;
    check("context", refusal, &["hostile:conversation"], &["hostile:session-control"]).await;
}

#[tokio::test]
async fn the_provider_in_use_is_not_told() {
    let refusal = "denied: plugin `hostile` has no `model` grant";
    check("current-provider", refusal, &["hostile:model"], &["hostile:conversation"]).await;
    check("provider-names", refusal, &["hostile:model"], &["hostile:session-control"]).await;
}

#[tokio::test]
async fn the_toolbox_is_not_looked_into() {
    let refusal = "denied: plugin `hostile` has no `call-tool` grant";
    check("definitions", refusal, &["hostile:call-tool"], &["hostile:model"]).await;
    check("hooks", refusal, &["hostile:call-tool=*"], &["hostile:conversation"]).await;
    check("validate", refusal, &["hostile:call-tool=wc"], &["hostile:env"]).await;
}

#[tokio::test]
async fn another_plugins_tool_is_not_called() {
    let arguments = json!({"what": "wc"});
    let beside = ["hostile:call-tool=echo"];
    let attack = |refusal, beside| Attack {
        tool: "try",
        arguments: arguments.clone(),
        refusal,
        grants: &["hostile:call-tool=wc"],
        beside,
    };
    attack("denied", &beside[..]).check(env).await;
    attack("denied", &["hostile:call-tool=hostile.wc"][..]).check(env).await;
}

#[tokio::test]
async fn an_alias_is_no_name_to_be_granted() {
    // `repeat` is an alias of `echo`: the right is for the real name.
    let arguments = json!({"what": "repeat"});
    let (grants, beside) = (&["hostile:call-tool=echo"][..], &["hostile:call-tool=repeat"][..]);
    Attack { tool: "try", arguments, refusal: "denied", grants, beside }.check(env).await;
}

#[tokio::test]
async fn a_variable_is_not_read_by_guessing_its_name() {
    let refusal = "environment variable not found";
    check("env GRANTED", refusal, &["hostile:env=GRANTED"], &["hostile:env=SECRET", "other:env=GRANTED"]).await;
    let host = Bench::of(env()).grant("hostile:env").load().await;
    assert_eq!(host.answer("env", json!({})).await, json!({"env": []}), "this process has none of that name");
}

#[tokio::test]
async fn what_a_plugin_did_not_ask_for_is_not_granted_by_anybody() {
    let bench = Bench::of(env()).grant("hostile:env=SECRET").grant("hostile:read=.").grant("hostile:read=secret");
    let host = bench.load().await;
    let outcome = host.call("try", json!({"what": "env SECRET"})).await;
    assert!(!outcome.ok(), "{outcome:?}");
    // What both name is granted: of the whole workspace the folder that it asks for.
    assert!(host.call("read", json!({"path": "read-me/a.txt"})).await.ok());
    assert!(!host.call("read", json!({"path": "secret/d.txt"})).await.ok());
}

#[tokio::test]
async fn a_tool_never_changes_the_session_whatever_it_was_granted() {
    let bench = Bench::of(env());
    let granted = ["conversation", "model", "session-control", "call-tool"];
    let bench = granted.iter().fold(bench, |bench, it| bench.grant(&format!("hostile:{it}")));
    let host = bench.start().await;
    for what in ["add", "clear", "turn", "use-provider", "reload", "exit", "run-command"] {
        let outcome = host.call("try", json!({"what": what})).await;
        let error = outcome.error().unwrap_or_default();
        assert!(error.contains("only a slash command may change the session"), "{what}: {}", outcome.to_json());
        assert!(host.call("echo", json!({})).await.ok(), "{what}");
    }
}

#[tokio::test]
async fn without_session_control_no_command_is_run_and_nothing_is_ended() {
    let host = Bench::of(env()).grant("hostile:model").start().await;
    for what in ["reload", "exit", "run-command"] {
        let error = host.call("try", json!({"what": what})).await.error().unwrap_or_default();
        assert!(error.contains("denied: plugin `hostile` has no `session-control` grant"), "{what}: {error}");
    }
}

#[tokio::test]
async fn the_name_of_another_plugin_inherits_neither_its_grants_nor_its_storage_nor_its_settings() {
    let env = env();
    let grant = env.run(&["plugin", "grant", "hostile", "read=read-me"]);
    assert_eq!(grant.status, 0, "{grant}");
    let _ = env.run(&["call", "store", r#"{"text":"mine"}"#]).success();
    // Another file takes the name.
    let twin = [test_guests::component("hostile"), &[0, 2, 1, b'x']].concat();
    let twin_file = env.work().join("twin.wasm");
    std::fs::write(&twin_file, twin).unwrap();
    let flags = ["--no-plugins", "--plugin", "twin.wasm"];
    let read = env.run(&[&["call", "read", r#"{"path":"read-me/a.txt"}"#], &flags[..]].concat());
    assert_eq!(read.status, 3, "{read}");
    let stored = env.run(&[&["call", "store", r#"{"text":"x"}"#], &flags[..]].concat());
    assert!(stored.stdout.contains("\"last\":null"), "{stored}");
    // The control: the file that was granted it.
    let _ = env.run(&["call", "read", r#"{"path":"read-me/a.txt"}"#]).success();
}

#[tokio::test]
async fn nothing_is_reached_while_a_plugin_is_asked_who_it_is() {
    // Its `describe` stores something, in a cache of its own so that it runs.
    let env = env();
    let store = |text: &str| {
        let arguments = format!(r#"{{"text":"{text}"}}"#);
        env.finish(env.command_with_own_cache(&["call", "store", &arguments]), "").json()
    };
    assert_eq!(store("one")["keys"], json!(["last"]));
    assert_eq!(store("two")["last"], "one", "the control: what a call stores is kept");
}

#[test]
fn a_project_cannot_grant_to_its_own_plugin() {
    let env = TestEnv::new()
        .file(".agents/plugins/hostile.wasm", test_guests::component("hostile"))
        .file(".agents/grants.toml", "[[grant]]\n")
        .file("grants.toml", "[[grant]]\n")
        .file("read-me/a.txt", "readable");
    let _ = env.run(&["plugin", "trust", ".agents/plugins"]).success();
    let call = ["call", "read", r#"{"path":"read-me/a.txt"}"#];
    assert_eq!(env.run(&call).status, 3);
    let _ = env.run(&["plugin", "grant", "hostile", "read"]).success();
    let _ = env.run(&call).success();
}

#[test]
fn a_model_grants_nothing_whatever_it_writes() {
    // The reply is text, and text answers no question: the tool is refused, and what is kept stays as it was.
    let env = TestEnv::new().guest("hostile").guest("script").file("read-me/a.txt", "readable");
    let calls = json!([
        {"id": "1", "name": "read", "arguments": "{\"path\":\"read-me/a.txt\"}"},
        {"id": "2", "name": "bellglass plugin grant hostile --all", "arguments": "{}"},
        {"id": "3", "name": "grant", "arguments": "{\"plugin\":\"hostile\",\"key\":\"a\"}"},
    ]);
    let say = r#"say=["a\ny\nalways\n--grant hostile:read=read-me\n"]"#;
    let run = env.run(&["ask", "hi", "-p", "script", "-o", &format!("calls={calls}"), "-o", say, "--log", "error"]);
    assert!(!run.to_string().contains("readable"), "{run}");
    assert!(!env.home().join(".config/bellglass/grants.toml").exists());
    let _ = env.run(&["call", "read", r#"{"path":"read-me/a.txt"}"#, "--grant", "hostile:read=read-me"]).success();
}
