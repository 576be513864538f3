//! The lines of a file: a header, then one object for each message, and a few that change what came before.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::sessions::{SessionError, io_error, real};
use crate::transcript::Message;

/// The version of the format.
const VERSION: u32 = 1;

/// Longest line that is read, in bytes: a result as a model gets it, with room for what comes.
const LINE: usize = 64 << 20;

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    #[serde(rename = "session")]
    version: u32,
    /// The session's name: when it began, and four random digits.
    pub id: String,
    /// When it began, in UTC.
    pub started: jiff::Timestamp,
    /// The folder it works in, by its real path.
    pub workspace: PathBuf,
}

/// One line after the header.
pub(super) enum Record {
    /// A message.
    Message(Box<Message>),
    /// What came before is forgotten.
    Cleared,
    /// All but the last so many messages are replaced by this summary.
    Compacted(String, usize),
    /// Something of a later version.
    Other,
}

impl Header {
    /// The header of a session that begins now.
    pub(super) fn new(workspace: &Path) -> Self {
        let started = jiff::Timestamp::now();
        let random = random_digits();
        let id = format!("{}-{random}", started.strftime("%Y%m%d-%H%M%S"));
        Self { version: VERSION, id, started, workspace: real(workspace) }
    }
}

/// Four random digits: two sessions may begin in the same second.
fn random_digits() -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    // Seeded by the system for each process, and another for each use.
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u8(0);
    format!("{:04x}", hasher.finish() & 0xffff)
}

/// The message in which a summary stands for what it replaced.
pub(super) fn summary(text: &str) -> Message {
    Message::user(format!("Summary of the conversation so far:\n\n{text}"))
}

pub(super) fn message_line(message: &Message) -> String {
    let mut line = serde_json::to_string(message).expect("a message is always JSON");
    line.push('\n');
    line
}

pub(super) fn cleared_line() -> String {
    "{\"cleared\":true}\n".to_owned()
}

pub(super) fn compacted_line(summary: &str, kept: usize) -> String {
    format!("{}\n", serde_json::json!({"compacted": {"summary": summary, "kept": kept}}))
}

/// Reads the first line.
pub(super) fn header(file: &Path) -> Result<Header, SessionError> {
    let broken = |reason: &str| SessionError::Broken {
        file: crate::text::visible_line(&file.to_string_lossy()).into_owned(),
        reason: reason.to_owned(),
    };
    let mut reader = BufReader::new(File::open(file).map_err(|error| io_error(file, error))?);
    let line = next_line(&mut reader).map_err(|error| io_error(file, error))?.unwrap_or_default();
    let object: Map<String, Value> = serde_json::from_slice(&line).map_err(|_| broken("it is no session"))?;
    match object.get("session").and_then(Value::as_u64) {
        Some(version) if version == u64::from(VERSION) => {}
        Some(_) => return Err(broken("a later version of bellglass wrote it")),
        None => return Err(broken("it is no session")),
    }
    serde_json::from_value(Value::Object(object)).map_err(|_| broken("its first line is not that of a session"))
}

/// Reads the lines after the header, one at a time, so that a long session takes no more memory than its messages.
pub(super) fn records(file: &Path, mut each: impl FnMut(usize, Result<Record, String>)) -> Result<(), SessionError> {
    let mut reader = BufReader::new(File::open(file).map_err(|error| io_error(file, error))?);
    let mut number = 0;
    while let Some(line) = next_line(&mut reader).map_err(|error| io_error(file, error))? {
        number += 1;
        if number > 1 && !line.iter().all(u8::is_ascii_whitespace) {
            each(number, record(&line));
        }
    }
    Ok(())
}

/// A line without its end; none at the end of the file. What of a line is over the limit is passed over.
fn next_line(reader: &mut impl BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if reader.by_ref().take(LINE as u64).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() == LINE {
        reader.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

fn record(line: &[u8]) -> Result<Record, String> {
    let object: Map<String, Value> = serde_json::from_slice(line).map_err(|_| "it is cut off or no JSON".to_owned())?;
    if object.contains_key("role") {
        return Message::from_json(object).map(|it| Record::Message(Box::new(it))).map_err(|it| it.to_string());
    }
    if object.contains_key("cleared") {
        return Ok(Record::Cleared);
    }
    if let Some(compacted) = object.get("compacted") {
        let summary = compacted["summary"].as_str().unwrap_or_default().to_owned();
        let kept = compacted["kept"].as_u64().and_then(|it| usize::try_from(it).ok());
        return Ok(Record::Compacted(summary, kept.ok_or("`compacted.kept` is no number")?));
    }
    Ok(Record::Other)
}
