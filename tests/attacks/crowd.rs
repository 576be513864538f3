//! Many calls at once, half of them hostile: the others get the right answer, and nothing stays behind.

use std::sync::Arc;

use serde_json::json;

use crate::support::{Bench, resident_memory};

/// Calls at once.
const CALLS: usize = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn among_sixty_four_calls_every_hostile_one_ends_with_its_own_error_and_every_other_with_its_answer() {
    let bench = Bench::new(&["hostile"]).limits(|limits| {
        limits.memory = 16 << 20;
        limits.cpu = std::time::Duration::from_millis(200);
        limits.calls = CALLS;
    });
    let host = Arc::new(bench.load().await);
    let round = async || {
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..CALLS {
            let host = host.clone();
            tasks.spawn(async move {
                let (tool, expected) = match n % 8 {
                    0 => ("spin", Some("used more than its 200 ms of CPU time")),
                    2 => ("eat-memory", Some("needed more than its 16 MiB of memory")),
                    4 => ("trap", Some("trapped: ")),
                    6 => ("recurse", Some("used more than its 512 KiB of stack")),
                    _ => ("echo", None),
                };
                let outcome = host.call(tool, json!({"n": n})).await;
                match expected {
                    Some(error) => {
                        assert!(outcome.error().unwrap_or_default().contains(error), "{tool}: {}", outcome.to_json());
                    }
                    None => assert_eq!(outcome.object()["arguments"], json!({"n": n}), "{}", outcome.to_json()),
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
    };
    // The first round maps what is kept for the next.
    round().await;
    let before = resident_memory();
    round().await;
    let after = resident_memory();
    assert!(after < before + before / 4, "{before} bytes before, {after} bytes after");
}
