//! What the person grants to a plugin: on the command line, in the question at its first use, and for how long it holds.

use expect_test::expect;

use crate::support::TestEnv;

/// A workspace with one note, and a plugin that asks to read it.
fn notes() -> TestEnv {
    TestEnv::new().guest("notes").file("milk.txt", "buy some")
}

/// The same plugin with other bytes: an empty custom section more.
fn changed() -> Vec<u8> {
    [test_guests::component("notes"), &[0, 2, 1, b'x']].concat()
}

fn hash_of(env: &TestEnv) -> String {
    env.run(&["plugin", "info", "notes", "--json"]).json()["sha256"].as_str().unwrap().to_owned()
}

#[test]
fn a_plugin_that_was_granted_nothing_is_refused_with_the_command_that_grants_it() {
    notes().run(&["call", "notes"]).check(expect![[r#"
        {"error":"No such file or directory (os error 44)","name":"notes","args":{},"ok":false}
        --- stderr
         WARN No such file or directory (os error 44) tool=notes.notes
        hint: plugin `notes` has no `read=.`: `--grant notes:read=.` for one run, `bellglass plugin grant notes read=.` for good
        [exit 3]
    "#]]);
}

#[test]
fn the_command_of_the_hint_grants_for_good() {
    let env = notes();
    assert_eq!(
        env.run(&["plugin", "grant", "notes", "read=."]).success(),
        "plugin `notes` may read files in the workspace\n"
    );
    assert_eq!(env.run(&["call", "notes"]).success(), "{\"notes\":[\"milk.txt\"],\"ok\":true}\n");
    let info = env.run(&["plugin", "info", "notes"]).success();
    assert!(info.contains("read files in the workspace: to find your notes (granted)"), "{info}");
    assert_eq!(env.run(&["plugin", "revoke", "notes", "read=."]).success(), "took back 1 decision about `notes`\n");
    assert_eq!(env.run(&["call", "notes"]).status, 3);
    env.run(&["plugin", "revoke", "notes", "read=."]).check(expect![[r#"
        --- stderr
        error: nothing was granted to `notes` that this would take back
        [exit 1]
    "#]]);
}

#[test]
fn the_flag_of_the_hint_grants_for_one_run() {
    let env = notes();
    assert_eq!(env.run(&["call", "notes", "--grant", "notes:read=."]).status, 0);
    assert_eq!(env.run(&["call", "notes"]).status, 3);
}

#[test]
fn a_grant_is_for_the_file_as_it_is_and_not_for_the_next_version() {
    let env = notes();
    let _ = env.run(&["plugin", "grant", "notes", "--all"]).success();
    let env = env.plugin("notes.wasm", changed());
    assert_eq!(env.run(&["call", "notes"]).status, 3, "other bytes are another plugin");
    let env = env.guest("notes");
    assert_eq!(env.run(&["call", "notes"]).status, 0, "the bytes that were granted it");
}

#[test]
fn a_grant_is_for_a_place_and_not_for_a_name() {
    let env = notes();
    let _ = env.run(&["plugin", "grant", "notes", "--all"]).success();
    let file = env.home().join(".agents/plugins/notes.wasm");
    let named = env.run(&["call", "notes", "--no-plugins", "--plugin", file.to_str().unwrap()]);
    assert_eq!(named.status, 3, "{named}");
}

#[test]
fn only_what_a_plugin_asks_for_can_be_granted() {
    let env = notes();
    env.run(&["plugin", "grant", "notes", "write=."]).check(expect![[r#"
        plugin `notes` may read files in the workspace
        [exit 0]
    "#]]);
    env.run(&["plugin", "grant", "notes", "model"]).check(expect![[r#"
        --- stderr
        error: plugin `notes` does not ask for `model`
          hint: plugin `notes` has all that it asks for
        [exit 2]
    "#]]);
    env.run(&["plugin", "grant", "notes"]).check(expect![[r#"
        --- stderr
        error: name what to grant, or `--all`
          hint: plugin `notes` has all that it asks for
        [exit 2]
    "#]]);
    env.run(&["plugin", "grant", "wc", "--all"]).check(expect![[r#"
        --- stderr
        error: plugin `wc` is bundled: it has all that it asks for
        [exit 2]
    "#]]);
    env.run(&["plugin", "grant", "nots", "--all"]).check(expect![[r#"
        --- stderr
        error: unknown plugin `nots`, expected one of: wc, no-rm, session, anthropic, gemini, ollama, openai, openai-responses, task, notes
        [exit 1]
    "#]]);
}

#[test]
fn the_question_for_a_right_fits_a_small_terminal_and_says_what_each_key_does() {
    let env = notes();
    let mut terminal = env.terminal(60, 15, &[]);
    terminal.line("/notes");
    let shown = terminal.until("[o/s/a/n]").replace(&hash_of(&env)[..16], "HASH-OF-THE-FILE");
    expect![[r#"
        > /notes
        bellglass asks: may plugin `notes` do this?
          user 0.1.0 in $ENV/home/.agents/plug
        ins
          sha256 HASH-OF-THE-FILE
          - read files in the workspace: "to find your notes"
          o = once: for this call
          s = session: until it ends
          a = always: kept for this very file
          n = no: go on without
        [o/s/a/n]"#]]
    .assert_eq(&shown);
    terminal.keys("o\r");
    terminal.until("found milk.txt");
    terminal.line("/notes");
    terminal.until(
        "> /notes
bellglass asks: may plugin `notes` do this?",
    );
}

#[test]
fn always_is_kept_and_asked_no_more() {
    let env = notes();
    let mut terminal = env.terminal(80, 24, &[]);
    terminal.line("/notes");
    terminal.until("[o/s/a/n]");
    terminal.keys("a\r");
    terminal.until("found milk.txt");
    terminal.line("/exit");
    assert_eq!(terminal.end(), 0);
    let mut terminal = env.terminal(80, 24, &[]);
    terminal.line("/notes");
    assert!(!terminal.until("found milk.txt").contains("bellglass asks"));
}

#[test]
fn a_no_is_not_asked_again_in_the_session_and_can_still_be_granted() {
    let env = notes();
    let mut terminal = env.terminal(80, 24, &[]);
    terminal.line("/notes");
    terminal.until("[o/s/a/n]");
    terminal.keys("maybe\r");
    terminal.keys("n\r");
    terminal.until("nothing found");
    terminal.line("/notes");
    terminal.prompt();
    let _ = env.run(&["plugin", "grant", "notes", "--all"]).success();
    terminal.line("/reload");
    terminal.until("loaded");
    terminal.line("/notes");
    terminal.until("found milk.txt");
}

#[test]
fn a_new_version_shows_what_changed() {
    let env = notes();
    let hash = hash_of(&env);
    let old = "0123456789abcdef".repeat(4);
    let env = env.home_file(
        ".config/bellglass/grants.toml",
        format!(
            "[[grant]]\nplugin = \"notes\"\norigin = \"user\"\nsha256 = \"{old}\"\nversion = \"0.0.9\"\n\
             asked = [\"run `ls`\"]\ngrants = [\"run=ls\"]\n"
        ),
    );
    let mut terminal = env.terminal(80, 24, &[]);
    terminal.line("/notes");
    let shown = terminal.until("[o/s/a/n]").replace(&hash[..16], "HASH-OF-THE-FILE");
    expect![[r#"
        > /notes
        bellglass asks: may plugin `notes` do this?
          user 0.1.0 in $ENV/home/.agents/plugins
          sha256 HASH-OF-THE-FILE
          changed since 0.0.9 (0123456789abcdef), which you granted
          - new: read files in the workspace: "to find your notes"
          no longer: run `ls`
          o = once: for this call
          s = session: until it ends
          a = always: kept for this very file
          n = no: go on without
        [o/s/a/n]"#]]
    .assert_eq(&shown);
}

#[test]
fn a_file_that_changes_on_disk_runs_as_it_was_until_it_is_loaded_again_and_then_asks() {
    let env = notes();
    let _ = env.run(&["plugin", "grant", "notes", "--all"]).success();
    let mut terminal = env.terminal(80, 24, &[]);
    terminal.line("/notes");
    terminal.until("found milk.txt");
    std::fs::write(env.home().join(".agents/plugins/notes.wasm"), changed()).unwrap();
    terminal.line("/notes");
    terminal.prompt();
    terminal.line("/reload");
    terminal.until("loaded");
    terminal.line("/notes");
    terminal.until("changed since");
}

#[test]
fn a_broken_file_of_grants_stops_the_start_with_its_place() {
    let env = notes().home_file(".config/bellglass/grants.toml", "[[grant]]\nplugin = \"notes\"\ngrant = []\n");
    for arguments in [&["call", "notes"][..], &["plugin", "list"], &["ask", "hi"], &[]] {
        let run = env.run(arguments);
        assert_eq!(run.status, 1, "{run}");
        assert!(
            run.stderr.contains(
                "error: `$ENV/home/.config/bellglass/grants.toml:3:1`: unknown key `grant` in `grant`, expected"
            ),
            "{run}"
        );
    }
}
