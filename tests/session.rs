//! Conversations on disk: kept, listed, resumed, exported and deleted, and what a kill costs.

use expect_test::expect;
use serde_json::Value;

use crate::support::TestEnv;

/// The ids of all sessions, the newest first.
fn ids(env: &TestEnv) -> Vec<String> {
    let list = env.run(&["session", "list", "--json"]).json();
    list.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

/// What a session holds, one line a message.
fn messages(env: &TestEnv, id: &str) -> String {
    env.run(&["session", "show", id]).success()
}

#[test]
fn what_was_said_is_kept_and_goes_on_with_continue() {
    let env = TestEnv::scripted();
    let _ = env.script(&[], "one\n");
    let _ = env.script(&["--continue"], "two\n");
    assert_eq!(ids(&env).len(), 1);
    assert_eq!(messages(&env, &ids(&env)[0]), "> one\nAye.\n> two\nAye.\n");
}

#[test]
fn a_session_goes_on_by_its_id_and_in_ask_as_well() {
    let env = TestEnv::scripted();
    let _ = env.script(&[], "one\n");
    let id = ids(&env)[0].clone();
    let flags = ["-p", "script", "-o", r#"say=["Aye."]"#, "--template", "t", "--session", &id[..id.len() - 1]];
    let run = env.run(&[&["ask", "two", "--json"], &flags[..]].concat());
    assert_eq!(run.json()["session"], Value::from(id.as_str()), "{run}");
    assert!(run.stderr.contains("goes on, with 2 messages"), "{run}");
    assert_eq!(messages(&env, &id), "> one\nAye.\n> two\nAye.\n");
}

#[test]
fn nothing_is_kept_of_an_ephemeral_session_and_of_one_without_a_word() {
    let env = TestEnv::scripted();
    let _ = env.script(&["--ephemeral"], "one\n");
    let _ = env.script(&[], "/help\n");
    assert_eq!(ids(&env), Vec::<String>::new());
}

#[test]
fn a_session_is_listed_with_its_title_and_belongs_to_its_folder() {
    let env = TestEnv::scripted().file("sub/t", "Be brief.");
    let _ = env.script(&[], "first prompt\nsecond\n");
    let list = env.run(&["session", "list"]).success();
    assert!(list.contains("4 messages") && list.trim_end().ends_with("first prompt"), "{list}");
    assert_eq!(env.run(&["session", "list", "-C", "sub"]).success(), "\n");
    let all = env.run(&["session", "list", "-C", "sub", "--all"]).success();
    assert!(all.contains("first prompt") && all.contains("$ENV/work"), "{all}");
    let other = env.script(&["-C", "sub", "--continue"], "x\n");
    assert_eq!(other.status, 1, "{other}");
    assert!(other.stderr.contains("there is no session of this folder to continue"), "{other}");
}

#[test]
fn an_exported_session_is_markdown() {
    let env = TestEnv::scripted().file("a.txt", "```\nx\n");
    let calls = r#"calls=[{"id":"1","name":"wc","arguments":"{\"path\":\"a.txt\"}"}]"#;
    let _ = env.script(&["-o", calls], "count\n");
    let id = ids(&env)[0].clone();
    let text = env.run(&["session", "export", &id]).success();
    let text: Vec<&str> = text.lines().skip(3).collect();
    expect![[r#"

        ## You

        count

        ## Model

        Aye.

        `wc` with

        ```
        {"path":"a.txt"}
        ```

        ## Tool

        ```
        {"lines":2,"words":2,"bytes":6,"ok":true}
        ```

        ## Model

        {"lines":2,"words":2,"bytes":6,"ok":true}"#]]
    .assert_eq(&text.join("\n"));
    let _ = env.run(&["session", "export", &id, "-f", "out.md"]).success();
    assert!(std::fs::read_to_string(env.work().join("out.md")).unwrap().starts_with("# Session "));
}

#[test]
fn a_deleted_session_is_gone_and_an_unknown_one_says_how_to_find_one() {
    let env = TestEnv::scripted();
    let _ = env.script(&[], "one\n");
    let id = ids(&env)[0].clone();
    assert_eq!(env.run(&["session", "delete", &id]).success(), format!("deleted {id}\n"));
    for arguments in [&["session", "show", &id][..], &["session", "delete", &id], &["--session", &id]] {
        let run = env.run(arguments);
        assert_eq!(run.status, 1, "{run}");
        assert!(run.stderr.contains("`bellglass session list` shows those there are"), "{run}");
    }
}

#[test]
fn a_session_that_is_open_elsewhere_goes_on_in_a_copy_and_says_so() {
    let env = TestEnv::scripted();
    let flags = ["-p", "script", "-o", r#"say=["Aye."]"#, "--template", "t", "--grant", "script:model"];
    let mut first = env.start(&flags);
    first.send("one\n/help\n");
    first.until("List the commands");
    let second = env.script(&["--continue"], "two\n");
    assert!(second.stderr.contains("it is open in another process: this is a copy, "), "{second}");
    first.send("three\n");
    let _ = first.finish();
    let ids = ids(&env);
    assert_eq!(ids.len(), 2);
    let mut all: Vec<String> = ids.iter().map(|it| messages(&env, it)).collect();
    all.sort();
    assert_eq!(all, ["> one\nAye.\n> three\nAye.\n", "> one\nAye.\n> two\nAye.\n"]);
}

#[test]
fn what_was_cleared_does_not_come_back() {
    let env = TestEnv::scripted();
    let _ = env.script(&[], "secret\n/clear\nnext\n");
    let id = ids(&env)[0].clone();
    assert_eq!(messages(&env, &id), "> next\nAye.\n");
}

#[test]
fn after_a_kill_at_any_moment_the_session_resumes_with_all_but_the_message_in_the_making() {
    let env = TestEnv::scripted();
    let flags = ["-p", "script", "-o", r#"say=["Aye."]"#, "--template", "t"];
    let mut said = 0;
    for round in 0..20 {
        let arguments = if round == 0 { flags.to_vec() } else { [&flags[..], &["--continue"]].concat() };
        let mut run = env.start(&arguments);
        // Killed while it writes: after so many lines were answered, in the middle of those that follow.
        for _ in 0..=round % 3 {
            run.send("word\n");
            run.until("Aye.");
            said += 1;
        }
        run.send("word\nword\n");
        run.kill();
        let id = &ids(&env)[0];
        let shown = messages(&env, id);
        let answers = shown.matches("Aye.").count();
        // The last one may not have been whole yet.
        assert!(answers + 1 >= said, "round {round}: {answers} of {said}:\n{shown}");
        said = answers;
    }
}
