//! Sessions on disk: a folder of files, one for each, of which a line is only ever added.
//!
//! Apart from the session that runs, because `bellglass session` lists, shows and deletes them without one.

mod file;
mod record;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use file::{SessionFile, Unsaved};
pub use record::Header;

use crate::sessions::record::Record;
use crate::transcript::{Role, Transcript, TranscriptError};

/// Characters of a title.
const TITLE: usize = 60;

/// What a call's result says when the file ends before it.
const CUT_OFF: &str = "interrupted: the session ended before the result came";

/// The folder of all sessions.
#[derive(Clone, Debug)]
pub struct Sessions {
    folder: PathBuf,
}

/// What a list shows of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Which session.
    pub header: Header,
    /// The start of its first prompt; empty without one.
    pub title: String,
    /// Messages in the file.
    pub messages: usize,
    /// When something was last added.
    pub changed: jiff::Timestamp,
}

/// A session as it was read.
#[derive(Clone, Debug)]
pub struct Read {
    /// Which session.
    pub header: Header,
    /// The conversation, made whole where the file was cut.
    pub transcript: Transcript,
    /// Lines that could not be read, by their number, and messages that fit nowhere.
    pub left_out: Vec<String>,
}

/// Why a session cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// No session of the id.
    #[error("there is no session `{0}`; `bellglass session list` shows those there are")]
    Unknown(String),
    /// Nothing to go on with.
    #[error("there is no session of this folder to continue")]
    None,
    /// The start of an id that several have.
    #[error("`{0}` is the start of several sessions, expected more of it")]
    Ambiguous(String),
    /// The file is none of ours, or a later version wrote it.
    #[error("`{file}` cannot be read: {reason}")]
    Broken {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// The system refused.
    #[error("`{file}`: {error}")]
    Io {
        /// The file or folder.
        file: String,
        /// Why.
        error: io::Error,
    },
}

impl Sessions {
    /// The sessions in a folder, which need not exist.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Begins a session. Its file comes with the first message.
    pub fn begin(&self, workspace: &Path) -> SessionFile {
        SessionFile::new(self.folder.clone(), Header::new(workspace))
    }

