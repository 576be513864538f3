//! Run natively: `bellglass_guest::test` plays the host.

use super::*;
use bellglass_guest::test;

#[test]
fn the_examples_hold() {
    test::check_examples(setup);
    test::check_listing(setup);
}

#[test]
fn lines_words_and_bytes_are_counted_in_any_encoding() {
    for (bytes, lines, words) in
        [(&b""[..], 0, 0), (b"one", 1, 1), (b"one\n", 1, 1), (b"a b\n\n c", 3, 3), (b"\xff\xfe \0\n", 1, 2)]
    {
        assert_eq!(count(bytes), Counts { lines, words, bytes: bytes.len() }, "{bytes:?}");
    }
}

#[test]
fn an_error_says_what_to_do_about_it() {
    let missing = || io::Error::from(ErrorKind::NotFound);
    let denied = || io::Error::from(ErrorKind::PermissionDenied);
    for (path, error, expected) in [
        ("nope", missing(), "not found: nope"),
        ("none/nope", missing(), "not found: none/nope"),
        ("src/../nope", missing(), "not found: src/../nope"),
        ("/etc/passwd", missing(), "outside the folders this plugin may read: /etc/passwd"),
        ("../secret", denied(), "outside the folders this plugin may read: ../secret"),
        ("src/../../x", denied(), "outside the folders this plugin may read: src/../../x"),
        ("a_link_that_leads_out", denied(), "not permitted to read: a_link_that_leads_out"),
        ("a", io::Error::other("the disk is on fire"), "cannot read a: the disk is on fire"),
    ] {
        assert_eq!(explain(path, &error), expected);
    }
}

#[test]
fn the_command_runs_the_tool() {
    let plugin = test::plugin(setup);
    let run = plugin.run_command("wc", Some("README.md"));
    assert_eq!(run.said(), "4 lines, 18 words, 111 bytes: README.md\n");
    assert_eq!(plugin.run_command("wc", Some("nope")).error(), Some("not found: nope"));
    assert_eq!(plugin.run_command("wc", None).error(), Some("which file? type `/wc FILE`"));
    assert_eq!(plugin.call("count", json!({"path": "README.md"}))["lines"], 4);
}

#[test]
fn files_complete_also_in_folders() {
    let plugin = test::plugin(setup);
    assert_eq!(plugin.complete("wc", "s"), ["src/"]);
    assert_eq!(plugin.complete("wc", "src/l"), ["src/lib.rs"]);
    assert_eq!(plugin.complete("wc", "none/"), [""; 0]);
}
