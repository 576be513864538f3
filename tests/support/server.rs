//! Servers that say exactly what a test wrote down, each at an address of its own.
//!
//! Apart, because a plugin asks for a port when it is built: the port is fixed, so that the address must differ.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The ports that the guest `web` asks for.
pub const HTTP: u16 = 18080;
pub const HTTPS: u16 = 18443;

/// A server that runs until the test ends.
pub struct Server {
    pub address: SocketAddr,
    /// Every request with its body, as it came.
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

/// One step of an answer.
#[derive(Clone)]
pub enum Step {
    /// Sends this.
    Send(Vec<u8>),
    /// Sends this again and again, so long apart, until nobody reads.
    Drip(Vec<u8>, Duration),
    /// Sends this as long as somebody reads.
    Flood(Vec<u8>),
    /// Says nothing more until the other side gives up.
    Hold,
    /// Ends the connection.
    Close,
}

/// What to answer to a request.
pub type Script = dyn Fn(&str) -> Vec<Step> + Send + Sync;

/// A certificate authority of one test.
pub struct Authority {
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
    /// Its certificate, in PEM.
    pub pem: String,
}

/// A whole answer.
pub fn answer(status: &str, headers: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    vec![Step::Send(format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes())]
}

/// An answer without announced length, up to its body.
pub fn head() -> Step {
    Step::Send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec())
}

impl Server {
    /// In clear.
    pub fn http(script: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::start(SocketAddr::new(own_address(), HTTP), None, script)
    }

    /// In clear, at this address.
    pub fn http_at(address: &str, script: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::start(address.parse().unwrap(), None, script)
    }

    /// With TLS, for a name.
    pub fn https(
        authority: &Authority,
        name: &str,
        script: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        Self::start(SocketAddr::new(own_address(), HTTPS), Some(authority.serves(name)), script)
    }

    /// Says `ok` to everything.
    pub fn ok() -> Self {
        Self::http(|_| answer("200 OK", "", "ok"))
    }

    fn start(
        address: SocketAddr,
        tls: Option<Arc<ServerConfig>>,
        script: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let server = Self { address, requests: Arc::default(), connections: Arc::default() };
        let (requests, connections, script) = (server.requests.clone(), server.connections.clone(), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                connections.fetch_add(1, SeqCst);
                let (requests, script, tls) = (requests.clone(), script.clone(), tls.clone());
                std::thread::spawn(move || match tls {
                    None => serve(&mut BufReader::new(Both(stream)), &requests, &*script),
                    Some(tls) => {
                        let Ok(connection) = ServerConnection::new(tls) else { return };
                        serve(&mut BufReader::new(Both(StreamOwned::new(connection, stream))), &requests, &*script);
                    }
                });
            }
        });
        server
    }

    /// `http://127.…:18080`
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The flag that grants just this server to the guest `web`.
    pub fn grant(&self) -> String {
        format!("web:http={}", self.origin())
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// How often somebody connected.
    pub fn connections(&self) -> usize {
        self.connections.load(SeqCst)
    }
}

impl Authority {
    pub fn new() -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: rcgen::Issuer::new(params, key), pem }
    }

    fn serves(&self, name: &str) -> Arc<ServerConfig> {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        Arc::new(builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap())
    }
}

/// A stream of which the buffered half can still be written to.
struct Both<S>(S);

impl<S: Read> Read for Both<S> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

/// An address of this machine that no other server of this process has, and hardly one of another.
fn own_address() -> IpAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    IpAddr::V4(Ipv4Addr::new(127, 100 + high % 100, low, NEXT.fetch_add(1, SeqCst)))
}

fn serve<S: Read + Write>(stream: &mut BufReader<Both<S>>, requests: &Mutex<Vec<String>>, script: &Script) {
    while let Some(request) = read(stream) {
        requests.lock().unwrap().push(request.clone());
        for step in script(&request) {
            let out = &mut stream.get_mut().0;
            let sent = match step {
                Step::Send(bytes) => out.write_all(&bytes),
                Step::Drip(bytes, apart) => loop {
                    if let Err(error) = out.write_all(&bytes).and_then(|()| out.flush()) {
                        break Err(error);
                    }
                    std::thread::sleep(apart);
                },
                Step::Flood(bytes) => loop {
                    if let Err(error) = out.write_all(&bytes) {
                        break Err(error);
                    }
                },
                Step::Hold => {
                    let _ = out.flush();
                    std::io::copy(stream, &mut std::io::sink()).map(drop)
                }
                Step::Close => return,
            };
            if sent.is_err() {
                return;
            }
        }
        if stream.get_mut().0.flush().is_err() {
            return;
        }
    }
}

/// Reads one request with its body; none at the end.
fn read<S: Read>(stream: &mut BufReader<Both<S>>) -> Option<String> {
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") {
        if stream.read_line(&mut text).ok()? == 0 {
            return None;
        }
    }
    let lower = text.to_ascii_lowercase();
    let length = lower.split_once("content-length: ").and_then(|it| it.1.lines().next()?.parse::<usize>().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    stream.read_exact(&mut body).ok()?;
    if lower.contains("transfer-encoding: chunked") {
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).ok()?;
            let size = usize::from_str_radix(line.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            stream.read_exact(&mut chunk).ok()?;
            body.extend_from_slice(&chunk[..size]);
            if size == 0 {
                break;
            }
        }
    }
    Some(text + &String::from_utf8_lossy(&body))
}

/// What a client's connection looks like from outside, for a test that asks no plugin.
pub fn is_reachable(address: SocketAddr) -> bool {
    TcpStream::connect(address).is_ok()
}
