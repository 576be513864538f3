//! [`Script`]: what a server is asked and how it answers, written down in a file that people can read.
//!
//! Apart, because the same files serve two tests: of a plugin natively, and of the program against a real socket.

use std::collections::VecDeque;

/// Exchanges in order.
///
/// A script is text. Lines that start with `===` say what happens, everything else belongs to the line before it:
///
/// ```text
/// what the script is about
///
/// === POST /v1/chat
/// has "stream":true
/// lacks "temperature"
///
/// === 200
/// content-type: text/event-stream
///
/// data: {"text":"Hel
/// === cut
/// lo"}
///
/// === broken
/// ```
///
/// A request is expected with a method and a path; below it, `has` and `lacks` tell what its body contains and what not.
/// An answer has a status; below it come headers, a blank line, and the body as it stands, line by line. In a body, `cut`
/// says where one read ends and the next begins; the newline before `=== cut` is not part of the body. `broken` ends the
/// connection, `silent` says nothing more and keeps it open.
///
/// ```
/// use bellglass_guest::test::Script;
///
/// let script = Script::parse("=== GET /v1/models\n=== 200\n\n{\"data\":[]}\n").unwrap();
/// assert_eq!(script.exchanges[0].path, "/v1/models");
/// assert_eq!(script.exchanges[0].answer.status, 200);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// In the order in which they happen.
    pub exchanges: VecDeque<Exchange>,
}

/// One request and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Such as `POST`; empty for any.
    pub method: String,
    /// The path with its query, or a whole address.
    pub path: String,
    /// What the body has to contain.
    pub has: Vec<String>,
    /// What the body may not contain.
    pub lacks: Vec<String>,
    /// What is answered.
    pub answer: Answer,
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Such as 200.
    pub status: u16,
    /// In order.
    pub headers: Vec<(String, String)>,
    /// The body as it arrives.
    pub pieces: Vec<Piece>,
}

/// What happens next while a body is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// This arrives.
    Bytes(Vec<u8>),
    /// The connection ends, though the body is not whole.
    Broken,
    /// Nothing more comes, and the connection stays.
    Silent,
}

impl Answer {
    /// An answer without headers or body.
    #[must_use]
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), pieces: Vec::new() }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a piece of the body, to arrive by itself.
    #[must_use]
    pub fn piece(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.pieces.push(Piece::Bytes(bytes.into()));
        self
    }

    /// As [`piece`](Self::piece), for a body of one.
    #[must_use]
    pub fn body(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.piece(bytes)
    }

    /// The connection ends here, before the body is whole.
    #[must_use]
    pub fn broken(mut self) -> Self {
        self.pieces.push(Piece::Broken);
        self
    }

    /// Nothing more comes from here on.
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.pieces.push(Piece::Silent);
        self
    }

    /// All bytes of the body in one.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let bytes = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Bytes(bytes) => Some(&bytes[..]),
            Piece::Broken | Piece::Silent => None,
        });
        bytes.collect::<Vec<_>>().concat()
    }

    /// The same body in pieces of other lengths, each at least one byte long. How it ends stays.
    #[must_use]
    pub fn cut(&self, mut length: impl FnMut() -> usize) -> Self {
        let bytes = self.bytes();
        let mut rest = &bytes[..];
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(length().clamp(1, rest.len()));
            pieces.push(Piece::Bytes(piece.to_owned()));
            rest = after;
        }
        pieces.extend(self.pieces.iter().filter(|piece| !matches!(piece, Piece::Bytes(_))).cloned());
        Self { pieces, ..self.clone() }
    }

    /// The same answer with other bytes in its body, in one piece. How it ends stays.
    #[must_use]
    pub fn with_bytes(&self, bytes: Vec<u8>) -> Self {
        let end = self.pieces.iter().filter(|piece| !matches!(piece, Piece::Bytes(_))).cloned();
        Self { pieces: [Piece::Bytes(bytes)].into_iter().chain(end).collect(), ..self.clone() }
    }
}

