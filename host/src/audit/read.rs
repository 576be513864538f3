//! Reading the files back, oldest first. A line that a crash cut is passed over.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use crate::audit::Entry;
use crate::audit::file::{KEPT, SIZE, path};

/// Which entries are wanted; the default is all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of one plugin, by its own calls or by hooks in those of others.
    pub plugin: Option<String>,
    /// Of one tool, command or provider.
    pub name: Option<String>,
    /// Those in which something was refused.
    pub denied: bool,
    /// Those from this time on, as RFC 3339 writes it in UTC.
    pub since: Option<String>,
    /// The last so many.
    pub last: Option<usize>,
}

impl Filter {
    fn takes(&self, entry: &Entry) -> bool {
        let of_plugin = |name: &String| entry.plugin == *name || entry.uses.iter().any(|it| it.plugin == *name);
        self.plugin.as_ref().is_none_or(of_plugin)
            && self.name.as_ref().is_none_or(|it| entry.name == *it)
            && (!self.denied || entry.ended == "denied" || entry.uses.iter().any(|it| !it.allowed))
            // Times of one form and one zone are in order as text.
            && self.since.as_ref().is_none_or(|it| entry.time >= *it)
    }
}

/// Parses what `since` may say: a time, or how long ago.
///
/// # Errors
///
/// A sentence with what can be written.
pub fn after(text: &str) -> Result<String, String> {
    let time = match text.parse::<jiff::Timestamp>() {
        Ok(time) => Some(time),
        Err(_) => text.parse::<jiff::Span>().ok().and_then(|ago| {
            // A day of the past may be named in days: of 24 hours, as in UTC.
            let hours = jiff::Span::new().try_hours(i64::from(ago.get_days()).checked_mul(24)?).ok()?;
            let rest = ago.try_days(0).ok()?;
            jiff::Timestamp::now().checked_sub(hours).ok()?.checked_sub(rest.abs()).ok()
        }),
    };
    time.map(super::written)
        .ok_or_else(|| "expected `15min`, `2h`, `3d`, or a time such as `2026-12-01T08:00:00Z`".into())
}

/// Reads the entries that are wanted, oldest first.
///
/// # Errors
///
/// A file is there and cannot be read.
pub fn read(folder: &Path, filter: &Filter) -> io::Result<Vec<Entry>> {
    let mut entries = std::collections::VecDeque::new();
    for age in (0..=KEPT).rev() {
        let file = match File::open(path(folder, age)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        // Twice what is written: a file of somebody else is not read for ever.
        for line in BufReader::new(file.take(2 * SIZE)).split(b'\n') {
            let Ok(entry) = serde_json::from_slice::<Entry>(&line?) else { continue };
            if filter.takes(&entry) {
                entries.push_back(entry);
            }
            if filter.last.is_some_and(|last| entries.len() > last) {
                entries.pop_front();
            }
        }
    }
    Ok(entries.into())
}
