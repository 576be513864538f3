//! Tests of sessions on disk: what is read back, after a cut at every byte, with two processes, and on a full disk.

use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::transcript::{Message, ToolCall};

fn sessions() -> (tempfile::TempDir, Sessions) {
    let folder = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(folder.path().join("sessions"));
    (folder, sessions)
}

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "wc".into(), arguments: r#"{"id":9007199254740993}"#.into() }
}

fn conversation() -> Vec<Message> {
    vec![
        Message::user("count 日本 🙂\nplease"),
        Message::assistant("", vec![call("a"), call("b")]),
        Message::tool("a", r#"{"n":9007199254740993}"#),
        Message::tool("b", "x".repeat(3000)),
        Message::assistant("done", vec![]),
    ]
}

fn saved(sessions: &Sessions, messages: &[Message]) -> PathBuf {
    let mut file = sessions.begin(Path::new("/work"));
    for message in messages {
        file.add(message);
        file.save().unwrap();
    }
    sessions.find(&file.header().id.clone()).unwrap()
}

#[test]
fn what_was_saved_is_read_again_with_every_digit() {
    let (_folder, sessions) = sessions();
    let file = saved(&sessions, &conversation());
    let read = Sessions::read(&file).unwrap();
    assert_eq!((read.transcript.messages(), read.left_out.len()), (&conversation()[..], 0));
    let list = sessions.list().unwrap();
    assert_eq!((list.len(), list[0].title.as_str(), list[0].messages), (1, "count 日本 🙂", 5));
}

#[test]
fn a_session_without_a_message_leaves_no_file() {
    let (folder, sessions) = sessions();
    let mut file = sessions.begin(Path::new("/work"));
    file.clear();
    file.save().unwrap();
    assert!(!folder.path().join("sessions").exists());
}

#[test]
fn a_file_cut_at_any_byte_resumes_and_loses_no_more_than_its_last_line() {
    let (folder, sessions) = sessions();
    let whole = std::fs::read(saved(&sessions, &conversation())).unwrap();
    let first = whole.iter().position(|it| *it == b'\n').unwrap() + 1;
    let file = folder.path().join("sessions/20260101-000000-cut.jsonl");
    for cut in first..=whole.len() {
        std::fs::write(&file, &whole[..cut]).unwrap();
        let lines = whole[..cut].iter().filter(|it| **it == b'\n').count() - 1;
        let (mut open, read, forked) = sessions.open(&file).unwrap();
        assert!(!forked && read.transcript.unanswered_calls().is_empty(), "{cut}");
        let before = read.transcript.messages().len();
        assert!(before >= lines, "{cut}: {before} of {lines}");
        open.add(&Message::user("next"));
        open.save().unwrap();
        drop(open);
        let again = Sessions::read(&file).unwrap();
        assert_eq!(again.left_out, Vec::<String>::new(), "{cut}");
        assert_eq!(again.transcript.last().unwrap().content, "next", "{cut}");
    }
}

#[test]
fn what_is_no_session_says_so() {
    let (folder, sessions) = sessions();
    std::fs::create_dir_all(folder.path().join("sessions")).unwrap();
    let file = folder.path().join("sessions/x.jsonl");
    for (text, expected) in [
        ("", "it is no session"),
        ("{\"role\":\"user\"}\n", "it is no session"),
        ("{\"session\":2}\n", "a later version of bellglass wrote it"),
        ("{\"session\":1}\n", "its first line is not that of a session"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = Sessions::read(&file).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
    }
    assert_eq!(sessions.list().unwrap(), []);
}

#[test]
fn a_broken_line_costs_that_line() {
    let (_folder, sessions) = sessions();
    let file = saved(&sessions, &[Message::user("one")]);
    let text = std::fs::read_to_string(&file).unwrap();
    let more = "{\"role\":\"pope\"}\nnot json\n{\"later\":1}\n{\"role\":\"assistant\",\"content\":\"two\"}\n";
    std::fs::write(&file, text + more).unwrap();
    let read = Sessions::read(&file).unwrap();
    assert_eq!(read.transcript.messages().len(), 2);
    expect![[r#"
        [
            "line 3: `role` is missing or unknown, expected `system`, `user`, `assistant` or `tool`",
            "line 4: it is cut off or no JSON",
        ]
    "#]]
    .assert_debug_eq(&read.left_out);
}

#[test]
fn clearing_and_compacting_are_lines_as_well() {
    let (_folder, sessions) = sessions();
    let mut file = sessions.begin(Path::new("/work"));
    file.add(&Message::user("secret"));
    file.clear();
    conversation().iter().for_each(|it| file.add(it));
    file.compact("they counted", 1);
    file.add(&Message::user("and now?"));
    file.save().unwrap();
    let read = Sessions::read(&sessions.find(&file.header().id).unwrap()).unwrap();
    let texts: Vec<&str> = read.transcript.messages().iter().map(|it| it.content.as_str()).collect();
    assert_eq!(texts, ["Summary of the conversation so far:\n\nthey counted", "done", "and now?"]);
}

#[test]
fn a_session_that_is_open_elsewhere_goes_on_in_a_copy() {
    let (_folder, sessions) = sessions();
    let path = saved(&sessions, &conversation());
    let (mut first, _, forked) = sessions.open(&path).unwrap();
    assert!(!forked);
    let (mut second, read, forked) = sessions.open(&path).unwrap();
    assert!(forked && second.header().id != first.header().id);
    assert_eq!(read.transcript.messages().len(), 5);
    first.add(&Message::user("one"));
    second.add(&Message::user("two"));
    first.save().unwrap();
    second.save().unwrap();
    let last =
        |id: &str| Sessions::read(&sessions.find(id).unwrap()).unwrap().transcript.last().unwrap().content.clone();
    assert_eq!((last(&first.header().id), last(&second.header().id)), ("one".into(), "two".into()));
}

#[test]
fn what_cannot_be_written_is_tried_again_with_the_next_line() {
    let (folder, sessions) = sessions();
    let mut file = sessions.begin(Path::new("/work"));
    // A file stands where the folder should be.
    std::fs::write(folder.path().join("sessions"), "in the way").unwrap();
    file.add(&Message::user("one"));
    assert!(file.save().unwrap_err().to_string().starts_with("the session is not saved"));
    std::fs::remove_file(folder.path().join("sessions")).unwrap();
    file.add(&Message::assistant("two", vec![]));
    file.save().unwrap();
    assert_eq!(Sessions::read(&sessions.find(&file.header().id).unwrap()).unwrap().transcript.messages().len(), 2);
}

#[test]
fn a_session_is_found_by_its_id_the_start_of_it_and_its_workspace() {
    let (_folder, sessions) = sessions();
    let work = tempfile::tempdir().unwrap();
    let link = work.path().join("a_link");
    std::os::unix::fs::symlink(work.path(), &link).unwrap();
    let mut file = sessions.begin(&link);
    file.add(&Message::user("hi"));
    file.save().unwrap();
    let id = file.header().id.clone();
    assert_eq!(stem(&sessions.last(work.path()).unwrap()), id, "whatever the spelling of the folder");
    assert_eq!(stem(&sessions.find(&id[..id.len() - 1]).unwrap()), id);
    assert!(matches!(sessions.last(Path::new("/elsewhere")), Err(SessionError::None)));
    for bad in ["", "../x", "x", "/etc/passwd", "2\u{1b}[2J"] {
        assert!(matches!(sessions.find(bad), Err(SessionError::Unknown(_))), "{bad:?}");
    }
    Sessions::delete(&sessions.find(&id).unwrap()).unwrap();
    assert!(sessions.find(&id).is_err());
}

#[test]
fn a_session_of_fifty_megabytes_is_read() {
    let (_folder, sessions) = sessions();
    let mut file = sessions.begin(Path::new("/work"));
    for _ in 0..25 {
        file.add(&Message::user("y".repeat(2 << 20)));
    }
    file.save().unwrap();
    let read = Sessions::read(&sessions.find(&file.header().id).unwrap()).unwrap();
    assert_eq!((read.transcript.messages().len(), read.left_out.len()), (25, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases() / 20))]

    #[test]
    fn any_bytes_after_the_header_are_read_or_left_out(
        lines in prop::collection::vec(prop_oneof![
            ".{0,20}",
            Just("{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"name\":\"wc\"}]}".to_owned()),
            Just("{\"role\":\"tool\",\"tool_call_id\":\"a\"}".to_owned()),
            Just("{\"role\":\"user\",\"content\":\"x\"}".to_owned()),
            Just("{\"cleared\":1}".to_owned()),
            Just("{\"compacted\":{\"summary\":\"s\",\"kept\":2}}".to_owned()),
        ], 0..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.jsonl");
        let header = serde_json::to_string(&Header::new(Path::new("/work"))).unwrap();
        std::fs::write(&file, format!("{header}\n{}", lines.join("\n"))).unwrap();
        let read = Sessions::read(&file).unwrap();
        prop_assert!(read.transcript.unanswered_calls().is_empty());
    }
}
