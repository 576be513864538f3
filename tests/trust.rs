//! Plugins that come with a project: nothing of them runs before the person has said so.

use expect_test::expect;

use crate::support::{PluginText, TestEnv};

/// A cloned repository that brings a plugin.
fn project() -> TestEnv {
    TestEnv::new().file(".agents/plugins/notes.wasm", test_guests::component("notes")).file("milk.txt", "buy some")
}

#[test]
fn a_plugin_of_the_project_is_refused_with_the_command_that_trusts_it() {
    project().run(&["call", "notes"]).check(expect![[r#"
        {"error":"unknown tool `notes`, expected one of: wc, task","ok":false}
        --- stderr
        warning: 1 plugin of this project waits for trust and is not loaded: `bellglass plugin trust $ENV/work/.agents/plugins/notes.wasm`
        [exit 3]
    "#]]);
}

#[test]
fn trust_loads_it_without_any_right_and_says_what_it_asks_for() {
    let env = project();
    let trusted = env.run(&["plugin", "trust", ".agents/plugins"]).success();
    let hash = env.run(&["plugin", "info", "notes", "--json"]).json()["sha256"].as_str().unwrap().to_owned();
    expect![[r#"
        trusted $ENV/work/.agents/plugins/notes.wasm (sha256 HASH)
        plugin `notes` asks for what it does not have:
          read files in the workspace: "to find your notes"
        `bellglass plugin grant notes --all` grants it
    "#]]
    .assert_eq(&trusted.replace(&hash, "HASH"));
    assert_eq!(env.run(&["call", "notes"]).status, 3);
    let _ = env.run(&["plugin", "grant", "notes", "--all"]).success();
    assert_eq!(env.run(&["call", "notes"]).status, 0);
    // Everything is taken back with the name: grants, and the trust in the file.
    let _ = env.run(&["plugin", "revoke", "notes"]).success();
    assert!(env.run(&["call", "notes"]).stderr.contains("waits for trust"));
}

#[test]
fn other_bytes_at_the_same_place_are_not_trusted_and_the_same_bytes_elsewhere_neither() {
    let env = project();
    let _ = env.run(&["plugin", "trust", ".agents/plugins/notes.wasm"]).success();
    let other = [test_guests::component("notes"), &[0, 2, 1, b'x']].concat();
    let env = env.file(".agents/plugins/notes.wasm", other);
    assert!(env.run(&["tools"]).stderr.contains("waits for trust"));
    let env = env
        .file(".agents/plugins/notes.wasm", test_guests::component("notes"))
        .file("sub/.agents/plugins/notes.wasm", test_guests::component("notes"));
    assert!(!env.run(&["tools"]).stderr.contains("waits for trust"));
    assert!(env.run(&["tools", "-C", "sub"]).stderr.contains("waits for trust"));
}

#[test]
fn trust_in_a_file_is_taken_back_by_its_path() {
    let env = project();
    let _ = env.run(&["plugin", "trust", ".agents/plugins/notes.wasm"]).success();
    let revoked = env.run(&["plugin", "revoke", ".agents/plugins/notes.wasm"]).success();
    assert_eq!(revoked, "took back 1 decision about `.agents/plugins/notes.wasm`\n");
    assert!(env.run(&["tools"]).stderr.contains("waits for trust"));
}

#[test]
fn nothing_of_a_project_runs_before_it_is_trusted() {
    // It would say so in the log if it were asked who it is.
    let spy = PluginText { log_in_describe: true, ..PluginText::with_tool("spy", "spy") }.build();
    let env = TestEnv::new().file(".agents/plugins/spy.wasm", spy);
    for arguments in [&["tools", "--log", "info"][..], &["plugin", "list", "--log", "info"], &["--log", "info"]] {
        let run = env.finish(env.command_with_own_cache(arguments), "");
        assert!(!run.stderr.contains("asked who it is"), "{run}");
    }
    let trust = env.command_with_own_cache(&["plugin", "trust", ".agents/plugins", "--log", "info"]);
    let trusted = env.finish(trust, "");
    assert!(trusted.stderr.contains("asked who it is"), "{trusted}");
}

#[test]
fn settings_of_a_project_trust_and_grant_nothing() {
    let env = project().file(
        ".config/bellglass/grants.toml",
        format!("[[trust]]\nfile = \"/work/.agents/plugins/notes.wasm\"\nsha256 = \"{}\"\n", "a".repeat(64)),
    );
    assert_eq!(env.run(&["call", "notes"]).status, 3);
}

#[test]
fn in_the_repl_the_project_is_asked_about_before_the_first_line_runs() {
    let env = project();
    let mut terminal = env.terminal(60, 15, &[]);
    terminal.until("waits for trust");
    terminal.line("/notes");
    let shown = terminal.until("[s/a/n]");
    let question = &shown[shown.find("bellglass asks").unwrap()..];
    let _ = env.run(&["plugin", "trust", ".agents/plugins"]).success();
    let hash = env.run(&["plugin", "info", "notes", "--json"]).json()["sha256"].as_str().unwrap()[..16].to_owned();
    let bytes = test_guests::component("notes").len().to_string();
    expect![[r#"
        bellglass asks: load plugin `notes.wasm` of this project?
          folder $ENV/work/.agents/plugins
          sha256 HASH-OF-THE-FILE, N bytes
          it gets no right by this: it asks for each
          s = session: until it ends
          a = always: as long as the file is this one
          n = no: leave it out
        [s/a/n]"#]]
    .assert_eq(&question.replace(&hash, "HASH-OF-THE-FILE").replace(&bytes, "N"));
    terminal.keys("s\r");
    // The line that was typed goes on, and the plugin asks for what it needs.
    terminal.until("may plugin `notes` do this?");
    terminal.keys("s\r");
    terminal.until("found .agents, milk.txt");
}

#[test]
fn a_no_leaves_it_out_and_the_line_goes_on() {
    let env = project();
    let mut terminal = env.terminal(80, 24, &[]);
    terminal.line("/help");
    terminal.until("[s/a/n]");
    terminal.keys("n\r");
    terminal.until("List the commands");
    terminal.line("/notes");
    terminal.until("unknown command `/notes`");
}

#[test]
fn a_tool_that_looks_like_an_answer_answers_nothing() {
    // Piped lines are no person: nobody is asked, and `s` is a prompt for the model.
    let run = project().repl("/notes\ns\na\n");
    assert!(run.stdout.contains("unknown command") || run.stderr.contains("unknown command"), "{run}");
    assert!(!run.stdout.contains("bellglass asks"), "{run}");
}
