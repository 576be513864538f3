//! A shell command line, taken apart into every command that it would run.
//!
//! Apart from the patterns that judge it, because what a shell does with a line is one question, and who may run it another.
//! Written here and not taken: the parsers there are read bash, and `/bin/sh` is another shell on most systems. A line that
//! two shells read differently is the very attack, so this one reads what all of them read alike, and is unclear about the
//! rest.

mod names;
mod part;
mod syntax;
mod word;
mod wrappers;

pub use part::{Match, Part, Role, Word};

use crate::capability::CommandPattern;

/// Longest line that is read, in characters: far more than anybody reads before saying yes.
pub const MOST_CHARS: usize = 20_000;

/// Commands, substitutions and wrappers inside each other. The parser recurses as deep.
const MOST_DEEP: usize = 32;

/// All that a line runs: at least one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    parts: Vec<Part>,
}

/// Why it cannot be said what a line runs. It is no error of the line: a shell may well run it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unclear(String);

impl Unclear {
    fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl CommandLine {
    /// Reads a line as `/bin/sh` would.
    ///
    /// # Errors
    ///
    /// Not every shell reads it alike, or what runs is known only when it runs.
    pub fn parse(line: &str) -> Result<CommandLine, Unclear> {
        if line.chars().count() > MOST_CHARS {
            return Err(Unclear::new(format!("it has more than {MOST_CHARS} characters")));
        }
        let mut parts = Vec::new();
        syntax::read(line, 0, &mut parts)?;
        Self::checked(parts)
    }

    /// Takes a program with its arguments, which no shell reads; what a wrapper among them runs is found all the same.
    ///
    /// # Errors
    ///
    /// As for [`CommandLine::parse`].
    pub fn of_argv(argv: &[String]) -> Result<CommandLine, Unclear> {
        let mut parts = Vec::new();
        let words = argv.iter().cloned().map(Word::Exact).collect();
        wrappers::unwrap(Part::of(words), 0, &mut parts)?;
        Self::checked(parts)
    }

    fn checked(parts: Vec<Part>) -> Result<CommandLine, Unclear> {
        if parts.is_empty() {
            return Err(Unclear::new("it runs nothing"));
        }
        let moves = parts.iter().filter_map(Part::program).any(|it| names::MOVES.contains(&it));
        let is_relative = |it: &str| it.contains('/') && !it.starts_with('/');
        if moves && parts.iter().filter_map(Part::program).any(is_relative) {
            return Err(Unclear::new("it changes the folder and runs a program by a relative path"));
        }
        Ok(CommandLine { parts })
    }

    /// Returns the commands in the order they stand there; what a wrapper runs comes after the wrapper.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

/// Whether grants cover a line: which of them do. A line that is unclear is covered by `*` alone.
///
/// # Errors
///
/// The narrowest pattern that is missing.
pub fn granted(line: Option<&CommandLine>, granted: &[CommandPattern]) -> Result<Vec<CommandPattern>, CommandPattern> {
    if granted.iter().any(CommandPattern::is_any) {
        return Ok(vec![CommandPattern::any()]);
    }
    let Some(line) = line else { return Err(CommandPattern::any()) };
    let mut used = Vec::new();
    for part in line.parts().iter().filter(|it| it.role() == Role::Runs) {
        let pattern = granted.iter().find(|it| part.is_covered_by(it) && (!it.is_open() || !part.is_interpreter()));
        used.push(pattern.ok_or_else(|| part.pattern())?.clone());
    }
    used.dedup();
    Ok(used)
}

// One case a line, however long.
#[cfg(test)]
#[rustfmt::skip]
mod tests;
