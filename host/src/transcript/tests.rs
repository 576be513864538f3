//! Tests of the conversation's rules and of its JSON.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: "wc".to_owned(), arguments: "{}".to_owned() }
}

/// Messages in short: `u`, `a`, `a:1,2` (calls), `t:1` (result), `s`.
fn message(short: &str) -> Message {
    let (role, ids) = short.split_once(':').unwrap_or((short, ""));
    match role {
        "u" => Message::user("hi"),
        "a" => Message::assistant("hello", ids.split_terminator(',').map(call).collect()),
        "t" => Message::tool(ids, "done"),
        _ => Message::new(Role::System, "be brief"),
    }
}

fn short(transcript: &Transcript) -> String {
    let ids = |message: &Message| message.tool_calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>().join(",");
    let shorts = transcript.messages().iter().map(|message| match message.role {
        Role::System => "s".to_owned(),
        Role::User => "u".to_owned(),
        Role::Assistant if message.tool_calls.is_empty() => "a".to_owned(),
        Role::Assistant => format!("a:{}", ids(message)),
        Role::Tool => format!("t:{}", message.tool_call_id.as_deref().unwrap()),
    });
    shorts.collect::<Vec<_>>().join(" ")
}

/// Adds all messages and returns what was said of the last one.
fn add_all(shorts: &str) -> Result<Transcript, String> {
    let messages: Vec<Message> = shorts.split_whitespace().map(message).collect();
    Transcript::try_from(messages).map_err(|error| error.to_string())
}

#[test]
fn only_user_assistant_and_tool_can_be_added() {
    assert!(add_all("u a u a:1 t:1 a").is_ok());
    assert_eq!(add_all("s").unwrap_err(), "role `system` cannot be added, expected `user`, `assistant` or `tool`");
}

#[test]
fn nothing_comes_between_a_call_and_its_result() {
    assert_eq!(
        add_all("u a:1,2 t:1 u").unwrap_err(),
        "a message of role `user` cannot follow call `2`, which has no result yet"
    );
    assert_eq!(
        add_all("a:1 a").unwrap_err(),
        "a message of role `assistant` cannot follow call `1`, which has no result yet"
    );
    assert_eq!(add_all("a:1 t:2").unwrap_err(), "tool result `2` answers no open call");
    assert_eq!(add_all("a:1 t:1 t:1").unwrap_err(), "tool result `1` answers no open call");
    assert_eq!(add_all("u t:").unwrap_err(), "tool result `` answers no open call");
    assert_eq!(add_all("a:1 t:1 a:1 t:1").map(|it| short(&it)), Ok("a:1 t:1 a:1 t:1".to_owned()));
    assert_eq!(add_all("a:1,2 t:2 t:1").map(|it| short(&it)), Ok("a:1,2 t:2 t:1".to_owned()));
}

#[test]
fn what_no_provider_accepts_is_refused() {
    let refused = |message: Message| Transcript::default().add(message).unwrap_err().to_string();
    assert_eq!(refused(message("a:1,1")), "call id `1` is empty or not the only one of its reply");
    assert_eq!(refused(Message::assistant("", vec![call("")])), "call id `` is empty or not the only one of its reply");
    let calls = Message { tool_calls: vec![call("1")], ..message("u") };
    assert_eq!(refused(calls), "`tool_calls` does not belong on a message of role `user`");
    let result = Message { tool_call_id: Some("1".to_owned()), ..message("a") };
    assert_eq!(refused(result), "`tool_call_id` does not belong on a message of role `assistant`");
    let extra = Message { extra: Map::from_iter([("role".to_owned(), json!("system"))]), ..message("u") };
    assert_eq!(refused(extra), "extra key `role` has a meaning of its own");
}

#[test]
fn empty_keys_are_dropped_and_extra_keys_are_kept() {
    let mut transcript = Transcript::default();
    let extra = json!({"name": "ann", "none": null, "id": 9007199254740993_u64});
    let Value::Object(extra) = extra else { unreachable!() };
    let user = Message { extra, tool_call_id: Some(String::new()), replay: Some(Value::Null), ..message("u") };
    transcript.add(user).unwrap();
    transcript.add(Message::assistant("", vec![call("1")])).unwrap();
    transcript.add(Message::tool("1", "")).unwrap();
    let json = serde_json::to_string(&transcript).unwrap();
    let expected = concat!(
        r#"[{"role":"user","content":"hi","name":"ann","id":9007199254740993},"#,
        r#"{"role":"assistant","tool_calls":[{"id":"1","name":"wc","arguments":"{}"}]},"#,
        r#"{"role":"tool","tool_call_id":"1"}]"#,
    );
    assert_eq!(json, expected);
    assert_eq!(serde_json::from_str::<Transcript>(&json).unwrap(), transcript);
}

#[test]
fn json_keeps_every_digit_and_the_order_of_extra_keys() {
    let json = r#"{"role":"assistant","content":"é","replay":{"b":1.10,"a":123456789012345678901234567890},"z":1e400,"y":[0.10]}"#;
    let message: Message = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&message).unwrap().replace("1e+400", "1e400"), json);
}

