//! Requests on the bare interface.
//!
//! Apart, because everything else in this guest is one line.

use bellglass_guest::{Value, json};
use std::collections::BTreeMap;
use wasi::http::outgoing_handler::{FutureIncomingResponse, handle};
use wasi::http::types::{ErrorCode, Fields, IncomingResponse, Method, OutgoingBody, OutgoingRequest, Scheme};
use wasi::io::streams::StreamError;

/// Sends a request, and goes after as many redirects as `follow` says.
///
/// `{url, method, headers: {}, body, follow, read}`, answered with `{status, headers, body, length, error, hops}`.
pub(crate) fn follow(args: &Value) -> Result<Value, String> {
    let mut url = args["url"].as_str().ok_or("no url")?.to_owned();
    let mut hops = args["follow"].as_u64().unwrap_or_default();
    let mut urls = Vec::new();
    loop {
        let mut answer = match send(&url, args)? {
            Err(code) => json!({"failed": format!("{code:?}")}),
            Ok(pending) => match wait(&pending) {
                Err(code) => json!({"failed": format!("{code:?}")}),
                Ok(response) => read(response, args["most"].as_u64().unwrap_or(u64::MAX)),
            },
        };
        let location = answer["headers"]["location"].as_str().map(str::to_owned);
        match location {
            Some(location) if hops > 0 => {
                hops -= 1;
                urls.push(std::mem::replace(&mut url, location));
            }
            _ => {
                if !urls.is_empty() {
                    answer["hops"] = json!(urls);
                }
                if args["raise"] == json!(true)
                    && let Some(error) = answer["failed"].as_str()
                {
                    return Err(error.into());
                }
                return Ok(answer);
            }
        }
    }
}

/// Sends several requests before it reads any answer.
pub(crate) fn at_once(url: &str, n: u64) -> Value {
    let args = json!({});
    let sent: Vec<_> = (0..n).map(|_| send(url, &args)).collect();
    let mut answered = Vec::new();
    let mut held = Vec::new();
    for it in sent {
        match it {
            Ok(Ok(pending)) => match wait(&pending) {
                Ok(response) => {
                    answered.push(json!(response.status()));
                    held.push(response);
                }
                Err(code) => answered.push(json!(format!("{code:?}"))),
            },
            Ok(Err(code)) => answered.push(json!(format!("{code:?}"))),
            Err(error) => answered.push(json!(error)),
        }
    }
    json!({"answered": answered})
}

/// `Err(Err)` is a request that cannot even be written.
fn send(url: &str, args: &Value) -> Result<Result<FutureIncomingResponse, ErrorCode>, String> {
    let headers = Fields::new();
    for (name, value) in args["headers"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default().as_bytes().to_vec();
        headers.append(name, &value).map_err(|it| format!("header {name}: {it:?}"))?;
    }
    let request = OutgoingRequest::new(headers);
    let (scheme, rest) = url.split_once("://").ok_or("no scheme")?;
    let scheme = match scheme {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.to_owned()),
    };
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let method = match args["method"].as_str().unwrap_or("GET") {
        "GET" => Method::Get,
        "POST" => Method::Post,
        other => Method::Other(other.to_owned()),
    };
    request.set_method(&method).map_err(|()| "the method")?;
    request.set_scheme(Some(&scheme)).map_err(|()| "the scheme")?;
    request.set_authority(Some(&rest[..at])).map_err(|()| "the authority")?;
    let path = if at == rest.len() { "/" } else { &rest[at..] };
    request.set_path_with_query(Some(path)).map_err(|()| "the path")?;
    let body = args["body"].as_str().map(|text| text.repeat(args["times"].as_u64().unwrap_or(1) as usize));
    let stream = body.map(|text| (request.body().expect("the first to ask"), text));
    let pending = match handle(request, None) {
        Ok(pending) => pending,
        Err(code) => return Ok(Err(code)),
    };
    if let Some((body, text)) = stream {
        let stream = body.write().expect("the first to ask");
        for piece in text.as_bytes().chunks(4096) {
            if stream.blocking_write_and_flush(piece).is_err() {
                break;
            }
        }
        drop(stream);
        let _ = OutgoingBody::finish(body, None);
    }
    Ok(Ok(pending))
}

fn wait(pending: &FutureIncomingResponse) -> Result<IncomingResponse, ErrorCode> {
    pending.subscribe().block();
    pending.get().expect("it is ready").expect("the first to ask")
}

/// Reads at most so many bytes. The text of a large body is left out, its length never.
fn read(response: IncomingResponse, most: u64) -> Value {
    let status = response.status();
    let mut headers = BTreeMap::new();
    for (name, value) in response.headers().entries() {
        headers.insert(name, String::from_utf8_lossy(&value).into_owned());
    }
    let body = response.consume().expect("the first to ask");
    let stream = body.stream().expect("the first to ask");
    let (mut start, mut length, mut error) = (Vec::new(), 0, None);
    while length < most {
        match stream.blocking_read(64 << 10) {
            Ok(bytes) => {
                length += bytes.len() as u64;
                let room = 4096_usize.saturating_sub(start.len()).min(bytes.len());
                start.extend_from_slice(&bytes[..room]);
            }
            Err(StreamError::Closed) => break,
            Err(StreamError::LastOperationFailed(failed)) => {
                let code = wasi::http::types::http_error_code(&failed);
                error = Some(code.map_or_else(|| failed.to_debug_string(), |code| format!("{code:?}")));
                break;
            }
        }
    }
    json!({
        "status": status,
        "headers": headers,
        "body": String::from_utf8_lossy(&start),
        "length": length,
        "failed": error,
    })
}
