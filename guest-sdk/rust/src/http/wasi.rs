//! Sends requests through the host. Apart, because the rest of [`super`] is the same in tests.

use super::{Error, Failed, Head, Request, split};
use wasi::{
    http::{
        outgoing_handler::handle,
        types::http_error_code,
        types::{ErrorCode, Fields, IncomingBody, IncomingResponse, Method, OutgoingBody, OutgoingRequest, Scheme},
    },
    io::streams::{InputStream, OutputStream, StreamError},
};

/// How much is taken at once; what has arrived may be less.
const PIECE: u64 = 64 * 1024;

/// The body of an answer. The stream has to go before what it came from does, so the order of fields matters.
pub(crate) struct Body {
    stream: InputStream,
    _body: IncomingBody,
    _response: IncomingResponse,
}

pub(crate) fn send(request: &Request) -> Result<(Head, Body), Error> {
    let outgoing = outgoing(request)?;
    let body = outgoing.body().map_err(|()| broken("the host took no body"))?;
    let pending = handle(outgoing, None).map_err(|code| explain(&code, &request.url))?;
    write(&body, &request.body);
    // A server that answers before it read everything is no fault; what it answers says more.
    let _ = OutgoingBody::finish(body, None);
    pending.subscribe().block();
    let response = match pending.get() {
        Some(Ok(answer)) => answer.map_err(|code| explain(&code, &request.url))?,
        Some(Err(())) | None => return Err(broken("the host gave no answer")),
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let headers = response.headers().entries();
    let headers = headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), text(value))).collect();
    let head = Head { status: response.status(), headers };
    let body = response.consume().map_err(|()| broken("the host gave no body"))?;
    let stream = body.stream().map_err(|()| broken("the host gave no body"))?;
    Ok((head, Body { stream, _body: body, _response: response }))
}

fn outgoing(request: &Request) -> Result<OutgoingRequest, Error> {
    let (scheme, authority, path) = split(&request.url)?;
    let headers = Fields::new();
    let wrong = |what: &str| Error::new(Failed::Request, format!("the host takes no such {what}"));
    for (name, value) in &request.headers {
        headers.append(name, value.as_bytes()).map_err(|_| wrong(&format!("header: {name}")))?;
    }
    if request.method != "GET" {
        let length = request.body.len().to_string();
        headers.append("content-length", length.as_bytes()).map_err(|_| wrong("header: content-length"))?;
    }
    let outgoing = OutgoingRequest::new(headers);
    let method = match request.method {
        "GET" => Method::Get,
        "POST" => Method::Post,
        other => Method::Other(other.to_owned()),
    };
    let scheme = if scheme == "https" { Scheme::Https } else { Scheme::Http };
    // Without its fragment, which is the client's own business.
    let path = path.split('#').next().filter(|path| !path.is_empty());
    outgoing.set_method(&method).map_err(|()| wrong("method"))?;
    outgoing.set_scheme(Some(&scheme)).map_err(|()| wrong("scheme"))?;
    outgoing.set_authority(Some(authority)).map_err(|()| wrong("host"))?;
    outgoing.set_path_with_query(path).map_err(|()| wrong("path"))?;
    Ok(outgoing)
}

/// Writes as much at once as the host takes.
fn write(body: &OutgoingBody, mut bytes: &[u8]) {
    let Ok(stream) = body.write() else { return };
    while !bytes.is_empty() {
        let Ok(room) = room(&stream) else { return };
        let (piece, rest) = bytes.split_at(room.min(bytes.len()));
        if stream.write(piece).is_err() {
            return;
        }
        bytes = rest;
    }
    let _ = stream.blocking_flush();
}

fn room(stream: &OutputStream) -> Result<usize, StreamError> {
    loop {
        match stream.check_write()? {
            0 => stream.subscribe().block(),
            room => return Ok(usize::try_from(room).unwrap_or(usize::MAX)),
        }
    }
}

impl Body {
    pub(crate) fn next_piece(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            match self.stream.blocking_read(PIECE) {
                Ok(piece) if piece.is_empty() => {}
                Ok(piece) => return Ok(Some(piece)),
                Err(StreamError::Closed) => return Ok(None),
                Err(StreamError::LastOperationFailed(error)) => {
                    return Err(match http_error_code(&error) {
                        Some(code) => explain(&code, "the server"),
                        None => broken(&error.to_debug_string()),
                    });
                }
            }
        }
    }
}

fn broken(message: &str) -> Error {
    Error::new(Failed::Broken, message)
}

/// What a code means, said of `whom`.
fn explain(code: &ErrorCode, whom: &str) -> Error {
    let host = split(whom).map_or(whom, |(_, authority, _)| authority);
    let (failed, message) = match code {
        ErrorCode::HttpRequestDenied => (Failed::Denied, format!("denied: requests to {host} are not granted")),
        ErrorCode::DestinationIpProhibited => (
            Failed::Denied,
            format!("denied: {host} is at an address that plugins do not reach without a grant for it"),
        ),
        ErrorCode::DnsTimeout | ErrorCode::DnsError(_) | ErrorCode::DestinationNotFound => {
            (Failed::Connect, format!("there is no host {host}, or the network is down"))
        }
        ErrorCode::ConnectionRefused => (Failed::Connect, format!("nothing answers at {host}")),
        ErrorCode::DestinationUnavailable | ErrorCode::DestinationIpUnroutable => {
            (Failed::Connect, format!("{host} cannot be reached"))
        }
        ErrorCode::TlsProtocolError | ErrorCode::TlsCertificateError | ErrorCode::TlsAlertReceived(_) => {
            (Failed::Connect, format!("{host} has no certificate that is trusted here ({code:?})"))
        }
        ErrorCode::ConnectionTimeout => (Failed::Timeout, format!("{host} did not accept the connection in time")),
        ErrorCode::ConnectionReadTimeout | ErrorCode::ConnectionWriteTimeout | ErrorCode::HttpResponseTimeout => {
            (Failed::Timeout, format!("{host} stayed silent for too long"))
        }
        ErrorCode::ConnectionLimitReached => {
            (Failed::Request, "too many requests of this plugin are under way".to_owned())
        }
        ErrorCode::HttpResponseBodySize(_) => (Failed::TooLarge, format!("{host} sent more than is taken")),
        ErrorCode::ConnectionTerminated | ErrorCode::HttpResponseIncomplete => {
            (Failed::Broken, format!("{host} ended the connection before the answer was whole"))
        }
        ErrorCode::InternalError(Some(message)) => (Failed::Broken, format!("{host}: {message}")),
        other => (Failed::Broken, format!("{host}: {other:?}")),
    };
    Error::new(failed, message)
}
