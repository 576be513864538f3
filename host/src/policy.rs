//! Which calls are allowed, asked about or denied: the rules of the user's `policy.toml`, of the project, of flags, and of what
//! the person answered in this session.
//!
//! Apart from rights: a right is what a plugin can do at all, a rule is what the person wants to be asked about.

mod read;
mod rule;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, flock};

pub use rule::{Allow, AllowError, Decision, Rule, Subject};

use crate::command_line::{CommandLine, Match, Role, Unclear};
use crate::toml_file::{self, FileError};

/// What the rules say of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No rule is about it.
    Open,
    /// It may run.
    Allow,
    /// The person is asked.
    Ask,
    /// It may not run, with the reason that the rule gives.
    Deny(String),
}

/// All rules. Shared by everything that runs calls in this process.
#[derive(Debug, Default)]
pub struct Policy {
    file: Option<PathBuf>,
    rules: Mutex<Vec<Rule>>,
}

/// Why a rule could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// There is no configuration folder: neither `HOME` nor `XDG_CONFIG_HOME` is set.
    #[error("there is no place to keep it: neither `HOME` nor `XDG_CONFIG_HOME` is set")]
    NoFile,
    /// What stands there cannot be read, so nothing is added to it.
    #[error(transparent)]
    Broken(#[from] FileError),
    /// The system refused.
    #[error("cannot write `policy.toml`: {0}")]
    Write(#[from] io::Error),
}

impl Policy {
    /// Reads the user's file and the project's, and takes the flags of this run.
    ///
    /// # Errors
    ///
    /// A file is there and wrong, or cannot be read: never fewer rules than somebody wrote down.
    pub fn open(file: Option<PathBuf>, project: Option<&Path>, allow: &[Allow]) -> Result<Self, FileError> {
        let mut rules = Vec::new();
        if let Some(file) = &file
            && let Some(text) = toml_file::load(file)?
        {
            rules.extend(Self::parse(&text, &file.to_string_lossy())?);
        }
        if let Some(project) = project
            && let Some(text) = toml_file::load(project)?
        {
            rules.extend(Self::parse_project(&text, &project.to_string_lossy())?);
        }
        rules.extend(allow.iter().map(Allow::rule));
        Ok(Self { file, rules: Mutex::new(rules) })
    }

    /// Parses the user's rules; `file_name` is what errors call the file.
    ///
    /// # Errors
    ///
    /// What is wrong first, with its place: also a rule whose own examples it does not fit.
    pub fn parse(text: &str, file_name: &str) -> Result<Vec<Rule>, FileError> {
        toml_file::parse(text, file_name, |table| read::document(table, false))
    }

    /// As [`Self::parse`], for the file of a project, which may only tighten.
    ///
    /// # Errors
    ///
    /// As [`Self::parse`]; a rule that allows.
    pub fn parse_project(text: &str, file_name: &str) -> Result<Vec<Rule>, FileError> {
        toml_file::parse(text, file_name, |table| read::document(table, true))
    }

    /// What is said of calling a tool, whatever its arguments.
    pub fn of_tool(&self, subject: &Subject) -> Verdict {
        let rules = self.rules();
        strictest(rules.iter().filter(|it| it.command.is_none() && it.is_about(subject)))
    }

    /// What is said of running a line, by the tool that wants it.
    pub fn of_command(&self, subject: &Subject, line: Result<&CommandLine, &Unclear>) -> Verdict {
        let rules = self.rules();
        judge(rules.iter().filter(|it| it.is_about(subject)), line)
    }

    /// Adds a rule that holds until the session ends.
    pub fn add(&self, rule: Rule) {
        self.rules().push(rule);
    }

    /// Adds a rule for good, at the end of the user's file, which otherwise stays as it is.
    ///
    /// # Errors
    ///
    /// The file is broken or cannot be written; then the rule holds for nobody.
    pub fn keep(&self, rule: Rule) -> Result<(), KeepError> {
        let file = self.file.as_deref().ok_or(KeepError::NoFile)?;
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let lock = fs::File::create(file.with_extension("lock"))?;
        flock(&lock, FlockOperation::LockExclusive).map_err(io::Error::from)?;
        let before = toml_file::load(file)?.unwrap_or_default();
        let text = format!(
            "{before}{}{}",
            if before.is_empty() || before.ends_with('\n') { "" } else { "\n" },
            rule.to_toml()
        );
        // What stands there may be such that nothing can follow it.
        Self::parse(&text, &file.to_string_lossy())?;
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        new.as_file().sync_all()?;
        new.persist(file).map_err(|it| it.error)?;
        self.rules().push(rule);
        Ok(())
    }

    fn rules(&self) -> MutexGuard<'_, Vec<Rule>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Deny beats ask beats allow, whatever the order.
fn strictest<'r>(rules: impl Iterator<Item = &'r Rule>) -> Verdict {
    let mut verdict = Verdict::Open;
    for rule in rules {
        verdict = match (rule.decision, verdict) {
            (_, denied @ Verdict::Deny(_)) => denied,
            (Decision::Deny, _) => Verdict::Deny(rule.reason()),
            (Decision::Ask, _) | (Decision::Allow, Verdict::Ask) => Verdict::Ask,
            (Decision::Allow, Verdict::Open | Verdict::Allow) => Verdict::Allow,
        };
    }
    verdict
}

/// A rule that denies or asks must not miss a part; one that allows must cover each.
fn judge<'r>(rules: impl Iterator<Item = &'r Rule>, line: Result<&CommandLine, &Unclear>) -> Verdict {
    let (mut asks, mut allowed) = (false, Vec::new());
    for rule in rules {
        let Some(pattern) = &rule.command else { continue };
        let matches = match line {
            Ok(line) => line.parts().iter().map(|it| it.matches(pattern)).max().unwrap_or(Match::No),
            // It may run anything.
            Err(_) => Match::Maybe,
        };
        match rule.decision {
            Decision::Deny if matches == Match::Yes => return Verdict::Deny(rule.reason()),
            // Whether it is denied is known only when it runs.
            Decision::Deny | Decision::Ask => asks |= matches != Match::No,
            Decision::Allow => allowed.push(pattern),
        }
    }
    let is_allowed = match line {
        Err(_) => allowed.iter().any(|it| it.is_any()),
        Ok(line) => line.parts().iter().filter(|it| it.role() == Role::Runs).all(|part| {
            allowed
                .iter()
                .any(|it| it.is_any() || (part.is_covered_by(it) && (!it.is_open() || !part.is_interpreter())))
        }),
    };
    match (asks, is_allowed && !allowed.is_empty()) {
        (true, _) => Verdict::Ask,
        (false, true) => Verdict::Allow,
        (false, false) => Verdict::Open,
    }
}

// One case a line, however long.
#[cfg(test)]
#[rustfmt::skip]
mod tests;
