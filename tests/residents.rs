//! Plugins with one instance for the session: what they remember, and that nobody waits for them for ever.

use std::time::Duration;

use expect_test::expect;
use serde_json::json;

use crate::support::{Bench, TestEnv};

#[tokio::test]
async fn a_resident_remembers_until_a_fault() {
    let host = Bench::new(&["resident"]).limits(|it| it.cpu = Duration::from_millis(50)).load().await;
    for (tool, limit) in [("trap", false), ("spin", true), ("trap", false)] {
        assert_eq!(host.answer("count", json!({})).await, json!({"count": 1}));
        assert_eq!(host.answer("count", json!({})).await, json!({"count": 2}));
        let outcome = host.call(tool, json!({})).await;
        assert!(!outcome.ok() && outcome.hit_a_limit() == limit, "{outcome:?}");
    }
    assert_eq!(host.answer("count", json!({})).await, json!({"count": 1}));
}

#[tokio::test]
async fn arguments_that_are_too_large_cost_a_resident_nothing() {
    let host = Bench::new(&["resident"]).limits(|it| it.value = 64 << 10).load().await;
    assert_eq!(host.answer("count", json!({})).await, json!({"count": 1}));
    let outcome = host.call("count", json!({"text": "x".repeat(64 << 10)})).await;
    expect!["tool `resident.count` was stopped: it was given a value larger than 64 KiB"]
        .assert_eq(&outcome.error().unwrap());
    assert!(outcome.hit_a_limit());
    assert_eq!(host.answer("count", json!({})).await, json!({"count": 2}));
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_waits_costs_a_resident_nothing() {
    let host = Bench::new(&["resident"]).load().await;
    assert_eq!(host.answer("count", json!({})).await, json!({"count": 1}));
    let mut waiting = Box::pin(host.call("count", json!({})));
    // Polled once, it has sent its call; the instance has not seen it yet.
    tokio::select! {
        biased;
        outcome = &mut waiting => panic!("ended: {outcome:?}"),
        () = std::future::ready(()) => {}
    }
    drop(waiting);
    assert_eq!(host.answer("count", json!({})).await, json!({"count": 2}));
}

#[tokio::test]
async fn calls_of_a_resident_run_one_after_another() {
    let host = Bench::new(&["resident"]).load().await;
    let calls = (0..50).map(|_| host.answer("count", json!({})));
    let mut counts: Vec<u64> =
        futures_util::future::join_all(calls).await.iter().map(|it| it["count"].as_u64().unwrap()).collect();
    counts.sort_unstable();
    assert_eq!(counts, (1..=50).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_resident_that_calls_itself_is_told_and_goes_on() {
    let host = Bench::new(&["resident"]).grant("resident:call-tool=*").start().await;
    assert_eq!(host.answer("count", json!({})).await, json!({"count": 1}));
    let outcome = host.call("enter", json!({})).await;
    expect![[r#"{"error":"tool `resident.count` is waiting for this call: a plugin with one instance cannot be entered from inside one of its own calls","name":"count","args":{},"ok":false}"#]].assert_eq(&outcome.to_json());
    assert_eq!(host.answer("count", json!({})).await, json!({"count": 2}), "its memory is still there");
}

/// The resident under another name of the same length.
fn twin() -> Vec<u8> {
    let mut component = test_guests::component("resident").to_vec();
    for at in 0..component.len() - 8 {
        if &component[at..at + 8] == b"resident" {
            component[at..at + 8].copy_from_slice(b"neighbor");
        }
    }
    component
}

#[tokio::test]
async fn two_residents_that_call_each_other_at_once_both_end() {
    let bench = Bench::of(TestEnv::new().guest("resident").plugin("twin.wasm", twin()));
    let host = bench.grant("resident:call-tool=*").grant("neighbor:call-tool=*").start().await;
    let visit = |who: &str| json!({"tool": format!("{who}.count"), "arguments": {}});
    let around = |who: &str, back: &str| json!({"tool": format!("{who}.visit"), "arguments": visit(back)});
    // A circle of one chain: refused at its end.
    let outcome = host.call("resident.visit", around("neighbor", "resident")).await;
    expect![[r#"{"error":"tool `resident.count` is waiting for this call: a plugin with one instance cannot be entered from inside one of its own calls","name":"count","args":{},"ok":false}"#]].assert_eq(&outcome.to_json());
    // A circle of two chains, each inside one of the two when it wants to enter the other.
    for _ in 0..20 {
        let (one, other) = tokio::join!(
            host.call("resident.visit", visit("neighbor")),
            host.call("neighbor.visit", visit("resident"))
        );
        assert!(one.ok() || other.ok(), "{one:?} {other:?}");
        for outcome in [&one, &other].into_iter().filter(|it| !it.ok()) {
            assert!(outcome.error().unwrap().contains("is waiting for this call"), "{outcome:?}");
        }
    }
    assert!(host.call("resident.visit", visit("neighbor")).await.ok());
}
