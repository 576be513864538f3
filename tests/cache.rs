//! Compiled code that is kept between runs: never wrong, never needed, never anyone else's.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use expect_test::expect;
use serde_json::Value;

use crate::support::{PluginText, Run, TestEnv};

/// A plugin of this name that writes to the log whenever it is asked who it is.
fn speaker(name: &str) -> Vec<u8> {
    PluginText { log_in_describe: true, ..PluginText::with_tool(name, &format!("{name}-tool")) }.build()
}

/// `plugin list --json` with a cache that is empty at first.
fn list(env: &TestEnv) -> Run {
    env.finish(env.command_with_own_cache(&["plugin", "list", "--json", "--log", "info"]), "")
}

/// Whether each plugin came from the cache; none that did not load.
#[track_caller]
fn cached(list: &Run) -> Vec<Option<bool>> {
    list.json().as_array().unwrap().iter().map(|it| it["cached"].as_bool()).collect()
}

/// How often a component was compiled, and how often a guest was asked who it is.
fn work(list: &Run) -> (usize, usize) {
    let count = |what: &str| list.stderr.lines().filter(|it| it.contains(what)).count();
    (count("compiling "), count("asked who it is"))
}

/// The files of the cache with this ending, by name.
fn entries(env: &TestEnv, ending: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir(env.own_cache().join("bellglass")).unwrap();
    let files = folders.flat_map(|it| fs::read_dir(it.unwrap().path()).unwrap()).map(|it| it.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|it| it.to_str().unwrap().ends_with(ending)).collect();
    files.sort();
    files
}

#[test]
fn a_warm_start_compiles_nothing_and_runs_no_guest() {
    let env = TestEnv::new().plugin("speaker.wasm", speaker("speaker"));
    let cold = list(&env);
    let bundled = cached(&cold).len() - 1;
    assert_eq!((work(&cold), cold.status), ((bundled + 1, 1), 0), "{cold}");
    assert!(cached(&cold).iter().all(|it| *it == Some(false)), "{cold}");
    let warm = list(&env);
    assert_eq!((work(&warm), warm.status), ((0, 0), 0), "{warm}");
    assert!(cached(&warm).iter().all(|it| *it == Some(true)), "{warm}");
    let call = env.finish(env.command_with_own_cache(&["call", "speaker-tool", "--log", "info"]), "");
    assert_eq!((call.stdout.as_str(), work(&call)), ("{\"from\":\"speaker\",\"ok\":true}\n", (0, 0)), "{call}");
}

#[test]
fn a_hundred_warm_plugins_are_read_and_not_compiled() {
    let mut env = TestEnv::new();
    for n in 0..100 {
        env = env.plugin(&format!("p{n:02}.wasm"), speaker(&format!("p{n}")));
    }
    let cold = list(&env);
    let loaded = cached(&cold).len();
    assert_eq!(work(&cold), (loaded, 100));
    // A plugin is its code and its note, whatever else is installed.
    assert_eq!((entries(&env, ".cwasm").len(), entries(&env, ".json").len()), (loaded, loaded));
    let warm = list(&env);
    assert_eq!(work(&warm), (0, 0));
    assert_eq!(cached(&warm), vec![Some(true); loaded]);
}

#[test]
fn a_changed_file_is_compiled_again_and_the_old_one_is_still_known() {
    let env = TestEnv::new().plugin("it.wasm", speaker("before"));
    let _ = list(&env);
    let env = env.plugin("it.wasm", speaker("after"));
    let changed = list(&env);
    assert_eq!(work(&changed), (1, 1), "{changed}");
    let env = env.plugin("it.wasm", speaker("before"));
    assert_eq!(work(&list(&env)), (0, 0));
}

#[test]
fn the_same_content_in_another_place_is_the_same_entry() {
    let env = TestEnv::new().plugin("a.wasm", speaker("twin"));
    let _ = list(&env);
    let env = env.plugin("b.wasm", speaker("twin"));
    assert_eq!(work(&list(&env)), (0, 0));
}

