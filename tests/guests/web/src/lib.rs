//! A plugin that sends requests, on `wasi:http` and on sockets, and tells exactly what came of it.
//!
//! Without anybody's client over `wasi:http`, so that it can send what no client would.

mod request;

use std::net::{TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};

use bellglass_guest::{
    Capability, Completion, Failure, Model, Provider, ProviderError, Request, Setup, StopReason, Value, json, reply,
    settings, terminal,
};

/// Where it wants to go: servers of tests listen on these ports, each at an address of its own.
const ORIGINS: [&str; 11] = [
    "http://*:18080",
    "https://*:18443",
    "http://*:18081",
    "http://*.example.org:18080",
    "https://*.example.org:18443",
    "http://127.77.0.1:18080",
    "http://127.77.0.2:18080",
    "http://127.77.0.3:18080",
    "http://localhost:18080",
    "https://*",
    "http://*",
];

/// Which secret it wants where.
const CREDENTIALS: [(&str, &str); 6] = [
    ("WEB_KEY", "http://127.77.0.1:18080"),
    ("WEB_KEY", "http://127.77.0.2:18080"),
    ("WEB_KEY", "http://127.77.0.3:18080"),
    ("WEB_KEY", "https://*.example.org:18443"),
    ("WEB_KEY", "http://plain.example.org:18080"),
    ("OTHER_KEY", "https://*.example.org:18443"),
];

/// Any object.
const ANY: &str = r#"{"type":"object"}"#;

type Answer = Result<Value, Failure>;

fn setup(setup: &mut Setup) {
    setup.plugin("web", "Sends requests");
    for origin in ORIGINS {
        setup.asks(Capability::http(origin), "to reach servers");
    }
    for (secret, origin) in CREDENTIALS {
        let header = if secret == "WEB_KEY" { "authorization" } else { "x-other" };
        setup.asks(Capability::credential(secret, origin, header, "Bearer "), "to be let in");
    }
    setup.asks(Capability::env("WEB_KEY"), "to see whether it gets it");
    let text = |args: &Value, key: &str| args[key].as_str().unwrap_or_default().to_owned();
    setup.raw_tool("request", "Sends one", ANY, |args: Value| -> Answer {
        request::follow(&args).map_err(Failure::new)
    });
    setup.raw_tool("repeat", "Sends one after the other", ANY, |args: Value| -> Answer {
        for _ in 0..args["n"].as_u64().unwrap_or(1) {
            let answer = request::follow(&args).map_err(Failure::new)?;
            if answer["status"] != 200 {
                return Err(Failure::new(answer));
            }
        }
        Ok(json!({}))
    });
    setup.raw_tool("at-once", "Sends many", ANY, move |args: Value| -> Answer {
        Ok(request::at_once(&text(&args, "url"), args["n"].as_u64().unwrap_or(1)))
    });
    setup.raw_tool("sockets", "Goes around", ANY, move |args: Value| -> Answer {
        Ok(sockets(&text(&args, "address"), &text(&args, "name")))
    });
    setup.raw_tool("has-secret", "Asks for a secret", ANY, move |args: Value| -> Answer {
        let env: Vec<String> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
        Ok(json!({"has": settings::has_secret(&text(&args, "name")), "env": env}))
    });
    setup.raw_tool("say", "Prints and logs", ANY, move |args: Value| -> Answer {
        terminal::print(&text(&args, "text"));
        bellglass_guest::log::info(&text(&args, "text"));
        Ok(json!({"text": text(&args, "text")}))
    });
    setup.raw_tool("panic", "Panics", ANY, move |args: Value| -> Answer { panic!("{}", text(&args, "text")) });
    setup.provider("web", "Asks a server", Server);
}

/// Each way around `wasi:http` that a socket would be.
fn sockets(address: &str, name: &str) -> Value {
    let said = |it: std::io::Result<()>| it.map_or_else(|error| error.to_string(), |()| "reached".to_owned());
    json!({
        "connect": said(TcpStream::connect(address).map(drop)),
        "listen": said(TcpListener::bind("127.0.0.1:0").map(drop)),
        "udp": said(UdpSocket::bind("0.0.0.0:0").and_then(|it| it.send_to(b"x", address).map(drop))),
        "lookup": said((name, 80).to_socket_addrs().map(drop)),
    })
}

/// A model API that is a plain server: the option `url`.
struct Server;

impl Provider for Server {
    fn list_models(&self, _options: &Value) -> Result<Vec<Model>, ProviderError> {
        Ok(Vec::new())
    }

    /// Says how many bytes came.
    fn fetch(&self, request: &Request) -> Result<Completion, ProviderError> {
        let args = json!({"url": request.options["url"], "method": "POST", "body": "{}"});
        let answer = request::follow(&args).map_err(ProviderError::Broken)?;
        match (answer["status"].as_u64(), answer["failed"].as_str()) {
            (_, Some(error)) => Err(ProviderError::Broken(error.into())),
            (Some(401), _) => Err(ProviderError::Unauthorized(answer["body"].to_string())),
            _ => {
                reply::saying(format!("{} bytes", answer["length"]));
                Ok(Completion::new(StopReason::End))
            }
        }
    }
}

bellglass_guest::export!(setup);
