//! The user's configuration and the environment: what counts, and what a mistake in it leads to.

use expect_test::expect;
use serde_json::json;

use crate::support::{Run, TestEnv};

/// Runs one call with this configuration.
fn with(config: impl AsRef<[u8]>) -> Run {
    let env = TestEnv::new().file("README.md", "one\n").home_file(".config/bellglass/config.toml", config);
    env.run(&["call", "wc", r#"{"path":"README.md"}"#])
}

#[test]
fn a_broken_configuration_stops_the_start_with_its_place_and_what_is_right() {
    with("[limits]\ncpu = 5\n").check(expect![[r#"
        --- stderr
        error: `$ENV/home/.config/bellglass/config.toml:2:7`: `limits.cpu`: `5` has no unit, expected for example `5s`
        [exit 1]
    "#]]);
    with("[limits]\nmemroy = \"1GiB\"\n").check(expect![[r#"
        --- stderr
        error: `$ENV/home/.config/bellglass/config.toml:2:1`: unknown key `memroy` in `limits`, expected `calls`, `component`, `cpu`, `deadline`, `depth`, `http_body`, `http_connect`, `http_first_byte`, `http_idle`, `http_requests`, `instances`, `listing`, `listing_cpu`, `log`, `memory`, `model_result`, `schema`, `stack`, `storage` or `value`
          hint: did you mean `memory`?
        [exit 1]
    "#]]);
    with("provider = [\n").check(expect![[r#"
        --- stderr
        error: `$ENV/home/.config/bellglass/config.toml:1:13`: unclosed array, expected `]`
        [exit 1]
    "#]]);
    with("[limits]\nmemory = \"0MiB\"\n").check(expect![[r#"
        --- stderr
        error: `$ENV/home/.config/bellglass/config.toml:2:10`: `limits.memory`: a limit cannot be zero
        [exit 1]
    "#]]);
    with("provider = \"stub\"\nprovider = \"stub\"\n").check(expect![[r#"
        --- stderr
        error: `$ENV/home/.config/bellglass/config.toml:2:1`: duplicate key `provider`
        [exit 1]
    "#]]);
    with("provider = 5\n").check(expect![[r#"
        --- stderr
        error: `$ENV/home/.config/bellglass/config.toml:1:12`: `provider` is a whole number, expected a string
        [exit 1]
    "#]]);
    with("[plugin.\"No Name\"]\nx = 1\n").check(expect![[r#"
        --- stderr
        error: `$ENV/home/.config/bellglass/config.toml:1:9`: `plugin`: `No Name` is no name of a plugin: expected a lower-case letter, then up to 63 lower-case letters, digits or `-`
        [exit 1]
    "#]]);
    with(b"provider = \"caf\xe9\"\n").check(expect![[r#"
        --- stderr
        error: `$ENV/home/.config/bellglass/config.toml:1:16`: not UTF-8
        [exit 1]
    "#]]);
}

#[test]
fn every_command_refuses_a_broken_configuration() {
    let env = TestEnv::new().config("nonsense\n");
    for arguments in [&["ask", "hi"][..], &["call", "wc"], &["tools"], &["plugin", "list"], &["chat"]] {
        let run = env.run(arguments);
        assert!(
            run.status == 1 && run.stdout.is_empty() && run.stderr.contains("config.toml:1:"),
            "{arguments:?} {run}"
        );
    }
    assert_eq!(env.run(&["--help"]).status, 0);
}

#[test]
fn a_configuration_that_cannot_be_read_stops_the_start() {
    let env = TestEnv::new().home_file(".config/bellglass/config.toml/x", "");
    env.run(&["tools"]).check(expect![[r#"
        --- stderr
        error: cannot read `$ENV/home/.config/bellglass/config.toml`: it is a folder
        [exit 1]
    "#]]);
}

#[test]
fn blank_files_tabs_windows_line_ends_and_a_byte_order_mark_are_fine() {
    for config in ["", "\n\n", "# nothing\n", "[limits]\r\n\tcpu = \"5s\"\r\n", "\u{feff}log = \"warn\"\n"] {
        let run = with(config);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{config:?} {run}");
    }
}

#[test]
fn limits_of_the_configuration_are_used() {
    let env = TestEnv::new().guest("hostile").config("[limits]\ncpu = \"150ms\"\n");
    env.run(&["call", "spin", "--log", "error"]).check(expect![[r#"
        {"error":"tool `hostile.spin` was stopped: it used more than its 150 ms of CPU time","name":"spin","args":{},"ok":false}
        [exit 4]
    "#]]);
}

#[test]
fn provider_model_and_log_level_come_from_the_configuration_unless_a_flag_says_otherwise() {
    let env = TestEnv::new().guest("script").config("provider = \"script\"\nmodel = \"big-1\"\nlog = \"error\"\n");
    let ask = |arguments: &[&str]| env.run(&[&["ask", "hi", "-o", "see=true"], arguments].concat());
    assert_eq!(ask(&[]).json(), json!({"model": "big-1", "tools": ["wc"]}));
    assert_eq!(ask(&["-m", "small-1"]).json()["model"], "small-1");
    assert!(ask(&["-p", "stub"]).stdout.contains("stub"));
    // A call that raises is a warning in the log.
    let raise = |level: &[&str], variable: Option<&str>| {
        let env = TestEnv::new().guest("hostile").config("log = \"error\"\n");
        let mut command = env.command(&[&["call", "raise"], level].concat());
        command.envs(variable.map(|it| ("BELLGLASS_LOG", it)));
        env.finish(command, "").stderr.contains("WARN")
    };
    assert!(!raise(&[], None));
    assert!(raise(&[], Some("warn")), "the environment is stronger than the configuration");
    assert!(!raise(&["--log", "off"], Some("warn")), "a flag is stronger than the environment");
}

#[test]
fn settings_of_a_plugin_reach_it() {
    let env =
        TestEnv::new().guest("hostile").config("[plugin.hostile]\nbig = 9007199254740993\n[plugin.other]\nx = 1\n");
    assert_eq!(env.run(&["call", "settings"]).success(), "{\"big\":9007199254740993,\"ok\":true}\n");
}

#[test]
fn an_unknown_log_level_in_the_environment_is_a_warning() {
    let env = TestEnv::new().file("README.md", "one\n");
    let run = |level: &str| {
        let mut command = env.command(&["call", "wc", r#"{"path":"README.md"}"#]);
        command.env("BELLGLASS_LOG", level);
        env.finish(command, "")
    };
    run("lo\u{1b}ud").check(expect![[r#"
        {"lines":1,"words":1,"bytes":4,"ok":true}
        --- stderr
         WARN BELLGLASS_LOG is `lo␛ud`, expected one of: off, error, warn, info, debug, trace; using `warn`
        [exit 0]
    "#]]);
    assert_eq!(run("").stderr, "");
    assert_eq!(run("OFF").stderr, "");
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let env = TestEnv::new().guest("hostile");
    let colored =
        |arguments: &[&str]| env.run(&[&["call", "raise"], arguments].concat()).to_string().contains('\u{1b}');
    assert_eq!([colored(&[]), colored(&["--color", "never"]), colored(&["--color", "always"])], [false, false, true]);
    assert_eq!(env.run(&["--color", "sometimes", "tools"]).status, 2);
}

#[test]
fn a_folder_that_is_given_is_where_everything_happens() {
    let env = TestEnv::new().file("sub/README.md", "one\n");
    let run = env.run(&["-C", "sub", "call", "wc", r#"{"path":"README.md"}"#]);
    assert_eq!(run.success(), "{\"lines\":1,\"words\":1,\"bytes\":4,\"ok\":true}\n");
    env.run(&["-C", "sub/README.md", "tools"]).check(expect![[r#"
        --- stderr
        error: `-C sub/README.md`: there is no such folder
        [exit 2]
    "#]]);
}
