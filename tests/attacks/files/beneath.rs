//! What leads out of a granted folder, and what a grant to read or a file of another kind is used for.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{Attack, GUESTS, NO, OK, WORKSPACE, bench, results, run, steps, tree};

#[tokio::test]
async fn nothing_leads_out_of_what_was_granted() {
    run(&[
        Attack {
            name: "links, `..` and absolute paths lead out",
            grants: WORKSPACE,
            steps: &[
                ("get out", NO),
                ("put out", NO),
                ("get house/outside.txt", NO),
                ("put house/new.txt", NO),
                ("get passwd", NO),
                ("get ../home/outside.txt", NO),
                ("get src/../../home/outside.txt", NO),
                ("get /etc/passwd", NO),
                ("stat out", NO),
                ("touch-at out", NO),
                ("readlink passwd", NO),
                ("mkdir ../new", NO),
                ("rename free.txt ../free.txt", NO),
                ("rename ../home/outside.txt mine", NO),
                ("link ../home/outside.txt mine", NO),
                ("symlink absolute /etc/passwd", NO),
                ("unlink ../home/outside.txt", NO),
            ],
            missing: &[],
            control: (
                WORKSPACE,
                &["get source/main.rs", "put source/new.txt", "get src/../free.txt", "readlink source"],
            ),
        },
        Attack {
            name: "a folder below is granted, and what is beside it is reached",
            grants: &["write=src"],
            steps: &[
                ("put ../free.txt @src", NO),
                ("get ../free.txt @src", NO),
                ("rename main.rs ../main.rs @src in=src", NO),
                ("open .. as=up +directory +read @src", NO),
                ("open deep/../.. as=up +directory +read @src", NO),
            ],
            missing: &[],
            control: (&["write=src"], &["put main.rs @src", "get deep/../main.rs @src"]),
        },
        Attack {
            name: "a link to a link that leads out is followed",
            grants: WORKSPACE,
            steps: &[("symlink a out", OK), ("symlink b a", OK), ("put b", NO), ("symlink c c", OK), ("get c", "loop")],
            missing: &[],
            control: (WORKSPACE, &["symlink a source/main.rs", "symlink b a", "get b"]),
        },
    ])
    .await;
}

#[tokio::test]
async fn a_grant_to_read_changes_nothing() {
    run(&[Attack {
        name: "something is written, emptied, made, moved, linked or removed",
        grants: &["read=."],
        steps: &[
            ("put free.txt", NO),
            ("put new.txt", NO),
            ("open free.txt as=f +truncate", NO),
            ("open free.txt as=f +read +truncate", NO),
            ("open new.txt as=f +create +read", NO),
            ("open free.txt as=f +read", OK),
            ("write @f", NO),
            ("size @f", NO),
            ("touch @f", NO),
            ("open src as=d +directory +read +mutate", OK),
            ("put main.rs @d", NO),
            ("touch @d", NO),
            ("mkdir new", NO),
            ("rmdir src", NO),
            ("unlink free.txt", NO),
            ("rename free.txt new.txt", NO),
            ("link free.txt new.txt", NO),
            ("symlink new.txt free.txt", NO),
            ("touch-at free.txt", NO),
            ("get free.txt", "free"),
            ("get .git/config", "[core]"),
        ],
        missing: &[],
        control: (WORKSPACE, &["put free.txt", "open free.txt as=f +truncate", "mkdir new", "unlink free.txt"]),
    }])
    .await;
}

#[tokio::test]
async fn two_grants_do_not_add_up() {
    run(&[Attack {
        name: "what can only be read is moved or linked to where it can be written",
        grants: &["read=.", "write=src"],
        steps: &[
            ("rename free.txt main.rs in=src", NO),
            ("link free.txt linked.txt in=src", NO),
            ("rename main.rs taken.rs @src", NO),
            ("link main.rs taken.rs @src", NO),
        ],
        missing: &[],
        control: (WORKSPACE, &["rename free.txt src/main.rs", "link src/main.rs linked"]),
    }])
    .await;
}

#[tokio::test]
async fn pipes_and_devices_are_not_opened_and_nothing_waits_for_them() {
    run(&[Attack {
        name: "a pipe is opened, which would wait for its other end",
        grants: WORKSPACE,
        steps: &[
            ("get pipe", NO),
            ("put pipe", NO),
            ("open pipe as=p +read +write", NO),
            ("link pipe other", OK),
            ("get other", NO),
            ("stat pipe", OK),
        ],
        missing: &[],
        control: (WORKSPACE, &["get free.txt", "put free.txt"]),
    }])
    .await;
}

/// Swaps a link as fast as it can, until it is told to stop.
fn swap(link: &Path, targets: [&Path; 2], stop: &AtomicBool) {
    let next = link.with_extension("next");
    let mut turn = 0;
    while !stop.load(Relaxed) {
        symlink(targets[turn % 2], &next).unwrap();
        fs::rename(&next, link).unwrap();
        turn += 1;
    }
}

/// Ends the swapping when it is dropped.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Tries of each step while the link is swapped.
const TRIES: usize = 2000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_that_are_swapped_while_they_are_in_use_lead_nowhere_else() {
    for plugin in GUESTS {
        for (targets, tried) in [
            (["src", "../home"], "get swapped/outside.txt"),
            (["src", "../home"], "put swapped/new.txt"),
            (["src/deep", ".git/hooks"], "put swapped/old"),
            (["src/deep", ".git/hooks"], "unlink swapped/old"),
            (["free.txt", ".git/config"], "open swapped as=f +write +truncate"),
            (["free.txt", "../home/outside.txt"], "touch-at swapped"),
        ] {
            let bench = bench(plugin, WORKSPACE);
            let work = bench.env().work();
            let host = bench.load().await;
            let before = [tree(&work.join(".git")), tree(&bench.env().home())];
            let stop = AtomicBool::new(false);
            let answer = std::thread::scope(|scope| {
                scope.spawn(|| swap(&work.join("swapped"), targets.map(Path::new), &stop));
                // A test that fails ends the swapping too.
                let _stop = Stop(&stop);
                let tool = format!("{plugin}.try");
                let call = host.answer(&tool, steps([tried; TRIES]));
                tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(call))
            });
            assert_eq!([tree(&work.join(".git")), tree(&bench.env().home())], before, "{plugin}: {tried}");
            let results = results(&answer);
            assert_eq!(results.len(), TRIES);
            assert!(!results.iter().any(|it| it == "outside"), "{plugin}: {tried}");
            assert!(results.iter().any(|it| it == NO), "{plugin}: {tried}: never met the other target");
        }
    }
}

#[tokio::test]
async fn a_granted_folder_that_became_a_link_is_not_opened() {
    for plugin in GUESTS {
        let bench = bench(plugin, &["write=src"]);
        let work = bench.env().work();
        let host = bench.load().await;
        fs::rename(work.join("src"), work.join("was")).unwrap();
        symlink("../home", work.join("src")).unwrap();
        let tool = format!("{plugin}.try");
        let tried = steps(["get outside.txt @src", "put new.txt @src"]);
        assert!(!host.call(&tool, tried).await.ok() || !bench.env().home().join("new.txt").exists());
        assert!(!bench.env().home().join("new.txt").exists());
        // Put back, it is there again: a folder is opened for each call.
        fs::remove_file(work.join("src")).unwrap();
        fs::rename(work.join("was"), work.join("src")).unwrap();
        assert_eq!(results(&host.answer(&tool, steps(["get main.rs @src"])).await), ["fn main() {}"]);
    }
}
