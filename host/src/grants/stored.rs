//! The content of `grants.toml`, and how it is written: whole, by one process at a time.
//!
//! Apart from the book, because here is the file and nothing of a session.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::capability::{Grant, Grants};
use crate::grants::{About, Subject, read};
use crate::name::PluginName;
use crate::text::{first_chars, visible_line};
use crate::toml_file::{self, FileError};

/// Characters of a version that are kept.
const VERSION: usize = 64;

/// What `grants.toml` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Files of projects that may be loaded.
    pub trusted: Vec<Trust>,
    /// What was granted, one entry for each plugin.
    pub entries: Vec<Entry>,
}

/// A file of a project that may be loaded as long as its content is this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    /// The file, by its real path.
    pub file: PathBuf,
    /// The SHA-256 of its content, as 64 hexadecimal digits.
    pub sha256: String,
}

/// What was granted to one plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which plugin.
    pub subject: Subject,
    /// Which version it said it was.
    pub version: String,
    /// What it asked for, in words.
    pub asked: Vec<String>,
    /// What it was granted.
    pub grants: Grants,
}

/// Why `grants.toml` could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// There is no configuration folder: neither `HOME` nor `XDG_CONFIG_HOME` is set.
    #[error("there is no place to keep it: neither `HOME` nor `XDG_CONFIG_HOME` is set")]
    NoFile,
    /// What stands there cannot be read, so nothing is written over it.
    #[error(transparent)]
    Broken(#[from] FileError),
    /// The system refused.
    #[error("cannot write `{file}`: {kind}")]
    Write {
        /// The file.
        file: String,
        /// Why.
        kind: io::ErrorKind,
    },
}

impl Stored {
    /// Reads the file. One that does not exist is as good as an empty one.
    pub(super) fn load(path: &Path) -> Result<Self, FileError> {
        match toml_file::load(path)? {
            Some(text) => Self::parse(&text, &path.to_string_lossy()),
            None => Ok(Self::default()),
        }
    }

    /// Parses the text of the file; `file_name` is what errors call it.
    ///
    /// # Errors
    ///
    /// What is wrong first, with its place.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, FileError> {
        toml_file::parse(text, file_name, read::document)
    }

    /// Changes the file as it is now, whoever wrote it last, and returns what it says afterwards.
    pub(super) fn change<R>(path: &Path, change: impl FnOnce(&mut Self) -> R) -> Result<(Self, R), SaveError> {
        let failed = |error: io::Error| SaveError::Write {
            file: visible_line(&path.to_string_lossy()).into_owned(),
            kind: error.kind(),
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        // On a file of its own, since the other is replaced.
        let lock = File::create(path.with_extension("lock")).map_err(failed)?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|it| failed(it.into()))?;
        let mut stored = Self::load(path)?;
        let done = change(&mut stored);
        let write = || -> io::Result<()> {
            // Readable for the user alone, as all temporary files are.
            let mut new = tempfile::NamedTempFile::new_in(folder)?;
            new.write_all(stored.to_toml().as_bytes())?;
            new.as_file().sync_all()?;
            new.persist(path)?;
            Ok(())
        };
        write().map_err(failed)?;
        Ok((stored, done))
    }

    pub(super) fn trusts(&self, file: &Path, sha256: &str) -> bool {
        self.trusted.iter().any(|it| it.file == file && it.sha256 == sha256)
    }

    pub(super) fn entry(&self, subject: &Subject) -> Option<&Entry> {
        self.entries.iter().find(|it| it.subject == *subject)
    }

    pub(super) fn grant(&mut self, subject: &Subject, about: About<'_>, grants: &Grants) {
        let mut all = self.entry(subject).map(|it| it.grants.clone()).unwrap_or_default();
        grants.iter().for_each(|it| all.add(it.clone()));
        self.entries.retain(|it| !it.subject.is_version_of(subject));
        self.entries.push(Entry {
            subject: subject.clone(),
            version: visible_line(first_chars(about.version, VERSION)).into_owned(),
            asked: about.asked.iter().map(ToString::to_string).collect(),
            grants: all,
        });
    }

    pub(super) fn trust(&mut self, trust: Trust) {
        self.trusted.retain(|it| it.file != trust.file);
        self.trusted.push(trust);
    }

    pub(super) fn revoke(&mut self, name: &PluginName, grants: &[Grant]) -> usize {
        let mut taken = 0;
        if grants.is_empty() {
            let of_plugin = |it: &Entry| it.subject.name == *name;
            let files: Vec<PathBuf> =
                self.entries.iter().filter(|it| of_plugin(it)).filter_map(|it| it.subject.file.clone()).collect();
            let before = self.entries.len() + self.trusted.len();
            self.entries.retain(|it| !of_plugin(it));
            self.trusted.retain(|it| !files.contains(&it.file));
            return before - self.entries.len() - self.trusted.len();
        }
        for entry in self.entries.iter_mut().filter(|it| it.subject.name == *name) {
            taken += grants.iter().filter(|it| entry.grants.remove(it)).count();
        }
        taken
    }

    pub(super) fn distrust(&mut self, file: &Path) -> usize {
        let before = self.trusted.len();
        self.trusted.retain(|it| it.file != file);
        before - self.trusted.len()
    }

    /// The text of the file.
    pub(super) fn to_toml(&self) -> String {
        let mut text = String::from(
            "# What you trusted and granted. `bellglass plugin trust`, `grant` and `revoke` write this file.\n",
        );
        for Trust { file, sha256 } in &self.trusted {
            text += &format!("\n[[trust]]\nfile = {}\nsha256 = {}\n", quoted(&file.to_string_lossy()), quoted(sha256));
        }
        for Entry { subject, version, asked, grants } in &self.entries {
            text += &format!("\n[[grant]]\nplugin = {}\n", quoted(subject.name.as_str()));
            text += &format!("origin = {}\nsha256 = {}\n", quoted(&subject.origin), quoted(&subject.sha256));
            if let Some(file) = &subject.file {
                text += &format!("file = {}\n", quoted(&file.to_string_lossy()));
            }
            let grants: Vec<String> = grants.iter().map(ToString::to_string).collect();
            text += &format!("version = {}\nasked = {}\ngrants = {}\n", quoted(version), list(asked), list(&grants));
        }
        text
    }
}

/// A basic string of TOML, whose escapes are among those of JSON but for the slash and DEL.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn list(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|it| quoted(it)).collect();
    format!("[{}]", items.join(", "))
}
