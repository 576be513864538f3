//! `bellglass secret`, and what a run with secrets shows.

use expect_test::expect;
use serde_json::json;

use crate::support::TestEnv;
use crate::support::server::{Server, answer};

#[test]
fn without_a_keyring_a_secret_is_not_stored_and_the_ways_out_are_named() {
    let env = TestEnv::new();
    let run = env.finish(env.command(&["secret", "set", "WEB_KEY"]), "value-that-stays-out\n");
    run.check(expect![[r#"
        --- stderr
        error: secret `WEB_KEY`: there is no keyring on this system
          hint: set the environment variable `WEB_KEY`, or name a command in config.toml: `[secret.WEB_KEY]` with `command = ["pass", "show", "web_key"]`
        [exit 1]
    "#]]);
    assert!(!env.home().join(".local/state/bellglass/secrets").exists());
}

#[test]
fn a_value_is_no_argument_and_must_be_one_that_a_header_carries() {
    let env = TestEnv::new();
    let run = env.run(&["secret", "set", "WEB_KEY", "value"]);
    assert_eq!(run.status, 2, "{run}");
    for (input, expected) in [("", "the value is empty"), ("two\nlines", "line break"), ("\u{1b}[2J", "visible ASCII")]
    {
        let run = env.finish(env.command(&["secret", "set", "WEB_KEY"]), input);
        assert_eq!(run.status, 2, "{run}");
        assert!(run.stderr.contains(expected), "{run}");
    }
    assert_eq!(env.run(&["secret", "set", "no-name"]).status, 2);
}

#[test]
fn secrets_are_listed_with_their_source_and_without_their_value() {
    let config = "[secret.FROM_ENV]\nenv = \"OTHER\"\n[secret.FROM_PASS]\ncommand = [\"pass\", \"show\", \"x\"]\n";
    let env = TestEnv::new().config(config).home_file(".local/state/bellglass/secrets", "STORED\n");
    env.run(&["secret", "list"]).check(expect![[r#"
        FROM_ENV   environment variable `OTHER`
        FROM_PASS  command `pass`
        STORED     keyring
        [exit 0]
    "#]]);
    assert_eq!(env.run(&["secret", "list", "--json"]).json()[2], json!({"name": "STORED", "from": "keyring"}));
    env.run(&["secret", "delete", "FROM_ENV"]).check(expect![[r#"
        --- stderr
        error: secret `FROM_ENV` comes from the environment variable `OTHER`, as `[secret.FROM_ENV]` of the configuration says
        [exit 1]
    "#]]);
    env.run(&["secret", "delete", "NOWHERE"]).check(expect![[r#"
        --- stderr
        error: no secret `NOWHERE` was stored
        [exit 1]
    "#]]);
}

/// Sends back what it got, header and body.
fn echo() -> Server {
    Server::http_at("127.77.0.2:18080", |request| answer("200 OK", "", request))
}

#[test]
fn a_secret_comes_from_the_environment_or_a_command_and_is_in_nothing_that_is_printed() {
    let server = echo();
    let grants = ["--grant", "web:http=http://127.77.0.2:18080", "--grant", "web:credential=WEB_KEY"];
    let ask = json!({"url": server.origin(), "method": "POST", "body": "x"}).to_string();
    let run = |config: &str| {
        let env = TestEnv::new().guest("web").config(config);
        let mut command = env.command(&[&["call", "request", &ask, "--log", "trace"], &grants[..]].concat());
        command.env("WEB_KEY", "value-of-the-variable").env("OTHER", "value-of-another");
        env.finish(command, "")
    };
    for (config, value) in [
        ("", "value-of-the-variable"),
        ("[secret.WEB_KEY]\nenv = \"OTHER\"\n", "value-of-another"),
        ("[secret.WEB_KEY]\ncommand = [\"echo\", \"value-of-a-command\"]\n", "value-of-a-command"),
    ] {
        let run = run(config);
        let sent = server.requests().pop().unwrap();
        assert!(sent.contains(&format!("authorization: Bearer {value}\r\n")), "{sent}");
        assert_eq!(run.json()["status"], 200, "{run}");
        assert!(!run.to_string().contains(value), "{run}");
    }
}

#[test]
fn a_command_that_fails_is_told_without_what_it_printed_and_the_request_goes_without() {
    let server = Server::http_at("127.77.0.3:18080", |_| answer("401 Unauthorized", "", "who are you?"));
    let config = "[secret.WEB_KEY]\ncommand = [\"sh\", \"-c\", \"echo half-of-a-value; exit 7\"]\n";
    let env = TestEnv::new().guest("web").config(config);
    let ask = json!({"url": server.origin()}).to_string();
    let grants = ["--grant", "web:http=http://127.77.0.3:18080", "--grant", "web:credential=WEB_KEY"];
    let run = env.run(&[&["call", "request", &ask], &grants[..]].concat());
    assert_eq!(run.json()["status"], 401, "{run}");
    assert!(run.stderr.contains("secret `WEB_KEY`: `sh` failed (exit status: 7)"), "{run}");
    assert!(run.stderr.contains("`bellglass secret set WEB_KEY`") && !run.to_string().contains("half-of"), "{run}");
}

#[test]
fn a_configuration_with_a_value_in_clear_is_refused() {
    let env = TestEnv::new().config("[secret.WEB_KEY]\nvalue = \"in-clear\"\n");
    let run = env.run(&["tools"]);
    assert_eq!(run.status, 1, "{run}");
    assert!(
        run.stderr.contains("config.toml:2:1`: unknown key `value` in `secret`, expected `command` or `env`"),
        "{run}"
    );
}
