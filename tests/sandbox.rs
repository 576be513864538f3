//! What a plugin cannot reach: everything that was not granted. And what it can: that, and nothing beside it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use bellglass::capability::Mode;
use expect_test::expect;
use serde_json::{Value, json};

use crate::support::{Bench, TestEnv, resident_memory};

/// A workspace with a folder to read, one to write and one that is nobody's business.
fn folders() -> TestEnv {
    TestEnv::new()
        .guest("hostile")
        .file("read-me/a.txt", "readable")
        .file("read-me/below/b.txt", "below")
        .file("write-me/c.txt", "writable")
        .file("secret/d.txt", "secret")
}

#[test]
fn the_environment_is_empty_without_a_grant_and_holds_what_was_granted_with_one() {
    let env = TestEnv::new().guest("hostile");
    let run = |flags: &[&str]| {
        let mut command = env.command(&[&["call", "hostile.env"], flags].concat());
        command.env("GRANTED", "yes").env("SECRET", "no");
        env.finish(command, "").success()
    };
    assert_eq!(run(&[]), "{\"env\":[],\"ok\":true}\n");
    assert_eq!(run(&["--grant", "hostile:env=GRANTED"]), "{\"env\":[\"GRANTED=yes\"],\"ok\":true}\n");
    // Not asked for by the plugin, so not granted whatever the user says.
    assert_eq!(run(&["--grant", "hostile:env=SECRET"]), "{\"env\":[],\"ok\":true}\n");
    assert_eq!(run(&["--grant", "other:env=GRANTED"]), "{\"env\":[],\"ok\":true}\n");
}

#[tokio::test]
async fn no_file_is_there_without_a_grant() {
    let host = Bench::of(folders()).load().await;
    for path in ["read-me/a.txt", ".", "/", "/etc/passwd", "../work/read-me/a.txt", "a.txt", ""] {
        let outcome = host.call("read", json!({"path": path})).await;
        assert!(!outcome.ok(), "{path}: {outcome:?}");
        assert!(!host.call("write", json!({"path": path})).await.ok(), "{path}");
    }
}

#[tokio::test]
async fn a_granted_folder_is_there_and_nothing_beside_it() {
    let bench = Bench::of(folders()).grant("hostile:read=read-me").grant("hostile:write=write-me");
    let work = bench.env().work();
    let outside = bench.env().home().join("outside.txt");
    fs::write(&outside, "outside").unwrap();
    symlink(&outside, work.join("read-me/out")).unwrap();
    symlink("../secret/d.txt", work.join("read-me/across")).unwrap();
    symlink("below", work.join("read-me/within")).unwrap();
    symlink(&outside, work.join("write-me/out")).unwrap();
    symlink(bench.env().home(), work.join("write-me/home")).unwrap();
    let host = bench.load().await;
    let absolute = |path: &str| work.join(path).to_str().unwrap().to_owned();
    for (path, text) in [
        ("read-me/a.txt", "readable"),
        ("read-me/below/b.txt", "below"),
        ("read-me/within/b.txt", "below"),
        ("read-me/below/../a.txt", "readable"),
        (&absolute("read-me/a.txt"), "readable"),
        ("write-me/c.txt", "writable"),
    ] {
        assert_eq!(host.answer("read", json!({"path": path})).await, json!({"text": text}), "{path}");
    }
    for path in [
        "secret/d.txt",
        "read-me/../secret/d.txt",
        "read-me/../../home/outside.txt",
        "read-me/out",
        "read-me/across",
        "write-me/out",
        "write-me/home/outside.txt",
        "/etc/passwd",
        &absolute("secret/d.txt"),
        &absolute("read-me/../secret/d.txt"),
        outside.to_str().unwrap(),
    ] {
        let outcome = host.call("read", json!({"path": path})).await;
        assert!(!outcome.ok(), "{path}: {outcome:?}");
        let outcome = host.call("write", json!({"path": path})).await;
        assert!(!outcome.ok(), "{path}: {outcome:?}");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "outside");
    assert_eq!(fs::read_to_string(work.join("secret/d.txt")).unwrap(), "secret");
}

