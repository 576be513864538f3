//! From a guest's path to a name in an opened folder, one step at a time.
//!
//! Apart, because this is what keeps a path below the folder it starts in: each folder on the way is opened by its name in
//! the one before, a link is read and walked as if its text stood in the path, and `..` goes back to a folder that the walk
//! came through. No text is ever compared, and nothing depends on what a path meant a moment ago.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};
use rustix::io::{Errno, Result};

/// Links that one path may go through; as many as Linux follows.
const LINKS: usize = 40;

/// Folders that one path may go down; each is an open file while the walk lasts.
const DEPTH: usize = 128;

/// Bytes of a path; as many as Linux takes.
const BYTES: usize = 4096;

/// How a folder is opened that is only gone through.
#[cfg(target_os = "linux")]
const THROUGH: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const THROUGH: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// What a path leads to.
pub(super) enum Place {
    /// A name in a folder, whether it is there or not.
    Entry(Entry),
    /// A folder without a name: the path ends in `.` or `..`.
    Folder(OwnedFd),
}

/// A name in an opened folder.
pub(super) struct Entry {
    pub folder: OwnedFd,
    pub name: OsString,
    /// What stands there; a link only where the walk was not to follow one.
    pub stat: Option<Stat>,
    /// Whether the path ends in a slash.
    pub is_folder: bool,
}

impl Entry {
    /// What kind of thing stands there.
    pub(super) fn kind(&self) -> Option<FileType> {
        self.stat.as_ref().map(|it| FileType::from_raw_mode(it.st_mode))
    }

    /// `ENOTDIR` for something else than a folder behind a path that says it is one.
    pub(super) fn check_slash(&self) -> Result<()> {
        if self.is_folder && self.kind().is_some_and(|it| it != FileType::Directory) {
            return Err(Errno::NOTDIR);
        }
        Ok(())
    }
}

/// Walks a path below a folder. `follow` is whether a link at its end is walked too.
pub(super) fn walk(start: &File, path: &str, follow: bool) -> Result<Place> {
    // Steps that are left, the next one last.
    let mut steps: Vec<OsString> = Vec::new();
    let mut is_folder = push(&mut steps, path.as_bytes())?;
    let mut came_through: Vec<OwnedFd> = Vec::new();
    let mut links = 0;
    while let Some(step) = steps.pop() {
        let here = came_through.last().map_or(start.as_fd(), AsFd::as_fd);
        if step == ".." {
            if came_through.pop().is_none() {
                return Err(Errno::PERM);
            }
            continue;
        }
        let is_last = steps.is_empty();
        let found = if is_last {
            let stat = match statat(here, step.as_os_str(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => Some(stat),
                Err(Errno::NOENT) => None,
                Err(error) => return Err(error),
            };
            let is_link = stat.is_some_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Symlink);
            if !is_link || !(follow || is_folder) {
                let folder = match came_through.pop() {
                    Some(folder) => folder,
                    None => start.as_fd().try_clone_to_owned().map_err(|_| Errno::MFILE)?,
                };
                return Ok(Place::Entry(Entry { folder, name: step, stat, is_folder }));
            }
            None
        } else {
            open_folder(here, &step)?
        };
        match found {
            Some(_) if came_through.len() >= DEPTH => return Err(Errno::NAMETOOLONG),
            Some(folder) => came_through.push(folder),
            None => {
                links += 1;
                if links > LINKS {
                    return Err(Errno::LOOP);
                }
                let link = readlinkat(here, step.as_os_str(), Vec::new()).map_err(not_a_link)?;
                let ends_as_folder = push(&mut steps, link.as_bytes())?;
                is_folder |= is_last && ends_as_folder;
            }
        }
    }
    let folder = match came_through.pop() {
        Some(folder) => folder,
        None => start.as_fd().try_clone_to_owned().map_err(|_| Errno::MFILE)?,
    };
    Ok(Place::Folder(folder))
}

