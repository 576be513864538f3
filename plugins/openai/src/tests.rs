//! Run natively: `bellglass_guest::test` plays the host and the server.

use super::{BASE, setup};
use bellglass_guest::{
    Message, Request, ToolCall, Value, json, serde_json,
    test::{self, Answer},
};

/// The body of the request for these messages and options.
fn body(url: &str, messages: Vec<Message>, options: Value) -> Value {
    let answer =
        Answer::new(200).body("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n");
    let plugin = test::plugin(setup).with_answer_from(url, answer);
    let mut request = Request::new(messages);
    request.model = Some("m".to_owned());
    request.options = options;
    plugin.fetch("openai", &request).1.unwrap();
    let sent = plugin.requests().remove(0);
    assert!(sent.headers.iter().all(|(name, _)| name != "authorization"), "the host adds the key");
    serde_json::from_slice(&sent.body).unwrap()
}

#[test]
fn options_go_into_the_request() {
    let url = format!("{BASE}/chat/completions");
    let sent =
        body(&url, vec![Message::user("hi")], json!({"temperature": 0.5, "max_tokens": 9, "extra_body": {"seed": 1}}));
    let expected = json!({
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_completion_tokens": 9,
        "temperature": 0.5,
        "seed": 1,
    });
    assert_eq!(sent, expected);
}

#[test]
fn another_server_is_asked_with_the_old_name_of_the_limit() {
    let options = json!({"base_url": "http://localhost:8080/v1/", "max_tokens": 9});
    let sent = body("http://localhost:8080/v1/chat/completions", vec![Message::user("hi")], options);
    assert_eq!((&sent["max_tokens"], &sent["max_completion_tokens"]), (&json!(9), &Value::Null));
}

#[test]
fn thinking_goes_back_with_the_calls_of_this_round_alone() {
    let reply = |id: &str, thought: &str| {
        let mut reply = Message::assistant("");
        reply.tool_calls = vec![ToolCall { id: id.into(), name: "a.b".into(), arguments: String::new() }];
        reply.replay = Some(format!(r#"{{"parts":[{{"call":0}},{{"kept":{{"reasoning_content":"{thought}"}}}}]}}"#));
        reply
    };
    let messages = vec![
        Message::user("one"),
        reply("1", "old"),
        Message::tool("1", "{}"),
        Message::assistant("done"),
        Message::user("two"),
        reply("2", "new"),
        Message::tool("2", r#"{"ok":true}"#),
    ];
    let sent = body(&format!("{BASE}/chat/completions"), messages, json!({}));
    let call = |id: &str| json!([{"id": id, "type": "function", "function": {"name": "a_b", "arguments": "{}"}}]);
    let expected = json!([
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": null, "tool_calls": call("1")},
        {"role": "tool", "tool_call_id": "1", "content": "{}"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "two"},
        {"role": "assistant", "content": null, "reasoning_content": "new", "tool_calls": call("2")},
        {"role": "tool", "tool_call_id": "2", "content": "{\"ok\":true}"},
    ]);
    assert_eq!(sent["messages"], expected);
}

#[test]
fn models_are_listed_with_what_is_known_of_them() {
    let answer = Answer::new(200).body(r#"{"data":[{"id":"a"},{"id":"b","context_length":8192},{"huh":1}]}"#);
    let plugin = test::plugin(setup).with_answer_from(&format!("{BASE}/models"), answer);
    let models = plugin.list_models("openai", &json!({})).unwrap();
    let shown: Vec<_> = models.iter().map(|model| (&*model.name, model.context_tokens)).collect();
    assert_eq!(shown, [("a", None), ("b", Some(8192))]);
    test::check_listing(setup);
}
