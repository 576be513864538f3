//! Reaching for servers that nobody granted, by name, by address, by redirect and by socket.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::support::Bench;
use crate::support::server::{Authority, Server, answer, is_reachable};

const DENIED: &str = "ErrorCode::HttpRequestDenied";
const PROHIBITED: &str = "ErrorCode::DestinationIpProhibited";

/// One request that is refused with grants beside the point, and answered with the right ones.
struct Attack<'a> {
    server: &'a Server,
    url: String,
    names: &'a [(&'a str, IpAddr)],
    refusal: &'a str,
    beside: &'a [&'a str],
    grant: &'a str,
}

impl Attack<'_> {
    #[track_caller]
    fn check(self) -> impl Future<Output = ()> {
        let at = std::panic::Location::caller();
        async move {
            let bench = |grants: &[&str]| {
                let bench = Bench::new(&["web"]).names(self.names);
                grants.iter().fold(bench, |bench, grant| bench.grant(grant))
            };
            let ask = json!({"url": self.url});
            for grants in [&[], self.beside] {
                let host = bench(grants).load().await;
                let refused = host.answer("request", ask.clone()).await;
                let expected = if grants.is_empty() { DENIED } else { self.refusal };
                assert_eq!(refused, json!({"failed": expected}), "{at}: {grants:?}");
                assert!(!host.hints().is_empty(), "{at}: the refusal is noted");
                assert_eq!(
                    host.answer("say", json!({"text": "hi"})).await,
                    json!({"text": "hi"}),
                    "{at}: the next call"
                );
            }
            let before = self.server.requests().len();
            let host = bench(&[self.grant]).load().await;
            let answered = host.answer("request", ask).await;
            assert_eq!(answered["body"], "ok", "{at}: the control: {answered}");
            assert_eq!(self.server.requests().len(), before + 1, "{at}: nothing but the control came through");
        }
    }
}

/// The error of one request with these grants, and the flags that would have granted it.
async fn refused(bench: Bench, url: &str) -> (Value, Vec<String>) {
    let host = bench.load().await;
    let answer = host.answer("request", json!({"url": url})).await;
    assert_eq!(host.answer("say", json!({"text": "hi"})).await, json!({"text": "hi"}), "the next call");
    (answer["failed"].clone(), host.hints())
}

#[tokio::test]
async fn a_server_that_nobody_granted_gets_no_request() {
    let server = Server::ok();
    let beside = ["web:http=http://1.2.3.4:18080", "web:http=http://*:18081", "web:env=WEB_KEY"];
    Attack {
        server: &server,
        url: server.origin(),
        names: &[],
        refusal: DENIED,
        beside: &beside,
        grant: &server.grant(),
    }
    .check()
    .await;
    assert_eq!(server.connections(), 1, "of the control alone");
}

