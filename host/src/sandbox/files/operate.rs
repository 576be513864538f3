//! What a guest does with paths, the same for WASI 0.2 and 0.3: each operation walks its path, asks the guard about the folder
//! that it came to, and acts on a name in that very folder.
//!
//! Apart from the two interfaces, which only differ in their types. Everything here blocks.

use std::ffi::OsStr;
use std::os::fd::AsFd as _;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Timespec, Timestamps, linkat, mkdirat, openat, readlinkat, renameat, statat,
    symlinkat, unlinkat, utimensat,
};
use rustix::io::Errno;
use wasmtime_wasi::FsPerms;
use wasmtime_wasi::filesystem::{Dir, OpenMode};

use crate::capability::PROTECTED;
use crate::sandbox::files::guard::{Guard, Refusal, Want};
use crate::sandbox::files::repository;
use crate::sandbox::files::walk::{Entry, Place, walk};

/// Why something was not done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The system says so, or the mode of the grant.
    System(Errno),
    /// The grant does not include it.
    Refused(Refusal),
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Self {
        Self::System(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

pub(super) type Result<T> = std::result::Result<T, Failure>;

/// One of the two times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    Unchanged,
    Now,
    At { seconds: i64, nanoseconds: u32 },
}

impl Time {
    /// A time from its parts; none for one that cannot be.
    pub(crate) fn at(seconds: Option<i64>, nanoseconds: u32) -> Option<Self> {
        let more = i64::from(nanoseconds / 1_000_000_000);
        Some(Self::At { seconds: seconds?.checked_add(more)?, nanoseconds: nanoseconds % 1_000_000_000 })
    }
}

/// The folder and the name that a path leads to, to look at it; the name `.` for the folder itself.
pub(crate) fn look(guard: &Guard, dir: &Dir, path: &str, follow: bool) -> Result<(Dir, String)> {
    let (handle, name) = match walk(&dir.dir, path, follow)? {
        Place::Folder(handle) => {
            guard.folder(handle.as_fd(), Want::Read)?;
            (handle, ".".to_owned())
        }
        Place::Entry(entry) => {
            entry.check_slash()?;
            ask(guard, &entry, Want::Read)?;
            let name = entry.name.into_string().map_err(|_| Errno::ILSEQ)?;
            (entry.folder, name)
        }
    };
    Ok((Dir::new(handle.into(), FsPerms::ReadOnly, OpenMode::READ, false), name))
}

/// Reads a link. Where it leads to an absolute path, that is not told: it is the host's.
pub(crate) fn read_link(guard: &Guard, dir: &Dir, path: &str) -> Result<String> {
    let entry = entry(dir, path)?;
    ask(guard, &entry, Want::Read)?;
    let link = readlinkat(&entry.folder, &entry.name, Vec::new())?.into_string().map_err(|_| Errno::ILSEQ)?;
    if link.starts_with('/') { Err(Errno::PERM.into()) } else { Ok(link) }
}

pub(crate) fn make_folder(guard: &Guard, dir: &Dir, path: &str) -> Result<()> {
    may_change(dir)?;
    let entry = entry_to_make(dir, path)?;
    let _alone = repository::alone(&entry.name);
    ask(guard, &entry, Want::MakeFolder)?;
    Ok(mkdirat(&entry.folder, &entry.name, Mode::from_raw_mode(0o777))?)
}

pub(crate) fn make_symlink(guard: &Guard, dir: &Dir, target: &str, path: &str) -> Result<()> {
    may_change(dir)?;
    if target.starts_with('/') {
        // It would be followed by others than guests.
        return Err(Errno::PERM.into());
    }
    let entry = entry(dir, path)?;
    if entry.is_folder {
        return Err(Errno::NOENT.into());
    }
    let _alone = repository::alone(&entry.name);
    ask(guard, &entry, Want::Change)?;
    Ok(symlinkat(OsStr::new(target), &entry.folder, &entry.name)?)
}

/// Makes a hard link. The file it leads to could be written through it: so both ends have to be free.
pub(crate) fn link(guard: &Guard, from: &Dir, path: &str, to: &Dir, new: &str) -> Result<()> {
    may_change(from)?;
    may_change(to)?;
    let (source, target) = (entry(from, path)?, entry(to, new)?);
    source.check_slash()?;
    let _alone = repository::alone(&target.name);
    ask(guard, &source, Want::Change)?;
    ask(guard, &target, Want::Change)?;
    if target.is_folder {
        return Err(Errno::NOENT.into());
    }
    Ok(linkat(&source.folder, &source.name, &target.folder, &target.name, AtFlags::empty())?)
}

pub(crate) fn rename(guard: &Guard, from: &Dir, path: &str, to: &Dir, new: &str) -> Result<()> {
    may_change(from)?;
    may_change(to)?;
    let (source, target) = (entry(from, path)?, entry(to, new)?);
    let is_folder = source.kind() == Some(FileType::Directory);
    if source.kind().is_some() && !is_folder && (source.is_folder || target.is_folder) {
        return Err(Errno::NOTDIR.into());
    }
    let _alone = repository::alone(&target.name);
    ask(guard, &source, Want::Change)?;
    ask(guard, &target, Want::Change)?;
    if is_folder {
        // What is protected stays where it is, and so does the folder that it is in.
        let inner = openat(
            &source.folder,
            &source.name,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        for name in PROTECTED {
            if statat(&inner, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                guard.entry(inner.as_fd(), OsStr::new(name), None, Want::Change)?;
            }
        }
    }
    Ok(renameat(&source.folder, &source.name, &target.folder, &target.name)?)
}

pub(crate) fn remove_file(guard: &Guard, dir: &Dir, path: &str) -> Result<()> {
    may_change(dir)?;
    let entry = entry(dir, path)?;
    entry.check_slash()?;
    ask(guard, &entry, Want::Change)?;
    Ok(unlinkat(&entry.folder, &entry.name, AtFlags::empty())?)
}

pub(crate) fn remove_folder(guard: &Guard, dir: &Dir, path: &str) -> Result<()> {
    may_change(dir)?;
    let entry = entry(dir, path)?;
    entry.check_slash()?;
    ask(guard, &entry, Want::Change)?;
    Ok(unlinkat(&entry.folder, &entry.name, AtFlags::REMOVEDIR)?)
}

pub(crate) fn set_times(guard: &Guard, dir: &Dir, path: &str, follow: bool, times: [Time; 2]) -> Result<()> {
    may_change(dir)?;
    match walk(&dir.dir, path, follow)? {
        Place::Folder(handle) => {
            guard.folder(handle.as_fd(), Want::Change)?;
            Ok(utimensat(&handle, ".", &timestamps(times), AtFlags::empty())?)
        }
        Place::Entry(entry) => {
            entry.check_slash()?;
            ask(guard, &entry, Want::Change)?;
            Ok(utimensat(&entry.folder, &entry.name, &timestamps(times), AtFlags::SYMLINK_NOFOLLOW)?)
        }
    }
}

/// Whether the times of an opened folder may be set.
pub(crate) fn may_set_times(guard: &Guard, dir: &Dir) -> Result<()> {
    may_change(dir)?;
    Ok(guard.folder(dir.dir.as_fd(), Want::Change)?)
}

pub(super) fn may_change(dir: &Dir) -> Result<()> {
    if dir.perms.write_not_permitted() { Err(Errno::PERM.into()) } else { Ok(()) }
}

pub(super) fn ask(guard: &Guard, entry: &Entry, want: Want) -> Result<()> {
    Ok(guard.entry(entry.folder.as_fd(), &entry.name, entry.stat.as_ref(), want)?)
}

/// The name that a path ends in; a link there is the link itself.
fn entry(dir: &Dir, path: &str) -> Result<Entry> {
    // A slash at the end would follow a link there: whoever wants the folder opens it.
    let trimmed = path.trim_end_matches('/');
    let slash = trimmed.len() < path.len();
    match walk(&dir.dir, if trimmed.is_empty() { path } else { trimmed }, false)? {
        Place::Entry(mut entry) => {
            entry.is_folder |= slash;
            Ok(entry)
        }
        // `.`, `..`, and what comes to the same: no name to act on.
        Place::Folder(_) => Err(Errno::INVAL.into()),
    }
}

fn entry_to_make(dir: &Dir, path: &str) -> Result<Entry> {
    match entry(dir, path) {
        Err(Failure::System(Errno::INVAL)) => Err(Errno::EXIST.into()),
        other => other,
    }
}

fn timestamps([access, modification]: [Time; 2]) -> Timestamps {
    let spec = |time: Time| match time {
        Time::Unchanged => Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
        Time::Now => Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW },
        Time::At { seconds, nanoseconds } => Timespec { tv_sec: seconds, tv_nsec: nanoseconds.into() },
    };
    Timestamps { last_access: spec(access), last_modification: spec(modification) }
}
