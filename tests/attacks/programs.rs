//! Running more than was granted: behind an allowed command, inside it, around it, and after the call is over.

use serde_json::{Value, json};

use crate::support::{Bench, TestEnv};

fn bench() -> Bench {
    Bench::of(TestEnv::new().guest("shell").file("a.txt", "content"))
}

/// A line that is refused with this grant, and runs with `run=*`.
async fn check(granted: &str, line: &str) {
    let bench_with = |grant: &str| bench().grant(&format!("shell:run={grant}"));
    let limited = bench_with(granted);
    let host = limited.load().await;
    let outcome = host.call("run", json!({"line": line})).await;
    let error = outcome.error().unwrap_or_default();
    assert!(error.starts_with("denied: plugin `shell` may not run"), "{granted}: {line:?}: {}", outcome.to_json());
    assert!(error.contains("--grant"), "{error}");
    // The next call works, within the grant.
    let allowed = granted.trim_end_matches(" *");
    let next = host.call("run", json!({"argv": allowed.split(' ').collect::<Vec<_>>()})).await;
    assert!(!next.error().unwrap_or_default().contains("denied"), "{}", next.to_json());
    // The control: it was the grant that was missing, and nothing else.
    let free = bench_with("*");
    let control = free.load().await.call("run", json!({"line": line, "timeout_ms": 20_000})).await;
    assert!(!control.error().unwrap_or_default().contains("denied"), "{line:?}: {}", control.to_json());
}

#[tokio::test]
async fn nothing_runs_without_a_grant() {
    let bench = bench();
    let outcome = bench.load().await.call("run", json!({"line": "true"})).await;
    assert_eq!(
        outcome.error().unwrap(),
        "denied: plugin `shell` may not run `true` (`--grant shell:run=true` if it asks for it)"
    );
    let granted = bench.grant("shell:run=true");
    assert!(granted.load().await.call("run", json!({"line": "true"})).await.ok());
}

#[tokio::test]
async fn a_prefix_allows_nothing_behind_its_command() {
    for line in ["echo a && touch b", "echo a; touch b", "echo a || touch b", "echo a | tee b", "echo a & touch b"] {
        check("echo *", line).await;
    }
    check("echo *", "echo a\ntouch b").await;
}

#[tokio::test]
async fn a_prefix_allows_nothing_inside_its_command() {
    for line in ["echo $(touch b)", "echo `touch b`", "echo \"$(touch b)\"", "echo ${x:-$(touch b)}", "echo a > b"] {
        check("echo *", line).await;
    }
    check("cat *", "cat <<E\n$(touch b)\nE").await;
}

#[tokio::test]
async fn a_wrapper_or_a_variable_around_a_command_is_not_that_command() {
    for line in ["env touch b", "FOO=1 touch b", "sh -c 'touch b'", "eval touch b", "xargs touch b", "command touch b"]
    {
        check("echo *", line).await;
    }
    for line in ["LD_PRELOAD=x echo a", "env LD_PRELOAD=x echo a", "PATH=. echo a"] {
        check("echo *", line).await;
    }
    check("find *", "find . -exec touch b ';'").await;
    check("find *", "find . -name nothing -delete").await;
}

#[tokio::test]
async fn quotes_and_backslashes_hide_no_command() {
    for line in [r"\touch b", "to\"\"uch b", "'touch' b", "$X touch b", "$(echo touch) b", "./echo a", "../echo a"] {
        check("echo *", line).await;
    }
}

#[tokio::test]
async fn an_interpreter_is_not_allowed_by_a_prefix_and_is_by_its_whole_command() {
    let prefix = bench().grant("shell:run=sh *");
    let outcome = prefix.load().await.call("run", json!({"line": "sh a.txt"})).await;
    assert!(outcome.error().unwrap().starts_with("denied: plugin `shell` may not run `sh a.txt`"), "{outcome:?}");
    let exact = bench().grant("shell:run=sh a.txt");
    let outcome = exact.load().await.call("run", json!({"line": "sh a.txt"})).await;
    assert!(outcome.ok(), "{}", outcome.to_json());
}

#[tokio::test]
async fn a_line_too_long_to_be_read_is_refused() {
    check("echo *", &format!("echo {}", "a".repeat(20_000))).await;
}

#[tokio::test]
async fn what_is_left_in_the_background_does_not_outlive_the_call() {
    let bench = bench().grant("shell:run=*");
    let host = bench.load().await;
    let line = "(trap '' TERM HUP; sleep 30; touch late) & echo $!";
    let answer = host.answer("run", json!({"line": line})).await;
    let pid = answer["out"].as_str().unwrap().trim().to_owned();
    assert_eq!(answer["code"], 0);
    // Killed as a group: at most a process that is already dead is left of it.
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(!state.contains(") S ") || state.is_empty(), "{state}");
    assert!(!bench.env().work().join("late").exists());
}

#[tokio::test]
async fn a_program_reads_no_secret_from_its_environment() {
    let mut bench = bench().grant("shell:run=*");
    bench.options.surroundings.variables =
        vec![("PATH".into(), "/usr/bin:/bin".into()), ("API_KEY".into(), "hunter2".into())];
    let answer = bench.load().await.answer("run", json!({"line": "env; echo \"$API_KEY\""})).await;
    let out = answer["out"].as_str().unwrap();
    assert!(!out.contains("hunter2") && out.contains("PATH=/usr/bin:/bin"), "{out}");
}

#[tokio::test]
async fn a_program_that_never_ends_is_stopped_at_its_own_limit_and_the_call_goes_on() {
    let bench = bench().grant("shell:run=*");
    let answer =
        bench.load().await.answer("run", json!({"line": "while true; do true; done", "timeout_ms": 200})).await;
    assert_eq!((&answer["late"], &answer["code"]), (&json!(true), &Value::Null));
}
