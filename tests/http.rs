//! Requests that are granted: what goes out, what comes back, and where each limit ends it.

use std::time::Duration;

use serde_json::json;

use crate::support::server::{Authority, Server, Step, answer, head};
use crate::support::{Bench, TestEnv, resident_memory};

/// A host that may send requests to a server.
fn granted(server: &Server) -> Bench {
    Bench::new(&["web"]).grant(&server.grant())
}

/// A piece of a body of unknown length.
fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

#[tokio::test]
async fn method_headers_and_body_go_out_and_status_headers_and_body_come_back() {
    let server = Server::http(|_| answer("201 Created", "x-one: 1\r\nX-Two: 2\r\n", "made"));
    let host = granted(&server).load().await;
    let ask = json!({"url": format!("{}/a/b?c=d%20e", server.origin()), "method": "POST", "headers": {"x-mine": "1"}, "body": "body"});
    let answered = host.answer("request", ask).await;
    assert_eq!((&answered["status"], &answered["body"]), (&json!(201), &json!("made")), "{answered}");
    assert_eq!(
        (&answered["headers"]["x-one"], &answered["headers"]["x-two"]),
        (&json!("1"), &json!("2")),
        "{answered}"
    );
    let sent = server.requests().remove(0);
    assert!(sent.starts_with("POST /a/b?c=d%20e HTTP/1.1\r\n") && sent.ends_with("\r\n\r\nbody"), "{sent}");
    assert!(sent.contains("x-mine: 1\r\n"), "{sent}");
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_call() {
    let server = Server::ok();
    let host = granted(&server).load().await;
    for _ in 0..5 {
        assert_eq!(host.answer("request", json!({"url": server.origin()})).await["body"], "ok");
    }
    assert_eq!((server.requests().len(), server.connections()), (5, 1));
}

#[tokio::test]
async fn a_large_body_goes_out_in_pieces_and_comes_back_in_pieces() {
    let server = Server::http(|request| {
        let length = request.split_once("\r\n\r\n").unwrap().1.len();
        answer("200 OK", &format!("x-got: {length}\r\n"), &"y".repeat(length))
    });
    let host = granted(&server).load().await;
    let ask = json!({"url": server.origin(), "method": "POST", "body": "0123456789abcdef", "times": 500_000});
    let answered = host.answer("request", ask).await;
    let all = json!(8_000_000);
    assert_eq!(
        (&answered["headers"]["x-got"], &answered["length"]),
        (&json!("8000000"), &all),
        "{}",
        answered["failed"]
    );
}

#[tokio::test]
async fn a_piece_reaches_the_guest_before_the_next_is_there() {
    // The next never comes.
    let server = Server::http(|_| vec![head(), Step::Send(chunk("first")), Step::Hold]);
    let host = granted(&server).load().await;
    let first = host.answer("request", json!({"url": server.origin(), "most": 5})).await;
    assert_eq!((&first["body"], &first["failed"]), (&json!("first"), &json!(null)), "{first}");
}

#[tokio::test]
async fn tls_is_spoken_with_whom_the_machine_or_the_users_file_trusts() {
    let authority = Authority::new();
    let server = Server::https(&authority, "a.example.org", |_| answer("200 OK", "", "ok"));
    let bench = || {
        let names = [("a.example.org", server.address.ip()), ("b.example.org", server.address.ip())];
        Bench::new(&["web"])
            .names(&names)
            .grant("web:http=https://a.example.org:18443")
            .grant("web:http=https://b.example.org:18443")
    };
    let ask = async |bench: Bench, url: &str| bench.load().await.answer("request", json!({"url": url})).await;
    let url = "https://a.example.org:18443/";
    assert_eq!(ask(bench().trusts(&authority), url).await["body"], "ok");
    assert_eq!(ask(bench(), url).await["failed"], "ErrorCode::TlsCertificateError", "nobody the machine knows");
    assert_eq!(ask(bench().trusts(&Authority::new()), url).await["failed"], "ErrorCode::TlsCertificateError");
    let other = ask(bench().trusts(&authority), "https://b.example.org:18443/").await;
    assert_eq!(other["failed"], "ErrorCode::TlsCertificateError", "a certificate for another name");
    let mut broken = bench();
    broken.options.surroundings.network.ca_file = Some(broken.env().home().join("not-there.pem"));
    assert_eq!(ask(broken, url).await["failed"], "ErrorCode::ConfigurationError");
}

#[tokio::test]
async fn what_went_wrong_has_a_name_of_its_own() {
    type Script = fn(&str) -> Vec<Step>;
    let cases: [(&str, Script); 4] = [
        ("ErrorCode::ConnectionTerminated", |_| vec![Step::Close]),
        ("ErrorCode::HttpProtocolError", |_| vec![Step::Send(b"this is no HTTP\r\n\r\n".to_vec()), Step::Close]),
        ("incomplete HTTP response", |_| {
            vec![Step::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_vec()), Step::Close]
        }),
        ("incomplete HTTP response", |_| vec![head(), Step::Send(chunk("half")), Step::Close]),
    ];
    for (expected, script) in cases {
        let server = Server::http(script);
        let host = granted(&server).load().await;
        assert_eq!(host.answer("request", json!({"url": server.origin()})).await["failed"], expected);
    }
    let nobody = {
        let server = Server::ok();
        format!("http://{}:18081", server.address.ip())
    };
    let host = Bench::new(&["web"]).grant(&format!("web:http={nobody}")).load().await;
    assert_eq!(host.answer("request", json!({"url": nobody})).await["failed"], "ErrorCode::ConnectionRefused");
    let host = Bench::new(&["web"]).names(&[]).grant("web:http=http://*.example.org:18080").load().await;
    let unknown = host.answer("request", json!({"url": "http://nowhere.example.org:18080/"})).await;
    assert!(unknown["failed"].as_str().unwrap().starts_with("ErrorCode::DnsError"), "{unknown}");
}

