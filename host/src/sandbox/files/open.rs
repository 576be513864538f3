//! Opening a file or a folder.
//!
//! Apart from the other operations, because a handle outlives the question whether it may be had: it is asked before anything
//! is made or emptied, and again of the file that was opened.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, fstat, ftruncate, openat};
use rustix::io::Errno;
use wasmtime_wasi::FsPerms;
use wasmtime_wasi::filesystem::{Descriptor, Dir, File as Opened, OpenMode};

use crate::sandbox::files::guard::{Guard, Want, id_of};
use crate::sandbox::files::operate::{Result, ask, may_change};
use crate::sandbox::files::repository;
use crate::sandbox::files::walk::{Place, walk};

/// How often a file is opened again that came and went meanwhile.
const TRIES: usize = 40;

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    pub follow: bool,
    pub create: bool,
    pub exclusive: bool,
    pub truncate: bool,
    pub directory: bool,
    pub read: bool,
    pub write: bool,
}

/// Opens what a path leads to: a file or a folder, and nothing else, since others may block or do something when opened.
pub(crate) fn open(guard: &Guard, dir: &Dir, path: &str, how: How) -> Result<Descriptor> {
    let changes = how.create || how.truncate || how.write;
    if how.directory && (how.create || how.exclusive || how.truncate) {
        return Err(Errno::INVAL.into());
    }
    if changes {
        may_change(dir)?;
    }
    let mode = match (changes, how.read || !how.write) {
        (true, true) => OpenMode::READ | OpenMode::WRITE,
        (true, false) => OpenMode::WRITE,
        (false, _) => OpenMode::READ,
    };
    let access = match (changes, mode.contains(OpenMode::READ)) {
        (true, true) => OFlags::RDWR,
        (true, false) => OFlags::WRONLY,
        (false, _) => OFlags::RDONLY,
    };
    // Never waits for the other end of a pipe, should one be put there meanwhile.
    let access = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = |handle: File| {
        // A handle that was opened to read changes nothing, times included.
        let perms = if changes { dir.perms } else { FsPerms::ReadOnly };
        Descriptor::File(Opened::new(handle, perms, mode, false))
    };
    let folder = |handle: File| Descriptor::Dir(Dir::new(handle, dir.perms, mode, false));
    let exists = || if how.create && how.exclusive { Errno::EXIST } else { Errno::ISDIR };
    // A link is not followed where the file must be new.
    let follow = how.follow && !(how.create && how.exclusive);
    for _ in 0..TRIES {
        let entry = match walk(&dir.dir, path, follow)? {
            Place::Folder(_) if changes => return Err(exists().into()),
            Place::Folder(handle) => {
                guard.folder(handle.as_fd(), Want::Read)?;
                return Ok(folder(open_folder(&handle, OsStr::new("."))?));
            }
            Place::Entry(entry) => entry,
        };
        match entry.kind() {
            None if how.create && entry.is_folder => return Err(Errno::ISDIR.into()),
            None if how.create => {
                let _alone = repository::alone(&entry.name);
                ask(guard, &entry, Want::Change)?;
                let flags = access | OFlags::CREATE | OFlags::EXCL;
                match openat(&entry.folder, &entry.name, flags, Mode::from_raw_mode(0o666)) {
                    Ok(handle) => return Ok(file(handle.into())),
                    Err(Errno::EXIST) if !how.exclusive => {}
                    Err(error) => return Err(error.into()),
                }
            }
            None => return Err(Errno::NOENT.into()),
            Some(_) if how.create && how.exclusive => return Err(Errno::EXIST.into()),
            Some(FileType::Directory) if changes => return Err(Errno::ISDIR.into()),
            Some(FileType::Directory) => {
                ask(guard, &entry, Want::Read)?;
                return Ok(folder(open_folder(&entry.folder, &entry.name)?));
            }
            Some(FileType::RegularFile) if how.directory || entry.is_folder => return Err(Errno::NOTDIR.into()),
            Some(FileType::RegularFile) => {
                let want = if changes { Want::Change } else { Want::Read };
                ask(guard, &entry, want)?;
                let handle: File = match openat(&entry.folder, &entry.name, access, Mode::empty()) {
                    Ok(handle) => handle.into(),
                    // Gone or replaced since it was looked at: once more.
                    Err(Errno::NOENT | Errno::LOOP) => continue,
                    Err(error) => return Err(error.into()),
                };
                let stat = fstat(&handle)?;
                if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                    continue;
                }
                // Another file than the one that was asked about: once more.
                if entry.stat.as_ref().map(id_of) != Some(id_of(&stat)) {
                    continue;
                }
                if how.truncate {
                    ftruncate(&handle, 0)?;
                }
                return Ok(file(handle));
            }
            Some(FileType::Symlink) => return Err(Errno::LOOP.into()),
            Some(_) => return Err(Errno::PERM.into()),
        }
    }
    Err(Errno::BUSY.into())
}

fn open_folder(folder: &OwnedFd, name: &OsStr) -> Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?.into())
}
