//! Repositories that are not called `.git`: git takes any folder for one that holds the right names, and runs what its `config`
//! says.
//!
//! Apart from the guard, because this is git's own idea of a repository, as its `is_git_directory` has it.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, statat};

use crate::capability::same_name;

/// The names that make a folder a repository: the first, and either the last or the two between.
const PARTS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

/// Held while one of [`PARTS`] is made: two made at once must not both think that the other is missing.
static MAKING: Mutex<()> = Mutex::new(());

/// Whether git takes an opened folder for a repository.
pub(super) fn is_one(folder: BorrowedFd<'_>) -> bool {
    complete(|it| is_there(folder, it))
}

/// Whether git would take an opened folder for a repository if this name were in it too.
pub(super) fn becomes_one(folder: BorrowedFd<'_>, name: &OsStr) -> bool {
    part(name).is_some_and(|new| complete(|it| it == new || is_there(folder, it)))
}

/// Whether git takes the folder of a path for a repository.
pub(crate) fn is_at(path: &Path) -> bool {
    complete(|it| path.join(it).symlink_metadata().is_ok())
}

/// Keeps others from making a part of a repository, where this name is one.
pub(super) fn alone(name: &OsStr) -> Option<MutexGuard<'static, ()>> {
    part(name).map(|_| MAKING.lock().unwrap_or_else(PoisonError::into_inner))
}

fn part(name: &OsStr) -> Option<&'static str> {
    PARTS.into_iter().find(|it| same_name(it, &name.to_string_lossy()))
}

fn complete(is_there: impl Fn(&'static str) -> bool) -> bool {
    let [head, objects, refs, shared] = PARTS;
    is_there(head) && (is_there(objects) && is_there(refs) || is_there(shared))
}

/// Whatever it is: a link that leads nowhere may lead somewhere later.
fn is_there(folder: BorrowedFd<'_>, name: &str) -> bool {
    statat(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        names.iter().for_each(|it| std::fs::write(folder.path().join(it), "").unwrap());
        folder
    }

    #[test]
    fn a_folder_with_the_right_names_is_a_repository() {
        for names in [&["HEAD", "objects", "refs"][..], &["HEAD", "commondir"]] {
            assert!(is_at(folder(names).path()), "{names:?}");
        }
        for names in [&[][..], &["HEAD"], &["HEAD", "objects"], &["objects", "refs"], &["HEAD", "refs"], &["commondir"]]
        {
            assert!(!is_at(folder(names).path()), "{names:?}");
        }
    }

    #[test]
    fn the_last_of_the_names_makes_it_one() {
        let becomes = |names: &[&str], new: &str| {
            let folder = folder(names);
            becomes_one(std::fs::File::open(folder.path()).unwrap().as_fd(), OsStr::new(new))
        };
        assert!(becomes(&["HEAD", "objects"], "refs") && becomes(&["objects", "refs"], "HEAD"));
        assert!(becomes(&["HEAD"], "commondir") && becomes(&["commondir"], "head"));
        assert!(!becomes(&["HEAD", "objects"], "config") && !becomes(&["HEAD"], "refs"));
    }
}
