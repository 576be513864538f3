//! Lines of which each is a JSON value: `application/x-ndjson`.
//!
//! Works on bytes, so that a read may end anywhere, also in a character. Blank lines are left out, and the last line counts
//! without its end.
//!
//! ```
//! use bellglass_guest::{Capability, Setup, http, provider::ndjson, test};
//!
//! let setup = |setup: &mut Setup| {
//!     setup.asks(Capability::http("http://a"), "to try");
//! };
//! let answer = test::Answer::new(200).piece("{\"a\":1}\r\n\n{\"b\"").piece(":2}");
//! let plugin = test::plugin(setup).with_answer_from("http://a/", answer);
//!
//! let response = http::Request::get("http://a/").send().unwrap();
//! let lines: Vec<String> = ndjson::lines(response).map(Result::unwrap).collect();
//! assert_eq!(lines, [r#"{"a":1}"#, r#"{"b":2}"#]);
//! ```

use super::lines;
use crate::http::{Error, Failed, Response};

/// The lines of an answer, as they come, without blanks around them.
#[must_use]
pub fn lines(response: Response) -> Lines {
    Lines { response, lines: lines::Lines::new(lines::Ends::Lf), at_end: false }
}

/// The whole answer as one line.
pub(super) fn whole(response: Response) -> impl Iterator<Item = Result<String, Error>> {
    let read =
        |response: Response| response.bytes(super::api::MOST).map(|it| String::from_utf8_lossy(&it).into_owned());
    std::iter::once(response).map(read)
}

/// See [`lines`].
#[derive(Debug)]
pub struct Lines {
    response: Response,
    lines: lines::Lines,
    at_end: bool,
}

impl Iterator for Lines {
    type Item = Result<String, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let text =
            |line: &[u8]| Some(String::from_utf8_lossy(line.trim_ascii()).into_owned()).filter(|it| !it.is_empty());
        loop {
            while let Some(line) = self.lines.next() {
                if let Some(line) = text(line) {
                    return Some(Ok(line));
                }
            }
            if self.at_end {
                return None;
            }
            match self.response.next_piece() {
                Ok(Some(piece)) if self.lines.push(&piece) => {}
                Ok(None) => {
                    self.at_end = true;
                    return text(self.lines.rest()).map(Ok);
                }
                Ok(Some(_)) => {
                    self.at_end = true;
                    return Some(Err(Error::new(Failed::TooLarge, "the server sent a line of more than 16 MiB")));
                }
                Err(error) => {
                    self.at_end = true;
                    return Some(Err(error));
                }
            }
        }
    }
}