#[test]
fn a_damaged_entry_is_compiled_again_and_then_kept() {
    type Damage = fn(&Path);
    let damages: [(&str, &str, Damage); 9] = [
        ("code cut short", ".cwasm", |it| {
            let code = fs::read(it).unwrap();
            fs::write(it, &code[..code.len() / 3]).unwrap();
        }),
        ("junk as code", ".cwasm", |it| fs::write(it, vec![7; 4096]).unwrap()),
        ("code with one bit turned", ".cwasm", |it| {
            let mut code = fs::read(it).unwrap();
            let middle = code.len() / 2;
            code[middle] ^= 1;
            fs::write(it, code).unwrap();
        }),
        ("empty code", ".cwasm", |it| fs::write(it, "").unwrap()),
        ("no code", ".cwasm", |it| fs::remove_file(it).unwrap()),
        ("a folder as code", ".cwasm", |it| {
            fs::remove_file(it).unwrap();
            fs::create_dir(it).unwrap();
        }),
        ("no note", ".json", |it| fs::remove_file(it).unwrap()),
        ("an empty note", ".json", |it| fs::write(it, "").unwrap()),
        ("a note of something else", ".json", |it| fs::write(it, r#"{"listing":{"name":"evil"}}"#).unwrap()),
    ];
    let env = TestEnv::new().plugin("speaker.wasm", speaker("speaker"));
    let _ = list(&env);
    let hash = |it: &Value| it["sha256"].as_str().unwrap_or_default().to_owned();
    let rows = list(&env).json();
    let hash = hash(rows.as_array().unwrap().iter().find(|it| it["name"] == "speaker").unwrap());
    for (name, ending, damage) in damages {
        damage(&entries(&env, &format!("{hash}{ending}"))[0]);
        let damaged = list(&env);
        assert_eq!((work(&damaged), damaged.status), ((1, 1), 0), "{name}: {damaged}");
        assert!(!damaged.stderr.contains("panicked") && cached(&damaged).iter().all(Option::is_some), "{name}");
        let warm = list(&env);
        assert_eq!(work(&warm), (0, 0), "{name}: {warm}");
    }
}

#[test]
fn what_was_cut_from_memory_at_every_place_is_never_code() {
    let env = TestEnv::new().plugin("speaker.wasm", speaker("speaker"));
    let _ = list(&env);
    let (code, note) = (entries(&env, ".cwasm"), entries(&env, ".json"));
    for (code, note) in code.iter().zip(&note) {
        let whole = fs::read(note).unwrap();
        fs::write(note, &whole[..whole.len() - 1]).unwrap();
        let whole = fs::read(code).unwrap();
        fs::write(code, &whole[..whole.len() - 1]).unwrap();
    }
    let damaged = list(&env);
    assert_eq!(work(&damaged), (code.len(), 1), "{damaged}");
}

#[test]
fn a_cache_inside_the_workspace_is_refused_and_everything_works() {
    let env = TestEnv::new().file("README.md", "one two\n");
    let mut command = env.command(&["call", "wc", r#"{"path":"README.md"}"#]);
    command.env("XDG_CACHE_HOME", env.work().join("cache"));
    env.finish(command, "").check(expect![[r#"
        {"lines":1,"words":2,"bytes":8,"ok":true}
        --- stderr
         WARN compiled plugins are not kept: `$ENV/work/cache/bellglass` lies inside the workspace, where plugins and other programs may write
        [exit 0]
    "#]]);
    assert!(!env.work().join("cache").exists(), "and nothing is left in the project");
}

#[test]
fn a_cache_that_a_link_leads_into_the_workspace_is_refused() {
    let env = TestEnv::new().file("inside/.keep", "").file("README.md", "one two\n");
    symlink(env.work().join("inside"), env.own_cache().join("bellglass")).unwrap();
    let run = env.finish(env.command_with_own_cache(&["call", "wc", r#"{"path":"README.md"}"#]), "");
    assert_eq!(run.status, 0, "{run}");
    expect![[r#"
         WARN compiled plugins are not kept: `$ENV/cache/bellglass` lies inside the workspace, where plugins and other programs may write
    "#]].assert_eq(run.stderr.trim_start());
    assert_eq!(fs::read_dir(env.work().join("inside")).unwrap().count(), 1);
}

#[test]
fn without_a_home_nothing_is_kept_and_everything_works() {
    let env = TestEnv::new().file("README.md", "one two\n");
    let mut command = env.command(&["call", "wc", r#"{"path":"README.md"}"#]);
    command.env_clear();
    env.finish(command, "").check(expect![[r#"
        {"lines":1,"words":2,"bytes":8,"ok":true}
        [exit 0]
    "#]]);
}

#[test]
fn a_cache_that_cannot_be_written_is_told_and_everything_works() {
    // Also for root, who may write anywhere but below a file.
    let env = TestEnv::new().file("README.md", "one two\n").home_file("file", "");
    let mut command = env.command(&["call", "wc", r#"{"path":"README.md"}"#]);
    command.env("XDG_CACHE_HOME", env.home().join("file"));
    env.finish(command, "").check(expect![[r#"
        {"lines":1,"words":2,"bytes":8,"ok":true}
        --- stderr
         WARN compiled plugins are not kept: cannot use `$ENV/home/file/bellglass`: Not a directory (os error 20)
        [exit 0]
    "#]]);
}

#[test]
fn the_folder_is_the_users_alone() {
    let env = TestEnv::new();
    fs::create_dir(env.own_cache().join("bellglass")).unwrap();
    fs::set_permissions(env.own_cache().join("bellglass"), fs::Permissions::from_mode(0o777)).unwrap();
    let _ = list(&env);
    let root = env.own_cache().join("bellglass");
    let below = fs::read_dir(&root).unwrap().map(|it| it.unwrap().path()).collect::<Vec<_>>();
    assert_eq!(below.len(), 1);
    for folder in [&root, &below[0]] {
        assert_eq!(fs::metadata(folder).unwrap().mode() & 0o777, 0o700, "{}", folder.display());
    }
}

#[test]
fn two_processes_on_an_empty_cache_both_work_and_leave_it_whole() {
    let env = TestEnv::new().plugin("speaker.wasm", speaker("speaker"));
    let start = || {
        let mut command: Command = env.command_with_own_cache(&["call", "speaker-tool"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for process in [start(), start(), start()] {
        let run = env.shown(&process.wait_with_output().unwrap());
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("{\"from\":\"speaker\",\"ok\":true}\n", ""));
    }
    let warm = list(&env);
    assert_eq!(work(&warm), (0, 0), "{warm}");
    assert!(entries(&env, "").iter().all(|it| it.extension().is_some()), "no temporary file is left");
}

#[test]
fn a_plugin_that_does_not_load_is_asked_again_each_time() {
    let env = TestEnv::new().plugin(
        "broken.wasm",
        PluginText {
            log_in_describe: true,
            in_list_tools: "unreachable".into(),
            ..PluginText::with_tool("broken", "one")
        }
        .build(),
    );
    let _ = list(&env);
    let again = list(&env);
    assert_eq!(work(&again), (1, 1), "a fault may pass: {again}");
}
