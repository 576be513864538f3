//! Output of a program, of which the middle is left out when there is too much.

use std::collections::VecDeque;

/// The start and the end of what was written.
#[derive(Debug)]
pub(super) struct Captured {
    start: Vec<u8>,
    end: VecDeque<u8>,
    /// Bytes of each half, at most.
    half: usize,
    left_out: usize,
}

impl Captured {
    /// For at most so many bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { start: Vec::new(), end: VecDeque::new(), half: (limit / 2).max(1), left_out: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.half - self.start.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.start.extend_from_slice(first);
        self.end.extend(rest);
        let over = self.end.len().saturating_sub(self.half);
        self.end.drain(..over);
        self.left_out += over;
    }

    pub(super) fn is_cut(&self) -> bool {
        self.left_out > 0
    }

    /// As text; what is no UTF-8 becomes `�`.
    pub(super) fn text(self) -> String {
        let end: Vec<u8> = self.end.into();
        if self.left_out == 0 {
            return String::from_utf8_lossy(&[self.start, end].concat()).into_owned();
        }
        let (start, end) = (String::from_utf8_lossy(&self.start), String::from_utf8_lossy(&end));
        format!("{start}\n[{} bytes left out]\n{end}", self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_whole_and_of_more_the_middle_is_left_out() {
        let text = |pieces: &[&str]| {
            let mut captured = Captured::new(8);
            pieces.iter().for_each(|it| captured.push(it.as_bytes()));
            (captured.is_cut(), captured.text())
        };
        assert_eq!(text(&[]), (false, String::new()));
        assert_eq!(text(&["abcd", "efgh"]), (false, "abcdefgh".into()));
        assert_eq!(text(&["abc", "defghi", "jkl"]), (true, "abcd\n[4 bytes left out]\nijkl".into()));
        assert_eq!(text(&["é"; 4]), (false, "éééé".into()), "a character that is cut in two is whole again");
    }
}