impl Exchange {
    /// Whatever is sent there gets this answer.
    #[must_use]
    pub fn new(method: &str, path: &str, answer: Answer) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), has: Vec::new(), lacks: Vec::new(), answer }
    }

    /// Whether a request is the one that is expected. `path` is all after the host.
    ///
    /// # Errors
    ///
    /// What is different, as a sentence.
    pub fn check(&self, method: &str, path: &str, body: &[u8]) -> Result<(), String> {
        let expected = match self.path.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
            None => &self.path,
        };
        let any = self.method.is_empty();
        if path != expected || !(any || method == self.method) {
            return Err(format!("expected {} {expected}, got {method} {path}", self.method));
        }
        let body = String::from_utf8_lossy(body);
        if let Some(missing) = self.has.iter().find(|part| !body.contains(&***part)) {
            return Err(format!("{method} {path} has no {missing} in its body: {body}"));
        }
        match self.lacks.iter().find(|part| body.contains(&***part)) {
            Some(part) => Err(format!("{method} {path} has {part} in its body: {body}")),
            None => Ok(()),
        }
    }
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// The line that cannot be understood.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut script = Self::default();
        let start = format!("\n{text}");
        let mut sections = start.split("\n=== ").skip(1).peekable();
        while let Some(section) = sections.next() {
            let ends_line = sections.peek().is_some_and(|next| !next.starts_with("cut\n"));
            script.section(&format!("{section}{}", if ends_line { "\n" } else { "" }))?;
        }
        Ok(script)
    }

    fn section(&mut self, section: &str) -> Result<(), String> {
        let (what, below) = section.split_once('\n').unwrap_or((section, ""));
        let wrong = || format!("a script has no `=== {what}` there");
        let last = self.exchanges.back_mut();
        match (what.split_once(' '), last) {
            (Some((method, path)), _) => {
                let mut exchange = Exchange::new(method, path, Answer::new(0));
                for line in below.lines().filter(|line| !line.is_empty()) {
                    match line.split_once(' ') {
                        Some(("has", part)) => exchange.has.push(part.to_owned()),
                        Some(("lacks", part)) => exchange.lacks.push(part.to_owned()),
                        _ => return Err(format!("below a request, a line starts with `has` or `lacks`: {line}")),
                    }
                }
                self.exchanges.push_back(exchange);
            }
            (None, Some(exchange)) => {
                let answer = &mut exchange.answer;
                match what {
                    "cut" => answer.pieces.push(Piece::Bytes(below.as_bytes().to_owned())),
                    "broken" => answer.pieces.push(Piece::Broken),
                    "silent" => answer.pieces.push(Piece::Silent),
                    status => {
                        answer.status = status.parse().map_err(|_| wrong())?;
                        let (headers, body) = below.split_once("\n\n").unwrap_or((below, ""));
                        let (headers, body) = match below.strip_prefix('\n') {
                            Some(body) => ("", body),
                            None => (headers, body),
                        };
                        for line in headers.lines().filter(|line| !line.is_empty()) {
                            let (name, value) = line.split_once(": ").ok_or(format!("no header: {line}"))?;
                            answer.headers.push((name.to_owned(), value.to_owned()));
                        }
                        answer.pieces.push(Piece::Bytes(body.as_bytes().to_owned()));
                    }
                }
            }
            (None, None) => return Err(wrong()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Piece, Script};

    #[test]
    fn a_script_says_what_is_asked_and_what_is_answered() {
        let text = "About\n\n=== POST /a?b\nhas \"x\":1\nlacks y\n\n=== 429\nretry-after: 7\n\nsl\n=== cut\now\n\n=== broken\n";
        let script = Script::parse(text).unwrap();
        let exchange = &script.exchanges[0];
        let expected = Answer::new(429).header("retry-after", "7").piece("sl").piece("ow\n\n").broken();
        assert_eq!(exchange.answer, expected);
        assert_eq!(exchange.check("POST", "/a?b", br#"{"x":1}"#), Ok(()));
        for (path, body) in [("/a", r#"{"x":1}"#), ("/a?b", "{}"), ("/a?b", r#"{"x":1,"y":2}"#)] {
            assert!(exchange.check("POST", path, body.as_bytes()).is_err(), "{path} {body}");
        }
        for wrong in ["=== 200\n", "=== GET /\nhat x\n", "=== GET /\n=== huh\n", "=== GET /\n=== 200\nno header\n\n"] {
            assert!(Script::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn cutting_keeps_bytes_and_end() {
        let answer = Answer::new(200).piece("abc").piece("de").silent();
        let cut = answer.cut(|| 2);
        assert_eq!((cut.bytes(), cut.pieces.len()), (b"abcde".to_vec(), 4));
        assert_eq!(cut.pieces.last(), Some(&Piece::Silent));
        assert_eq!(answer.cut(|| 0).pieces.len(), 6);
    }
}
