//! Files that are no plugins: one line each, and everything else works.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::support::{PluginText, Run, TestEnv, wat};

/// Loads one broken file between two good ones: the good ones work, and this is said of the other.
#[track_caller]
fn check(component: impl AsRef<[u8]>, expected: Expect) {
    check_in(TestEnv::new().plugin("m-broken.wasm", component), expected);
}

/// The same where `m-broken.wasm` is made in another way.
#[track_caller]
fn check_in(env: TestEnv, expected: Expect) {
    let env = env
        .plugin("a-first.wasm", PluginText::with_tool("first", "one").build())
        .plugin("z-last.wasm", PluginText::with_tool("last", "two").build());
    let run = env.run(&["call", "first.one"]);
    assert_eq!((run.stdout.as_str(), run.status), ("{\"from\":\"first\",\"ok\":true}\n", 0), "{run}");
    expected.assert_eq(&run.stderr);
    // The bundled ones are there too; their number is not this test's business.
    let list = env.run(&["plugin", "list", "--json"]);
    let rows = rows(&list);
    let state_of = |file: &str| {
        let row = rows.iter().find(|it| it["path"].as_str().unwrap().ends_with(file));
        row.unwrap_or_else(|| panic!("{file} is not listed: {list}"))["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state_of("m-broken.wasm"), "failed", "{list}");
    assert_eq!((state_of("a-first.wasm"), state_of("z-last.wasm")), ("loaded".into(), "loaded".into()), "{list}");
    assert_eq!(list.status, 0, "{list}");
    let error = rows.iter().find_map(|it| it["error"].as_str()).unwrap();
    assert!(!error.is_empty() && list.stderr.lines().count() == 1, "{list}");
}

#[track_caller]
fn rows(list: &Run) -> Vec<Value> {
    list.json().as_array().unwrap().clone()
}

#[test]
fn an_empty_file_is_told() {
    check(
        "",
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: the file is empty; build it or copy it again
    "#]],
    );
}

#[test]
fn junk_is_told() {
    check(
        "#!/bin/sh\necho hello\n",
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: the file is no WebAssembly; a plugin is a component, built with `--target wasm32-wasip2`
    "#]],
    );
}

#[test]
fn a_core_module_is_told_how_it_becomes_a_component() {
    check(
        wat("(module)"),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: the file is a core module, not a component; build it with `--target wasm32-wasip2`, or make a component of it with `wasm-tools component new`
    "#]],
    );
}

#[test]
fn a_component_of_another_world_is_told_what_it_is() {
    check(
        wat(r#"(component (instance $i) (export "wasi:cli/run@0.2.0" (instance $i)))"#),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: it exports `wasi:cli/run@0.2.0` and no `bellglass:plugin/manifest`, so it is no bellglass plugin; build it for a world of `bellglass:plugin@0.1.0`
    "#]],
    );
}

#[test]
fn a_truncated_component_is_told() {
    let whole = PluginText::with_tool("cut", "three").build();
    check(
        &whole[..whole.len() / 2],
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: the file is damaged or cut short: unexpected end-of-file; build it or copy it again
    "#]],
    );
}

#[test]
fn a_component_cut_at_200_places_is_200_failures_and_no_panic() {
    let whole = test_guests::component("resident");
    let mut env = TestEnv::new().plugin("whole.wasm", whole);
    for place in 0..200 {
        env = env.plugin(&format!("cut-{place:03}.wasm"), &whole[..whole.len() * place / 200]);
    }
    let list = env.run(&["plugin", "list", "--json"]);
    let failed: Vec<Value> = rows(&list).into_iter().filter(|it| it["state"] == "failed").collect();
    assert_eq!((failed.len(), list.status), (200, 0), "{list}");
    assert!(!list.stderr.contains("panicked"), "{list}");
    let loaded = rows(&list).into_iter().filter(|it| it["state"] == "loaded" && it["origin"] == "user").count();
    assert_eq!(loaded, 1, "the whole one loads");
    let mut reasons: Vec<&str> = failed.iter().map(|it| it["error"].as_str().unwrap()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    expect![[r#"
        the file is damaged or cut short: unexpected end-of-file; build it or copy it again
        the file is empty; build it or copy it again"#]]
    .assert_eq(&reasons.join("\n"));
}

#[test]
fn a_plugin_for_a_newer_version_is_told_both_versions() {
    let newer = PluginText { version: "0.2.0".into(), ..PluginText::with_tool("newer", "three") };
    check(
        newer.build(),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: it needs `bellglass:plugin@0.2.0`, this host offers `bellglass:plugin@0.1.0`; build it against that version, or use another version of bellglass
    "#]],
    );
}

#[test]
fn an_interface_of_ours_that_does_not_exist_is_named() {
    let import = Some(("bellglass:plugin/renderer@0.1.0", "render"));
    check(
        PluginText { import, ..PluginText::with_tool("needs", "three") }.build(),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: it needs `bellglass:plugin/renderer@0.1.0`, which this host does not offer; this host offers `bellglass:plugin@0.1.0` (log, terminal, reply, toolbox, conversation, agents, session, process, storage, settings) and WASI 0.2 and 0.3 (wasi:cli, wasi:clocks, wasi:filesystem, wasi:http, wasi:io, wasi:random, wasi:sockets)
    "#]],
    );
}

#[test]
fn a_foreign_interface_is_named() {
    let import = Some(("wasi:keyvalue/store@0.2.0", "open"));
    check(
        PluginText { import, ..PluginText::with_tool("needs", "three") }.build(),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: it needs `wasi:keyvalue/store@0.2.0`, which this host does not offer; this host offers `bellglass:plugin@0.1.0` (log, terminal, reply, toolbox, conversation, agents, session, process, storage, settings) and WASI 0.2 and 0.3 (wasi:cli, wasi:clocks, wasi:filesystem, wasi:http, wasi:io, wasi:random, wasi:sockets)
    "#]],
    );
}

#[test]
fn a_function_that_a_known_interface_lacks_is_told_with_its_interface() {
    let import = Some(("bellglass:plugin/log@0.1.0", "shout"));
    check(
        PluginText { import, ..PluginText::with_tool("needs", "three") }.build(),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: it needs `bellglass:plugin/log@0.1.0` in a shape that this host does not offer; this host offers `bellglass:plugin@0.1.0` (log, terminal, reply, toolbox, conversation, agents, session, process, storage, settings) and WASI 0.2 and 0.3 (wasi:cli, wasi:clocks, wasi:filesystem, wasi:http, wasi:io, wasi:random, wasi:sockets)
    "#]],
    );
}

#[test]
fn an_export_of_another_shape_is_told_with_its_interface() {
    // `describe` answers with a number instead of a record.
    let component = wat(r#"(component
            (core module $m (func (export "describe") (result i32) i32.const 7))
            (core instance $i (instantiate $m))
            (func $describe (result u32) (canon lift (core func $i "describe")))
            (instance $manifest (export "describe" (func $describe)))
            (export "bellglass:plugin/manifest@0.1.0" (instance $manifest)))"#);
    check(
        component,
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: its `manifest` is not that of `bellglass:plugin@0.1.0`; build it again against this version
    "#]],
    );
}

#[test]
fn an_interface_without_its_functions_is_told() {
    let component = wat(r#"(component (instance $i) (export "bellglass:plugin/manifest@0.1.0" (instance $i)))"#);
    check(
        component,
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: its `manifest` is not that of `bellglass:plugin@0.1.0`; build it again against this version
    "#]],
    );
}

#[test]
fn a_trap_in_describe_is_told() {
    let in_describe = "unreachable".into();
    check(
        PluginText { in_describe, ..PluginText::with_tool("traps", "three") }.build(),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: `describe` trapped: wasm `unreachable` instruction executed
    "#]],
    );
}

#[test]
fn a_trap_in_the_start_function_is_told() {
    let in_start = Some("unreachable".into());
    check(
        PluginText { in_start, ..PluginText::with_tool("traps", "three") }.build(),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: `describe` trapped: wasm `unreachable` instruction executed
    "#]],
    );
}

/// Guest code that never ends.
const LOOP: &str = "(loop $again (br $again))";

/// A short limit, so that the test is quick; the default is tested where it is set.
fn impatient() -> TestEnv {
    TestEnv::new().config("[limits]\nlisting_cpu = \"100ms\"\n")
}

#[test]
fn an_endless_loop_in_describe_ends() {
    let endless = PluginText { in_describe: LOOP.into(), ..PluginText::with_tool("endless", "three") };
    check_in(
        impatient().plugin("m-broken.wasm", endless.build()),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: `describe` used more than its 100 ms of CPU time; `listing_cpu` in `[limits]` of the configuration sets another limit
    "#]],
    );
}

#[test]
fn an_endless_loop_in_the_start_function_ends() {
    let endless = PluginText { in_start: Some(LOOP.into()), ..PluginText::with_tool("endless", "three") };
    check_in(
        impatient().plugin("m-broken.wasm", endless.build()),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: `describe` used more than its 100 ms of CPU time; `listing_cpu` in `[limits]` of the configuration sets another limit
    "#]],
    );
}

#[test]
fn an_endless_loop_in_list_tools_ends() {
    let endless = PluginText { in_list_tools: LOOP.into(), ..PluginText::with_tool("endless", "three") };
    check_in(
        impatient().plugin("m-broken.wasm", endless.build()),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: `list-tools` used more than its 100 ms of CPU time; `listing_cpu` in `[limits]` of the configuration sets another limit
    "#]],
    );
}

#[test]
fn a_plugin_that_sleeps_in_describe_is_not_waited_for() {
    let in_describe = "(call $sleep (i64.const 3600000000000))".into();
    let sleeper = PluginText { clock: true, in_describe, ..PluginText::with_tool("sleeper", "three") };
    check_in(
        impatient().plugin("m-broken.wasm", sleeper.build()),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: `describe` ran past its 500 ms deadline; `listing_cpu` in `[limits]` of the configuration sets another limit
    "#]],
    );
}

#[test]
fn a_listing_gets_two_seconds_by_default() {
    assert_eq!(bellglass::limits::Limits::default().listing_cpu, std::time::Duration::from_secs(2));
}

#[test]
fn a_folder_named_like_a_plugin_is_told() {
    check_in(
        TestEnv::new().home_file(".agents/plugins/m-broken.wasm/notes.txt", "mine"),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: it is no file, but a folder, a pipe or the like; move it away
    "#]],
    );
}

#[test]
fn a_link_to_nowhere_is_told() {
    let env = TestEnv::new().plugin("a-first.wasm", "");
    symlink("nowhere.wasm", env.home().join(".agents/plugins/m-broken.wasm")).unwrap();
    check_in(
        env,
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: the file cannot be read: No such file or directory (os error 2)
    "#]],
    );
}

#[test]
fn a_link_to_itself_is_told() {
    let env = TestEnv::new().plugin("a-first.wasm", "");
    symlink("m-broken.wasm", env.home().join(".agents/plugins/m-broken.wasm")).unwrap();
    check_in(
        env,
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: the file cannot be read: Too many levels of symbolic links (os error 40)
    "#]],
    );
}

#[test]
fn a_pipe_is_told_and_nobody_waits_for_it() {
    let env = TestEnv::new().plugin("a-first.wasm", "");
    let path = env.home().join(".agents/plugins/m-broken.wasm");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    check_in(
        env,
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: it is no file, but a folder, a pipe or the like; move it away
    "#]],
    );
}

#[test]
fn a_socket_is_told() {
    let env = TestEnv::new().plugin("a-first.wasm", "");
    let _socket = UnixListener::bind(env.home().join(".agents/plugins/m-broken.wasm")).unwrap();
    check_in(
        env,
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: it is no file, but a folder, a pipe or the like; move it away
    "#]],
    );
}

#[test]
fn a_file_over_the_limit_is_told_which_limit() {
    let env = TestEnv::new().config("[limits]\ncomponent = \"64KiB\"\n");
    check_in(
        env.plugin("m-broken.wasm", vec![0; (64 << 10) + 1]),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: the file is larger than 64 KiB; `component` in `[limits]` of the configuration sets another limit
    "#]],
    );
}

#[test]
fn too_many_tools_are_told() {
    check(
        PluginText { copies: 300, ..PluginText::with_tool("many", "three") }.build(),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: it lists 300 tools, the limit is 256; `listing` in `[limits]` of the configuration sets another limit
    "#]],
    );
}

#[test]
fn a_list_that_lies_about_its_length_is_told() {
    check(
        PluginText { claimed: Some(u32::MAX), ..PluginText::with_tool("liar", "three") }.build(),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: `list-tools` trapped: list pointer/length out of bounds of memory
    "#]],
    );
}

#[test]
fn a_name_that_no_plugin_can_have_is_told() {
    check(
        PluginText::with_tool("../Evil\u{1b}[2J", "three").build(),
        expect![[r#"
        warning: cannot load plugin `$ENV/home/.agents/plugins/m-broken.wasm`: `../Evil␛[2J` is no name of a plugin: expected a lower-case letter, then up to 63 lower-case letters, digits or `-`
    "#]],
    );
}

#[test]
fn a_memory_larger_than_the_limit_is_told() {
    let env = TestEnv::new().config("[limits]\nmemory = \"64KiB\"\n");
    // Two pages, as all plugins as text have.
    let env = env.plugin("large.wasm", PluginText::with_tool("large", "three").build());
    let warnings = |run: Run| run.stderr.lines().filter(|it| it.contains("large.wasm")).collect::<Vec<_>>().join("\n");
    expect!["warning: cannot load plugin `$ENV/home/.agents/plugins/large.wasm`: `describe` needed more than its 64 KiB of memory; `memory` in `[limits]` of the configuration sets another limit"].assert_eq(&warnings(env.run(&["plugin", "list", "--json"])));
    // With the pool of instances, which a session has, it is found one step earlier.
    expect!["warning: cannot load plugin `$ENV/home/.agents/plugins/large.wasm`: it does not compile: memory has a minimum byte size of 131072 which exceeds the limit of 0x10000 bytes"].assert_eq(&warnings(env.run(&["ask", "hi"])));
}
