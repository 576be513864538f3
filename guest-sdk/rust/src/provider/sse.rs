//! Event streams as the WHATWG HTML standard defines them: `text/event-stream`.
//!
//! Works on bytes, so that a read may end anywhere. Lines end with LF, CRLF or CR; comments, which servers send to keep a
//! connection alive, are left out; `data:` needs no blank behind it; a byte order mark at the start is skipped. Two things
//! beyond the standard: an event that only lacks its blank line at the end of the stream counts, and what is no UTF-8 is
//! replaced instead of refused.
//!
//! ```
//! use bellglass_guest::provider::sse;
//!
//! let mut parser = sse::Parser::new();
//! parser.push(b"event: delta\r\ndata:{\"a\":1}\r").unwrap();
//! assert_eq!(parser.next(), None);
//! parser.push(b"\n\r\n: ping\n\ndata: [DONE]\n\n").unwrap();
//! let event = parser.next().unwrap();
//! assert_eq!((&*event.name, &*event.data), ("delta", "{\"a\":1}"));
//! assert_eq!(parser.next().unwrap().data, "[DONE]");
//! ```

use super::lines::{Ends, Lines};
use crate::http::{Error, Failed, Response};
use std::collections::VecDeque;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its type; empty where none was sent.
    pub name: String,
    /// Its data, several lines joined by LF. Never empty.
    pub data: String,
}

/// The events of an answer, as they come.
#[must_use]
pub fn events(response: Response) -> Events {
    Events { response, parser: Parser::new(), at_end: false }
}

/// See [`events`].
#[derive(Debug)]
pub struct Events {
    response: Response,
    parser: Parser,
    at_end: bool,
}

impl Iterator for Events {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(event) = self.parser.next() {
                return Some(Ok(event));
            }
            if self.at_end {
                return None;
            }
            let pushed = match self.response.next_piece() {
                Ok(Some(piece)) => self.parser.push(&piece),
                Ok(None) => {
                    self.at_end = true;
                    self.parser.end();
                    Ok(())
                }
                Err(error) => Err(error),
            };
            if let Err(error) = pushed {
                self.at_end = true;
                return Some(Err(error));
            }
        }
    }
}

/// Makes events of bytes, for what is no [`Response`].
#[derive(Debug)]
pub struct Parser {
    lines: Lines,
    is_first: bool,
    name: String,
    data: Vec<u8>,
    ready: VecDeque<Event>,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// At the start of a stream.
    #[must_use]
    pub fn new() -> Self {
        let lines = Lines::new(Ends::Any);
        Self { lines, is_first: true, name: String::new(), data: Vec::new(), ready: VecDeque::new() }
    }

    /// Adds what arrived.
    ///
    /// # Errors
    ///
    /// A line or an event is longer than 16 MiB.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), Error> {
        let fits = self.lines.push(piece);
        while let Some(line) = self.lines.next() {
            let line = match std::mem::replace(&mut self.is_first, false) {
                true => line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line),
                false => line,
            };
            if line.is_empty() {
                let (name, mut data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
                data.pop();
                if !data.is_empty() {
                    self.ready.push_back(Event { name, data: text(data) });
                }
                continue;
            }
            let (field, value) = match line.iter().position(|byte| *byte == b':') {
                Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
                None => (line, &[][..]),
            };
            match field {
                b"data" => {
                    self.data.extend_from_slice(value);
                    self.data.push(b'\n');
                }
                b"event" => self.name = text(value.to_owned()),
                // An id and a time to reconnect are nothing to us; an empty field is a comment; others are to be ignored.
                _ => {}
            }
        }
        if fits && self.data.len() <= 16 * 1024 * 1024 {
            return Ok(());
        }
        Err(Error::new(Failed::TooLarge, "the server sent an event of more than 16 MiB"))
    }

    /// Nothing more will come: the last event counts without its blank line, if its last line has ended.
    pub fn end(&mut self) {
        // What has no end was cut, wherever it was.
        if self.lines.rest().is_empty() {
            let _ = self.push(b"\r");
        }
    }

    /// The next whole event.
    #[allow(clippy::should_implement_trait, reason = "that it has none now does not mean that it has no more")]
    pub fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::Parser;

    /// `name=data` of each event.
    fn events(bytes: &[u8], length: usize) -> Vec<String> {
        let mut parser = Parser::new();
        let mut found = Vec::new();
        for piece in bytes.chunks(length) {
            parser.push(piece).unwrap();
            found.extend(std::iter::from_fn(|| parser.next()));
        }
        parser.end();
        found.extend(std::iter::from_fn(|| parser.next()));
        found.iter().map(|event| format!("{}={}", event.name, event.data)).collect()
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        for (stream, expected) in [
            ("data: a\n\ndata:b\n\n", &["=a", "=b"][..]),
            ("data:  two blanks\n\n", &["= two blanks"]),
            (": ping\n\n:ok\ndata: a\n:\n\n", &["=a"]),
            ("data: one\ndata: two\n\n", &["=one\ntwo"]),
            ("data\n\ndata:\n\ndata: a\n\n", &["=a"]),
            ("event: e\ndata: a\n\ndata: b\n\n", &["e=a", "=b"]),
            ("id: 7\nretry: 3\nhuh: x\ndata: a\n\n", &["=a"]),
            ("\u{feff}data: a\n\n", &["=a"]),
            ("data: [DONE]\n\n", &["=[DONE]"]),
            ("data: a:b\n\n", &["=a:b"]),
            ("data: 日本語 — 🙂\n\n", &["=日本語 — 🙂"]),
            ("data: not ended\n", &["=not ended"]),
            ("data: a\n\ndata: cut", &["=a"]),
            ("", &[]),
        ] {
            for end in ["\n", "\r\n", "\r"] {
                let stream = stream.replace('\n', end);
                for length in 1..=stream.len().max(1) {
                    assert_eq!(events(stream.as_bytes(), length), expected, "{stream:?} in pieces of {length}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_utf_8_is_replaced() {
        assert_eq!(events(b"data: a\xFFb\n\n", 3), ["=a\u{fffd}b"]);
    }

    #[test]
    fn an_event_without_end_is_refused_at_last() {
        let mut parser = Parser::new();
        let piece = vec![b'a'; 1024 * 1024];
        assert!((0..40).any(|_| parser.push(&piece).is_err()));
        let mut parser = Parser::new();
        let piece = [&b"data: "[..], &piece, b"\n"].concat();
        assert!((0..40).any(|_| parser.push(&piece).is_err()));
    }
}
