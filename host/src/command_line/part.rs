//! One command of a line, and whether a pattern is about it.
//!
//! Apart from parsing, because a rule that allows must be sure, and a rule that denies must not miss.

use super::names;
use crate::capability::CommandPattern;

/// One command of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    words: Vec<Word>,
    assigns: Vec<String>,
    writes: Vec<Word>,
    role: Role,
}

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// This, after the shell has taken its quotes away.
    Exact(String),
    /// Known only when it runs; maybe no word at all, maybe several.
    Any,
}

/// What a part does in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It runs, and must be allowed itself.
    Runs,
    /// It only runs the parts after it, like `env`: these must be allowed. Rules that deny look at it as well.
    Wraps,
}

/// Whether a pattern is about a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// It is not.
    No,
    /// It is, if words that are known only when it runs are the right ones.
    Maybe,
    /// It is.
    Yes,
}

impl Word {
    /// Returns the word, where it is known.
    pub fn exact(&self) -> Option<&str> {
        match self {
            Word::Exact(text) => Some(text),
            Word::Any => None,
        }
    }
}

impl Part {
    pub(super) fn of(words: Vec<Word>) -> Part {
        Part { words, assigns: Vec::new(), writes: Vec::new(), role: Role::Runs }
    }

    pub(super) fn assigning(mut self, names: impl IntoIterator<Item = String>) -> Part {
        self.assigns.extend(names);
        self
    }

    pub(super) fn writing(mut self, files: impl IntoIterator<Item = Word>) -> Part {
        self.writes.extend(files);
        self
    }

    pub(super) fn wrapping(mut self) -> Part {
        self.role = Role::Wraps;
        self
    }

    /// Returns the words, the program first; none where variables are set or files written and nothing is run.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Returns the program as it was written.
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Word::exact)
    }

    /// Returns the names of the variables that are set for it.
    pub fn assigns(&self) -> &[String] {
        &self.assigns
    }

    /// Returns the files that the shell opens for writing.
    pub fn writes(&self) -> &[Word] {
        &self.writes
    }

    /// Returns what it does in its line.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Whether a prefix says nothing of what the program does, such as `python *`.
    pub fn is_interpreter(&self) -> bool {
        self.program().is_some_and(names::is_interpreter)
    }

    /// Whether the pattern surely covers all of it: its words, and nothing is set or written beside.
    pub fn is_covered_by(&self, pattern: &CommandPattern) -> bool {
        if pattern.is_any() {
            return true;
        }
        let is_nowhere = |it: &Word| it.exact() == Some("/dev/null");
        if !self.assigns.iter().all(|it| names::is_harmless_variable(it)) || !self.writes.iter().all(is_nowhere) {
            return false;
        }
        // Nothing is run, and nothing is changed that matters.
        if self.words.is_empty() {
            return true;
        }
        let wanted = pattern.words();
        let starts = self.words.len() >= wanted.len()
            && self.words.iter().zip(wanted).all(|(word, wanted)| word.exact() == Some(wanted));
        starts && (pattern.is_open() || self.words.len() == wanted.len())
    }

    /// Whether the pattern may be about it. A program is known by its name, whatever folder it is called from.
    pub fn matches(&self, pattern: &CommandPattern) -> Match {
        let wanted = pattern.words();
        for (place, wanted) in wanted.iter().enumerate() {
            match self.words.get(place) {
                None => return Match::No,
                Some(Word::Any) => return Match::Maybe,
                Some(Word::Exact(word)) if word == wanted => {}
                Some(Word::Exact(word)) if place == 0 && names::base(word) == wanted => {}
                Some(Word::Exact(_)) => return Match::No,
            }
        }
        let more = self.words.get(wanted.len()..).unwrap_or_default();
        match (pattern.is_open() || more.is_empty(), more.iter().all(|it| *it == Word::Any)) {
            (true, _) => Match::Yes,
            (false, true) => Match::Maybe,
            (false, false) => Match::No,
        }
    }

    /// Returns the narrowest pattern that covers it; none but `*` covers one that sets variables or writes files.
    pub fn pattern(&self) -> CommandPattern {
        let words: Option<Vec<&str>> = self.words.iter().map(Word::exact).collect();
        let text = words.filter(|it| it.iter().all(|word| !word.is_empty())).map(|it| it.join(" "));
        let exact = text.and_then(|it| CommandPattern::parse(&it).ok()).filter(|it| self.is_covered_by(it));
        let open = || {
            let program = self.program()?;
            CommandPattern::parse(&format!("{program} *")).ok().filter(|it| self.is_covered_by(it))
        };
        exact.or_else(open).unwrap_or_else(CommandPattern::any)
    }
}

/// As a person reads it: the words, the files, and `…` for what is not known.
impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |it: &Word| it.exact().map_or_else(|| "…".to_owned(), quoted);
        let mut words: Vec<String> = self.assigns.iter().map(|it| format!("{it}=…")).collect();
        words.extend(self.words.iter().map(shown));
        words.extend(self.writes.iter().map(|it| format!("> {}", shown(it))));
        f.write_str(&words.join(" "))
    }
}

/// A word as a shell would need it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "%+,-./:=@_{}".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{word}'") }
}
