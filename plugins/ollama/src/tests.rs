//! Run natively: `bellglass_guest::test` plays the host and the server.

use super::{BASE, setup};
use bellglass_guest::{
    Message, ProviderError, Request, json, serde_json,
    serde_json::Value,
    test::{self, Answer},
};

#[test]
fn options_go_into_the_request() {
    let answer = Answer::new(200).body("{\"message\":{\"content\":\"ho\"},\"done\":true}");
    let plugin = test::plugin(setup).with_answer_from(&format!("{BASE}/api/chat"), answer);
    let mut request = Request::new(vec![Message::user("hi")]);
    request.model = Some("m".to_owned());
    request.options = json!({"max_tokens": 9, "num_ctx": 32768, "think": true, "options": {"top_k": 5}});
    plugin.fetch("ollama", &request).1.unwrap();
    let sent: Value = serde_json::from_slice(&plugin.requests().remove(0).body).unwrap();
    let expected = json!({
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": true,
        "options": {"num_predict": 9, "num_ctx": 32768, "top_k": 5},
        "think": true,
    });
    assert_eq!(sent, expected);
}

#[test]
fn without_a_model_the_user_reads_which_there_are() {
    for (tags, expected) in [
        (r#"{"models":[{"name":"a:1b"},{"name":"b"}]}"#, "ollama: choose a model with -m; a:1b, b"),
        (r#"{"models":[]}"#, "ollama: choose a model with -m; none is there yet: `ollama pull NAME`"),
    ] {
        let answer = Answer::new(200).body(tags);
        let plugin = test::plugin(setup).with_answer_from(&format!("{BASE}/api/tags"), answer);
        let error = plugin.fetch("ollama", &Request::new(vec![Message::user("hi")])).1.unwrap_err();
        assert!(matches!(error, ProviderError::Rejected(message) if message == expected));
    }
    let error = test::plugin(setup).fetch("ollama", &Request::new(vec![])).1.unwrap_err();
    assert!(matches!(error, ProviderError::Broken(message) if message == "ollama: nothing answers at localhost:11434"));
    test::check_listing(setup);
}
