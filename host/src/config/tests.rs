//! Tests of the configuration file: what it may say, and what is said of its mistakes.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

#[track_caller]
fn check(text: &str, expected: Expect) {
    let shown = match Config::parse(text, "config.toml") {
        Ok(config) => format!("{config:#?}"),
        Err(error) => match error.hint() {
            Some(hint) => format!("{error}\n  hint: {hint}"),
            None => error.to_string(),
        },
    };
    expected.assert_eq(&shown);
}

fn parse(text: &str) -> Config {
    Config::parse(text, "config.toml").unwrap()
}

#[test]
fn a_whole_file_is_read() {
    let config = parse(
        r#"
        provider = "anthropic"
        model = "some-model"
        log = "INFO"
        [limits]
        memory = "512MiB"
        calls = 4
        depth = "3"
        deadline = "5min"
        [plugin.weather]
        unit = "°C"
        zoom = { min = 1, max = 0x10 }
        big = 9007199254740993
        rate = 0.1
        since = 2026-01-02
        tags = ["a", [true, -1]]
        a.b = 1
        [plugin.no-rm]
        "#,
    );
    assert_eq!((config.provider.as_deref(), config.model.as_deref()), (Some("anthropic"), Some("some-model")));
    assert_eq!(config.log, Some(LogLevel::Info));
    assert_eq!((config.limits.memory, config.limits.calls, config.limits.depth), (512 << 20, 4, 3));
    assert_eq!(config.limits.cpu, Limits::default().cpu);
    let json = serde_json::to_string(&config.plugins).unwrap();
    expect![[r#"{"no-rm":{},"weather":{"unit":"°C","zoom":{"min":1,"max":16},"big":9007199254740993,"rate":0.1,"since":"2026-01-02","tags":["a",[true,-1]],"a":{"b":1}}}"#]]
        .assert_eq(&json);
    assert!(config.sets("provider") && config.sets("limits.memory") && config.sets("plugin.no-rm"));
    assert!(!config.sets("limits.cpu") && !config.sets("plugin.other"));
}

#[test]
fn an_empty_file_is_the_default() {
    for text in ["", "\u{feff}", "\n", "\r\n\r\n", "\t \n", "# only a comment", "[limits]", "[plugin]"] {
        let config = parse(text);
        assert_eq!((&config.limits, config.plugins.len(), config.provider), (&Limits::default(), 0, None), "{text:?}");
    }
}

#[test]
fn byte_order_mark_line_ends_and_tabs_change_nothing() {
    let plain = parse("model = \"m\"\n[limits]\ncalls = 4\n");
    assert_eq!(parse("\u{feff}model = \"m\"\r\n[limits]\r\n\tcalls\t=\t4\r\n"), plain);
    check(
        "\u{feff}modle = 1",
        expect![[r#"
            `config.toml:1:1`: unknown key `modle`, expected `ca_file`, `limits`, `log`, `model`, `plugin`, `provider`, `proxy` or `secret`
              hint: did you mean `model`?"#]],
    );
    check("[limits]\r\n\r\n\tcalls = 0\r\n", expect!["`config.toml:3:10`: `limits.calls`: a limit cannot be zero"]);
}

#[test]
fn an_unknown_key_names_those_there_are() {
    check(
        "[limits]\n# é\n  memroy = \"1GiB\"",
        expect![[r#"
            `config.toml:3:3`: unknown key `memroy` in `limits`, expected `attempts`, `calls`, `component`, `cpu`, `deadline`, `depth`, `http_body`, `http_connect`, `http_first_byte`, `http_idle`, `http_requests`, `instances`, `listing`, `listing_cpu`, `log`, `memory`, `model_result`, `program`, `program_longest`, `program_output`, `reply_idle`, `retry_wait`, `schema`, `stack`, `storage` or `value`
              hint: did you mean `memory`?"#]],
    );
    check(
        "[limits]\nlisting-cpu = \"1s\"",
        expect![[r#"
            `config.toml:2:1`: unknown key `listing-cpu` in `limits`, expected `attempts`, `calls`, `component`, `cpu`, `deadline`, `depth`, `http_body`, `http_connect`, `http_first_byte`, `http_idle`, `http_requests`, `instances`, `listing`, `listing_cpu`, `log`, `memory`, `model_result`, `program`, `program_longest`, `program_output`, `reply_idle`, `retry_wait`, `schema`, `stack`, `storage` or `value`
              hint: did you mean `listing_cpu`?"#]],
    );
    check(
        "[plugins.weather]",
        expect![[r#"
            `config.toml:1:2`: unknown key `plugins`, expected `ca_file`, `limits`, `log`, `model`, `plugin`, `provider`, `proxy` or `secret`
              hint: did you mean `plugin`?"#]],
    );
    check(
        "colour = true",
        expect![
            "`config.toml:1:1`: unknown key `colour`, expected `ca_file`, `limits`, `log`, `model`, `plugin`, `provider`, `proxy` or `secret`"
        ],
    );
    check(
        "\"\\u001b[2J\" = 1",
        expect![
            "`config.toml:1:1`: unknown key `␛[2J`, expected `ca_file`, `limits`, `log`, `model`, `plugin`, `provider`, `proxy` or `secret`"
        ],
    );
    check(
        "zzz = 1\naaa = 1",
        expect![
            "`config.toml:1:1`: unknown key `zzz`, expected `ca_file`, `limits`, `log`, `model`, `plugin`, `provider`, `proxy` or `secret`"
        ],
    );
}

#[test]
fn a_wrong_value_says_what_was_expected() {
    check("limits = 3", expect!["`config.toml:1:10`: `limits` is a whole number, expected a table `[limits]`"]);
    check(
        "plugin.weather = \"x\"",
        expect!["`config.toml:1:18`: `plugin.weather` is a string, expected a table `[plugin.weather]`"],
    );
    check("plugin = []", expect!["`config.toml:1:10`: `plugin` is a list, expected a table `[plugin]`"]);
    check("provider = 1", expect!["`config.toml:1:12`: `provider` is a whole number, expected a string"]);
    check("model = \" \"", expect!["`config.toml:1:9`: `model` is empty, expected a name"]);
    check(
        "log = \"warning\"",
        expect![[r#"
        `config.toml:1:7`: `log` is `warning`, expected `off`, `error`, `warn`, `info`, `debug` or `trace`"#]],
    );
    check(
        "log = \"inof\"",
        expect![[r#"
        `config.toml:1:7`: `log` is `inof`, expected `off`, `error`, `warn`, `info`, `debug` or `trace`
          hint: did you mean `info`?"#]],
    );
    check(
        "[limits]\nmemory = 256",
        expect!["`config.toml:2:10`: `limits.memory`: `256` has no unit, expected for example `256MiB`"],
    );
    check(
        "[limits]\nmemory = 0.5",
        expect![[
            r#"`config.toml:2:10`: `limits.memory` is a number with a fraction, expected text such as `"64KiB"` or `"10s"`"#
        ]],
    );
    check(
        "[limits]\ncalls = true",
        expect!["`config.toml:2:9`: `limits.calls` is true or false, expected a whole number"],
    );
    check(
        "[limits]\ncalls = -1",
        expect!["`config.toml:2:9`: `limits.calls`: `-1` is no whole number, expected for example `16`"],
    );
    check(
        "[limits]\nmemory = \"5GiB\"",
        expect!["`config.toml:2:10`: `limits.memory`: `5 GiB` is too large, expected at most `4 GiB`"],
    );
    check(
        "[plugin.Weather]",
        expect![
            "`config.toml:1:9`: `plugin`: `Weather` is no name of a plugin: expected a lower-case letter, then up to 63 lower-case letters, digits or `-`"
        ],
    );
    check(
        "[plugin.a]\nb.c = [1, nan]",
        expect!["`config.toml:2:11`: `plugin.a.b.c` is a number that JSON cannot hold"],
    );
    check(
        "[plugin.a]\nb = 99999999999999999999",
        expect!["`config.toml:2:5`: `plugin.a.b` is a number that JSON cannot hold"],
    );
}

#[test]
fn what_is_no_toml_is_one_line_with_its_place() {
    check("model = \"m\",", expect!["`config.toml:1:12`: unexpected key or value, expected newline, `#`"]);
    check("[limits", expect!["`config.toml:1:8`: unclosed table, expected `]`"]);
    check("a", expect!["`config.toml:1:2`: key with no value, expected `=`"]);
    check("model = ", expect!["`config.toml:1:9`: string values must be quoted, expected literal string"]);
    check("model = \"m", expect![[r#"`config.toml:1:11`: invalid basic string, expected `"`"#]]);
    check("{\"model\": 1}", expect!["`config.toml:1:1`: invalid key-value pair, expected key"]);
    check("model = \"a\"\nmodel = \"b\"", expect!["`config.toml:2:1`: duplicate key `model`"]);
    check("[limits]\n[plugin.a]\n[limits]", expect!["`config.toml:3:2`: duplicate key `limits`"]);
    check("[plugin.a]\n[plugin.a]", expect!["`config.toml:2:9`: duplicate key `a`"]);
    check("model = \"é\" x", expect!["`config.toml:1:13`: unexpected key or value, expected newline, `#`"]);
    check(
        &format!("plugin.a.b = {}", "[".repeat(10_000)),
        expect!["`config.toml:1:94`: cannot recurse further; max recursion depth met"],
    );
}

#[test]
fn a_file_that_cannot_be_read_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    assert_eq!(Config::load(&path), Ok(Config::default()), "a missing file is the default");
    let check = |expected: Expect| {
        let root = folder.path().to_string_lossy().into_owned();
        expected.assert_eq(&Config::load(&path).unwrap_err().to_string().replace(&root, "$DIR"));
    };
    std::fs::write(&path, "model = 1").unwrap();
    check(expect!["`$DIR/config.toml:1:9`: `model` is a whole number, expected a string"]);
    std::fs::write(&path, b"model = \"m\"\n# \xe9\n").unwrap();
    check(expect!["`$DIR/config.toml:2:3`: not UTF-8"]);
    std::fs::write(&path, " ".repeat(1 + (1 << 20))).unwrap();
    check(expect!["cannot read `$DIR/config.toml`: it has more than 1 MiB"]);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    check(expect!["cannot read `$DIR/config.toml`: it is a folder"]);
    std::fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink("/dev/null", &path).unwrap();
    check(expect!["cannot read `$DIR/config.toml`: it is not a regular file"]);
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    check(expect!["cannot read `$DIR/config.toml`: filesystem loop or indirection limit (e.g. symlink loop)"]);
    let below_file = folder.path().join("file");
    std::fs::write(&below_file, "").unwrap();
    let error = Config::load(&below_file.join("config.toml")).unwrap_err();
    assert!(matches!(error, ConfigError::Unreadable { kind: std::io::ErrorKind::NotADirectory, .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

    #[test]
    fn any_text_is_a_configuration_or_a_mistake_in_one_line(text in prop_oneof![
        "((limits|plugin|model|log|memory|a)(\\.(a|cpu))?|\\[(limits|plugin\\.[a-z])\\])? ?=? ?(\"[a-z0-9]{0,4}\"|[0-9]{0,3}|\\{|\\[|nan|\r?\n){0,4}",
        ".{0,24}",
    ]) {
        if let Err(error) = Config::parse(&text, "c\n.toml") {
            let line = error.to_string();
            prop_assert!(crate::text::is_visible_line(&line), "{line:?}");
            prop_assert!(line.starts_with("`c␊.toml:"), "{line:?}");
            let ConfigError::Wrong { place, .. } = error else { unreachable!() };
            prop_assert!(place.line <= text.matches('\n').count() + 1);
        }
    }
}

#[test]
fn a_secret_comes_from_a_variable_or_a_command() {
    let config = parse("[secret.A]\nenv = \"B\"\n[secret.C]\ncommand = [\"pass\", \"show\", \"c\"]\n");
    let sources: Vec<_> = config.secrets.into_iter().map(|(name, source)| format!("{name}: {source:?}")).collect();
    assert_eq!(sources, [r#"A: Variable("B")"#, r#"C: Command(["pass", "show", "c"])"#]);
    for (text, expected) in [
        (
            "[secret.A]",
            expect![[
                r#"`config.toml:1:9`: `secret.A`: expected `env = "VARIABLE"` or `command = ["program", "argument"]`"#
            ]],
        ),
        (
            "[secret.A]\nenv = \"B\"\ncommand = [\"x\"]",
            expect!["`config.toml:3:1`: `secret.A`: expected one of `env` and `command`, not both"],
        ),
        (
            "[secret.A]\nvalue = \"hunter2\"",
            expect!["`config.toml:2:1`: unknown key `value` in `secret`, expected `command` or `env`"],
        ),
        (
            "[secret.A]\nenv = \"B C\"",
            expect![
                "`config.toml:2:7`: `secret.A.env`: `B C` is no name of a variable or secret, expected letters, digits and `_` such as `ANTHROPIC_API_KEY`"
            ],
        ),
        (
            "[secret.A]\ncommand = \"pass show\"",
            expect![[
                r#"`config.toml:2:11`: `secret.A.command` is a string, expected a list of strings such as `["pass", "show", "key"]`"#
            ]],
        ),
        (
            "[secret.A]\ncommand = []",
            expect![[
                r#"`config.toml:2:11`: `secret.A.command` is empty, expected a list of strings such as `["pass", "show", "key"]`"#
            ]],
        ),
        (
            "[secret.a-b]\nenv = \"B\"",
            expect![
                "`config.toml:1:9`: `secret`: `a-b` is no name of a variable or secret, expected letters, digits and `_` such as `ANTHROPIC_API_KEY`"
            ],
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn a_proxy_is_one_host_and_certificates_are_in_an_absolute_place() {
    let config = parse("proxy = \"http://127.0.0.1:3128\"\nca_file = \"/etc/ca.pem\"\n");
    assert_eq!(config.proxy.unwrap().to_string(), "http://127.0.0.1:3128");
    assert_eq!(config.ca_file.unwrap(), Path::new("/etc/ca.pem"));
    check("proxy = \"https://*\"", expect!["`config.toml:1:9`: `proxy`: `https://*` is no single host"]);
    check(
        "proxy = \"localhost:3128\"",
        expect![
            "`config.toml:1:9`: `proxy`: origin `localhost:3128` has no known scheme, expected `https://` or `http://`"
        ],
    );
    check("ca_file = \"ca.pem\"", expect!["`config.toml:1:11`: `ca_file`: expected an absolute path"]);
}
