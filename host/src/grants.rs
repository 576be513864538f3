//! What the user granted and trusted: `grants.toml`, and what holds for this session alone.
//!
//! Apart from the rights of a plugin, because a grant is bound to a file's content: other bytes are another plugin.

mod read;
mod stored;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use stored::{Entry, SaveError, Stored, Trust};

use crate::capability::{Capability, Grant, Grants};
use crate::name::PluginName;
use crate::toml_file::FileError;

/// A plugin as a grant knows it: never by its name alone, which any file can take.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// What it calls itself.
    pub name: PluginName,
    /// Where it comes from: `user`, `flag` or `project`.
    pub origin: String,
    /// The SHA-256 of its file, as 64 hexadecimal digits.
    pub sha256: String,
    /// Its file, for a plugin of a project: what was granted in one project says nothing of another.
    pub file: Option<PathBuf>,
}

impl Subject {
    /// Whether both are versions of one plugin: all but the content is the same.
    fn is_version_of(&self, other: &Self) -> bool {
        self.name == other.name && self.origin == other.origin && self.file == other.file
    }
}

/// How long a decision holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Until the session ends.
    Session,
    /// In `grants.toml`.
    Always,
}

/// What the user decided about a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing yet.
    Open,
    /// In this session, no.
    Refused,
    /// These grants; maybe none.
    Granted(Grants),
}

/// All that the user decided. Shared by everything that loads plugins in this process.
#[derive(Debug, Default)]
pub struct GrantBook {
    file: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    stored: Stored,
    session: Stored,
    refused: BTreeSet<Subject>,
    refused_trust: BTreeSet<(PathBuf, String)>,
}

impl GrantBook {
    /// Reads the file. Without one, nothing is kept beyond the session.
    ///
    /// # Errors
    ///
    /// The file is there and wrong, or cannot be read: never fewer checks than the user wrote down.
    pub fn open(file: Option<PathBuf>) -> Result<Self, FileError> {
        let stored = file.as_deref().map(Stored::load).transpose()?.unwrap_or_default();
        Ok(Self { file, state: Mutex::new(State { stored, ..State::default() }) })
    }

    /// Reads the file again; what another process wrote holds from here on.
    ///
    /// # Errors
    ///
    /// As [`Self::open`]; what was read before still holds then.
    pub fn refresh(&self) -> Result<(), FileError> {
        if let Some(file) = &self.file {
            self.state().stored = Stored::load(file)?;
        }
        Ok(())
    }

    /// Whether a file of a project may be loaded: this very content at this very place.
    pub fn trusts(&self, file: &Path, sha256: &str) -> bool {
        let state = self.state();
        [&state.stored, &state.session].iter().any(|it| it.trusts(file, sha256))
    }

    /// Whether the user said in this session that the file is not to be loaded.
    pub fn refuses(&self, file: &Path, sha256: &str) -> bool {
        self.state().refused_trust.contains(&(file.to_owned(), sha256.to_owned()))
    }

    /// What was decided about a plugin.
    pub fn decision(&self, subject: &Subject) -> Decision {
        let state = self.state();
        let entries = [&state.stored, &state.session].map(|it| it.entry(subject));
        if entries.iter().all(Option::is_none) {
            return if state.refused.contains(subject) { Decision::Refused } else { Decision::Open };
        }
        let mut grants = Grants::default();
        entries.into_iter().flatten().flat_map(|it| it.grants.iter()).for_each(|it| grants.add(it.clone()));
        Decision::Granted(grants)
    }

    /// What was kept for another version of the plugin: to show what changed. It gives no right.
    pub fn earlier(&self, subject: &Subject) -> Option<Entry> {
        let state = self.state();
        let earlier = |it: &&Entry| it.subject.is_version_of(subject) && it.subject.sha256 != subject.sha256;
        state.stored.entries.iter().rev().find(earlier).cloned()
    }

    /// All that is kept in the file.
    pub fn stored(&self) -> Stored {
        self.state().stored.clone()
    }

    /// Grants. What was granted to the plugin before stays; what was kept for another version of it goes with `Always`.
    ///
    /// # Errors
    ///
    /// The file cannot be written; then nothing was granted.
    pub fn grant(&self, subject: &Subject, about: About<'_>, grants: &Grants, keep: Keep) -> Result<(), SaveError> {
        self.change(keep, |stored| stored.grant(subject, about, grants))?;
        self.state().refused.remove(subject);
        Ok(())
    }

    /// Notes a no. It holds for this session, and whatever is granted later undoes it.
    pub fn refuse(&self, subject: &Subject) {
        self.state().refused.insert(subject.clone());
    }

    /// Trusts a file of a project, as it is now.
    ///
    /// # Errors
    ///
    /// The file of grants cannot be written.
    pub fn trust(&self, file: &Path, sha256: &str, keep: Keep) -> Result<(), SaveError> {
        let trust = Trust { file: file.to_owned(), sha256: sha256.to_owned() };
        self.change(keep, |stored| stored.trust(trust))?;
        self.state().refused_trust.remove(&(file.to_owned(), sha256.to_owned()));
        Ok(())
    }

    /// Notes that a file of a project is not to be loaded in this session.
    pub fn refuse_trust(&self, file: &Path, sha256: &str) {
        self.state().refused_trust.insert((file.to_owned(), sha256.to_owned()));
    }

    /// Takes back what was granted to all plugins of a name: one grant, or everything with the trust in their files.
    /// Returns how much was taken back.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn revoke(&self, name: &PluginName, grants: &[Grant]) -> Result<usize, SaveError> {
        self.change(Keep::Session, |stored| stored.revoke(name, grants))?;
        self.change(Keep::Always, |stored| stored.revoke(name, grants))
    }

    /// Takes back the trust in a file.
    ///
    /// # Errors
    ///
    /// As [`Self::revoke`].
    pub fn distrust(&self, file: &Path) -> Result<usize, SaveError> {
        self.change(Keep::Always, |stored| stored.distrust(file))
    }

    fn change<R>(&self, keep: Keep, change: impl FnOnce(&mut Stored) -> R) -> Result<R, SaveError> {
        match keep {
            Keep::Session => Ok(change(&mut self.state().session)),
            Keep::Always => {
                let file = self.file.as_deref().ok_or(SaveError::NoFile)?;
                let (stored, done) = Stored::change(file, change)?;
                self.state().stored = stored;
                Ok(done)
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is kept beside a grant, so that a later version can be compared.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The version that the plugin says it is.
    pub version: &'a str,
    /// What it asks for.
    pub asked: &'a [Capability],
}

#[cfg(test)]
mod tests;
