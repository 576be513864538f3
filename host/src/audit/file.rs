//! The files: `audit.jsonl` and those before it, each of a bounded size.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// Size at which a file is put aside, in bytes: about 20,000 calls.
pub(super) const SIZE: u64 = 8 << 20;

/// Files that are kept beside the one that is written.
pub(super) const KEPT: usize = 3;

/// The file with this age; 0 is the one that is written.
pub(super) fn path(folder: &Path, age: usize) -> PathBuf {
    folder.join(if age == 0 { "audit.jsonl".to_owned() } else { format!("audit.{age}.jsonl") })
}

/// Appends whole lines. Two processes may do so at once.
pub(super) fn append(folder: &Path, lines: &str) -> io::Result<()> {
    append_with(folder, lines, SIZE)
}

pub(super) fn append_with(folder: &Path, lines: &str, size: u64) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let lock = File::create(folder.join("audit.lock"))?;
    flock(&lock, FlockOperation::LockExclusive)?;
    if fs::metadata(path(folder, 0)).is_ok_and(|it| it.len() >= size) {
        for age in (0..KEPT).rev() {
            match fs::rename(path(folder, age), path(folder, age + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(path(folder, 0))?;
    file.write_all(lines.as_bytes())
}
