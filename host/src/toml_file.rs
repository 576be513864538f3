//! The files that users write in TOML: reading them whole, and what is wrong in them with its place.
//!
//! Apart from what they mean, because every one of them stops the start in the same way: with file, line, column, key and what
//! was expected.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use toml::de::DeTable;

use crate::limits::LimitError;
use crate::name::NameError;
use crate::text::{first_chars, visible_line};

pub(crate) mod read;

/// The largest file that is read. A larger one was written by no person.
const MOST_BYTES: u64 = 1 << 20;

/// Why a file cannot be used. `Display` is one line.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum FileError {
    /// Something in the file is wrong.
    #[error("`{place}`: {problem}")]
    Wrong {
        /// Where it is.
        place: Place,
        /// What it is.
        problem: Problem,
    },
    /// The path leads to a folder.
    #[error("cannot read `{0}`: it is a folder")]
    Folder(String),
    /// The path leads to a pipe, a device or the like, which may never end.
    #[error("cannot read `{0}`: it is not a regular file")]
    NoFile(String),
    /// The file is too large.
    #[error("cannot read `{0}`: it has more than 1 MiB")]
    TooLarge(String),
    /// The system refused.
    #[error("cannot read `{file}`: {kind}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        kind: io::ErrorKind,
    },
}

/// A place in a file, as editors count it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it, made safe to show.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1; a tab is one.
    pub column: usize,
}

/// What is wrong at a [`Place`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not TOML.
    #[error("{0}")]
    Syntax(String),
    /// Not text.
    #[error("not UTF-8")]
    Encoding,
    /// No such key.
    #[error("unknown key `{key}`{}, expected {}", in_table(.table), one_of(.expected))]
    UnknownKey {
        /// The key.
        key: String,
        /// The path of the table that it is in; empty at the top.
        table: &'static str,
        /// The keys there are.
        expected: Vec<&'static str>,
    },
    /// A value of the wrong type.
    #[error("`{key}` is {got}, expected {expected}")]
    Type {
        /// The path of the key.
        key: String,
        /// What it is.
        got: &'static str,
        /// What it should be.
        expected: String,
    },
    /// A value that is none of those there are.
    #[error("`{key}` is `{got}`, expected {}", one_of(.expected))]
    Choice {
        /// The path of the key.
        key: &'static str,
        /// What was written.
        got: String,
        /// What can be written.
        expected: Vec<&'static str>,
    },
    /// A limit that cannot be set to this.
    #[error("`limits.{name}`: {error}")]
    Limit {
        /// The limit.
        name: &'static str,
        /// Why.
        error: LimitError,
    },
    /// A table below `plugin` whose name is no plugin's.
    #[error("`plugin`: {0}")]
    Plugin(NameError),
    /// A value that its own reader refuses.
    #[error("`{key}`: {error}")]
    Value {
        /// The path of the key.
        key: String,
        /// What is wrong, in the reader's words.
        error: String,
    },
    /// A value that JSON does not have.
    #[error("`{0}` is a number that JSON cannot hold")]
    Number(String),
}

/// Reads a file as text. None when it does not exist.
pub(crate) fn load(path: &Path) -> Result<Option<String>, FileError> {
    let file_name = visible_line(&path.to_string_lossy()).into_owned();
    let unreadable = |error: io::Error| FileError::Unreadable { file: file_name.clone(), kind: error.kind() };
    // The kind of file first: opening a pipe would wait for its writer.
    let metadata = match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        result => result.map_err(unreadable)?,
    };
    if metadata.is_dir() {
        return Err(FileError::Folder(file_name));
    }
    if !metadata.is_file() {
        return Err(FileError::NoFile(file_name));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(FileError::TooLarge(file_name));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]).into_owned();
        FileError::Wrong { place: Place::at(&file_name, &valid, valid.len()), problem: Problem::Encoding }
    })
}

/// Parses text as TOML and makes a value of it; `file_name` is what errors call it.
pub(crate) fn parse<T>(
    text: &str,
    file_name: &str,
    value: impl FnOnce(&DeTable<'_>) -> Result<T, read::At>,
) -> Result<T, FileError> {
    // Editors on Windows put a byte order mark before the text; it is no column.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = DeTable::parse(text).map_err(|error| read::syntax(text, &error));
    parsed.and_then(|table| value(table.get_ref())).map_err(|(offset, problem)| {
        let place = Place::at(&visible_line(file_name), text, offset);
        FileError::Wrong { place, problem }
    })
}

impl FileError {
    /// Returns the next step, where one is near: the key or the value that was probably meant.
    pub fn hint(&self) -> Option<String> {
        let FileError::Wrong { problem, .. } = self else {
            return None;
        };
        let (written, expected) = match problem {
            Problem::UnknownKey { key, expected, .. } => (key, expected),
            Problem::Choice { got, expected, .. } => (got, expected),
            _ => return None,
        };
        nearest(written, expected).map(|nearest| format!("did you mean `{nearest}`?"))
    }
}

impl Place {
    fn at(file: &str, text: &str, offset: usize) -> Place {
        let before = &text[..text.floor_char_boundary(offset.min(text.len()))];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Place {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

fn in_table(table: &str) -> String {
    if table.is_empty() { String::new() } else { format!(" in `{table}`") }
}

fn one_of(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => format!("`{one}`"),
        [others @ .., last] => format!("`{}` or `{last}`", others.join("`, `")),
    }
}

/// Returns the name that differs in at most a third of its letters, the first of the nearest.
fn nearest<'n>(written: &str, names: &[&'n str]) -> Option<&'n str> {
    let written = first_chars(written, 40).to_lowercase().replace('-', "_");
    let near = names.iter().map(|name| (distance(&written, name), *name));
    let (distance, name) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= (name.len() / 3).max(1)).then_some(name)
}

/// Letters to insert, remove, replace or swap with their neighbour to get from one to the other.
fn distance(one: &str, two: &str) -> usize {
    let (one, two): (Vec<char>, Vec<char>) = (one.chars().collect(), two.chars().collect());
    let mut rows = vec![vec![0; two.len() + 1]; one.len() + 1];
    for i in 0..=one.len() {
        for j in 0..=two.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(one[i - 1] != two[j - 1]);
                let swapped = i > 1 && j > 1 && one[i - 1] == two[j - 2] && one[i - 2] == two[j - 1];
                let swapped = if swapped { rows[i - 2][j - 2] + 1 } else { usize::MAX };
                replaced.min(swapped).min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1)
            };
        }
    }
    rows[one.len()][two.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_one_that_was_probably_meant() {
        let cases = [
            ("memroy", Some("memory")),
            ("CPU", Some("cpu")),
            ("cup", Some("cpu")),
            ("x", None),
            ("", None),
            ("deadlines", Some("deadline")),
        ];
        for (written, expected) in cases {
            assert_eq!(nearest(written, &["cpu", "memory", "deadline"]), expected, "{written}");
        }
    }
}
