//! The host's own share of a call, as ratios to plain wasmtime in one interleaved run, by the tenth percentile.
//!
//! Apart from the criterion benchmarks, because a shared machine changes its speed by the second: only what was measured in
//! turn can be compared. With `--check` it fails when a ratio is over its limit.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark that fails says why")]

mod common;

use std::time::{Duration, Instant};

use common::{Ours, Plain, arguments_1k};

/// Rounds in which each side has its turn.
const ROUNDS: usize = 60;

/// Calls of one turn.
const CALLS: u32 = 100;

/// Times one turn: the time of one call.
macro_rules! turn {
    ($call:expr) => {{
        let start = Instant::now();
        for _ in 0..CALLS {
            $call;
        }
        start.elapsed() / CALLS
    }};
}

#[tokio::main(flavor = "multi_thread")]
async fn main() {
    let check = std::env::args().any(|it| it == "--check");
    // On a worker of the runtime, as a session's calls are.
    let failed = tokio::spawn(measure(check)).await.unwrap();
    std::process::exit(i32::from(failed));
}

async fn measure(check: bool) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (alone, with_hook, cache) = (folder.path().join("a"), folder.path().join("b"), folder.path().join("c"));
    for (to, guests) in [(&alone, &["measured", "resident"][..]), (&with_hook, &["measured", "hooked"][..])] {
        std::fs::create_dir_all(to).unwrap();
        for guest in guests {
            std::fs::write(to.join(format!("{guest}.wasm")), test_guests::component(guest)).unwrap();
        }
    }
    // `no-rm` hooks a tool that is not there: no guest hook runs in the first of these.
    let ours = Ours::load(&alone, &cache).await;
    let hooked = Ours::load(&with_hook, &cache).await;
    let plain = Plain::compile(test_guests::component("measured"));
    let plain_resident = Plain::compile(test_guests::component("resident"));
    let (mut warm_store, warm) = plain_resident.instance().await;
    let args = arguments_1k();

    let mut times: [Vec<Duration>; 7] = Default::default();
    for round in 0..ROUNDS + 5 {
        let turns = [
            turn!(plain.call("noop", "{}").await),
            turn!(ours.call("noop", "{}").await),
            turn!(plain.call("count", &args).await),
            turn!(ours.call("measured.count", &args).await),
            turn!(hooked.call("noop", "{}").await),
            turn!(plain_resident.call_in(&mut warm_store, &warm, "count", "{}").await),
            turn!(ours.call("resident.count", "{}").await),
        ];
        // The first rounds fault pages in.
        if round >= 5 {
            times.iter_mut().zip(turns).for_each(|(times, turn)| times.push(turn));
        }
    }
    let p10 = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 10].as_secs_f64() * 1e6
    };
    let [plain_noop, noop, plain_1k, call_1k, hook, plain_warm, session] = times.each_mut().map(p10);
    let rows = [
        ("call/noop fresh", plain_noop, noop, noop / plain_noop, 1.5),
        ("call/1k fresh", plain_1k, call_1k, call_1k / plain_1k, 1.5),
        // One before hook more, in calls of its own.
        ("hook/noop, for each hook", noop, hook - noop, (hook - noop) / noop, 1.1),
    ];
    println!("| what | plain, µs | ours, µs | ratio | at most |\n|---|---|---|---|---|");
    let mut failed = false;
    for (what, plain, ours, ratio, most) in rows {
        println!("| {what} | {plain:.1} | {ours:.1} | {ratio:.2} | {most} |");
        failed |= ratio > most;
    }
    let over = session - plain_warm;
    println!("| call/noop session, over plain | {plain_warm:.1} | {session:.1} | {over:.1} µs | 3 µs |");
    failed |= over > 3.0;
    check && failed
}
