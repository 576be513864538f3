//! Patterns of command lines and of tool names.
//! Separate because a pattern means only what is plain to a reader: no shell syntax, `*` in one place.

use std::fmt;

use super::{MOST_BYTES, quoted};
use crate::name::ItemName;

/// What starts, ends or changes a command in a shell: none can be part of a pattern.
const SHELL_SYNTAX: &[char] =
    &[';', '&', '|', '$', '`', '(', ')', '<', '>', '\'', '"', '\\', '#', '!', '{', '}', '[', ']', '?'];

/// The words of one command; with a final `*`, those words and any after them, also none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandPattern {
    words: Vec<String>,
    open: bool,
}

/// One tool by its real name or its address `plugin.tool`, or all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolPattern {
    /// `*`.
    Any,
    /// One name, compared letter by letter.
    Name(ItemName),
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Nothing, or blanks only.
    #[error("the pattern is empty, expected a command such as `cargo *`")]
    EmptyCommand,
    /// Longer than any pattern meant in earnest.
    #[error("pattern `{0}` is longer than {MOST_BYTES} bytes")]
    TooLong(String),
    /// A control or an invisible character, or a blank that is no space.
    #[error("pattern `{0}` holds an invisible character")]
    Invisible(String),
    /// More than one plain command.
    #[error("pattern `{0}` holds shell syntax, expected the words of one command")]
    Shell(String),
    /// `*` inside a word or before the end.
    #[error("pattern `{0}` has a wrong `*`, expected it as the last word")]
    Wildcard(String),
    /// `NAME=value` before the command.
    #[error("pattern `{0}` starts with a variable, expected a program")]
    Variable(String),
    /// Neither a tool's name nor `*`.
    #[error("`{0}` names no tool, expected its name, or `*` for all")]
    Tool(String),
}

impl CommandPattern {
    /// Parses a pattern; blanks around it and between its words do not count.
    pub fn parse(text: &str) -> Result<CommandPattern, PatternError> {
        let refuse = |error: fn(String) -> PatternError| Err(error(quoted(text)));
        if text.len() > MOST_BYTES {
            return refuse(PatternError::TooLong);
        }
        if !crate::text::is_visible_line(text) || text.contains(|c: char| c.is_whitespace() && c != ' ') {
            return refuse(PatternError::Invisible);
        }
        if text.contains(SHELL_SYNTAX) || text.split(' ').any(|word| word.starts_with('~')) {
            return refuse(PatternError::Shell);
        }
        let mut words: Vec<String> = text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let open = words.last().is_some_and(|word| word == "*");
        if open {
            words.pop();
        } else if words.is_empty() {
            return Err(PatternError::EmptyCommand);
        }
        if words.iter().any(|word| word.contains('*')) {
            return refuse(PatternError::Wildcard);
        }
        if words.first().is_some_and(|word| word.contains('=')) {
            return refuse(PatternError::Variable);
        }
        Ok(CommandPattern { words, open })
    }

    /// The pattern `*`: whatever can be run.
    pub fn any() -> CommandPattern {
        CommandPattern { words: Vec::new(), open: true }
    }

    /// Whether it is `*`, which covers also what cannot be taken apart.
    pub fn is_any(&self) -> bool {
        self.open && self.words.is_empty()
    }

    /// Returns the words that a command must start with; none for `*`.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether more words may follow.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Whether every command of the other pattern is one of this.
    pub fn contains(&self, other: &CommandPattern) -> bool {
        match self.open {
            true => other.words.starts_with(&self.words),
            false => self == other,
        }
    }

    /// Returns the narrower of the two when one contains the other.
    pub fn narrow(&self, other: &CommandPattern) -> Option<CommandPattern> {
        let narrower = if self.contains(other) { other } else { self };
        other.contains(narrower).then(|| narrower.clone())
    }
}

impl ToolPattern {
    /// Parses a tool's name or `*`.
    pub fn parse(text: &str) -> Result<ToolPattern, PatternError> {
        if text == "*" {
            return Ok(ToolPattern::Any);
        }
        match ItemName::try_from(text.to_owned()) {
            Ok(name) if !text.contains('*') => Ok(ToolPattern::Name(name)),
            _ => Err(PatternError::Tool(quoted(text))),
        }
    }

    /// Whether the pattern names this tool.
    pub fn allows(&self, name: &str) -> bool {
        match self {
            ToolPattern::Any => true,
            ToolPattern::Name(known) => known.as_str() == name,
        }
    }