/// Opens a folder by its real path from the root on: no link on the way counts. For a path that was canonical once.
pub(super) fn open_real(path: &Path) -> Result<OwnedFd> {
    let mut here: Option<OwnedFd> = None;
    for component in path.components() {
        let step = match component {
            Component::RootDir => OsStr::new("/"),
            Component::Normal(step) => step,
            Component::CurDir | Component::ParentDir | Component::Prefix(_) => return Err(Errno::INVAL),
        };
        let from = here.as_ref().map_or(CWD, AsFd::as_fd);
        here = Some(openat(from, step, THROUGH | OFlags::NOFOLLOW, Mode::empty())?);
    }
    let here = here.ok_or(Errno::NOENT)?;
    // A handle that can be listed, too.
    openat(&here, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// The folder that a folder is in.
pub(super) fn above(folder: BorrowedFd<'_>) -> Result<OwnedFd> {
    openat(folder, "..", THROUGH, Mode::empty())
}

/// Opens a folder to go through it, as the host itself would: links count.
pub(super) fn through(folder: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd> {
    openat(folder, name, THROUGH, Mode::empty())
}

/// Opens a folder by its name in another; none for a link.
fn open_folder(here: BorrowedFd<'_>, name: &OsStr) -> Result<Option<OwnedFd>> {
    match openat(here, name, THROUGH | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(folder) => Ok(Some(folder)),
        // What it is decides the caller, by reading it as a link.
        Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => Ok(None),
        Err(error) => Err(error),
    }
}

fn not_a_link(error: Errno) -> Errno {
    if error == Errno::INVAL { Errno::NOTDIR } else { error }
}

/// Puts the steps of a path before those that are left. Returns whether the path says that it ends in a folder.
fn push(steps: &mut Vec<OsString>, path: &[u8]) -> Result<bool> {
    if path.is_empty() {
        return Err(Errno::NOENT);
    }
    if path.starts_with(b"/") {
        return Err(Errno::PERM);
    }
    if path.len() > BYTES || steps.len() > BYTES {
        return Err(Errno::NAMETOOLONG);
    }
    if path.contains(&0) {
        return Err(Errno::INVAL);
    }
    let names = path.split(|it| *it == b'/').filter(|it| !it.is_empty() && *it != b".");
    let names: Vec<OsString> = names.map(|it| OsString::from_vec(it.to_vec())).collect();
    steps.extend(names.into_iter().rev());
    Ok(path.ends_with(b"/") || path.ends_with(b"/."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::{MetadataExt as _, symlink};

    fn tree() -> (tempfile::TempDir, File) {
        let root = tempfile::tempdir().unwrap();
        let inside = root.path().join("in");
        create_dir_all(inside.join("a/b")).unwrap();
        write(inside.join("a/b/file"), "").unwrap();
        write(root.path().join("secret"), "").unwrap();
        let start = File::open(&inside).unwrap();
        (root, start)
    }

    /// The folder and the name that a path leads to, or the error.
    fn lead(root: &Path, start: &File, path: &str, follow: bool) -> String {
        let shown = |folder: &OwnedFd| {
            let id = rustix::fs::fstat(folder).unwrap().st_ino;
            let known = ["in", "in/a", "in/a/b"].into_iter().find(|it| root.join(it).metadata().unwrap().ino() == id);
            known.unwrap_or("?").to_owned()
        };
        match walk(start, path, follow) {
            Ok(Place::Entry(it)) => format!("{} {}", shown(&it.folder), it.name.display()),
            Ok(Place::Folder(it)) => shown(&it),
            Err(error) => format!("{error:?}"),
        }
    }

    #[test]
    fn a_path_leads_to_a_name_in_a_folder_and_never_out() {
        let (root, start) = tree();
        let inside = root.path().join("in");
        for (link, to) in [
            ("up", ".."),
            ("out", "../secret"),
            ("root", "/etc"),
            ("down", "a/b"),
            ("a/back", "../a/b/file"),
            ("loop", "loop"),
            ("a/slash", "b/"),
        ] {
            symlink(to, inside.join(link)).unwrap();
        }
        for (path, expected) in [
            ("new", "in new"),
            ("a/b/file", "in/a/b file"),
            ("a/../a/./b//file", "in/a/b file"),
            ("down/file", "in/a/b file"),
            ("a/back", "in/a/b file"),
            ("a/slash", "in/a b"),
            ("a/b/", "in/a b"),
            ("a/b/.", "in/a b"),
            ("a/b/..", "in/a"),
            (".", "in"),
            ("a/..", "in"),
            ("..", "PERM"),
            ("a/../..", "PERM"),
            ("a/../../in", "PERM"),
            ("up", "PERM"),
            ("up/in/new", "PERM"),
            ("out", "PERM"),
            ("root", "PERM"),
            ("root/passwd", "PERM"),
            ("/etc/passwd", "PERM"),
            ("", "NOENT"),
            ("loop", "LOOP"),
            ("loop/x", "LOOP"),
            ("a/b/file/x", "NOTDIR"),
            ("missing/x", "NOENT"),
            ("a\0b", "INVAL"),
        ] {
            let found = lead(root.path(), &start, path, true);
            let expected = match expected {
                "PERM" => format!("{:?}", Errno::PERM),
                "NOENT" => format!("{:?}", Errno::NOENT),
                "LOOP" => format!("{:?}", Errno::LOOP),
                "NOTDIR" => format!("{:?}", Errno::NOTDIR),
                "INVAL" => format!("{:?}", Errno::INVAL),
                it => it.to_owned(),
            };
            assert_eq!(found, expected, "{path:?}");
        }
        assert_eq!(lead(root.path(), &start, "out", false), "in out", "the link itself");
        assert_eq!(lead(root.path(), &start, &"a/../".repeat(3000), false), format!("{:?}", Errno::NAMETOOLONG));
    }

    #[test]
    fn no_path_through_no_links_leads_out() {
        use proptest::prelude::*;
        let (root, start) = tree();
        let inside = root.path().canonicalize().unwrap().join("in");
        for (link, to) in
            [("up", ".."), ("a/top", "../.."), ("out", "../secret"), ("down", "a/b"), ("a/b/out", "../../out")]
        {
            symlink(to, inside.join(link)).unwrap();
        }
        symlink(&inside, inside.join("absolute")).unwrap();
        let names = ["a", "b", "file", "up", "top", "out", "down", "absolute", "in", "secret", "..", "..", ".", ""];
        let path = prop::collection::vec(prop::sample::select(names.to_vec()), 0..9).prop_map(|it| it.join("/"));
        proptest!(ProptestConfig::with_cases(crate::cases::cases()), |(path in path, follow: bool)| {
            let folder = match walk(&start, &path, follow) {
                Ok(Place::Entry(entry)) => {
                    prop_assert!(!entry.name.to_string_lossy().contains('/') && entry.name != ".." && entry.name != ".");
                    prop_assert!(!follow || entry.kind() != Some(FileType::Symlink));
                    entry.folder
                }
                Ok(Place::Folder(folder)) => folder,
                Err(_) => return Ok(()),
            };
            // Climbing from there comes to the start before it comes to the root.
            let id = |it: &OwnedFd| rustix::fs::fstat(it).map(|it| it.st_ino).unwrap();
            let (goal, mut here) = (start.metadata().unwrap().ino(), folder);
            for _ in 0..4 {
                if id(&here) == goal {
                    return Ok(());
                }
                here = above(here.as_fd()).unwrap();
            }
            prop_assert!(false, "{path:?} leads out");
        });
    }

    #[test]
    fn a_real_path_with_a_link_on_its_way_is_not_opened() {
        let (root, _start) = tree();
        let real = root.path().canonicalize().unwrap();
        symlink("in", real.join("link")).unwrap();
        assert!(open_real(&real.join("in/a")).is_ok());
        assert!(open_real(&real.join("link/a")).is_err() && open_real(&real.join("link")).is_err());
    }
}