#[tokio::test]
async fn the_port_and_the_scheme_of_a_grant_count() {
    let server = Server::ok();
    let ip = server.address.ip();
    for other in [format!("http://{ip}:18081"), format!("https://{ip}:18080"), format!("http://{ip}")] {
        let bench = Bench::new(&["web"]).grant(&server.grant());
        assert_eq!(refused(bench, &other).await.0, DENIED, "{other}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn the_flag_of_a_refusal_grants_what_was_refused() {
    let server = Server::ok();
    let (error, hints) = refused(Bench::new(&["web"]), &format!("{}/path?secret=1", server.origin())).await;
    assert_eq!((error, hints.clone()), (DENIED.into(), vec![format!("--grant web:http={}", server.origin())]));
    let flag = hints[0].strip_prefix("--grant ").unwrap();
    let host = Bench::new(&["web"]).grant(flag).load().await;
    assert_eq!(host.answer("request", json!({"url": server.origin()})).await["body"], "ok");
    assert!(host.hints().is_empty());
}

#[tokio::test]
async fn a_grant_for_any_host_is_none_for_this_machine_in_any_spelling() {
    let server = Server::ok();
    let ip = server.address.ip();
    let IpAddr::V4(v4) = ip else { panic!("the servers of tests have an IPv4 address") };
    let [a, b, c, d] = v4.octets();
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    for host in [
        ip.to_string(),
        format!("[::ffff:{ip}]"),
        format!("[::ffff:{high:x}:{low:x}]"),
        format!("[::{ip}]"),
        format!("[::ffff:0:{ip}]"),
        format!("[64:ff9b::{ip}]"),
        format!("[64:ff9b:1::{ip}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        "[::1]".into(),
        "127.0.0.1".into(),
        "0.0.0.0".into(),
        "[::]".into(),
        "169.254.169.254".into(),
        "[fd00:ec2::254]".into(),
        "10.0.0.1".into(),
        "198.18.0.1".into(),
        "100.64.0.1".into(),
        "[fe80::1]".into(),
    ] {
        let bench = Bench::new(&["web"]).grant("web:http=http://*:18080");
        let (error, _) = refused(bench, &format!("http://{host}:18080/")).await;
        assert_eq!(error, PROHIBITED, "{host}");
    }
    // What only some readers take for an address is none at all.
    let number = u32::from(v4);
    for host in [number.to_string(), format!("0x{number:x}"), format!("{a}.{b}.{}", u16::from_be_bytes([c, d]))] {
        let bench = Bench::new(&["web"]).grant("web:http=http://*:18080");
        assert_eq!(
            refused(bench, &format!("http://{host}:18080/")).await.0,
            "ErrorCode::HttpRequestUriInvalid",
            "{host}"
        );
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_name_below_a_grant_that_leads_to_this_machine_is_not_followed() {
    let server = Server::ok();
    let ip = server.address.ip();
    let host = Bench::new(&["web"]).names(&[("a.example.org", ip)]).grant("web:http=http://*.example.org:18080");
    let (error, hints) = refused(host, "http://a.example.org:18080/").await;
    assert_eq!(error, PROHIBITED);
    assert_eq!(hints, ["--grant web:http=http://a.example.org:18080"]);
    for spelling in [format!("::ffff:{ip}"), "10.1.2.3".into(), "169.254.169.254".into(), "::1".into()] {
        let bench = Bench::new(&["web"]).names(&[("a.example.org", spelling.parse().unwrap())]);
        let bench = bench.grant("web:http=http://*.example.org:18080");
        assert_eq!(refused(bench, "http://a.example.org:18080/").await.0, PROHIBITED, "{spelling}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn the_owner_of_a_granted_name_does_not_lead_plain_requests_into_the_own_network() {
    // Without TLS a name proves nothing: who owns it points it wherever he likes. The address itself can be granted.
    let server = Server::ok();
    let ip = server.address.ip();
    let names = [("a.example.org", ip)];
    let bench = Bench::new(&["web"]).names(&names).grant("web:http=http://a.example.org:18080");
    let (error, hints) = refused(bench, "http://a.example.org:18080/").await;
    assert_eq!(error, PROHIBITED);
    assert_eq!(hints, [format!("--grant web:http={}", server.origin())]);
    assert_eq!(server.connections(), 0);
    let host = Bench::new(&["web"]).grant(&server.grant()).load().await;
    assert_eq!(host.answer("request", json!({"url": server.origin()})).await["body"], "ok");
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_looked_up_once_and_that_address_is_used() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    let authority = Authority::new();
    let server = Server::https(&authority, "a.example.org", |_| answer("200 OK", "", "ok"));
    let other = Server::https(&authority, "a.example.org", |_| answer("200 OK", "", "somewhere else"));
    let (first, then) = (server.address.ip(), other.address.ip());
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let lookup = move |_: &str| Ok(vec![if counted.fetch_add(1, SeqCst) == 0 { first } else { then }]);
    let mut bench = Bench::new(&["web"]).trusts(&authority).grant("web:http=https://a.example.org:18443");
    bench.options.surroundings.network.lookup = bellglass::network::Lookup::By(Arc::new(lookup));
    let host = bench.load().await;
    for _ in 0..3 {
        let answer = host.answer("request", json!({"url": "https://a.example.org:18443/"})).await;
        assert_eq!(answer["body"], "ok");
    }
    assert_eq!((asked.load(SeqCst), server.connections(), other.connections()), (1, 1, 0));
}

#[tokio::test]
async fn a_name_granted_with_tls_on_one_port_gives_no_other_port_of_it() {
    let authority = Authority::new();
    let server = Server::https(&authority, "a.example.org", |_| answer("200 OK", "", "ok"));
    let plain = Server::http_at(&format!("{}:18080", server.address.ip()), |_| answer("200 OK", "", "ok"));
    let bench = Bench::new(&["web"])
        .names(&[("a.example.org", server.address.ip())])
        .trusts(&authority)
        .grant("web:http=https://a.example.org:18443")
        .grant("web:http=http://*.example.org:18080");
    let host = bench.load().await;
    let ask = async |url: &str| host.answer("request", json!({"url": url})).await;
    assert_eq!(ask("https://a.example.org:18443/").await["body"], "ok", "the control");
    // The connection to that very address is there; for the other port it counts for nothing.
    assert_eq!(ask("http://a.example.org:18080/").await["failed"], PROHIBITED);
    assert_eq!(plain.connections(), 0);
}

#[tokio::test]
async fn a_redirect_is_given_to_the_guest_and_judged_anew_when_it_follows() {
    let inside = Server::ok();
    let to = inside.origin();
    let outside = Server::http(move |_| answer("302 Found", &format!("location: {to}/\r\n"), ""));
    let bench = Bench::new(&["web"]).grant(&outside.grant());
    let host = bench.load().await;
    let stays = host.answer("request", json!({"url": outside.origin()})).await;
    assert_eq!((stays["status"].as_u64(), inside.connections()), (Some(302), 0), "the host follows nothing: {stays}");
    let follows = host.answer("request", json!({"url": outside.origin(), "follow": 5})).await;
    assert_eq!((&follows["failed"], inside.connections()), (&Value::from(DENIED), 0), "{follows}");
    assert_eq!(host.hints(), [format!("--grant web:http={}", inside.origin())]);
    let host = Bench::new(&["web"]).grant(&outside.grant()).grant(&inside.grant()).load().await;
    let follows = host.answer("request", json!({"url": outside.origin(), "follow": 5})).await;
    assert_eq!(follows["body"], "ok", "the control: {follows}");
}

#[tokio::test]
async fn a_redirect_from_tls_to_clear_text_is_not_granted_with_it() {
    let authority = Authority::new();
    let server = Server::https(&authority, "a.example.org", |_| {
        answer("302 Found", "location: http://a.example.org:18080/\r\n", "")
    });
    let plain = Server::http_at(&format!("{}:18080", server.address.ip()), |_| answer("200 OK", "", "ok"));
    let bench = Bench::new(&["web"]).names(&[("a.example.org", server.address.ip())]).trusts(&authority);
    let host = bench.grant("web:http=https://a.example.org:18443").load().await;
    let follows = host.answer("request", json!({"url": "https://a.example.org:18443/", "follow": 1})).await;
    assert_eq!((&follows["failed"], plain.connections()), (&Value::from(DENIED), 0), "{follows}");
}

#[tokio::test]
async fn any_host_means_a_question_for_each_and_nobody_there_means_no() {
    let authority = Authority::new();
    let server = Server::https(&authority, "a.example.org", |_| answer("200 OK", "", "ok"));
    let names = [("a.example.org", server.address.ip())];
    let bench = || Bench::new(&["web"]).names(&names).trusts(&authority).grant("web:http=https://*:18443");
    let ask = json!({"url": "https://a.example.org:18443/"});
    for session in [false, true] {
        let host = if session { bench().start().await } else { bench().load().await };
        assert_eq!(host.answer("request", ask.clone()).await["failed"], DENIED);
        assert_eq!(host.hints(), ["--grant web:http=https://a.example.org:18443"]);
    }
    let host = bench().grant("web:http=https://a.example.org:18443").load().await;
    assert_eq!(host.answer("request", ask).await["body"], "ok", "the control");
}

#[tokio::test]
async fn a_yes_to_a_host_is_none_to_this_machine_and_none_to_another_host() {
    let names = [("a.org", "127.0.0.1".parse().unwrap()), ("b.org", "10.0.0.1".parse().unwrap())];
    let bench = || Bench::new(&["web"]).names(&names).grant("web:http=https://*");
    // The name leads to this machine: that is refused even after a yes. How often is asked shows what a yes is good for.
    for (key, error, questions) in [('y', PROHIBITED, 3), ('s', PROHIBITED, 2), ('n', DENIED, 3)] {
        let host = bench().start_answering(key).await;
        for url in ["https://a.org/", "https://a.org/again", "https://b.org/"] {
            assert_eq!(host.answer("request", json!({"url": url})).await["failed"], error, "{key} {url}");
        }
        let asked: Vec<_> = host.asked.lock().unwrap().iter().map(|it| it.lines.join(" ")).collect();
        assert_eq!(asked.len(), questions, "{key}: {asked:?}");
        assert_eq!((asked[0].as_str(), asked.last().unwrap().as_str()), ("https://a.org", "https://b.org"));
    }
    // Nobody is asked about what is refused anyway.
    let host = bench().start_answering('y').await;
    assert_eq!(host.answer("request", json!({"url": "https://127.0.0.1/"})).await["failed"], PROHIBITED);
    assert!(host.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_proxy_of_the_environment_is_not_used() {
    let proxy = Server::http(|_| answer("200 OK", "", "from the proxy"));
    let server = Server::ok();
    let env = crate::support::TestEnv::new().guest("web");
    let ask = |url: &str, grant: &str| {
        let arguments = json!({"url": url}).to_string();
        let mut command = env.command(&["call", "request", &arguments, "--grant", grant]);
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            command.env(name, proxy.origin());
        }
        env.finish(command, "")
    };
    let direct = ask(&server.origin(), &server.grant());
    assert_eq!(direct.json()["body"], "ok", "{direct}");
    let inside = ask("http://10.0.0.1:18080/", "web:http=http://*:18080");
    assert_eq!(inside.json()["failed"], PROHIBITED, "{inside}");
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn a_proxy_that_the_user_configured_does_not_reach_what_the_rules_refuse() {
    let proxy = Server::http(|_| answer("200 OK", "", "from the proxy"));
    let server = Server::ok();
    let bench = |grant: &str| {
        let mut bench = Bench::new(&["web"]).names(&[("a.example.org", server.address.ip())]).grant(grant);
        let proxy = bellglass::capability::Origin::parse(&proxy.origin()).unwrap();
        bench.options.surroundings.network.proxy = Some(proxy);
        bench
    };
    let below = "web:http=http://*.example.org:18080";
    assert_eq!(refused(bench(below), "http://a.example.org:18080/").await.0, PROHIBITED);
    assert_eq!(refused(bench("web:http=http://*:18080"), "http://127.0.0.1:18080/").await.0, PROHIBITED);
    assert_eq!(refused(bench(below), "http://b.example.com:18080/").await.0, DENIED);
    assert_eq!(proxy.connections(), 0);
    // What leads elsewhere goes through it, and what is this machine never does.
    let host = bench(below).load().await;
    assert_eq!(host.answer("request", json!({"url": "http://b.example.org:18080/"})).await["body"], "from the proxy");
    assert!(proxy.requests()[0].starts_with("GET http://b.example.org:18080/ HTTP/1.1\r\n"), "{:?}", proxy.requests());
    let host = bench(&server.grant()).load().await;
    assert_eq!(host.answer("request", json!({"url": server.origin()})).await["body"], "ok");
}

#[tokio::test]
async fn sockets_reach_nothing_whatever_is_granted() {
    let server = Server::ok();
    let denied = "Permission denied (os error 2)";
    for grants in
        [vec![], vec![server.grant(), "web:http=http://*:18080".into(), "web:http=http://localhost:18080".into()]]
    {
        let bench = grants.iter().fold(Bench::new(&["web"]), |bench, grant| bench.grant(grant));
        let host = bench.load().await;
        let tried = host.answer("sockets", json!({"address": server.address.to_string(), "name": "localhost"})).await;
        assert_eq!(tried["connect"], denied, "{tried}");
        assert_eq!((&tried["listen"], &tried["udp"]), (&json!(denied), &json!(denied)), "{tried}");
        assert_eq!(tried["lookup"], "failed to lookup address information: Non-recoverable error", "{tried}");
        assert!(host.answer("say", json!({"text": "hi"})).await["text"] == "hi", "the next call");
    }
    assert_eq!(server.connections(), 0);
    assert!(is_reachable(server.address), "the control: it is there");
}

#[tokio::test]
async fn a_tunnel_or_a_mirror_of_headers_is_no_request() {
    let server = Server::ok();
    let host = Bench::new(&["web"]).grant(&server.grant()).load().await;
    for method in ["CONNECT", "TRACE"] {
        let answer = host.answer("request", json!({"url": server.origin(), "method": method})).await;
        assert_eq!(answer["failed"], "ErrorCode::HttpRequestMethodInvalid", "{method}");
    }
    assert_eq!(server.connections(), 0);
    assert_eq!(host.answer("request", json!({"url": server.origin(), "method": "PATCH"})).await["body"], "ok");
}

#[tokio::test]
async fn a_guest_writes_no_header_that_is_about_the_connection() {
    let server = Server::ok();
    let host = Bench::new(&["web"]).grant(&server.grant()).load().await;
    for name in ["host", "connection", "transfer-encoding", "upgrade", "proxy-authorization", "keep-alive"] {
        let outcome = host.call("request", json!({"url": server.origin(), "headers": {name: "x"}})).await;
        assert!(outcome.error().unwrap().contains("Forbidden"), "{name}: {}", outcome.to_json());
    }
    let headers = json!({"te": "trailers", "proxy-x": "1", "x-mine": "1"});
    assert_eq!(host.answer("request", json!({"url": server.origin(), "headers": headers})).await["body"], "ok");
    let sent = server.requests().remove(0).to_ascii_lowercase();
    assert!(sent.contains(&format!("\r\nhost: {}\r\n", server.address)) && sent.contains("x-mine: 1"), "{sent}");
    assert!(!sent.contains("te:") && !sent.contains("proxy-x"), "{sent}");
}

#[tokio::test]
async fn a_second_line_in_a_header_or_an_address_is_no_request_of_its_own() {
    let server = Server::ok();
    let host = Bench::new(&["web"]).grant(&server.grant()).load().await;
    let split = "a\r\nhost: 127.0.0.1\r\n\r\nGET / HTTP/1.1";
    let outcome = host.call("request", json!({"url": server.origin(), "headers": {"x-a": split}})).await;
    assert!(!outcome.ok(), "{}", outcome.to_json());
    let outcome = host.call("request", json!({"url": format!("{}/{split}", server.origin())})).await;
    assert!(!outcome.ok(), "{}", outcome.to_json());
    let outcome = host.call("request", json!({"url": format!("http://a@{}/", server.address)})).await;
    assert_eq!(outcome.object()["failed"], "ErrorCode::HttpRequestUriInvalid", "{}", outcome.to_json());
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn no_two_plugins_share_a_connection() {
    let server = Server::ok();
    let (one, two) = (Bench::new(&["web"]).grant(&server.grant()), Bench::new(&["web"]).grant(&server.grant()));
    let (one, two) = (one.load().await, two.load().await);
    for _ in 0..3 {
        assert_eq!(one.answer("request", json!({"url": server.origin()})).await["body"], "ok");
    }
    assert_eq!(server.connections(), 1, "kept alive");
    assert_eq!(two.answer("request", json!({"url": server.origin()})).await["body"], "ok");
    assert_eq!(server.connections(), 2);
}
