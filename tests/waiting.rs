//! WASI 0.3: a function that waits gives the thread back and is called again. Limits hold all the same.

use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::json;

use crate::support::Bench;

const TRY: &str = "files-next.try";

#[tokio::test]
async fn waiting_is_not_computing_however_often_a_guest_waits() {
    let host = Bench::new(&["files-next"]).limits(|it| it.cpu = Duration::from_millis(100)).load().await;
    // Each wait is longer than a tick; all of them are three times the guest's time.
    let start = Instant::now();
    let outcome = host.call(TRY, json!({"waits": 50, "nanoseconds": 6_000_000})).await;
    assert!(outcome.ok(), "{}", outcome.to_json());
    assert!(start.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn a_guest_that_computes_is_stopped_and_the_next_call_works() {
    let host = Bench::new(&["files-next"]).limits(|it| it.cpu = Duration::from_millis(100)).load().await;
    let outcome = host.call(TRY, json!({"waits": 3, "nanoseconds": 1, "spins": true})).await;
    expect!["tool `files-next.try` was stopped: it used more than its 100 ms of CPU time"]
        .assert_eq(outcome.object()["error"].as_str().unwrap());
    assert_eq!(host.answer(TRY, json!({})).await, json!({"results": []}));
}

#[tokio::test]
async fn a_guest_that_waits_too_long_is_stopped_and_the_next_call_works() {
    let host = Bench::new(&["files-next"]).limits(|it| it.deadline = Duration::from_millis(200)).load().await;
    let outcome = host.call(TRY, json!({"waits": 1, "nanoseconds": 3_600_000_000_000_u64})).await;
    expect!["tool `files-next.try` was stopped: it ran past its 200 ms deadline"]
        .assert_eq(outcome.object()["error"].as_str().unwrap());
    assert_eq!(host.answer(TRY, json!({})).await, json!({"results": []}));
}

#[tokio::test]
async fn a_guest_that_hoards_streams_is_stopped_and_the_next_call_works() {
    let host = Bench::new(&["files-next"]).load().await;
    assert!(host.call(TRY, json!({"streams": 200})).await.ok());
    let outcome = host.call(TRY, json!({"streams": 1_000_000})).await;
    expect!["tool `files-next.try` was stopped: it kept more than 1024 files, streams and timers open"]
        .assert_eq(outcome.object()["error"].as_str().unwrap());
    assert_eq!(host.answer(TRY, json!({})).await, json!({"results": []}));
}