    /// Finds a session by its id or the start of it.
    ///
    /// # Errors
    ///
    /// [`SessionError::Unknown`] and [`SessionError::Ambiguous`].
    pub fn find(&self, id: &str) -> Result<PathBuf, SessionError> {
        let shown = || crate::text::visible_line(crate::text::first_chars(id, 60)).into_owned();
        // An id never leads out of the folder.
        if id.is_empty() || !id.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-') {
            return Err(SessionError::Unknown(shown()));
        }
        let files = self.files()?;
        let mut of_id = files.iter().filter(|it| stem(it).starts_with(id));
        match (of_id.next(), of_id.next()) {
            (Some(file), None) => Ok(file.clone()),
            (None, _) => Err(SessionError::Unknown(shown())),
            (Some(_), Some(_)) => match files.iter().find(|it| stem(it) == id) {
                Some(file) => Ok(file.clone()),
                None => Err(SessionError::Ambiguous(shown())),
            },
        }
    }

    /// The session of a workspace to which something was added last.
    ///
    /// # Errors
    ///
    /// [`SessionError::None`] where there is none.
    pub fn last(&self, workspace: &Path) -> Result<PathBuf, SessionError> {
        let workspace = real(workspace);
        let mut files: Vec<(std::time::SystemTime, PathBuf)> = Vec::new();
        for file in self.files()? {
            if let Ok(changed) = fs::metadata(&file).and_then(|it| it.modified()) {
                files.push((changed, file));
            }
        }
        files.sort();
        let of_workspace = |file: &PathBuf| record::header(file).is_ok_and(|it| it.workspace == workspace);
        files.into_iter().rev().map(|it| it.1).find(of_workspace).ok_or(SessionError::None)
    }

    /// Lists all sessions, the one that changed last first. Files that are none are left out.
    ///
    /// # Errors
    ///
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Vec<Summary>, SessionError> {
        let mut list: Vec<Summary> = self.files()?.iter().filter_map(|it| summary(it).ok()).collect();
        list.sort_by(|a, b| (b.changed, &b.header.id).cmp(&(a.changed, &a.header.id)));
        Ok(list)
    }

    /// Reads a session, and makes its conversation whole.
    ///
    /// # Errors
    ///
    /// The file is no session, or cannot be read. A line that is no record costs that line.
    pub fn read(file: &Path) -> Result<Read, SessionError> {
        let header = record::header(file)?;
        let mut left_out = Vec::new();
        let mut messages = Vec::new();
        record::records(file, |number, record| match record {
            Ok(Record::Message(message)) => messages.push(*message),
            Ok(Record::Cleared) => messages.clear(),
            Ok(Record::Compacted(summary, kept)) => {
                let keep = messages.len().saturating_sub(kept);
                messages.splice(..keep, [record::summary(&summary)]);
            }
            Ok(Record::Other) => {}
            Err(reason) => left_out.push(format!("line {number}: {reason}")),
        })?;
        let (transcript, stray) = Transcript::repaired(messages, CUT_OFF);
        left_out.extend(
            stray.into_iter().map(|(place, error): (usize, TranscriptError)| format!("message {}: {error}", place + 1)),
        );
        Ok(Read { header, transcript, left_out })
    }

    /// Opens a session to add to it. Where another process has it open, a copy is made, which is the second answer.
    ///
    /// # Errors
    ///
    /// As [`Self::read`]; the file cannot be written.
    pub fn open(&self, file: &Path) -> Result<(SessionFile, Read, bool), SessionError> {
        if let Some(open) = SessionFile::open(file)? {
            let read = Self::read(file)?;
            return Ok((open, read, false));
        }
        let read = Self::read(file)?;
        let mut copy = SessionFile::new(self.folder.clone(), Header::new(&read.header.workspace));
        for message in read.transcript.messages() {
            copy.add(message);
        }
        Ok((copy, read, true))
    }

    /// Deletes a session.
    ///
    /// # Errors
    ///
    /// The system refused.
    pub fn delete(file: &Path) -> Result<(), SessionError> {
        fs::remove_file(file).map_err(|error| io_error(file, error))
    }

    fn files(&self) -> Result<Vec<PathBuf>, SessionError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io_error(&self.folder, error)),
        };
        let is_session = |it: &PathBuf| it.extension().is_some_and(|it| it == "jsonl");
        let mut files: Vec<PathBuf> = entries.flatten().map(|it| it.path()).filter(is_session).collect();
        files.sort();
        Ok(files)
    }
}

/// The id that a file is named after.
fn stem(file: &Path) -> &str {
    file.file_stem().and_then(|it| it.to_str()).unwrap_or_default()
}

fn summary(file: &Path) -> Result<Summary, SessionError> {
    let header = record::header(file)?;
    let (mut title, mut messages) = (String::new(), 0);
    record::records(file, |_, record| {
        let Ok(Record::Message(message)) = record else { return };
        messages += 1;
        if title.is_empty() && message.role == Role::User {
            title = title_of(&message.content);
        }
    })?;
    let changed = fs::metadata(file).and_then(|it| it.modified()).map_err(|error| io_error(file, error))?;
    let changed = jiff::Timestamp::try_from(changed).unwrap_or(header.started);
    Ok(Summary { header, title, messages, changed })
}

/// The first line of a prompt, short and safe to show.
fn title_of(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|it| !it.is_empty()).unwrap_or_default();
    let start = crate::text::first_chars(line, TITLE);
    let more = if start.len() < line.len() { "…" } else { "" };
    format!("{}{more}", crate::text::visible_line(start))
}

/// The one spelling of a folder by which a session is found again.
fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

fn io_error(file: &Path, error: io::Error) -> SessionError {
    SessionError::Io { file: crate::text::visible_line(&file.to_string_lossy()).into_owned(), error }
}

#[cfg(test)]
mod tests;
