//! What servers answer instead of a reply, and what the user reads.

use super::Api;
use crate::{Capability, ProviderError, Setup, http::Request, test};
use serde_json::{Value, json};

const API: Api =
    Api { provider: "acme", secret: Some("ACME_KEY"), too_long: &["context_length_exceeded", "too many tokens"] };

/// The kind of error, the wait in milliseconds, and the message.
fn shown(error: ProviderError) -> (&'static str, Option<u64>, String) {
    match error {
        ProviderError::Unauthorized(message) => ("unauthorized", None, message),
        ProviderError::Busy((message, wait)) => ("busy", wait, message),
        ProviderError::ContextTooLong(message) => ("too long", None, message),
        ProviderError::Rejected(message) => ("rejected", None, message),
        ProviderError::Broken(message) => ("broken", None, message),
    }
}

fn answered(answer: test::Answer) -> (&'static str, Option<u64>, String) {
    let setup = |setup: &mut Setup| {
        setup.asks(Capability::http("http://a"), "to try");
    };
    let plugin = test::plugin(setup).with_answer_from("http://a/", answer);
    let error = API.send(Request::post("http://a/")).expect_err("it is refused");
    assert_eq!(plugin.requests().len(), 1);
    shown(error)
}

#[test]
fn a_status_and_a_body_become_an_error_to_act_on() {
    for (status, body, kind, words) in [
        (
            401,
            r#"{"error":{"message":"bad key","type":"auth"}}"#,
            "unauthorized",
            "acme answered 401: bad key (auth); store the right key with `bellglass secret set ACME_KEY`",
        ),
        (403, "", "unauthorized", "acme answered 403: nothing more; store"),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]"#,
            "unauthorized",
            "API key not valid (INVALID_ARGUMENT, API_KEY_INVALID)",
        ),
        (402, r#"{"error":"pay"}"#, "rejected", "acme answered 402: pay; the account has nothing left"),
        (429, r#"{"error":{"message":"quota","code":"insufficient_quota"}}"#, "rejected", "top it up"),
        (429, "", "busy", "acme answered 429: nothing more; wait, or choose another model with -m"),
        (429, r#"{"error":{"message":"too many tokens a minute"}}"#, "busy", "a minute"),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "busy",
            "Overloaded (overloaded_error)",
        ),
        (500, "<html><body>oops</body></html>", "busy", "a page of HTML"),
        (503, r#"{"message":"loading"}"#, "busy", "loading"),
        (400, r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#, "too long", "/compact"),
        (400, r#"{"error":{"message":"Too Many Tokens: 9"}}"#, "too long", "/compact"),
        (413, "", "too long", "/compact"),
        (
            404,
            r#"{"error":"model 'x' not found"}"#,
            "rejected",
            "model 'x' not found; choose a model that it has with -m",
        ),
        (422, r#"{"detail":"bad top_k"}"#, "rejected", "bad top_k; change the model with -m or its options with -o"),
        (422, r#"{"detail":[{"msg":"x"}]}"#, "rejected", "nothing more"),
        (302, "", "rejected", "acme answered 302"),
    ] {
        let (found, _, message) = answered(test::Answer::new(status).body(body));
        assert_eq!(found, kind, "{status} {body}: {message}");
        assert!(message.contains(words), "{status} {body}: {message}");
    }
}

#[test]
fn the_time_to_wait_is_the_servers_own() {
    let busy = || test::Answer::new(429);
    for (answer, expected) in [
        (busy(), None),
        (busy().header("Retry-After", "7"), Some(7000)),
        (busy().header("retry-after", "0.5"), Some(500)),
        (busy().header("retry-after", "-1"), None),
        (busy().header("retry-after", "soon"), None),
        (busy().header("retry-after", "9").header("retry-after-ms", "1500"), Some(1500)),
        (
            busy()
                .header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
                .header("retry-after", "Sun, 06 Nov 1994 08:51:07 GMT"),
            Some(90_000),
        ),
        (busy().header("retry-after", "Sun, 06 Nov 1994 08:51:07 GMT"), Some(0)),
        (busy().body(r#"{"error":{"details":[{"retryDelay":"39s"}]}}"#), Some(39_000)),
    ] {
        assert_eq!(answered(answer.clone()).1, expected, "{answer:?}");
    }
}

#[test]
fn an_error_in_the_midst_of_a_reply_is_sorted_by_what_it_says() {
    for (error, kind) in [
        (json!({"type": "overloaded_error", "message": "Overloaded"}), "busy"),
        (json!({"code": 502, "message": "upstream"}), "busy"),
        (json!({"code": 503, "status": "UNAVAILABLE"}), "busy"),
        (json!({"code": "rate_limit_exceeded", "message": "slow down"}), "busy"),
        (json!({"code": "context_length_exceeded"}), "too long"),
        (json!({"type": "authentication_error"}), "unauthorized"),
        (json!({"code": 400, "message": "no"}), "rejected"),
        (json!({"type": "api_error", "message": "Internal"}), "broken"),
        (json!("something broke"), "broken"),
        (Value::Null, "broken"),
    ] {
        let (found, _, message) = shown(API.said(&error));
        assert_eq!(found, kind, "{error}: {message}");
    }
}

#[test]
fn what_fails_before_an_answer_names_the_provider() {
    let error = |url: &str| shown(API.send(Request::get(url)).expect_err("nobody is there"));
    let setup = |setup: &mut Setup| {
        setup.asks(Capability::http("http://a"), "to try");
    };
    let _plugin = test::plugin(setup);
    assert_eq!(error("http://a/"), ("broken", None, "acme: nothing answers at a".to_owned()));
    assert_eq!(error("http://b/").0, "rejected");
    assert_eq!(error("here"), ("rejected", None, "acme: `here` is no address such as `https://host/path`".to_owned()));
}
