//! Every limit, with a guest that hits it: its own message, and a next call as if nothing had been.

use std::pin::pin;
use std::time::Duration;

use bellglass::limits::Limits;
use bellglass::tool::Outcome;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::support::{Bench, PluginText, TestEnv};

/// Calls a tool of the hostile guest that has to hit a limit, twice, with a good call after each.
async fn check(limits: impl FnOnce(&mut Limits), tool: &str, arguments: Value, expected: Expect) {
    check_in(&Bench::new(&["hostile"]).limits(limits), tool, arguments, expected).await;
}

async fn check_in(bench: &Bench, tool: &str, arguments: Value, expected: Expect) {
    let host = bench.load().await;
    let outcome = host.call(tool, arguments.clone()).await;
    expected.assert_eq(&outcome.error().unwrap_or_else(|| panic!("no error: {}", outcome.to_json())));
    assert!(!outcome.ok() && outcome.hit_a_limit(), "{}", outcome.to_json());
    for _ in 0..2 {
        assert_eq!(host.answer("echo", json!({"a": 1})).await["arguments"], json!({"a": 1}));
        assert_eq!(host.call(tool, arguments.clone()).await.error(), outcome.error());
    }
}

const SHORT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn memory_is_a_limit_with_what_the_guest_said_last() {
    check(
        |it| it.memory = 4 << 20,
        "eat-memory",
        json!({}),
        expect![[r#"
            tool `hostile.eat-memory` was stopped: it needed more than its 4 MiB of memory
            memory allocation of 1048576 bytes failed
            note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"#]],
    )
    .await;
}

#[tokio::test]
async fn memory_is_the_same_limit_without_the_pool() {
    let mut bench = Bench::new(&["hostile"]).limits(|it| it.memory = 4 << 20);
    bench.options.single = true;
    check_in(
        &bench,
        "eat-memory",
        json!({}),
        expect![[r#"
        tool `hostile.eat-memory` was stopped: it needed more than its 4 MiB of memory
        memory allocation of 1048576 bytes failed
        note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"#]],
    )
    .await;
}

#[tokio::test]
async fn cpu_time_is_a_limit() {
    check(
        |it| it.cpu = SHORT,
        "spin",
        json!({}),
        expect!["tool `hostile.spin` was stopped: it used more than its 50 ms of CPU time"],
    )
    .await;
}

#[tokio::test]
async fn cpu_time_is_a_limit_of_hooks() {
    check(|it| it.cpu = SHORT, "echo", json!({"before": "spin"}), expect!["a before hook of plugin `hostile` could not be evaluated, so the call was stopped: it used more than its 50 ms of CPU time"]).await;
}

#[tokio::test]
async fn waiting_is_not_computing() {
    let host = Bench::new(&["hostile"]).limits(|it| it.cpu = SHORT).load().await;
    assert_eq!(host.answer("spin-slowly", json!({"n": 100})).await, json!({}));
}

#[tokio::test]
async fn the_deadline_is_a_limit() {
    check(
        |it| it.deadline = SHORT,
        "sleep",
        json!({"n": 3_600_000}),
        expect!["tool `hostile.sleep` was stopped: it ran past its 50 ms deadline"],
    )
    .await;
}

#[tokio::test]
async fn the_stack_is_a_limit() {
    check(
        |_| {},
        "recurse",
        json!({"n": 0}),
        expect!["tool `hostile.recurse` was stopped: it used more than its 512 KiB of stack"],
    )
    .await;
}

#[tokio::test]
async fn a_small_stack_is_a_limit() {
    check(
        |it| it.stack = 64 << 10,
        "recurse",
        json!({"n": 0}),
        expect!["tool `hostile.recurse` was stopped: it used more than its 64 KiB of stack"],
    )
    .await;
}

#[tokio::test]
async fn arguments_that_are_too_large_never_reach_the_guest() {
    check(|it| it.value = 64 << 10, "echo", json!({"text": "x".repeat(64 << 10)}), expect!["a before hook of plugin `hostile` could not be evaluated, so the call was stopped: it was given a value larger than 64 KiB"]).await;
}

#[tokio::test]
async fn a_result_that_is_too_large_is_a_limit() {
    check(
        |it| it.value = 64 << 10,
        "big-result",
        json!({"n": 300_000}),
        expect!["tool `hostile.big-result` was stopped: it passed a value larger than 64 KiB"],
    )
    .await;
}

#[tokio::test]
async fn a_result_that_is_not_too_large_is_none() {
    let host = Bench::new(&["hostile"]).limits(|it| it.value = 64 << 10).load().await;
    let answer = host.answer("big-result", json!({"n": 60_000})).await;
    assert_eq!(answer["text"].as_str().unwrap().len(), 60_000);
}

#[tokio::test]
async fn the_log_is_a_limit() {
    check(
        |it| it.log = 10 << 10,
        "log-much",
        json!({"n": 20}),
        expect!["tool `hostile.log-much` was stopped: it printed more than 10 KiB"],
    )
    .await;
}

#[tokio::test]
async fn what_is_printed_is_a_limit() {
    check(
        |it| it.log = 10 << 10,
        "print-much",
        json!({"n": 20}),
        expect!["tool `hostile.print-much` was stopped: it printed more than 10 KiB"],
    )
    .await;
}

#[tokio::test]
async fn standard_error_is_a_limit() {
    check(
        |it| it.log = 10 << 10,
        "stderr-much",
        json!({"n": 20}),
        expect!["tool `hostile.stderr-much` was stopped: it printed more than 10 KiB"],
    )
    .await;
}

#[tokio::test]
async fn what_is_below_the_limit_of_the_log_is_none() {
    let host = Bench::new(&["hostile"]).limits(|it| it.log = 10 << 10).load().await;
    for tool in ["log-much", "print-much", "stderr-much"] {
        assert_eq!(host.answer(tool, json!({"n": 10})).await, json!({}), "{tool}");
    }
}

#[tokio::test]
async fn open_files_are_a_limit() {
    let bench = Bench::of(TestEnv::new().guest("hostile").file("read-me/a.txt", "")).grant("hostile:read=read-me");
    check_in(
        &bench,
        "hoard",
        json!({"n": 300, "path": "read-me/a.txt"}),
        expect!["tool `hostile.hoard` was stopped: it kept more than 256 files, streams and timers open"],
    )
    .await;
    let host = bench.load().await;
    assert_eq!(host.answer("hoard", json!({"n": 200, "path": "read-me/a.txt"})).await, json!({}));
}

#[tokio::test]
async fn storage_is_full_in_words_that_the_guest_gets() {
    let host = Bench::new(&["hostile"]).limits(|it| it.storage = 5 << 19).load().await;
    let outcome = host.call("store-much", json!({"n": 3})).await;
    expect![[
        r#"{"error":"the storage of a plugin holds at most 2560 KiB","name":"store-much","args":{"n":3},"ok":false}"#
    ]]
    .assert_eq(&outcome.to_json());
    // The guest could have gone on: it is not stopped, and what was kept is kept.
    assert!(!outcome.hit_a_limit());
    assert_eq!(host.answer("store-much", json!({"n": 2})).await, json!({}));
}

#[tokio::test]
async fn calls_over_the_limit_wait_and_hold_no_instance() {
    let host = Bench::new(&["hostile"]).limits(|it| (it.calls, it.instances) = (1, 1)).load().await;
    let calls = (0..4).map(|_| host.call("sleep", json!({"n": 5})));
    let outcomes = futures_util::future::join_all(calls).await;
    assert!(outcomes.iter().all(Outcome::ok), "{outcomes:?}");
}

#[tokio::test]
async fn instances_over_the_limit_are_a_limit() {
    let host = Bench::new(&["hostile"]).limits(|it| it.instances = 1).load().await;
    let (first, second) = tokio::join!(host.call("sleep", json!({"n": 5})), host.call("echo", json!({})));
    assert!(first.ok());
    expect!["a before hook of plugin `hostile` could not be evaluated, so the call was stopped: it could not start: 1 instances are alive"].assert_eq(&second.error().unwrap());
    assert!(second.hit_a_limit());
    assert!(host.call("echo", json!({})).await.ok());
}

/// `nest` around `nest` around …, with `echo` inside.
fn nested(depth: usize) -> Value {
    let innermost = json!({"tool": "echo", "arguments": {"text": "innermost"}});
    (1..depth).fold(innermost, |inner, _| json!({"tool": "nest", "arguments": inner}))
}

#[tokio::test]
async fn calls_are_nested_eight_deep_and_no_deeper() {
    let host = Bench::new(&["hostile"]).grant("hostile:call-tool=*").start().await;
    let answer = host.answer("nest", nested(8)).await;
    assert_eq!(answer["arguments"]["text"], "innermost", "{answer}");
    let outcome = host.call("nest", nested(9)).await;
    expect![[r#"{"error":"calls are nested more than 8 deep","ok":false}"#]].assert_eq(&outcome.to_json());
    assert!(host.call("nest", nested(1)).await.ok());
}

#[tokio::test]
async fn nested_calls_need_no_permit_of_their_own() {
    let bench = Bench::new(&["hostile"]).grant("hostile:call-tool=*").limits(|it| it.calls = 1);
    let host = bench.start().await;
    assert!(host.call("nest", nested(3)).await.ok());
}

#[tokio::test]
async fn the_time_of_nested_calls_is_not_the_outer_calls() {
    // Each of the two has its own deadline; the outer one waits for longer than its own.
    let env = TestEnv::new().guest("hostile").guest("resident");
    let bench = Bench::of(env).grant("hostile:call-tool=*").grant("resident:call-tool=*");
    let host = bench.limits(|it| it.deadline = Duration::from_millis(300)).start().await;
    let sleep = json!({"tool": "sleep", "arguments": {"n": 200}});
    let (first, second) = tokio::join!(host.call("visit", sleep.clone()), host.call("visit", sleep));
    assert!(first.ok() && second.ok(), "{first:?} {second:?}");
}

#[tokio::test]
async fn a_spinning_call_holds_up_nobody_on_one_thread() {
    let host = Bench::new(&["hostile"]).load().await;
    let mut spin = pin!(host.call("spin", json!({})));
    tokio::select! {
        biased;
        outcome = &mut spin => panic!("ended before the others: {outcome:?}"),
        outcomes = async { (host.call("echo", json!({})).await, host.call("echo", json!({})).await) } => {
            assert!(outcomes.0.ok() && outcomes.1.ok());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spinning_call_holds_up_nobody_on_many_threads() {
    let host = std::sync::Arc::new(Bench::new(&["hostile"]).limits(|it| it.cpu = SHORT).load().await);
    let spins: Vec<_> = (0..4)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { host.call("spin", json!({})).await })
        })
        .collect();
    assert!(host.call("echo", json!({})).await.ok());
    for spin in spins {
        assert!(spin.await.unwrap().hit_a_limit());
    }
    assert!(host.call("echo", json!({})).await.ok());
}

#[tokio::test]
async fn a_cancelled_call_leaves_nothing_behind_also_the_second_time() {
    let host = Bench::new(&["hostile", "resident"]).limits(|it| it.instances = 3).load().await;
    // The resident remembers its calls until one of its own is cancelled.
    for (tool, count) in [("hostile.spin", 1), ("hostile.spin", 2), ("resident.spin", 1), ("resident.spin", 1)] {
        let mut call = Box::pin(host.call(tool, json!({})));
        tokio::select! {
            biased;
            outcome = &mut call => panic!("ended: {outcome:?}"),
            // It waits, so that the other one has begun.
            outcome = host.call("sleep", json!({"n": 1})) => assert!(outcome.ok()),
        }
        drop(call);
        assert!(host.call("echo", json!({})).await.ok(), "{tool}");
        assert_eq!(host.answer("count", json!({})).await, json!({"count": count}), "{tool}");
    }
}

#[test]
fn a_limit_is_exit_status_4_and_one_object_on_standard_output() {
    let env = TestEnv::new().guest("hostile").config("[limits]\ncpu = \"50ms\"\n");
    env.run(&["call", "spin"]).check(expect![[r#"
        {"error":"tool `hostile.spin` was stopped: it used more than its 50 ms of CPU time","name":"spin","args":{},"ok":false}
        --- stderr
         WARN tool `hostile.spin` was stopped: it used more than its 50 ms of CPU time tool=hostile.spin
        [exit 4]
    "#]]);
}

#[test]
fn a_result_too_long_for_the_model_is_kept_whole_in_a_file() {
    let answer = format!(r#"{{"text":"{}"}}"#, "日".repeat(1000));
    // The stub calls the first tool; a tool of that name takes its place.
    let tool = PluginText { answer: Some(answer.clone()), ..PluginText::with_tool("long", "wc") };
    let env = TestEnv::new().plugin("long.wasm", tool.build()).config("[limits]\nmodel_result = \"1KiB\"\n");
    let run = env.run(&["ask", "hi"]);
    assert_eq!(run.status, 0, "{run}");
    let kept: Vec<_> = std::fs::read_dir(env.home().join(".local/state/bellglass/results")).unwrap().collect();
    assert_eq!(kept.len(), 1);
    let whole = std::fs::read_to_string(kept[0].as_ref().unwrap().path()).unwrap();
    assert_eq!(whole, answer.replace("\"}", "\",\"ok\":true}"));
}
