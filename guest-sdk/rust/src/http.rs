//! Requests over `wasi:http`, as a plugin that was granted [`Capability::Http`](crate::Capability::Http) sends them.
//!
//! Blocking: the plugin waits, the host does not. A body comes in the pieces in which it arrives, so that a stream can be
//! passed on as it comes. The host adds the credentials that the plugin was granted, follows no redirect, and ends what
//! stays silent for too long.
//!
//! ```
//! use bellglass_guest::{Capability, NoArguments, Result, Setup, Value, http, json, test};
//!
//! fn rate(_: NoArguments) -> Result<Value> {
//!     let response = http::Request::get("https://rates.example/eur").header("accept", "application/json").send()?;
//!     let rates: Value = serde_json::from_slice(&response.bytes(64 * 1024)?)?;
//!     Ok(json!({"usd": rates["usd"]}))
//! }
//!
//! fn setup(setup: &mut Setup) {
//!     setup.asks(Capability::http("https://rates.example"), "to look up rates");
//!     setup.tool("rate", "Looks up the rate of the euro", rate);
//! }
//!
//! let answer = test::Answer::new(200).body(r#"{"usd": 1.08}"#);
//! let plugin = test::plugin(setup).with_answer_from("https://rates.example/eur", answer);
//! assert_eq!(plugin.call("rate", json!({})), json!({"usd": 1.08, "ok": true}));
//!
//! let error = test::plugin(setup).without_grants().call("rate", json!({}))["error"].to_string();
//! assert!(error.contains("denied: this plugin has no grant `http=https://rates.example`"), "{error}");
//! ```

#[cfg(target_family = "wasm")]
#[path = "http/wasi.rs"]
mod sender;
#[cfg(not(target_family = "wasm"))]
use crate::test::doubles::http as sender;

use serde::Serialize;
use std::{error, fmt, io};

/// A request that is not sent yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Such as `POST`.
    pub method: &'static str,
    /// `scheme://host[:port]/path?query`.
    pub url: String,
    /// In the order added. Credentials are not among them: the host adds those.
    pub headers: Vec<(String, String)>,
    /// All of it.
    pub body: Vec<u8>,
}

impl Request {
    /// A request without a body.
    #[must_use]
    pub fn get(url: impl Into<String>) -> Self {
        Self { method: "GET", url: url.into(), headers: Vec::new(), body: Vec::new() }
    }

    /// A request that brings something; see [`json`](Self::json) and [`body`](Self::body).
    #[must_use]
    pub fn post(url: impl Into<String>) -> Self {
        Self { method: "POST", ..Self::get(url) }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// These bytes as the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// This value as the body, in JSON, with its content type.
    #[must_use]
    pub fn json(self, value: &impl Serialize) -> Self {
        // What cannot be written has keys that are no text: a fault of the author, whom the server will tell.
        let body = serde_json::to_vec(value).unwrap_or_default();
        self.header("content-type", "application/json").body(body)
    }

    /// Sends it and waits for status and headers. A status such as 404 is an answer, no error.
    ///
    /// # Errors
    ///
    /// Denied, or no answer came.
    pub fn send(self) -> Result<Response, Error> {
        let (head, body) = sender::send(&self)?;
        Ok(Response { status: head.status, headers: head.headers, body, rest: Vec::new(), read: 0 })
    }
}

/// Status and headers of an answer.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

/// An answer whose body is still to be read: with [`next_piece`](Self::next_piece), [`bytes`](Self::bytes), or as
/// [`io::Read`].
pub struct Response {
    /// Such as 200.
    pub status: u16,
    /// Names in small letters. A value that is no UTF-8 has its faults replaced.
    pub headers: Vec<(String, String)>,
    body: sender::Body,
    /// The piece that `io::Read` is at, and how far.
    rest: Vec<u8>,
    read: usize,
}

impl Response {
    /// Whether the status is one of 200 to 299.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first header of this name, which is given in small letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }

    /// Waits for the next piece of the body, as it arrives; none at its end.
    ///
    /// # Errors
    ///
    /// The body broke off, or stayed silent for too long.
    pub fn next_piece(&mut self) -> Result<Option<Vec<u8>>, Error> {
        self.body.next_piece()
    }

    /// The whole body.
    ///
    /// # Errors
    ///
    /// It broke off, or is longer than `most` bytes.
    pub fn bytes(mut self, most: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.next_piece()? {
            if bytes.len() + piece.len() > most {
                return Err(Error::new(Failed::TooLarge, format!("the answer is longer than {most} bytes")));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }
}

impl io::Read for Response {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.rest.len() {
            match self.next_piece().map_err(io::Error::other)? {
                Some(piece) => (self.rest, self.read) = (piece, 0),
                None => return Ok(0),
            }
        }
        let length = buffer.len().min(self.rest.len() - self.read);
        buffer[..length].copy_from_slice(&self.rest[self.read..self.read + length]);
        self.read += length;
        Ok(length)
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Response").field("status", &self.status).finish_non_exhaustive()
    }
}

/// What failed. [`Display`](fmt::Display) says it in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// To decide on.
    pub failed: Failed,
    message: String,
}

/// Which part of a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failed {
    /// The user did not grant it, or the host does not reach such addresses for plugins.
    Denied,
    /// The request cannot be sent as it is: its address, a header or its size.
    Request,
    /// No connection: no such host, nothing listens there, no valid certificate.
    Connect,
    /// Nothing came for too long.
    Timeout,
    /// The connection ended before the answer did, or what came was no HTTP.
    Broken,
    /// More came than is taken.
    TooLarge,
}

impl Error {
    pub(crate) fn new(failed: Failed, message: impl Into<String>) -> Self {
        Self { failed, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl error::Error for Error {}

/// `scheme`, `host[:port]`, and the rest with its `/`.
pub(crate) fn split(url: &str) -> Result<(&str, &str, &str), Error> {
    let wrong = || Error::new(Failed::Request, format!("`{url}` is no address such as `https://host/path`"));
    let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if authority.is_empty() || authority.contains(char::is_whitespace) || !matches!(scheme, "http" | "https") {
        return Err(wrong());
    }
    Ok((scheme, authority, path))
}

#[cfg(test)]
mod tests;