#[tokio::test]
async fn a_grant_to_read_is_none_to_write_or_to_empty_a_file() {
    let bench = Bench::of(folders()).grant("hostile:read=read-me").grant("hostile:read=write-me");
    let host = bench.load().await;
    for tool in ["write", "truncate"] {
        for path in ["read-me/a.txt", "read-me/new.txt", "write-me/c.txt"] {
            let outcome = host.call(tool, json!({"path": path})).await;
            assert!(!outcome.ok() && !outcome.hit_a_limit(), "{tool} {path}: {outcome:?}");
        }
    }
    let content = |path: &str| fs::read_to_string(bench.env().work().join(path));
    assert_eq!(content("read-me/a.txt").unwrap(), "readable");
    // Asked for to write and granted to read is to read.
    assert_eq!(content("write-me/c.txt").unwrap(), "writable");
    assert!(content("read-me/new.txt").is_err());
    assert_eq!(host.answer("read", json!({"path": "write-me/c.txt"})).await, json!({"text": "writable"}));
}

#[tokio::test]
async fn a_grant_to_write_writes() {
    let bench = Bench::of(folders()).grant("hostile:write=write-me").grant("hostile:write=read-me");
    let host = bench.load().await;
    assert_eq!(host.answer("truncate", json!({"path": "write-me/c.txt"})).await, json!({}));
    assert_eq!(host.answer("write", json!({"path": "write-me/new.txt"})).await, json!({}));
    let content = |path: &str| fs::read_to_string(bench.env().work().join(path)).unwrap();
    assert_eq!((content("write-me/c.txt").as_str(), content("write-me/new.txt").as_str()), ("", "written"));
    // Asked for to read and granted to write is to read.
    assert!(!host.call("write", json!({"path": "read-me/a.txt"})).await.ok());
    let plugin = host.installed.plugins.iter().find(|it| it.name().as_str() == "hostile").unwrap();
    let modes: Vec<Mode> = plugin.grants().folders().map(|it| it.1).collect();
    assert_eq!(modes, [Mode::Read, Mode::Write]);
}