    /// Returns the narrower of the two when one contains the other.
    pub fn narrow(&self, other: &ToolPattern) -> Option<ToolPattern> {
        match (self, other) {
            (ToolPattern::Any, narrower) | (narrower, ToolPattern::Any) => Some(narrower.clone()),
            (ToolPattern::Name(one), ToolPattern::Name(two)) => (one == two).then(|| self.clone()),
        }
    }
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.join(" "))?;
        match (self.open, self.words.is_empty()) {
            (true, true) => f.write_str("*"),
            (true, false) => f.write_str(" *"),
            (false, _) => Ok(()),
        }
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolPattern::Any => f.write_str("*"),
            ToolPattern::Name(name) => name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let shown = CommandPattern::parse(text).map_or_else(|error| error.to_string(), |pattern| pattern.to_string());
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_command_pattern_is_words_and_a_final_star() {
        check("*", expect!["*"]);
        check("cargo *", expect!["cargo *"]);
        check("  cargo   test  * ", expect!["cargo test *"]);
        check("git status", expect!["git status"]);
        check("./run --flag=1 a@b:c", expect!["./run --flag=1 a@b:c"]);
        check("git log HEAD~1", expect!["git log HEAD~1"]);
    }

    #[test]
    fn what_a_shell_would_read_otherwise_is_refused() {
        check("", expect!["the pattern is empty, expected a command such as `cargo *`"]);
        check("  ", expect!["the pattern is empty, expected a command such as `cargo *`"]);
        for text in [
            "git status && rm",
            "a;b",
            "a|b",
            "a&",
            "$X",
            "`a`",
            "a $(b)",
            "a > b",
            "a <(b)",
            "'a'",
            "\"a\"",
            "\\rm",
            "a # b",
            "{a,b}",
            "a?",
            "a[b]",
            "~/x",
            "ls ~",
        ] {
            assert!(matches!(CommandPattern::parse(text), Err(PatternError::Shell(_))), "{text}");
        }
        check("a;b", expect!["pattern `a;b` holds shell syntax, expected the words of one command"]);
        check("* a", expect!["pattern `* a` has a wrong `*`, expected it as the last word"]);
        check("cargo*", expect!["pattern `cargo*` has a wrong `*`, expected it as the last word"]);
        check("cargo * *", expect!["pattern `cargo * *` has a wrong `*`, expected it as the last word"]);
        check("FOO=1 rm *", expect!["pattern `FOO=1 rm *` starts with a variable, expected a program"]);
        check("a\nrm *", expect!["pattern `a␊rm *` holds an invisible character"]);
        check("a\u{a0}b", expect!["pattern `a\u{a0}b` holds an invisible character"]);
        assert!(matches!(CommandPattern::parse(&"a ".repeat(600)), Err(PatternError::TooLong(_))));
    }

    #[test]
    fn the_narrower_command_pattern_is_what_both_allow() {
        let cases = [
            ("cargo *", "cargo test", Some("cargo test")),
            ("cargo *", "cargo", Some("cargo")),
            ("*", "cargo *", Some("cargo *")),
            ("cargo test *", "cargo *", Some("cargo test *")),
            ("cargo *", "cargox", None),
            ("cargo t *", "cargo test *", None),
            ("cargo", "cargo test", None),
            ("git *", "cargo *", None),
        ];
        for (one, two, expected) in cases {
            let [one, two] = [one, two].map(|text| CommandPattern::parse(text).unwrap());
            assert_eq!(one.narrow(&two).map(|pattern| pattern.to_string()).as_deref(), expected, "{one} {two}");
            assert_eq!(two.narrow(&one), one.narrow(&two), "{one} {two}");
        }
    }

    #[test]
    fn a_tool_is_named_exactly_or_not_at_all() {
        for bad in ["", "re*", "**", "a b", "a\n"] {
            assert!(ToolPattern::parse(bad).is_err(), "{bad:?}");
        }
        let [any, read, list] = ["*", "read", "calendar.list"].map(|text| ToolPattern::parse(text).unwrap());
        assert!(any.allows("read") && read.allows("read") && list.allows("calendar.list"));
        assert!(!read.allows("Read") && !read.allows("reader") && !read.allows("*"));
        assert_eq!(any.narrow(&read), Some(read.clone()));
        assert_eq!(read.narrow(&any), Some(read.clone()));
        assert_eq!(read.narrow(&list), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

        #[test]
        fn a_pattern_reads_back_as_itself(text in prop_oneof!["[ab*=~ .-]{0,10}", ".{0,16}"]) {
            if let Ok(pattern) = CommandPattern::parse(&text) {
                prop_assert!(!pattern.words().iter().any(|word| word.contains(SHELL_SYNTAX) || word.contains('*')));
                prop_assert_eq!(CommandPattern::parse(&pattern.to_string()), Ok(pattern));
            }
            if let Ok(pattern) = ToolPattern::parse(&text) {
                prop_assert_eq!(ToolPattern::parse(&pattern.to_string()), Ok(pattern));
            }
        }
    }
}
