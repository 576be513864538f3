//! Run natively: `bellglass_guest::test` plays the host and the server.

use super::{BASE, setup};
use bellglass_guest::{
    Message, Request, Value, json, serde_json,
    test::{self, Answer},
};

fn body(model: &str, options: Value) -> Value {
    let answer = Answer::new(200).body("data: {\"type\":\"response.completed\",\"response\":{}}\n\n");
    let plugin = test::plugin(setup).with_answer_from(&format!("{BASE}/responses"), answer);
    let mut request = Request::new(vec![Message::user("hi"), Message::assistant("ho"), Message::user("hi")]);
    request.model = Some(model.to_owned());
    request.options = options;
    plugin.fetch("openai-responses", &request).1.unwrap();
    serde_json::from_slice(&plugin.requests().remove(0).body).unwrap()
}

#[test]
fn options_go_into_the_request() {
    let sent = body("m", json!({"max_tokens": 9, "reasoning": {"effort": "low"}}));
    let user = json!({"role": "user", "content": [{"type": "input_text", "text": "hi"}]});
    let expected = json!({
        "model": "m",
        "input": [user, {"role": "assistant", "content": [{"type": "output_text", "text": "ho"}]}, user],
        "stream": true,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 9,
        "reasoning": {"effort": "low"},
    });
    assert_eq!(sent, expected);
}

#[test]
fn a_model_that_does_not_reason_is_not_asked_how_it_did() {
    assert_eq!(body("gpt-4o", json!({}))["include"], Value::Null);
    test::check_listing(setup);
}
