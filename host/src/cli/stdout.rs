//! Standard output for programs: whole lines, and a quiet end when nobody reads on.
//!
//! Apart, because `println!` panics on a closed pipe.

use std::io::{ErrorKind, Write as _};

/// Writes a text and a newline. A closed pipe is no error: whoever read has seen enough.
pub(super) fn line(text: &str) -> anyhow::Result<()> {
    let text = crate::secrets::redact(text);
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes JSON for a person or a program: indented.
pub(super) fn json(value: &serde_json::Value) -> anyhow::Result<()> {
    json_line(&serde_json::to_string_pretty(value)?)
}

/// Writes JSON as it is, but for characters that could drive a terminal: those are escaped, which JSON reads back the same.
pub(super) fn json_line(json: &str) -> anyhow::Result<()> {
    line(&escaped(json))
}

/// Outside of its strings JSON holds no such character, so that every one of them can be escaped.
fn escaped(json: &str) -> std::borrow::Cow<'_, str> {
    let is_safe = |it: char| it == '\n' || crate::text::is_visible_line(it.encode_utf8(&mut [0; 4]));
    if json.is_ascii() || json.chars().all(is_safe) {
        return json.into();
    }
    let mut text = String::with_capacity(json.len());
    for it in json.chars() {
        if is_safe(it) {
            text.push(it);
        } else {
            it.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
        }
    }
    text.into()
}

/// Lines of columns: each as wide as its widest cell, but the last.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|it| it.get(column)).map(|it| it.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_escaped_where_it_could_drive_a_terminal_and_reads_back_the_same() {
        let value = serde_json::json!({"a\u{9b}2J": "\u{1b}[2J \u{202e}x \u{e0001} 日本 🙂\n"});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let safe = escaped(&text);
        assert!(safe.chars().all(|it| it == '\n' || crate::text::is_visible_line(&it.to_string())), "{safe}");
        assert!(safe.contains("日本 🙂"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["a".into(), "long".into(), "x".into()], vec!["bcd".into(), "y".into()]];
        assert_eq!(table(&rows), "a    long  x\nbcd  y");
    }
}
