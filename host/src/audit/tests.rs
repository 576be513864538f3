//! Tests of the audit log: what is kept, what is left out, and what becomes of old files.

use expect_test::{Expect, expect};

use super::*;
use crate::uses::Times;

fn entry(name: &str, time: &str) -> Entry {
    Entry {
        time: time.into(),
        plugin: "web".into(),
        origin: "user".into(),
        sha256: "ab".repeat(32),
        kind: Kind::Tool,
        name: name.into(),
        arguments: "{}".into(),
        ended: "ok".into(),
        uses: vec![Used { plugin: "web".into(), grant: "http=https://a.org".into(), allowed: true }],
        times: Times { load: 1, instantiate: 2, guest: 3, host: 4 },
    }
}

fn names(folder: &std::path::Path, filter: &Filter) -> Vec<String> {
    read(folder, filter).unwrap().into_iter().map(|it| it.name).collect()
}

#[test]
fn an_entry_is_one_line_that_reads_back() {
    let it = entry("fetch", "2026-12-01T00:00:00Z");
    let line = it.to_line();
    expect![[r#"
        {"time":"2026-12-01T00:00:00Z","plugin":"web","origin":"user","sha256":"abababababababababababababababababababababababababababababababab","kind":"tool","name":"fetch","arguments":"{}","ended":"ok","uses":[{"plugin":"web","grant":"http=https://a.org","allowed":true}],"times":{"load":1,"instantiate":2,"guest":3,"host":4}}
    "#]]
    .assert_eq(&line);
    assert_eq!(serde_json::from_str::<Entry>(&line).unwrap(), it);
}

#[track_caller]
fn check(arguments: &str, expected: Expect) {
    expected.assert_eq(&Entry::arguments(arguments));
}

#[test]
fn what_a_key_calls_a_secret_is_not_kept_and_the_rest_is_short() {
    check(r#"{"url":"https://a.org","Api-Key":"k"}"#, expect![[r#"{"url":"https://a.org","Api-Key":"[redacted]"}"#]]);
    check(r#"{"a":[{"accessToken":{"x":1}}],"n":1}"#, expect![[r#"{"a":[{"accessToken":"[redacted]"}],"n":1}"#]]);
    check("no json\u{1b}[2J", expect!["no json␛[2J"]);
    assert!(Entry::arguments(&format!("{{\"t\":\"{}\"}}", "é".repeat(4000))).len() < 2000);
}

#[test]
fn what_was_added_is_there_after_a_flush_and_is_found_by_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let audit = Audit::start(folder.path().join("state"));
    audit.add(entry("old", "2026-11-01T00:00:00Z"));
    let mut denied = entry("denied", "2026-12-01T00:00:00Z");
    denied.uses[0].allowed = false;
    audit.add(denied);
    let mut other = entry("other", "2026-12-02T00:00:00Z");
    other.plugin = "notes".into();
    other.uses.clear();
    audit.add(other);
    audit.flush();
    let all = |filter| names(&folder.path().join("state"), &filter);
    assert_eq!(all(Filter::default()), ["old", "denied", "other"]);
    assert_eq!(all(Filter { plugin: Some("web".into()), ..Filter::default() }), ["old", "denied"]);
    assert_eq!(all(Filter { denied: true, ..Filter::default() }), ["denied"]);
    assert_eq!(all(Filter { since: Some("2026-11-15".into()), ..Filter::default() }), ["denied", "other"]);
    assert_eq!(all(Filter { last: Some(1), ..Filter::default() }), ["other"]);
    assert_eq!(all(Filter { name: Some("old".into()), ..Filter::default() }), ["old"]);
}

#[test]
fn old_files_are_put_aside_and_the_oldest_goes() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..10 {
        file::append_with(folder.path(), &entry(&n.to_string(), "2026-12-01T00:00:00Z").to_line(), 300).unwrap();
    }
    assert_eq!(names(folder.path(), &Filter::default()), ["6", "7", "8", "9"]);
}

#[test]
fn a_line_that_a_crash_cut_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let whole = entry("whole", "2026-12-01T00:00:00Z").to_line();
    for cut in 0..whole.len() {
        std::fs::write(folder.path().join("audit.jsonl"), format!("{whole}{}\n{whole}", &whole[..cut])).unwrap();
        let expected = if cut == whole.len() - 1 { 3 } else { 2 };
        assert_eq!(names(folder.path(), &Filter::default()).len(), expected, "{cut}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_costs_a_warning_and_no_call() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("state"), "a file").unwrap();
    let audit = Audit::start(folder.path().join("state"));
    audit.add(entry("lost", "2026-12-01T00:00:00Z"));
    audit.flush();
}
