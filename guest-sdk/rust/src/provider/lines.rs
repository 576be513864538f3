//! [`Lines`]: lines out of bytes that come in pieces. Apart, because a piece may end anywhere: in a line, in a character,
//! between the two halves of a line's end.

/// The longest line that is kept, in bytes. A reply is made of short ones.
const MOST: usize = 16 * 1024 * 1024;

/// Which bytes end a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// LF, CRLF or CR.
    Any,
    /// LF alone, for text in which a CR is blank space.
    Lf,
}

/// Collects pieces and gives lines, without what ends them.
#[derive(Debug)]
pub(crate) struct Lines {
    ends: Ends,
    bytes: Vec<u8>,
    /// Where the next line starts, and how far no end was found.
    start: usize,
    seen: usize,
    /// The last line ended with CR: an LF right behind belongs to it.
    after_cr: bool,
}

impl Lines {
    pub(crate) fn new(ends: Ends) -> Self {
        Self { ends, bytes: Vec::new(), start: 0, seen: 0, after_cr: false }
    }

    /// Adds what arrived. False when a line grows too long.
    #[must_use]
    pub(crate) fn push(&mut self, piece: &[u8]) -> bool {
        self.bytes.drain(..self.start);
        self.seen -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(piece);
        self.bytes.len() - piece.len() <= MOST
    }

    /// The next whole line.
    pub(crate) fn next(&mut self) -> Option<&[u8]> {
        if self.after_cr && self.start < self.bytes.len() {
            self.after_cr = false;
            if self.bytes[self.start] == b'\n' {
                self.start += 1;
                self.seen = self.seen.max(self.start);
            }
        }
        let ends = |byte: &u8| *byte == b'\n' || (*byte == b'\r' && self.ends == Ends::Any);
        let Some(found) = self.bytes[self.seen..].iter().position(ends) else {
            self.seen = self.bytes.len();
            return None;
        };
        let (start, end) = (self.start, self.seen + found);
        self.after_cr = self.bytes[end] == b'\r';
        (self.start, self.seen) = (end + 1, end + 1);
        Some(&self.bytes[start..end])
    }

    /// What is left without an end.
    pub(crate) fn rest(&mut self) -> &[u8] {
        let start = std::mem::replace(&mut self.start, self.bytes.len());
        self.seen = self.bytes.len();
        &self.bytes[start..]
    }
}

#[cfg(test)]
mod tests {
    use super::{Ends, Lines};

    /// The lines of a text, pushed in pieces of this length, and what is left.
    fn lines(text: &str, length: usize) -> (Vec<String>, String) {
        let mut lines = Lines::new(Ends::Any);
        let mut found = Vec::new();
        let text_of = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("whole characters");
        for piece in text.as_bytes().chunks(length) {
            assert!(lines.push(piece));
            while let Some(line) = lines.next() {
                found.push(text_of(line));
            }
        }
        (found, text_of(lines.rest()))
    }

    #[test]
    fn a_line_ends_with_lf_crlf_or_cr_wherever_the_bytes_are_cut() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!("日本語{end}{end}b — 🙂{end}rest");
            for length in 1..text.len() {
                let (found, rest) = lines(&text, length);
                assert_eq!((&found[..], &*rest), (&["日本語", "", "b — 🙂"].map(str::to_owned)[..], "rest"), "{end:?}");
            }
        }
        assert_eq!(lines("a\r\r\n\n\rb", 1).0, ["a", "", "", ""]);
    }
}
