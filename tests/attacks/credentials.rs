//! Reaching for the user's secrets: to read one, to send one elsewhere, to have one shown.

use serde_json::json;

use crate::support::server::{Authority, Server, answer};
use crate::support::{Bench, TestEnv};

/// Sends back the headers it got, as servers for debugging do.
fn echo(request: &str) -> Vec<crate::support::server::Step> {
    let auth = request.lines().find(|it| it.to_ascii_lowercase().starts_with("authorization")).unwrap_or("none");
    answer("200 OK", &format!("x-echo: {auth}\r\n"), &format!("you sent {auth}."))
}

/// A server for `a.example.org` with what lets the guest reach it.
fn server_and_bench(value: &str) -> (Server, Bench) {
    let authority = Authority::new();
    let server = Server::https(&authority, "a.example.org", echo);
    let bench = Bench::new(&["web"])
        .names(&[("a.example.org", server.address.ip()), ("b.example.org", server.address.ip())])
        .trusts(&authority)
        .secrets(&[("WEB_KEY", value)])
        .grant("web:http=https://a.example.org:18443");
    (server, bench)
}

const URL: &str = "https://a.example.org:18443/v1";

/// The header of the last request.
fn sent(server: &Server) -> Option<String> {
    let last = server.requests().pop()?;
    last.lines().find(|it| it.to_ascii_lowercase().starts_with("authorization")).map(str::to_owned)
}

#[tokio::test]
async fn a_secret_goes_to_the_origin_it_was_granted_for_and_nowhere_without_the_grant() {
    let (server, bench) = server_and_bench("value-of-the-first-attack");
    let host = bench.load().await;
    assert_eq!(host.answer("request", json!({"url": URL})).await["status"], 200);
    assert_eq!(sent(&server), None, "a grant for requests is none for the secret");
    let bench = bench.grant("web:credential=WEB_KEY@https://b.example.org:18443");
    bench.load().await.answer("request", json!({"url": URL})).await;
    assert_eq!(sent(&server), None, "a grant for another host is none for this one");
    let bench = bench.grant("web:credential=WEB_KEY@https://a.example.org:18443");
    let host = bench.load().await;
    host.answer("request", json!({"url": URL})).await;
    assert_eq!(sent(&server).unwrap(), "authorization: Bearer value-of-the-first-attack");
    let uses: Vec<_> = host.uses().list().iter().map(|it| it.grant.to_string()).collect();
    assert!(uses.contains(&"credential=WEB_KEY@https://a.example.org:18443".to_owned()), "{uses:?}");
}

#[tokio::test]
async fn what_a_guest_writes_into_the_header_is_replaced_where_the_secret_belongs_and_stays_its_own_elsewhere() {
    let (server, bench) = server_and_bench("value-that-replaces");
    let host = bench.grant("web:credential=WEB_KEY").load().await;
    let mine = json!({"url": URL, "headers": {"Authorization": "mine", "authorization": "mine too"}});
    host.answer("request", mine).await;
    let request = server.requests().pop().unwrap();
    assert_eq!(request.matches("authorization: ").count(), 1, "{request}");
    assert!(request.contains("authorization: Bearer value-that-replaces"), "{request}");
    let other = Server::http(echo);
    let host = Bench::new(&["web"]).secrets(&[("WEB_KEY", "value-that-stays")]).grant(&other.grant());
    let host = host.grant("web:credential=WEB_KEY").load().await;
    host.answer("request", json!({"url": other.origin(), "headers": {"authorization": "mine"}})).await;
    assert_eq!(sent(&other).unwrap(), "authorization: mine");
}

