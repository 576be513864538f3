//! What needs no connection.

use super::{Failed, Request, split};
use crate::{Capability, Setup, test};
use serde_json::json;
use std::io::Read as _;

#[test]
fn an_address_has_a_scheme_and_a_host() {
    for (url, expected) in [
        ("https://a.example/b?c#d", Some(("https", "a.example", "/b?c#d"))),
        ("http://127.0.0.1:80", Some(("http", "127.0.0.1:80", ""))),
        ("http://a?b", Some(("http", "a", "?b"))),
        ("a.example/b", None),
        ("https://", None),
        ("https://a b/", None),
        ("file:///etc/passwd", None),
    ] {
        assert_eq!(split(url).ok(), expected, "{url}");
    }
}

#[test]
fn a_body_is_read_in_pieces_or_as_a_reader() {
    let setup = |setup: &mut Setup| {
        setup.asks(Capability::http("http://a"), "to try");
    };
    let answer = test::Answer::new(200).header("X-One", "1").piece("on").piece("e ").piece("two");
    let plugin =
        test::plugin(setup).with_answer_from("http://a/", answer.clone()).with_answer_from("http://a/", answer);

    let mut response = Request::get("http://a/").send().expect("it is answered");
    assert_eq!((response.status, response.header("x-one")), (200, Some("1")));
    assert_eq!(response.next_piece().unwrap().as_deref(), Some(&b"on"[..]));
    let mut rest = String::new();
    response.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "e two");

    let response = Request::post("http://a/").json(&json!({"b": 1})).send().expect("it is answered");
    assert_eq!(response.bytes(6).unwrap_err().failed, Failed::TooLarge);
    let requests = plugin.requests();
    assert_eq!((requests[1].method, &requests[1].body[..]), ("POST", &br#"{"b":1}"#[..]));
    assert_eq!(Request::get("http://a/").send().unwrap_err().failed, Failed::Connect);
    assert_eq!(Request::get("http://b/").send().unwrap_err().failed, Failed::Denied);
}
