//! The file of a session that runs: lines are added, whole, one process at a time.
//!
//! Apart from reading, because here a kill at any byte and a full disk must cost no more than the line that is written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::sessions::record::{self, Header};
use crate::sessions::{SessionError, io_error};
use crate::transcript::Message;

/// A session's file, open and locked; or one that comes with its first line.
#[derive(Debug)]
pub struct SessionFile {
    folder: PathBuf,
    header: Header,
    file: Option<File>,
    /// Lines that could not be written yet.
    unsaved: String,
}

/// Why the session is not saved, though it goes on: what is not written is tried again with the next line.
#[derive(Debug, thiserror::Error)]
#[error("the session is not saved: `{file}`: {error}")]
pub struct Unsaved {
    file: String,
    error: io::Error,
}

impl SessionFile {
    pub(super) fn new(folder: PathBuf, header: Header) -> Self {
        Self { folder, header, file: None, unsaved: String::new() }
    }

    /// Opens a file to add to it, after making its end whole. None when another process has it open.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, SessionError> {
        let failed = |error| io_error(path, error);
        let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(None);
        }
        let header = record::header(path)?;
        mend(&mut file).map_err(failed)?;
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        Ok(Some(Self { folder, header, file: Some(file), unsaved: String::new() }))
    }

    /// Which session it is.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Adds a message; it is written by [`Self::save`].
    pub fn add(&mut self, message: &Message) {
        self.unsaved += &record::message_line(message);
    }

    /// Notes that the conversation was cleared.
    pub fn clear(&mut self) {
        if self.file.is_some() || !self.unsaved.is_empty() {
            self.unsaved += &record::cleared_line();
        }
    }

    /// Notes that all but the last `kept` messages were replaced by a summary.
    pub fn compact(&mut self, summary: &str, kept: usize) {
        self.unsaved += &record::compacted_line(summary, kept);
    }

    /// Whether something was added that is not written.
    pub fn has_unsaved(&self) -> bool {
        !self.unsaved.is_empty()
    }

    /// Writes what was added since the last time. Blocks.
    ///
    /// # Errors
    ///
    /// The system refused, or the disk is full: nothing of it is in the file, and all of it is tried again.
    pub fn save(&mut self) -> Result<(), Unsaved> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        let path = self.path();
        let unsaved = |error| Unsaved { file: crate::text::visible_line(&path.to_string_lossy()).into_owned(), error };
        if self.file.is_none() {
            self.file = Some(self.create().map_err(unsaved)?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        append(file, self.unsaved.as_bytes()).map_err(unsaved)?;
        self.unsaved.clear();
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.header.id))
    }

    fn create(&self) -> io::Result<File> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let mut file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(self.path())?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let mut line = serde_json::to_vec(&self.header)?;
        line.push(b'\n');
        match append(&mut file, &line) {
            Ok(()) => Ok(file),
            Err(error) => {
                // An empty file is no session.
                let _ = fs::remove_file(self.path());
                Err(error)
            }
        }
    }
}

/// Adds whole lines or nothing.
fn append(file: &mut File, lines: &[u8]) -> io::Result<()> {
    let end = file.seek(SeekFrom::End(0))?;
    file.write_all(lines).and_then(|()| file.sync_data()).inspect_err(|_| {
        // Half a line would be glued to the next. Where this fails as well, `mend` cuts it at the next start.
        let _ = file.set_len(end);
    })
}

/// Cuts off a last line that was not finished; one that lacks only its end is ended.
fn mend(file: &mut File) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut piece = vec![0; 64 << 10];
    let mut tail = Vec::new();
    let mut at = length;
    // Backwards to the last end of a line.
    let start = loop {
        if at == 0 {
            break 0;
        }
        let size = usize::try_from(at).unwrap_or(usize::MAX).min(piece.len());
        at -= size as u64;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut piece[..size])?;
        let newline = piece[..size].iter().rposition(|it| *it == b'\n');
        tail.splice(..0, piece[newline.map_or(0, |it| it + 1)..size].iter().copied());
        if let Some(newline) = newline {
            break at + newline as u64 + 1;
        }
    };
    if tail.is_empty() {
        return Ok(());
    }
    if serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&tail).is_ok() {
        file.seek(SeekFrom::End(0))?;
        return file.write_all(b"\n");
    }
    file.set_len(start)
}
