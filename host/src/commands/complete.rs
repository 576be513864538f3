//! What can follow at the cursor: a command's name, its argument, or a file.
//!
//! Apart from the editor, so that it is a question about a line and not about keys.

use std::path::Path;

use crate::commands::{CANDIDATES, Commands, Line};
use crate::host_request::CallContext;

/// Entries of a folder that are looked at; a folder with more completes from these.
const ENTRIES: usize = 10_000;

/// Candidates, and the part of the line that each would replace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Where the replaced part begins, in bytes; it ends at the cursor.
    pub start: usize,
    /// What could stand there.
    pub values: Vec<String>,
}

/// Completes the line up to the cursor.
pub async fn complete(line: &str, commands: &Commands, workspace: &Path, context: CallContext) -> Candidates {
    match Line::parse(line) {
        Some(_) if !line.contains(char::is_whitespace) => {
            let mut values: Vec<String> = commands.names().filter(|it| it.starts_with(line)).collect();
            values.sort();
            Candidates { start: 0, values }
        }
        Some(Line { name, .. }) => {
            let start = name.len() + 2;
            let partial = line.get(start..).unwrap_or_default();
            Candidates { start, values: commands.complete(name, partial, context).await }
        }
        None => {
            let start = word(line);
            Candidates { start, values: files(&line[start..], workspace) }
        }
    }
}

/// Where the last word begins. A blank after a backslash and blanks inside quotes belong to a word.
fn word(line: &str) -> usize {
    let (mut start, mut quoted, mut escaped) = (0, None, false);
    for (place, it) in line.char_indices() {
        match it {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' | '\'' if quoted.is_none() && place == start => quoted = Some(it),
            it if quoted == Some(it) => quoted = None,
            it if it.is_whitespace() && quoted.is_none() => start = place + it.len_utf8(),
            _ => {}
        }
    }
    start
}

/// Files whose path starts with the word, as it would be typed: with a slash after a folder, and quoted where it must be.
fn files(typed: &str, workspace: &Path) -> Vec<String> {
    let partial = unquoted(typed);
    let (folder, prefix) = match partial.rsplit_once('/') {
        Some((folder, prefix)) => (format!("{folder}/"), prefix),
        None => (String::new(), partial.as_str()),
    };
    let Ok(entries) = std::fs::read_dir(workspace.join(&folder)) else { return Vec::new() };
    let mut values: Vec<String> = entries
        .take(ENTRIES)
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let hidden = name.starts_with('.') && !prefix.starts_with('.');
            let slash = if entry.path().is_dir() { "/" } else { "" };
            (name.starts_with(prefix) && !hidden && crate::text::is_visible_line(&name))
                .then(|| format!("{folder}{name}{slash}"))
        })
        .collect();
    values.sort();
    values.truncate(CANDIDATES);
    values.into_iter().map(|it| quoted(&it)).collect()
}

fn unquoted(typed: &str) -> String {
    let inner = typed.strip_prefix(['"', '\'']).unwrap_or(typed);
    let mut text = String::new();
    let mut escaped = false;
    for it in inner.chars() {
        if it == '\\' && !escaped {
            escaped = true;
        } else {
            escaped = false;
            text.push(it);
        }
    }
    text
}

fn quoted(path: &str) -> String {
    let must = |it: char| it.is_whitespace() || matches!(it, '"' | '\'' | '\\');
    if path.chars().any(must) {
        format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        path.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("my folder")).unwrap();
        for name in ["read me.md", "readme.md", "日本.txt", ".hidden", "my folder/it's.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let start = word(line);
        assert_eq!(files(&line[start..], folder.path()), expected, "{line:?}");
    }

    #[test]
    fn file_names_complete_with_blanks_quotes_and_other_scripts() {
        check("look at read", &["\"read me.md\"", "readme.md"]);
        check("look at \"read m", &["\"read me.md\""]);
        check("look at read\\ m", &["\"read me.md\""]);
        check("日", &["日本.txt"]);
        check("x my", &["\"my folder/\""]);
        check("x \"my folder/", &["\"my folder/it's.txt\""]);
    }

    #[test]
    fn hidden_files_come_only_when_asked_for() {
        check(".h", &[".hidden"]);
    }

    #[test]
    fn at_most_twenty_files_are_offered() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..50 {
            std::fs::write(folder.path().join(format!("f{n}")), "").unwrap();
        }
        assert_eq!(files("f", folder.path()).len(), CANDIDATES);
    }
}
