//! Values, names and pointers as parts of a sentence: short, on one line, without anything that drives a terminal.
//!
//! Separate because a plugin, a model and a person read the same sentences, and all three can put text into them.

use std::io;

use serde_json::{Number, Value};

/// Characters of a value or a name; enough to recognise it, and a sentence stays a line.
const MAX_SHOWN: usize = 60;
/// Characters of a JSON pointer, which is no use when the end is missing.
const MAX_POINTER: usize = 200;

/// The size of a value: one for each value, each 64 bytes of text and more for long numbers, so that copying or
/// comparing it takes about as long.
pub(super) fn size(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) => 1,
        Value::Number(number) => 1 + digits(number),
        Value::String(string) => 1 + string.len() as u64 / 64,
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(map) => {
            let children = map.iter().map(|(name, child)| name.len() as u64 / 64 + size(child));
            1 + children.sum::<u64>()
        }
    }
}

/// What a long number counts more than a short one: dividing takes the square of its digits (0.6 ms for 4096).
pub(super) fn digits(number: &Number) -> u64 {
    let n = number.as_str().len() as u64;
    n / 16 + (n / 64) * (n / 64)
}

/// A value as compact JSON, shortened.
pub(super) fn value(value: &Value) -> String {
    let mut start = Start(Vec::new());
    // The only error is that enough was written.
    let _ = serde_json::to_writer(&mut start, value);
    shown(&String::from_utf8_lossy(&start.0), MAX_SHOWN)
}

/// A name, a pattern or other text of strangers, to be put in backticks.
pub(super) fn name(name: &str) -> String {
    shown(name, MAX_SHOWN)
}

/// A JSON pointer, to be put in backticks.
pub(super) fn pointer(pointer: &str) -> String {
    shown(pointer, MAX_POINTER)
}

/// The pointer to a child.
pub(super) fn join(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The first few, joined with `, ` and `or`.
pub(super) fn any_of(choices: Vec<String>, max: usize) -> String {
    listed(choices, max, "or")
}

/// The first few, joined with `, ` and the given word before the last.
pub(super) fn listed(mut choices: Vec<String>, max: usize, word: &str) -> String {
    let n_more = choices.len().saturating_sub(max);
    choices.truncate(max);
    if n_more > 0 {
        return format!("{} {word} {n_more} more", choices.join(", "));
    }
    match choices.pop() {
        Some(last) if choices.is_empty() => last,
        Some(last) => format!("{} {word} {last}", choices.join(", ")),
        None => "nothing".to_owned(),
    }
}

/// `1 item`, `2 items`.
pub(super) fn counted(n: impl std::fmt::Display, noun: &str, plural: &str) -> String {
    let n = n.to_string();
    let noun = if n == "1" { noun } else { plural };
    format!("{n} {noun}")
}

/// What is wrong with a number of more than [`super::MAX_DIGITS`] characters.
pub(super) fn too_many_digits(number: &Number) -> String {
    let max = super::MAX_DIGITS;
    format!("expected a number of at most {max} digits, got {}", number.as_str().len())
}

fn shown(text: &str, max: usize) -> String {
    let mut shown = String::new();
    for (idx, c) in text.chars().enumerate() {
        if idx == max {
            shown.push('…');
            break;
        }
        if drives_terminal(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Control characters, and those that are invisible or change the direction of what follows.
fn drives_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Takes the start of what is written and then fails, so that a value of megabytes is not written out.
struct Start(Vec<u8>);

impl io::Write for Start {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Four bytes a character; a character that is cut in two lies behind what is shown.
        if self.0.len() > MAX_SHOWN * 4 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let room = (MAX_SHOWN + 2) * 4;
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
