//! Run natively: `bellglass_guest::test` plays the host and the server.

use super::{BASE, setup};
use bellglass_guest::{
    Message, ProviderError, Request, StopReason, ToolCall, ToolDefinition, Value, json, serde_json,
    test::{self, Answer, TestPlugin},
};

fn plugin(model: &str, said: &str) -> TestPlugin {
    let answer = Answer::new(200).body(format!("data: {said}\n\n"));
    test::plugin(setup).with_answer_from(&format!("{BASE}/models/{model}:streamGenerateContent?alt=sse"), answer)
}

fn body(model: &str, messages: Vec<Message>, options: Value, tools: Vec<ToolDefinition>) -> Value {
    let plugin = plugin(model, r#"{"candidates":[{"finishReason":"STOP"}]}"#);
    let mut request = Request::new(messages);
    (request.model, request.options, request.tools) = (Some(model.to_owned()), options, tools);
    plugin.fetch("gemini", &request).1.unwrap();
    serde_json::from_slice(&plugin.requests().remove(0).body).unwrap()
}

#[test]
fn options_go_into_the_request() {
    let options = json!({"max_tokens": 9, "temperature": 0, "generationConfig": {"topK": 5}});
    let tool = ToolDefinition {
        name: "now".into(),
        description: "The time".into(),
        parameters: r#"{"type":"object"}"#.into(),
        aliases: vec![],
    };
    let sent = body("gemini-2.5-flash", vec![Message::user("hi")], options, vec![tool]);
    let expected = json!({
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"functionDeclarations": [{"name": "now", "description": "The time"}]}],
        "generationConfig": {
            "thinkingConfig": {"includeThoughts": true},
            "maxOutputTokens": 9,
            "temperature": 0,
            "topK": 5,
        },
    });
    assert_eq!(sent, expected);
}

#[test]
fn a_call_of_another_model_gets_the_signature_that_stands_for_none() {
    for (model, expected) in
        [("gemini-3-pro", json!("skip_thought_signature_validator")), ("gemini-2.0-flash", Value::Null)]
    {
        let mut reply = Message::assistant("");
        reply.tool_calls = vec![ToolCall { id: "1".into(), name: "f".into(), arguments: "{}".into() }];
        let sent = body(model, vec![Message::user("x"), reply, Message::tool("1", "[1]")], json!({}), vec![]);
        assert_eq!(sent["contents"][1]["parts"][0]["thoughtSignature"], expected, "{model}");
        assert_eq!(sent["contents"][2]["parts"][0]["functionResponse"]["response"], json!({"output": "[1]"}));
    }
}

#[test]
fn a_reply_that_was_stopped_says_so() {
    let fetch = |said| {
        plugin("m", said).fetch("gemini", &{
            let mut request = Request::new(vec![Message::user("x")]);
            request.model = Some("m".to_owned());
            request
        })
    };
    for said in [r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#, r#"{"candidates":[{"finishReason":"RECITATION"}]}"#]
    {
        assert_eq!(fetch(said).1.unwrap().reason, StopReason::Refused, "{said}");
    }
    let error = fetch(r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#).1.unwrap_err();
    assert!(matches!(error, ProviderError::Broken(message) if message.contains("MALFORMED_FUNCTION_CALL")));
    test::check_listing(setup);
}
