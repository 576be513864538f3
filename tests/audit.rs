//! The audit log: what plugins did, as a person or a script reads it afterwards.

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::support::{Run, TestEnv};

/// Entries with what differs from run to run left out.
#[track_caller]
fn entries(run: &Run) -> String {
    let mut lines = String::new();
    for line in run.stdout.lines() {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        assert_eq!(entry["sha256"].as_str().unwrap().len(), 64);
        assert!(entry["times"]["guest"].is_u64() && entry["times"]["load"].is_u64(), "{line}");
        for key in ["time", "sha256", "times"] {
            entry.as_object_mut().unwrap().shift_remove(key);
        }
        lines += &format!("{entry}\n");
    }
    lines
}

#[track_caller]
fn check(env: &TestEnv, arguments: &[&str], expected: Expect) {
    let run = env.run(&[&["audit", "--json"], arguments].concat());
    assert_eq!(run.status, 0, "{run}");
    expected.assert_eq(&entries(&run));
}

/// A granted call, a refused one, one that is bundled, one at a limit.
fn busy() -> TestEnv {
    let env = TestEnv::new().guest("notes").guest("hostile").config("limits.cpu = \"50ms\"\n").file("milk.txt", "x");
    for (arguments, status) in [
        (&["call", "notes", "--grant", "notes:read=."][..], 0),
        (&["call", "notes"], 3),
        (&["call", "wc", r#"{"path":"milk.txt","api_key":"hunter2"}"#], 0),
        (&["call", "spin"], 4),
        (&["call", "raise", r#"{"text":"no"}"#], 1),
    ] {
        let run = env.run(arguments);
        assert_eq!(run.status, status, "{run}");
    }
    env
}

#[test]
fn each_call_is_kept_with_what_it_did_with_rights_and_how_it_ended() {
    check(
        &busy(),
        &[],
        expect![[r#"
        {"plugin":"notes","origin":"user","kind":"tool","name":"notes","arguments":"{}","ended":"ok","uses":[{"plugin":"notes","grant":"read=.","allowed":true}]}
        {"plugin":"notes","origin":"user","kind":"tool","name":"notes","arguments":"{}","ended":"denied","uses":[{"plugin":"notes","grant":"read=.","allowed":false}]}
        {"plugin":"wc","origin":"bundled","kind":"tool","name":"wc","arguments":"{\"path\":\"milk.txt\",\"api_key\":\"[redacted]\"}","ended":"ok","uses":[{"plugin":"wc","grant":"read=.","allowed":true}]}
        {"plugin":"hostile","origin":"user","kind":"tool","name":"spin","arguments":"{}","ended":"limit","uses":[]}
        {"plugin":"hostile","origin":"user","kind":"tool","name":"raise","arguments":"{\"text\":\"no\"}","ended":"error","uses":[]}
    "#]],
    );
}

#[test]
fn entries_are_found_by_plugin_by_name_and_by_refusal() {
    let env = busy();
    check(
        &env,
        &["--of", "notes", "--denied"],
        expect![[r#"
        {"plugin":"notes","origin":"user","kind":"tool","name":"notes","arguments":"{}","ended":"denied","uses":[{"plugin":"notes","grant":"read=.","allowed":false}]}
    "#]],
    );
    check(
        &env,
        &["--name", "wc", "--since", "1h"],
        expect![[r#"
        {"plugin":"wc","origin":"bundled","kind":"tool","name":"wc","arguments":"{\"path\":\"milk.txt\",\"api_key\":\"[redacted]\"}","ended":"ok","uses":[{"plugin":"wc","grant":"read=.","allowed":true}]}
    "#]],
    );
    check(&env, &["--since", "2999-01-01T00:00:00Z"], expect![[""]]);
    check(
        &env,
        &["-n", "1"],
        expect![[r#"
        {"plugin":"hostile","origin":"user","kind":"tool","name":"raise","arguments":"{\"text\":\"no\"}","ended":"error","uses":[]}
    "#]],
    );
    let wrong = env.run(&["audit", "--since", "yesterday"]);
    assert!(wrong.status == 2 && wrong.stderr.contains("expected `15min`, `2h`, `3d`, or a time"), "{wrong}");
}

#[test]
fn a_person_reads_one_line_a_call() {
    let env = TestEnv::new().guest("notes").file("milk.txt", "x");
    let _ = env.run(&["call", "notes"]);
    let text = env.run(&["audit"]).success();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words[1..4], ["notes.notes", "tool", "denied"], "{text}");
    assert!(text.trim_end().ends_with("refused read=."), "{text}");
    assert_eq!(TestEnv::new().run(&["audit"]).success(), "\n", "nothing was done yet");
}

#[test]
fn commands_and_providers_are_kept_as_well() {
    let env = TestEnv::scripted();
    let _ = env.script(&[], "/put {\"role\":\"user\",\"content\":\"hi\"}\nhello\n");
    check(
        &env,
        &[],
        expect![[r#"
        {"plugin":"script","origin":"user","kind":"command","name":"put","arguments":"{\"role\":\"user\",\"content\":\"hi\"}","ended":"ok","uses":[{"plugin":"script","grant":"conversation","allowed":true}]}
        {"plugin":"script","origin":"user","kind":"provider","name":"script","arguments":"{}","ended":"ok","uses":[]}
    "#]],
    );
}

#[test]
fn the_files_are_the_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = busy();
    let folder = env.home().join(".local/state/bellglass/audit");
    for (path, mode) in [(folder.clone(), 0o700), (folder.join("audit.jsonl"), 0o600)] {
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
}