#[tokio::test]
async fn a_guest_reads_no_secret_back_from_a_server_that_echoes_it() {
    let (_server, bench) = server_and_bench("value-that-comes-back");
    let host = bench.grant("web:credential=WEB_KEY").load().await;
    let outcome = host.call("request", json!({"url": URL})).await.to_json();
    let stars = "*".repeat("value-that-comes-back".len());
    assert!(outcome.contains(&format!("you sent authorization: Bearer {stars}.")), "{outcome}");
    assert!(outcome.contains(&format!(r#""x-echo":"authorization: Bearer {stars}""#)), "{outcome}");
    assert!(!outcome.contains("comes-back"), "{outcome}");
}

#[tokio::test]
async fn a_redirect_takes_no_secret_along() {
    let authority = Authority::new();
    let other = Server::http(echo);
    let to = other.origin();
    let server =
        Server::https(&authority, "a.example.org", move |_| answer("307 X", &format!("location: {to}/\r\n"), ""));
    let bench = Bench::new(&["web"]).names(&[("a.example.org", server.address.ip())]).trusts(&authority);
    let bench = bench.secrets(&[("WEB_KEY", "value-on-the-way")]).grant("web:http=https://a.example.org:18443");
    let host = bench.grant(&other.grant()).grant("web:credential=WEB_KEY").load().await;
    let answer = host.answer("request", json!({"url": URL, "follow": 3})).await;
    assert_eq!(answer["body"], "you sent none.", "{answer}");
    assert!(sent(&server).unwrap().contains("value-on-the-way") && sent(&other).is_none());
}

#[tokio::test]
async fn a_secret_never_travels_in_clear_but_on_this_machine() {
    let local = Server::http_at("127.77.0.1:18080", echo);
    let host = Bench::new(&["web"]).secrets(&[("WEB_KEY", "value-in-clear")]).grant("web:credential=WEB_KEY");
    let host = host.grant("web:http=http://127.77.0.1:18080").load().await;
    host.answer("request", json!({"url": local.origin()})).await;
    assert_eq!(sent(&local).unwrap(), "authorization: Bearer value-in-clear", "this machine");
    // A proxy stands for the server elsewhere: it shows what would have gone over the wire.
    let proxy = Server::http(echo);
    let mut bench = Bench::new(&["web"]).names(&[]).secrets(&[("WEB_KEY", "value-in-clear")]);
    bench.options.surroundings.network.proxy = Some(bellglass::capability::Origin::parse(&proxy.origin()).unwrap());
    let host = bench.grant("web:credential=WEB_KEY").grant("web:http=http://*.example.org:18080").load().await;
    assert_eq!(host.answer("request", json!({"url": "http://plain.example.org:18080/"})).await["status"], 200);
    assert_eq!(sent(&proxy), None);
}

#[tokio::test]
async fn a_plugin_learns_of_no_secret_that_is_not_granted_to_it() {
    let has = async |bench: Bench, name: &str| bench.load().await.answer("has-secret", json!({"name": name})).await;
    let bench = || Bench::new(&["web"]).secrets(&[("WEB_KEY", "value-to-ask-for"), ("SOMEONES", "value-of-others")]);
    assert_eq!(has(bench(), "WEB_KEY").await["has"], false);
    let granted = || bench().grant("web:credential=WEB_KEY").grant("web:credential=SOMEONES");
    assert_eq!(has(granted(), "WEB_KEY").await["has"], true);
    assert_eq!(has(granted(), "SOMEONES").await["has"], false, "not asked for");
    assert_eq!(has(bench().grant("web:credential=OTHER_KEY"), "OTHER_KEY").await["has"], false, "not stored");
    assert_eq!(has(granted(), "../WEB_KEY\0").await["has"], false);
}

#[tokio::test]
async fn the_variable_of_a_secret_is_not_read_even_with_a_grant() {
    let mut bench = Bench::new(&["web"]).grant("web:env=WEB_KEY");
    bench.options.surroundings.variables = vec![("WEB_KEY".into(), "value-in-a-variable".into())];
    let host = bench.load().await;
    assert_eq!(host.answer("has-secret", json!({"name": "WEB_KEY"})).await["env"], json!([]));
    let warning = "plugin `web`: was granted the variable `WEB_KEY`, which is a secret: no plugin reads one";
    assert!(host.installed.warnings.contains(&warning.to_owned()), "{:?}", host.installed.warnings);
}

#[test]
fn what_looks_like_a_token_is_left_out_of_a_trap_and_the_log() {
    let env = TestEnv::new().guest("web");
    let token = format!("ghp_{}", "aB3".repeat(12));
    let run = env.run(&["call", "panic", &json!({"text": format!("401 for {token}")}).to_string(), "--log", "trace"]);
    let shown = run.to_string();
    assert!(shown.contains("401 for [secret]"), "{shown}");
    // The arguments are what the caller wrote himself; nothing else shows it.
    let without_arguments = shown.replace(&format!(r#""args":{{"text":"401 for {token}"}}"#), "");
    assert!(!without_arguments.contains(&token), "{shown}");
    assert!(env.run(&["call", "web.say", r#"{"text":"hi"}"#]).success().contains("hi"), "the next call");
}

#[tokio::test]
async fn a_request_without_its_secret_goes_out_without_and_the_call_says_which_it_lacked() {
    let (server, mut bench) = server_and_bench("value-that-is-gone");
    bench.options.surroundings.secrets = Default::default();
    let host = bench.grant("web:credential=WEB_KEY").load().await;
    assert_eq!(host.answer("request", json!({"url": URL})).await["body"], "you sent none.");
    let lacking: Vec<_> = host.uses().lacking().iter().map(ToString::to_string).collect();
    assert_eq!((lacking, sent(&server)), (vec!["WEB_KEY".to_owned()], None));
}
