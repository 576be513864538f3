//! Which plugin or tool counts: where several come into question, and where a plugin does without one of its own.

use expect_test::expect;
use serde_json::Value;

use crate::support::{PluginText, Run, TestEnv};

/// Name, origin and state of what is not bundled, a line each.
#[track_caller]
fn states(list: &Run) -> String {
    let text = |it: &Value, key: &str| it[key].as_str().unwrap_or("-").to_owned();
    let file = |it: &Value| text(it, "path").rsplit('/').next().unwrap().to_owned();
    let line = |it: &Value| format!("{} {} {} {}\n", file(it), text(it, "name"), text(it, "origin"), text(it, "state"));
    rows(list).iter().filter(|it| it["origin"] != "bundled").map(line).collect()
}

#[track_caller]
fn rows(list: &Run) -> Vec<Value> {
    list.json().as_array().unwrap().clone()
}

#[test]
fn a_later_plugin_of_the_same_name_replaces_the_first_and_both_files_are_named() {
    let env = TestEnv::new()
        .plugin("a.wasm", PluginText::with_tool("twin", "one").build())
        .plugin("b.wasm", PluginText::with_tool("twin", "two").build());
    env.run(&["call", "two"]).check(expect![[r#"
        {"from":"twin","ok":true}
        --- stderr
        warning: plugin `twin` in `$ENV/home/.agents/plugins/b.wasm` (user) replaces `$ENV/home/.agents/plugins/a.wasm` (user)
        [exit 0]
    "#]]);
    expect![[r#"
        a.wasm twin user replaced
        b.wasm twin user loaded
    "#]]
    .assert_eq(&states(&env.run(&["plugin", "list", "--json"])));
    let gone = env.run(&["call", "one"]);
    assert_eq!(gone.status, 1, "{gone}");
}

#[test]
fn a_later_tool_of_the_same_name_replaces_the_first_which_keeps_its_address() {
    let env = TestEnv::new()
        .plugin("a.wasm", PluginText::with_tool("first", "speak").build())
        .plugin("b.wasm", PluginText::with_tool("second", "speak").build());
    env.run(&["call", "speak"]).check(expect![[r#"
        {"from":"second","ok":true}
        --- stderr
        warning: tool `speak` of plugin `second` replaces that of plugin `first`, which is reached as `first.speak`
        [exit 0]
    "#]]);
    assert_eq!(env.run(&["call", "first.speak"]).success(), "{\"from\":\"first\",\"ok\":true}\n");
    assert_eq!(env.run(&["call", "second.speak"]).success(), "{\"from\":\"second\",\"ok\":true}\n");
}

#[test]
fn plugins_of_the_project_wait_and_say_so_in_one_line() {
    let env = TestEnv::new()
        .file(".agents/plugins/p.wasm", PluginText::with_tool("project", "speak").build())
        .file(".agents/plugins/q.wasm", "not even a component");
    env.run(&["call", "speak"]).check(expect![[r#"
        {"error":"unknown tool `speak`, expected one of: wc, task","ok":false}
        --- stderr
        warning: 2 plugins of this project wait for trust and are not loaded: `bellglass plugin trust $ENV/work/.agents/plugins`
        [exit 3]
    "#]]);
    expect![[r#"
        p.wasm - project waiting for trust
        q.wasm - project waiting for trust
    "#]]
    .assert_eq(&states(&env.run(&["plugin", "list", "--json"])));
}

#[test]
fn plugins_of_the_project_load_when_their_folder_is_named_and_replace_nothing_of_the_users() {
    let env = TestEnv::new()
        .plugin("u.wasm", PluginText::with_tool("user", "speak").build())
        .plugin("t.wasm", PluginText::with_tool("twin", "own").build())
        .file(".agents/plugins/p.wasm", PluginText::with_tool("project", "speak").build())
        .file(".agents/plugins/q.wasm", PluginText::with_tool("twin", "stolen").build())
        .file(".agents/plugins/r.wasm", PluginText::with_tool("counts", "wc").build());
    let named = ["--plugins", ".agents/plugins"];
    env.run(&[&["call", "speak"], &named[..]].concat()).check(expect![[r#"
        {"from":"user","ok":true}
        --- stderr
        warning: plugin `twin` of the project (`$ENV/work/.agents/plugins/q.wasm`) does not replace `$ENV/home/.agents/plugins/t.wasm` (user)
        warning: tool `speak` of project plugin `project` does not replace that of plugin `user`; it is reached as `project.speak`
        warning: tool `wc` of project plugin `counts` does not replace that of plugin `wc`; it is reached as `counts.wc`
        [exit 0]
    "#]]);
    let project = env.run(&[&["call", "project.speak"], &named[..]].concat());
    assert_eq!(project.success(), "{\"from\":\"project\",\"ok\":true}\n");
    expect![[r#"
        t.wasm twin user loaded
        u.wasm user user loaded
        p.wasm project project loaded
        q.wasm twin project replaced
        r.wasm counts project loaded
    "#]]
    .assert_eq(&states(&env.run(&[&["plugin", "list", "--json"], &named[..]].concat())));
}

#[test]
fn a_file_of_the_project_that_a_flag_names_is_still_the_projects() {
    let env = TestEnv::new()
        .plugin("u.wasm", PluginText::with_tool("user", "speak").build())
        .file(".agents/plugins/p.wasm", PluginText::with_tool("project", "speak").build())
        .file(".agents/plugins/q.wasm", PluginText::with_tool("other", "else").build());
    let run = env.run(&["call", "speak", "--plugin", ".agents/plugins/p.wasm"]);
    run.check(expect![[r#"
        {"from":"user","ok":true}
        --- stderr
        warning: tool `speak` of project plugin `project` does not replace that of plugin `user`; it is reached as `project.speak`
        warning: 1 plugin of this project waits for trust and is not loaded: `bellglass plugin trust $ENV/work/.agents/plugins/q.wasm`
        [exit 0]
    "#]]);
    expect![[r#"
        u.wasm user user loaded
        p.wasm project project loaded
        q.wasm - project waiting for trust
    "#]]
    .assert_eq(&states(&env.run(&["plugin", "list", "--json", "--plugin", ".agents/plugins/p.wasm"])));
}

#[test]
fn no_plugins_leaves_the_bundled_and_what_a_flag_names() {
    let env = TestEnv::new()
        .plugin("broken.wasm", "junk")
        .plugin("u.wasm", PluginText::with_tool("user", "speak").build())
        .file("one.wasm", PluginText::with_tool("named", "whisper").build());
    let list = env.run(&["plugin", "list", "--json", "--no-plugins"]);
    assert!(list.stderr.is_empty() && rows(&list).iter().all(|it| it["origin"] == "bundled"), "{list}");
    let list = env.run(&["plugin", "list", "--json", "--no-plugins", "--plugin", "one.wasm"]);
    expect![[r#"
        one.wasm named flag loaded
    "#]]
    .assert_eq(&states(&list));
    assert_eq!(
        env.run(&["call", "whisper", "--plugin", "one.wasm", "--no-plugins"]).success(),
        "{\"from\":\"named\",\"ok\":true}\n"
    );
}

#[test]
fn a_missing_file_and_a_missing_folder_that_flags_name_are_told_and_all_else_works() {
    let env = TestEnv::new().plugin("u.wasm", PluginText::with_tool("user", "speak").build());
    env.run(&["call", "speak", "--plugin", "gone.wasm", "--plugins", "no/where"]).check(expect![[r#"
        {"from":"user","ok":true}
        --- stderr
        warning: cannot read the plugin folder `$ENV/work/no/where`: there is no such folder
        warning: cannot load plugin `$ENV/work/gone.wasm`: the file cannot be read: No such file or directory (os error 2)
        [exit 0]
    "#]]);
}

#[test]
fn plugins_load_in_the_order_bundled_user_folders_files() {
    let plugin = |name: &str| PluginText::with_tool(name, "speak").build();
    let env = TestEnv::new()
        .plugin("b.wasm", plugin("user-b"))
        .plugin("a.wasm", plugin("user-a"))
        .file("second/x.wasm", plugin("second"))
        .file("first/y.wasm", plugin("first"))
        .file("one.wasm", plugin("one"));
    let flags = ["--plugin", "one.wasm", "--plugins", "first", "--plugins", "second"];
    let list = env.run(&[&["plugin", "list", "--json"], &flags[..]].concat());
    expect![[r#"
        a.wasm user-a user loaded
        b.wasm user-b user loaded
        y.wasm first flag loaded
        x.wasm second flag loaded
        one.wasm one flag loaded
    "#]]
    .assert_eq(&states(&list));
    assert_eq!(
        env.run(&[&["call", "speak"], &flags[..]].concat()).success(),
        "{\"from\":\"one\",\"ok\":true}\n",
        "the last one counts"
    );
}

#[test]
fn the_list_for_people_shows_every_state() {
    let env = TestEnv::new()
        .plugin("broken.wasm", "junk")
        .plugin("u.wasm", PluginText::with_tool("user", "speak").build())
        .plugin("v.wasm", PluginText::with_tool("user", "shout").build())
        .file(".agents/plugins/p.wasm", PluginText::with_tool("project", "speak").build());
    let list = env.run(&["plugin", "list"]);
    let rows: Vec<&str> = list.stdout.lines().filter(|it| !it.contains("bundled")).collect();
    expect![[r#"
        -                        user     failed             $ENV/home/.agents/plugins/broken.wasm: the file is no WebAssembly; a plugin is a component, built with `--target wasm32-wasip2`
        user              1.0.0  user     replaced           a plugin as text
        user              1.0.0  user     loaded             a plugin as text
        -                        project  waiting for trust  $ENV/work/.agents/plugins/p.wasm"#]].assert_eq(&rows.join("\n"));
    assert_eq!((list.stderr.as_str(), list.status), ("", 0));
}

#[test]
fn a_tool_with_a_bad_schema_is_left_out_and_the_plugin_stays() {
    let bad = PluginText { schema: r#"{"type":"objekt"}"#.into(), ..PluginText::with_tool("bad", "three") };
    let env = TestEnv::new().plugin("bad.wasm", bad.build());
    let run = env.run(&["plugin", "info", "bad", "--json"]);
    assert_eq!((run.json()["tools"].to_string(), run.status), ("[]".into(), 0), "{run}");
    expect![[r#"
        warning: plugin `bad`: tool `three` is left out: its schema has type `"objekt"`, write `"type": "object"` at the root
    "#]].assert_eq(&run.stderr);
}

#[test]
fn a_tool_with_a_bad_name_is_left_out_and_the_plugin_stays() {
    let bad = PluginText::with_tool("bad", "a b/c");
    let env = TestEnv::new().plugin("bad.wasm", bad.build());
    let run = env.run(&["plugin", "info", "bad", "--json"]);
    assert_eq!((run.json()["tools"].to_string(), run.status), ("[]".into(), 0), "{run}");
    expect![[r#"
        warning: plugin `bad`: tool `a b/c` is left out: `a b/c` is no name: expected 1 to 128 bytes without blanks, `/` and control characters
    "#]].assert_eq(&run.stderr);
}

#[test]
fn a_schema_over_the_limit_leaves_its_tool_out() {
    let schema = format!(r#"{{"type":"object","description":"{}"}}"#, "x".repeat(2000));
    let env = TestEnv::new()
        .config("[limits]\nschema = \"1KiB\"\n")
        .plugin("wordy.wasm", PluginText { schema, ..PluginText::with_tool("wordy", "three") }.build());
    let run = env.run(&["call", "three"]);
    assert!(run.stdout.contains("unknown tool `three`"), "{run}");
    expect![[r#"
        warning: plugin `wordy`: tool `three` is left out: its schema has 2034 bytes, at most 1024 are allowed
    "#]]
    .assert_eq(&run.stderr);
}
