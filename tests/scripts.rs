//! `ask` for programs: events as they come, and replies of a given shape.

use expect_test::expect;

use crate::ask::ask;
use crate::support::TestEnv;

#[test]
fn as_a_stream_there_is_a_line_for_each_thing_and_the_result_is_the_last() {
    let env = TestEnv::scripted().file("a.txt", "one\n");
    let calls = r#"calls=[{"id":"1","name":"wc","arguments":"{\"path\":\"a.txt\"}"}]"#;
    let run =
        env.run(&[&ask(&[calls, r#"think=["hm"]"#, "usage=[[3,4]]"])[..], &["--stream-json", "--ephemeral"]].concat());
    expect![[r#"
        {"type":"session","session":null}
        {"type":"thinking","text":"hm"}
        {"type":"usage","input_tokens":3,"output_tokens":4,"cached_input_tokens":0,"cache_write_tokens":0,"reasoning_tokens":0}
        {"type":"tool_call","name":"wc","arguments":"{\"path\":\"a.txt\"}"}
        {"type":"tool_result","name":"wc","error":null,"ok":true}
        {"type":"text","text":"{\"lines\":1,\"words\":1,\"bytes\":4,\"ok\":true}"}
        {"type":"usage","input_tokens":3,"output_tokens":4,"cached_input_tokens":0,"cache_write_tokens":0,"reasoning_tokens":0}
        {"type":"result","reply":"{\"lines\":1,\"words\":1,\"bytes\":4,\"ok\":true}","tool_calls":[{"name":"wc","arguments":{"path":"a.txt"},"error":null,"ok":true}],"usage":{"input_tokens":6,"output_tokens":8},"session":null,"error":null,"ok":true}
    "#]].assert_eq(&run.stdout);
    assert_eq!(run.status, 0, "{run}");
}

#[test]
fn the_stream_has_its_last_line_whatever_goes_wrong() {
    let env = TestEnv::new().guest("hostile").config("limits.attempts = 1\n");
    for (arguments, status) in [
        (&["-p", "fails"][..], 1),
        (&["-p", "nope"], 2),
        (&["--schema", "missing.json"], 1),
        (&["--session", "none"], 1),
    ] {
        let run = env.run(&[&["ask", "hi", "--stream-json"], arguments].concat());
        let last: serde_json::Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
        assert_eq!((last["type"].as_str(), last["ok"].as_bool()), (Some("result"), Some(false)), "{run}");
        assert!(last["error"].is_string(), "{run}");
        assert_eq!(run.status, status, "{run}");
    }
}

/// A schema of an object with a whole number.
const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

#[test]
fn a_reply_that_fits_the_schema_is_printed_as_json() {
    let env = TestEnv::scripted().file("schema.json", SCHEMA);
    let say = r#"say=["```json\n{\"n\": 9007199254740993}\n```"]"#;
    let run = env.run(&[&ask(&[say])[..], &["--schema", "schema.json"]].concat());
    assert_eq!(run.success(), "{\"n\": 9007199254740993}\n");
}

#[test]
fn a_reply_that_does_not_fit_goes_back_once_with_what_is_wrong() {
    let env = TestEnv::scripted().file("schema.json", SCHEMA);
    let flags = ["--schema", "schema.json"];
    let run = env.run(&[&ask(&[r#"say=["{}"]"#])[..], &flags].concat());
    run.check(expect![[r#"
        --- stderr
        error: the reply does not fit the schema, also the second time: argument `/n`: missing, expected an integer
        [exit 1]
    "#]]);
    let id = env.run(&["session", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
    let shown = env.run(&["session", "show", &id]).success();
    assert_eq!(shown.matches("That does not fit the schema").count(), 1, "{shown}");
}

#[test]
fn a_schema_that_is_none_is_wrong_usage() {
    let env = TestEnv::scripted().file("schema.json", "{");
    let run = env.run(&[&ask(&[r#"say=["{}"]"#])[..], &["--schema", "schema.json"]].concat());
    assert_eq!(run.status, 2, "{run}");
    assert!(run.stderr.contains("schema.json` cannot be used as a schema: it is no JSON"), "{run}");
}
