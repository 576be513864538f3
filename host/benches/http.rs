//! What a request of a plugin costs, beside the same request made with the client directly, in one interleaved run, by the
//! tenth percentile.
//!
//! Apart from the other ratios, because the two sides share a server. With `--check` it fails over a limit.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark that fails says why")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bellglass::capability::Grant;
use bellglass::host_request::CallContext;
use bellglass::installed::{Host, HostOptions, Installed};
use bellglass::plugin::discover::Places;
use bellglass::plugin::rights::Surroundings;

/// Where the server is; the port is one that the guest asks for.
const SERVER: &str = "127.99.0.1:18080";

/// How long the slow server thinks.
const THINKING: Duration = Duration::from_millis(5);

/// Rounds in which each side has its turn, after a few that open connections.
const ROUNDS: usize = 60;

#[tokio::main(flavor = "multi_thread")]
async fn main() {
    let check = std::env::args().any(|it| it == "--check");
    let listener = TcpListener::bind(SERVER).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || serve(stream));
        }
    });
    // On a worker of the runtime, as a session's calls are.
    let failed = tokio::spawn(measure(check)).await.unwrap();
    std::process::exit(i32::from(failed));
}

/// Answers every request on the connection with 1 KiB; `/slow` after a while.
fn serve(stream: TcpStream) {
    stream.set_nodelay(true).unwrap();
    let mut stream = BufReader::new(stream);
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1024\r\n\r\n{}", "x".repeat(1024));
    loop {
        let (mut line, mut is_slow) = (String::new(), false);
        while line != "\r\n" {
            line.clear();
            if stream.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            is_slow |= line.starts_with("GET /slow ");
        }
        if is_slow {
            std::thread::sleep(THINKING);
        }
        if stream.get_mut().write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

async fn measure(check: bool) -> bool {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("web.wasm"), test_guests::component("web")).unwrap();
    let options = HostOptions {
        places: Places { folders: vec![folder.path().to_owned()], ..Places::default() },
        surroundings: Surroundings {
            workspace: folder.path().to_owned(),
            grants: vec![Grant::parse_flag(&format!("web:http=http://{SERVER}")).unwrap()],
            ..Surroundings::default()
        },
        cache: Some(cache.path().to_owned()),
        ..HostOptions::default()
    };
    let installed = Arc::new(Host::new(options).unwrap()).load().await;
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let tls = tls.with_safe_default_protocol_versions().unwrap();
    let tls = tls.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth();
    let direct = reqwest::Client::builder().tls_backend_preconfigured(tls).no_proxy().build().unwrap();

    let (quick, slow) = (format!("http://{SERVER}/quick"), format!("http://{SERVER}/slow"));
    let mut times: [Vec<Duration>; 5] = Default::default();
    for round in 0..ROUNDS + 5 {
        let turns = [
            turn(100, || ask(&direct, &quick)).await,
            turn(1, || call(&installed, "repeat", &quick, 100)).await / 100,
            turn(100, || call(&installed, "repeat", &quick, 1)).await,
            turn(4, || ask(&direct, &slow)).await,
            turn(4, || call(&installed, "repeat", &slow, 1)).await,
        ];
        if round >= 5 {
            times.iter_mut().zip(turns).for_each(|(times, turn)| times.push(turn));
        }
    }
    let p10 = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 10].as_secs_f64() * 1e6
    };
    let [plain, many, one, plain_slow, one_slow] = times.each_mut().map(p10);
    println!("| request | direct, µs | plugin, µs | over | at most |\n|---|---|---|---|---|");
    println!("| one of 100 in a call | {plain:.1} | {many:.1} | {:.1} µs | 100 µs |", many - plain);
    println!("| with a call of its own | {plain:.1} | {one:.1} | {:.1} µs | 100 µs |", one - plain);
    let ratio = one_slow / plain_slow;
    println!("| where the server takes 5 ms | {plain_slow:.1} | {one_slow:.1} | {ratio:.3} × | 1.1 × |");
    check && (many - plain > 100.0 || one - plain > 100.0 || ratio > 1.1)
}

/// Times one turn: the time of one of its requests.
async fn turn<F: Future<Output = ()>>(n: u32, request: impl Fn() -> F) -> Duration {
    let start = Instant::now();
    for _ in 0..n {
        request().await;
    }
    start.elapsed() / n
}

async fn ask(client: &reqwest::Client, url: &str) {
    let body = client.get(url).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(body.len(), 1024);
}

async fn call(installed: &Installed, tool: &str, url: &str, n: u32) {
    let arguments = format!(r#"{{"url":"{url}","n":{n}}}"#);
    let outcome = installed.toolbox.run(tool, &arguments, &CallContext::top(None)).await;
    assert!(outcome.ok(), "{}", outcome.to_json());
}
