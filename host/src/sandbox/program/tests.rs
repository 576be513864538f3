//! Tests of programs: what they get, how they end, and what they may write.

use std::time::Instant;

use super::*;

const LIMIT: usize = 4096;

fn place(workspace: &std::path::Path) -> Place {
    let variables = [("PATH", "/usr/bin:/bin"), ("SECRET", "no"), ("LC_ALL", "C")];
    let variables: Vec<_> = variables.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
    Place { workspace: workspace.into(), variables: environment(&variables), writable: vec![workspace.into()] }
}

async fn line(workspace: &std::path::Path, line: &str) -> Ended {
    let program = Program::Line(line.into());
    run(&place(workspace), program, Duration::from_secs(60), LIMIT, None).await.unwrap()
}

#[tokio::test]
async fn a_program_runs_in_the_workspace_and_gives_its_output_and_exit_code() {
    let work = tempfile::tempdir().unwrap();
    let ended = line(work.path(), "pwd; echo bad >&2; exit 3").await;
    assert_eq!(ended.stdout.trim(), work.path().canonicalize().unwrap().to_str().unwrap());
    assert_eq!((ended.stderr.as_str(), ended.exit_code, ended.timed_out), ("bad\n", Some(3), false));
    let argv = Program::Argv(vec!["printf".into(), "%s|".into(), "a b".into(), "$HOME".into()]);
    let ended = run(&place(work.path()), argv, Duration::from_secs(60), LIMIT, None).await.unwrap();
    assert_eq!(ended.stdout, "a b|$HOME|");
}

#[tokio::test]
async fn its_environment_is_a_short_list_and_its_input_is_empty() {
    let work = tempfile::tempdir().unwrap();
    let ended = line(work.path(), "env; cat; read x; echo \"read $?\"").await;
    assert!(!ended.stdout.contains("SECRET") && ended.stdout.contains("LC_ALL=C"), "{}", ended.stdout);
    assert!(ended.stdout.contains("GIT_EDITOR=true") && ended.stdout.ends_with("read 1\n"), "{}", ended.stdout);
}

#[tokio::test]
async fn a_program_that_runs_too_long_is_killed_with_all_that_it_started() {
    let work = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let program = Program::Line("sleep 1000 & echo $!; sleep 1000".into());
    let ended = run(&place(work.path()), program, Duration::from_millis(300), LIMIT, None).await.unwrap();
    assert!(ended.timed_out && ended.exit_code.is_none());
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(is_gone(ended.stdout.trim()), "{}", ended.stdout);
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_the_program() {
    let work = tempfile::tempdir().unwrap();
    let (shown, mut pieces) = mpsc::channel(8);
    let at = place(work.path());
    let program = Program::Line("sleep 1000 & echo $!; wait".into());
    let mut running = Box::pin(run(&at, program, Duration::from_secs(60), LIMIT, Some(shown)));
    let pid = tokio::select! {
        _ = &mut running => unreachable!("it sleeps"),
        piece = pieces.recv() => piece.unwrap(),
    };
    drop(running);
    assert!(is_gone(pid.trim()), "{pid}");
}

#[tokio::test]
async fn a_child_in_the_background_neither_holds_up_the_call_nor_outlives_it() {
    let work = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let ended = line(work.path(), "sleep 1000 & echo $!").await;
    assert_eq!(ended.exit_code, Some(0));
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(is_gone(ended.stdout.trim()), "{}", ended.stdout);
}

#[tokio::test]
async fn too_much_output_is_cut_in_the_middle() {
    let work = tempfile::tempdir().unwrap();
    let ended = line(work.path(), "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done").await;
    assert!(ended.truncated && ended.stdout.starts_with("line 0\n") && ended.stdout.ends_with("line 1999\n"));
    assert!(ended.stdout.len() < LIMIT + 100, "{}", ended.stdout.len());
}

#[tokio::test]
async fn what_cannot_be_started_is_said() {
    let work = tempfile::tempdir().unwrap();
    for (argv, expected) in [
        (vec![], "no program is named"),
        (vec![String::new()], "no program is named"),
        (vec!["no-such-program".to_owned()], "cannot run `no-such-program`: No such file or directory (os error 2)"),
        (vec!["echo".to_owned(), "a\0b".to_owned()], "a command cannot hold a NUL"),
    ] {
        let error =
            run(&place(work.path()), Program::Argv(argv), Duration::from_secs(9), LIMIT, None).await.unwrap_err();
        assert_eq!(error, expected);
    }
}

#[tokio::test]
async fn a_program_writes_in_the_workspace_and_not_beside_it() {
    // Not in the folder for temporary files, where every program may write.
    let root = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let (work, outside) = (root.path().join("work"), root.path().join("outside"));
    std::fs::create_dir(&work).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("keep"), "kept").unwrap();
    let tried = "echo in > in; echo x > ../outside/new; echo x > ../outside/keep; rm ../outside/keep; ln -s ../outside o; \
                 echo x > o/linked; mv in ../outside/moved; sh -c 'echo x > ../outside/deep'; true";
    let ended = line(&work, tried).await;
    assert!(work.join("in").exists(), "{}", ended.stderr);
    let written: Vec<_> = std::fs::read_dir(&outside).unwrap().map(|it| it.unwrap().file_name()).collect();
    match confine::confinement() {
        confine::Confinement::Full => {
            assert_eq!(
                (written, std::fs::read_to_string(outside.join("keep")).unwrap()),
                (vec!["keep".into()], "kept".into())
            );
        }
        // Where the kernel has nothing, the sentence that is shown before a yes says so.
        it => assert!(it.sentence().contains("this kernel")),
    }
}

/// Whether the process ends; one that was killed needs a moment for it.
fn is_gone(pid: &str) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{PidfdFlags, pidfd_open};
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let patience = rustix::event::Timespec { tv_sec: 30, tv_nsec: 0 };
    poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&patience)).unwrap() == 1
}