#[test]
fn an_extra_key_never_stands_in_for_a_field() {
    let extra = Map::from_iter([("role".to_owned(), json!("system")), ("name".to_owned(), json!("ann"))]);
    let json = serde_json::to_string(&Message { extra, ..message("u") }).unwrap();
    assert_eq!(json, r#"{"role":"user","content":"hi","name":"ann"}"#);
}

#[test]
fn json_that_is_no_message_says_why() {
    let error = |json: &str| serde_json::from_str::<Message>(json).unwrap_err().to_string();
    for json in [r#"{}"#, r#"{"role":"boss"}"#, r#"{"role":1}"#, r#"{"role":"User"}"#] {
        assert_eq!(error(json), "`role` is missing or unknown, expected `system`, `user`, `assistant` or `tool`");
    }
    assert_eq!(error(r#"{"role":"user","content":[]}"#), "`content` is of the wrong type, expected text");
    let calls =
        "`tool_calls` is of the wrong type, expected a list of objects with `id`, `name` and `arguments` as text";
    assert_eq!(error(r#"{"role":"assistant","tool_calls":[{"id":1}]}"#), calls);
    assert!(serde_json::from_str::<Message>(r#"{"role":"user","content":null,"tool_calls":null}"#).is_ok());
    assert!(serde_json::from_str::<Transcript>(r#"[{"role":"system","content":"x"}]"#).is_err());
}

#[test]
fn a_request_has_the_system_prompt_first_and_extra_messages_last() {
    let mut transcript = add_all("u a").unwrap();
    let request = transcript.messages_with("be brief", &[message("u")]);
    let roles: Vec<Role> = request.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::User]);
    assert_eq!(request[0].content, "be brief");
    assert_eq!(transcript.messages().len(), 2, "a request is a copy");
    assert_eq!(transcript.messages_with(" \n", &[]).len(), 2);
    assert_eq!(transcript.last().map(|message| message.role), Some(Role::Assistant));
    transcript.clear();
    assert_eq!(transcript.last(), None);
    assert_eq!(transcript.messages_with("be brief", &[]).len(), 1);
}

#[test]
fn open_calls_are_closed_in_the_order_asked() {
    let mut transcript = add_all("u a:1,2,3 t:2").unwrap();
    let open: Vec<&str> = transcript.unanswered_calls().iter().map(|call| &*call.id).collect();
    assert_eq!(open, ["1", "3"]);
    assert_eq!(transcript.close_open_calls("interrupted"), 2);
    assert_eq!(short(&transcript), "u a:1,2,3 t:2 t:1 t:3");
    assert_eq!(transcript.last().unwrap().content, r#"{"error":"interrupted","ok":false}"#);
    assert_eq!(transcript.close_open_calls("interrupted"), 0);
    assert!(transcript.add(message("u")).is_ok());
}

#[track_caller]
fn check_repair(shorts: &str, expected: &str, n_left_out: usize) {
    let (transcript, left_out) = Transcript::repaired(shorts.split_whitespace().map(message).collect(), "interrupted");
    assert_eq!((short(&transcript).as_str(), left_out.len()), (expected, n_left_out));
}

#[test]
fn messages_from_a_broken_file_become_a_valid_transcript() {
    check_repair("u a:1 t:1 a", "u a:1 t:1 a", 0);
    check_repair("u a:1", "u a:1 t:1", 0);
    check_repair("u a:1,2 t:1 u a", "u a:1,2 t:1 t:2 u a", 0);
    check_repair("u a:1 s t:1 a", "u a:1 t:1 a", 1);
    check_repair("u a:1 a:2,2 t:1", "u a:1 t:1", 1);
    check_repair("t:1 u t:9 a", "u a", 2);
    check_repair("", "", 0);
}

#[test]
fn calls_without_an_id_of_their_own_get_one() {
    let transcript = add_all("u a:1,call_2 t:1 t:call_2").unwrap();
    let mut calls = ["", "1", "new", "new", "call_3"].map(call);
    transcript.make_ids_unique(&mut calls);
    let ids = calls.map(|call| call.id);
    assert_eq!(ids, ["call_4", "call_5", "new", "call_6", "call_3"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

    #[test]
    fn whatever_is_added_each_call_has_its_result(shorts in prop::collection::vec(
        prop::sample::select(vec!["u", "a", "a:1", "a:1,2", "a:2,2", "t:1", "t:2", "t:", "s"]), 0..12,
    )) {
        let (transcript, _) = Transcript::repaired(shorts.iter().map(|short| message(short)).collect(), "interrupted");
        let mut open: Vec<&str> = Vec::new();
        for message in transcript.messages() {
            match message.tool_call_id.as_deref() {
                Some(id) => {
                    let before = open.len();
                    open.retain(|it| *it != id);
                    prop_assert_eq!(open.len() + 1, before);
                }
                None => {
                    prop_assert!(open.is_empty());
                    open = message.tool_calls.iter().map(|call| &*call.id).collect();
                }
            }
        }
        prop_assert!(open.is_empty() && transcript.unanswered_calls().is_empty());
        let json = serde_json::to_string(&transcript).unwrap();
        prop_assert_eq!(serde_json::from_str::<Transcript>(&json).unwrap(), transcript);
    }

    #[test]
    fn any_json_object_is_a_message_or_an_error(
        role in prop::sample::select(vec!["user", "assistant", "tool", "x"]),
        keys in prop::collection::vec(prop::sample::select(vec!["content", "tool_calls", "tool_call_id", "replay", "a"]), 0..5),
        values in prop::collection::vec(prop::sample::select(vec![json!(null), json!(""), json!("x"), json!([]), json!({}), json!(1)]), 5),
    ) {
        let mut object: Map<String, Value> = keys.iter().zip(values).map(|(key, value)| ((*key).to_owned(), value)).collect();
        object.insert("role".to_owned(), json!(role));
        if let Ok(message) = Message::from_json(object) {
            let json = serde_json::to_value(&message).unwrap();
            let again: Message = serde_json::from_value(json).unwrap();
            let without_null = message.extra.iter().filter(|(_, value)| !value.is_null()).count();
            prop_assert_eq!(again.extra.len(), without_null);
            prop_assert_eq!((again.role, again.content, again.tool_calls), (message.role, message.content, message.tool_calls));
        }
    }
}