/// Each limit with a server that goes over it: what the guest is told, and that the tool's failure is one at a limit.
#[tokio::test]
async fn each_limit_is_told_to_the_guest_under_its_own_name() {
    let flood = Server::http(|_| vec![head(), Step::Flood(chunk(&"x".repeat(1000)))]);
    let silent = Server::http(|_| vec![Step::Hold]);
    let stops = Server::http(|_| vec![head(), Step::Send(chunk("first")), Step::Hold]);
    let short = Duration::from_millis(100);
    for (server, bench, expected) in [
        (
            &flood,
            granted(&flood).limits(|it| it.http_body = 100_000),
            "HTTP response body size exceeds limit: 100000 bytes",
        ),
        (&silent, granted(&silent).limits(|it| it.http_first_byte = short), "ErrorCode::HttpResponseTimeout"),
        (&stops, granted(&stops).limits(|it| it.http_idle = short), "connection read timeout"),
    ] {
        let host = bench.load().await;
        let answered = host.answer("request", json!({"url": server.origin()})).await;
        assert_eq!(answered["failed"], expected, "{answered}");
        let raised = host.call("request", json!({"url": server.origin(), "raise": true})).await;
        assert_eq!((raised.ok(), raised.hit_a_limit()), (false, true), "{expected}: {}", raised.to_json());
        assert!(host.answer("say", json!({"text": "hi"})).await["text"] == "hi", "the next call");
    }
}

#[tokio::test]
async fn requests_at_once_are_counted_until_their_responses_are_dropped() {
    let server = Server::http(|_| vec![head(), Step::Hold]);
    let host = granted(&server).limits(|it| it.http_requests = 3).load().await;
    for _ in 0..2 {
        let answered = host.answer("at-once", json!({"url": server.origin(), "n": 5})).await;
        let limit = "ErrorCode::ConnectionLimitReached";
        let answered: Vec<String> = answered["answered"].as_array().unwrap().iter().map(|it| it.to_string()).collect();
        assert_eq!(answered.iter().filter(|it| *it == "200").count(), 3, "{answered:?}");
        assert_eq!(answered.iter().filter(|it| it.contains(limit)).count(), 2, "{answered:?}");
    }
}

#[tokio::test]
async fn a_server_that_drips_ends_with_the_deadline_of_the_call() {
    let server = Server::http(|_| vec![head(), Step::Drip(chunk("x"), Duration::from_millis(5))]);
    let host = granted(&server).limits(|it| it.deadline = Duration::from_millis(200)).load().await;
    let outcome = host.call("request", json!({"url": server.origin()})).await;
    assert_eq!(outcome.error().as_deref(), Some("tool `web.request` was stopped: it ran past its 200 ms deadline"));
    assert!(outcome.hit_a_limit());
    assert!(host.answer("say", json!({"text": "hi"})).await["text"] == "hi", "the next call");
}

#[tokio::test]
async fn a_reply_of_a_provider_has_no_total_and_still_must_not_stop() {
    let megabyte = "x".repeat(1 << 20);
    let long = Server::http(move |_| answer("200 OK", "", &megabyte));
    let env = || TestEnv::new().guest("web");
    let limits = "[limits]\nhttp_body = \"100KiB\"\nhttp_idle = \"200ms\"\n";
    let ask = |server: &Server| {
        let url = format!("url={}", server.origin());
        env().config(limits).run(&["ask", "-p", "web", "-o", &url, "--grant", &server.grant(), "hi"])
    };
    assert_eq!(ask(&long).success(), "1048576 bytes\n");
    let stops = Server::http(|_| vec![head(), Step::Send(chunk("first")), Step::Hold]);
    let run = ask(&stops);
    assert!(run.status != 0 && run.stderr.contains("connection read timeout"), "{run}");
}

#[test]
fn a_refusal_says_in_the_log_which_flag_grants_it_and_nothing_of_the_path() {
    let env = TestEnv::new().guest("web");
    let ask = json!({"url": "http://127.1.2.3:18080/path?token=hidden"}).to_string();
    let run = env.run(&["call", "request", &ask]);
    let line = " WARN plugin `web` may not send requests to http://127.1.2.3:18080 (`--grant web:http=http://127.1.2.3:18080`)\n";
    assert_eq!((run.stderr.as_str(), run.status), (line, 0), "{run}");
}

#[tokio::test]
async fn sixty_four_calls_of_which_half_drip_all_end_as_they_should() {
    let drips = Server::http(|_| vec![head(), Step::Drip(chunk("x"), Duration::from_millis(5))]);
    let well = Server::ok();
    let bench = granted(&well).grant(&drips.grant()).limits(|it| it.deadline = Duration::from_secs(3));
    let host = bench.limits(|it| it.calls = 64).load().await;
    let call = async |n: usize| {
        let server = if n.is_multiple_of(2) { &well } else { &drips };
        host.call("request", json!({"url": server.origin()})).await
    };
    let round = async || {
        let outcomes = futures_util::future::join_all((0..64).map(call)).await;
        for (n, outcome) in outcomes.iter().enumerate() {
            assert_eq!((outcome.ok(), outcome.hit_a_limit()), (n % 2 == 0, n % 2 == 1), "{n}: {}", outcome.to_json());
        }
        resident_memory()
    };
    // The first round maps what is kept for the next.
    let (before, after) = (round().await, round().await);
    assert!(after < before + before / 4, "{before} bytes before, {after} bytes after");
}