#[tokio::test]
async fn a_pipe_in_a_granted_folder_holds_up_its_caller_alone() {
    let bench = Bench::of(folders()).grant("hostile:read=read-me");
    let bench = bench.limits(|it| it.deadline = std::time::Duration::from_millis(50));
    let pipe = bench.env().work().join("read-me/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let host = bench.load().await;
    let outcome = host.call("read", json!({"path": "read-me/pipe"})).await;
    assert!(!outcome.ok(), "{outcome:?}");
    assert_eq!(host.answer("read", json!({"path": "read-me/a.txt"})).await, json!({"text": "readable"}));
    // Whoever opened it waits on a thread of its own, which ends when there is a writer.
    drop(fs::OpenOptions::new().read(true).write(true).open(&pipe));
}

#[tokio::test]
async fn every_import_without_its_grant_answers_with_its_own_error() {
    let host = Bench::new(&["hostile"]).start().await;
    let denied = host.answer("deny", json!({})).await;
    expect![[r#"
        {
          "conversation": "denied: plugin `hostile` has no `conversation` grant (`--grant hostile:conversation`)",
          "add": "denied: plugin `hostile` has no `conversation` grant (`--grant hostile:conversation`)",
          "model": "denied: plugin `hostile` has no `model` grant (`--grant hostile:model`)",
          "session": "denied: plugin `hostile` has no `session-control` grant (`--grant hostile:session-control`)",
          "process": "denied: plugin `hostile` may not run `true` (`--grant hostile:run=true` if it asks for it)",
          "toolbox": "denied: plugin `hostile` has no `call-tool` grant (`--grant hostile:call-tool`)",
          "run": {
            "error": "denied: plugin `hostile` has no `call-tool` grant (`--grant hostile:call-tool`)",
            "ok": false
          },
          "socket": "Permission denied (os error 2)",
          "secret": false
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&denied).unwrap());
}

#[tokio::test]
async fn with_its_grant_an_import_answers_and_a_tool_still_cannot_change_the_session() {
    let bench = Bench::new(&["hostile"])
        .grant("hostile:call-tool=*")
        .grant("hostile:conversation")
        .grant("hostile:model")
        .grant("hostile:session-control");
    let host = bench.start().await;
    let answered = host.answer("deny", json!({})).await;
    expect![[r#"
        {
          "conversation": null,
          "add": "only a slash command may change the session",
          "model": "only a slash command may change the session",
          "session": "only a slash command may change the session",
          "process": "denied: plugin `hostile` may not run `true` (`--grant hostile:run=true` if it asks for it)",
          "toolbox": null,
          "run": {
            "error": "User denied permission: echo: nobody can answer here (`--allow hostile.echo` allows it)",
            "name": "echo",
            "args": {},
            "ok": false
          },
          "socket": "Permission denied (os error 2)",
          "secret": false
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&answered).unwrap());
}

#[tokio::test]
async fn without_a_session_every_question_is_answered_all_the_same() {
    let bench = Bench::new(&["hostile"]).grant("hostile:call-tool=*").grant("hostile:conversation");
    let host = bench.load().await;
    let answered = host.answer("deny", json!({})).await;
    assert_eq!(answered["conversation"], "there is no session here to answer", "{answered}");
    assert_eq!(answered["toolbox"], "there is no session here to answer", "{answered}");
    assert_eq!(host.answer("ask", json!({})).await, json!({"interactive": false, "answer": null}));
}

#[test]
fn a_question_where_nobody_can_answer_is_answered_with_nothing() {
    let env = TestEnv::new().guest("hostile");
    env.run(&["call", "hostile.ask"]).check(expect![[r#"
        {"interactive":false,"answer":null,"ok":true}
        [exit 0]
    "#]]);
}

#[test]
fn what_a_guest_prints_never_reaches_standard_output() {
    let env = TestEnv::new().guest("hostile");
    for tool in ["print-much", "log-much", "stderr-much"] {
        for flags in [&[][..], &["--log", "trace"]] {
            let run = env.run(&[&["call", tool, r#"{"n":1}"#], flags].concat());
            assert_eq!((run.stdout.as_str(), run.status), ("{\"ok\":true}\n", 0), "{tool}: {run}");
        }
        let quiet = env.run(&["call", tool, r#"{"n":1}"#]);
        assert_eq!(quiet.stderr.contains(&"p".repeat(1000)), tool == "print-much", "{quiet}");
        assert!(tool == "print-much" || quiet.stderr.is_empty(), "a guest's log is only shown on demand: {quiet}");
    }
    let logged = env.run(&["call", "stderr-much", r#"{"n":1}"#, "--log", "info"]).stderr;
    assert!(logged.contains(&format!("stderr: {}", "e".repeat(999))) && logged.contains("hostile"), "{logged}");
}

#[tokio::test]
async fn a_panic_carries_its_message_and_the_next_call_works() {
    let host = Bench::new(&["hostile"]).load().await;
    let panicked = host.call("panic", json!({"text": "at the \u{1b}[31mdisco"})).await;
    expect![[r#"
        tool `hostile.panic` trapped: wasm `unreachable` instruction executed

        thread '<unnamed>' (1) panicked at tests/guests/hostile/src/lib.rs:104:24:
        at the ␛[31mdisco
        note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"#]]
    .assert_eq(&panicked.error().unwrap());
    assert!(!panicked.hit_a_limit(), "its own fault, and no limit");
    for (tool, expected) in [
        ("trap", "tool `hostile.trap` trapped: wasm `unreachable` instruction executed"),
        ("exit", "tool `hostile.exit` trapped: it ended its own process"),
        ("raise", "no"),
    ] {
        let outcome = host.call(tool, json!({"text": "no"})).await;
        assert_eq!((outcome.error().as_deref(), outcome.hit_a_limit()), (Some(expected), false));
        assert_eq!(host.answer("answer", json!({"text": "{\"a\":1}"})).await, json!({"a": 1}));
    }
}

#[tokio::test]
async fn the_tail_of_standard_error_is_that_of_the_call() {
    let host = Bench::new(&["resident"]).load().await;
    let first = host.call("trap", json!({})).await.error().unwrap();
    let second = host.call("trap", json!({})).await.error().unwrap();
    assert!(first.contains("on purpose") && first == second, "{first}\n{second}");
}

#[tokio::test]
async fn storage_is_kept_by_origin_and_name() {
    let bench = Bench::new(&["hostile"]);
    let store = async |bench: &Bench, text: &str| bench.load().await.answer("store", json!({"text": text})).await;
    assert_eq!(store(&bench, "one").await, json!({"last": null, "keys": ["last"]}));
    assert_eq!(store(&bench, "two").await, json!({"last": "one", "keys": ["last"]}));
    // The same plugin, named by a flag or found in a project, is a stranger.
    let file = bench.env().home().join(".agents/plugins/hostile.wasm");
    let mut flag = Bench::of(TestEnv::new());
    flag.options = bench.options.clone();
    flag.options.places.user = None;
    flag.options.places.files = vec![file.clone()];
    assert_eq!(store(&flag, "flag").await["last"], Value::Null);
    flag.options.places.project = file.parent().map(Path::to_owned);
    assert_eq!(store(&flag, "project").await["last"], Value::Null);
    assert_eq!(store(&bench, "three").await["last"], "two");
}

#[test]
fn settings_are_for_plugins_that_the_user_installed() {
    let config = "[plugin.hostile]\nkey = \"value\"\n[plugin.other]\nkey = \"secret\"\n";
    let env = TestEnv::new().guest("hostile").config(config);
    assert_eq!(env.run(&["call", "settings"]).success(), "{\"key\":\"value\",\"ok\":true}\n");
    let component = test_guests::component("hostile");
    let env = TestEnv::new().file(".agents/plugins/hostile.wasm", component).config(config);
    let run = env.run(&["call", "settings", "--plugins", ".agents/plugins"]);
    assert_eq!(run.success(), "{\"ok\":true}\n", "a project's plugin inherits nothing by taking a name");
}

#[test]
fn a_plugin_cannot_reach_the_programs_own_folders_through_any_grant() {
    // The workspace is the home folder: what it may write there would be its own rights.
    let env = TestEnv::new().guest("hostile").home_file("read-me/a.txt", "mine").config("");
    let mut command = env.command(&["call", "read", r#"{"path":"read-me/a.txt"}"#, "--grant", "hostile:read=read-me"]);
    command.current_dir(env.home());
    assert_eq!(env.finish(command, "").success(), "{\"text\":\"mine\",\"ok\":true}\n");
    symlink(".config/bellglass", env.home().join("write-me")).unwrap();
    let arguments = ["call", "write", r#"{"path":"write-me/grants.toml"}"#, "--grant", "hostile:write=write-me"];
    let mut command = env.command(&arguments);
    command.current_dir(env.home());
    let run = env.finish(command, "");
    assert_eq!(run.status, 3, "{run}");
    assert!(run.stderr.contains("which a grant has to name itself"), "{run}");
    assert!(!env.home().join(".config/bellglass/grants.toml").exists());
}

#[tokio::test]
async fn five_hundred_loads_leave_no_memory_behind() {
    let host = Bench::new(&["hostile", "resident"]).load().await.host;
    let load = async || {
        let installed = host.load().await;
        assert_eq!(installed.compiled, 0, "{:?}", installed.warnings);
        installed
    };
    for _ in 0..100 {
        load().await;
    }
    let before = resident_memory();
    for _ in 0..400 {
        load().await;
    }
    let grown = resident_memory().saturating_sub(before);
    // Other tests run beside this one and have their own; 400 of what was loaded would be 590 MiB.
    assert!(grown < 100 << 20, "{} MiB more", grown >> 20);
}

/// All tests and benchmarks as text.
fn sources() -> String {
    let host = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [host.join("../tests"), host.join("../tests/attacks"), host.join("benches")];
    let files = folders.iter().flat_map(|it| fs::read_dir(it).unwrap()).map(|it| it.unwrap().path());
    files.filter(|it| it.extension().is_some_and(|it| it == "rs")).map(|it| fs::read_to_string(it).unwrap()).collect()
}

#[tokio::test]
async fn no_guest_and_no_tool_of_one_is_without_a_test() {
    let sources = sources();
    for name in test_guests::names() {
        assert!(sources.contains(&format!("\"{name}\"")), "guest `{name}` has no test");
    }
    let host = Bench::new(&["hostile", "resident"]).load().await;
    for plugin in host.installed.plugins.iter().filter(|it| ["hostile", "resident"].contains(&it.name().as_str())) {
        for tool in plugin.definitions() {
            let name = &tool.name;
            let used = [format!("\"{name}\""), format!("\"{}.{name}\"", plugin.name())];
            assert!(
                used.iter().any(|it| sources.contains(it)),
                "tool `{name}` of guest `{}` has no test",
                plugin.name()
            );
        }
    }
}
