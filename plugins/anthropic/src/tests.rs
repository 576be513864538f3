//! Run natively: `bellglass_guest::test` plays the host and the server.

use super::{BASE, longest_reply, setup};
use bellglass_guest::{
    Message, Request, ToolCall, Value, json, serde_json,
    test::{self, Answer},
};

const WHOLE: &str = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n";

fn body(messages: Vec<Message>, options: Value) -> Value {
    let answer = Answer::new(200).body(WHOLE);
    let plugin = test::plugin(setup).with_answer_from(&format!("{BASE}/messages"), answer);
    let mut request = Request::new(messages);
    request.model = Some("m".to_owned());
    request.options = options;
    plugin.fetch("anthropic", &request).1.unwrap();
    let sent = plugin.requests().remove(0);
    assert!(sent.headers.contains(&("anthropic-version".to_owned(), "2023-06-01".to_owned())));
    serde_json::from_slice(&sent.body).unwrap()
}

#[test]
fn options_go_into_the_request() {
    let thinking = json!({"type": "enabled", "budget_tokens": 1024});
    let sent = body(vec![Message::user("hi")], json!({"max_tokens": 9, "thinking": thinking}));
    let text = json!({"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}});
    let messages = json!([{"role": "user", "content": [text]}]);
    assert_eq!(
        sent,
        json!({"model": "m", "max_tokens": 9, "messages": messages, "stream": true, "thinking": thinking})
    );
    assert_eq!(body(vec![Message::user("hi")], json!({}))["max_tokens"], 32_000);
    assert_eq!([longest_reply("claude-3-haiku-20240307"), longest_reply("claude-3-5-haiku-latest")], [4096, 8192]);
}

#[test]
fn the_ends_of_this_request_and_of_the_one_before_are_marked_for_the_cache() {
    let mut messages = Vec::new();
    for text in ["a", "b", "c"] {
        messages.extend([Message::user(text), Message::assistant(text)]);
    }
    messages.push(Message::user("d"));
    let sent = body(messages, json!({}));
    let sent = sent["messages"].as_array().unwrap();
    let marked: Vec<bool> = sent.iter().map(|message| message["content"][0].get("cache_control").is_some()).collect();
    assert_eq!(marked, [false, false, false, false, true, false, true]);
}

#[test]
fn a_conversation_of_another_provider_is_made_to_fit() {
    let mut reply = Message::assistant(" ");
    let call = |id: &str, arguments: &str| ToolCall { id: id.into(), name: "a.b".into(), arguments: arguments.into() };
    reply.tool_calls = vec![call("functions.read:0", "{}{}"), call("ok-1", "")];
    let failed = Message::tool("ok-1", r#"{"error":"no","ok":false}"#);
    let sent = body(vec![Message::user("x"), reply, Message::tool("functions.read:0", ""), failed], json!({}));
    let calls = &sent["messages"][1]["content"];
    let id = calls[0]["id"].as_str().unwrap();
    assert!(id.starts_with("functions_read_0_"), "{id}");
    assert_eq!(calls[0]["input"], json!({"not_an_object": "{}{}"}));
    assert_eq!(calls[1], json!({"type": "tool_use", "id": "ok-1", "name": "a_b", "input": {}}));
    let results = &sent["messages"][2]["content"];
    assert_eq!((results[0]["tool_use_id"].as_str(), &results[0]["content"]), (Some(id), &json!("(no output)")));
    assert_eq!(results[1]["is_error"], true);
}

#[test]
fn hidden_thinking_is_kept_as_it_is() {
    let block = r#"{"type":"redacted_thinking","data":"EmwK"}"#;
    let start = format!("data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{block}}}\n\n");
    let answer = Answer::new(200).body(format!("{start}{WHOLE}"));
    let plugin = test::plugin(setup).with_answer_from(&format!("{BASE}/messages"), answer);
    let completion = plugin.fetch("anthropic", &Request::new(vec![Message::user("x")])).1.unwrap();
    assert_eq!(completion.replay.as_deref(), Some(&*format!(r#"{{"parts":[{{"kept":{block}}}]}}"#)));
    test::check_listing(setup);
}
