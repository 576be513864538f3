//! What lies below a granted folder and is not granted with it, beside what is protected by its name: plugin folders, what is
//! the program's own, and a repository that is kept elsewhere.
//!
//! Apart from rights, because here paths are looked up once, so that the sandbox has names to climb by.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::capability::{Mode, is_protected};
use crate::plugin::rights::Surroundings;
use crate::sandbox::files::repository;
use crate::sandbox::guest::Inside;

/// Bytes of a `.git` file that are read: it holds one path.
const GIT_FILE: u64 = 4096;

/// Finds what is reserved below a folder, given by its real path.
pub(crate) fn inside(folder: &Path, surroundings: &Surroundings) -> Arc<[Inside]> {
    let mut found: Vec<Inside> = Vec::new();
    let mut add = |path: &Path, hidden: bool, never: bool| {
        let Some(names) = names_below(&real(path), folder) else { return };
        if !found.iter().any(|it| it.names == names) {
            found.push(Inside { names, hidden, never });
        }
    };
    surroundings.private.iter().for_each(|it| add(it, true, true));
    surroundings.own.iter().for_each(|it| add(it, true, false));
    surroundings.plugin_places.iter().for_each(|it| add(it, false, false));
    for repository in repositories(folder) {
        add(&repository, false, false);
    }
    found.into()
}

/// Whether a folder, given by its real path, is or is in what a grant of a folder above does not include.
pub(crate) fn is_reserved(folder: &Path, surroundings: &Surroundings) -> bool {
    let places = surroundings.own.iter().chain(&surroundings.plugin_places);
    places.map(|it| real(it)).any(|it| folder.starts_with(it)) || repository::is_at(folder)
}

/// Whether a folder below another is opened only by a grant that names it as it is.
pub(crate) fn has_to_be_named(folder: &Path, below: &Path, mode: Mode, surroundings: &Surroundings) -> bool {
    let is_own = surroundings.own.iter().any(|it| folder.starts_with(real(it)));
    let mut names = folder.strip_prefix(below).unwrap_or(folder).iter();
    is_own
        || mode == Mode::Write
            && (is_reserved(folder, surroundings) || names.any(|it| is_protected(&it.to_string_lossy())))
}

/// The real path of what may not be there yet: as much of it as is there, and the rest by its names.
pub(crate) fn real(path: &Path) -> PathBuf {
    let mut missing: Vec<OsString> = Vec::new();
    for there in path.ancestors() {
        if let Ok(real) = there.canonicalize() {
            return missing.iter().rev().fold(real, |path, name| path.join(name));
        }
        missing.extend(there.file_name().map(ToOwned::to_owned));
    }
    path.to_owned()
}

/// The names of a path below a folder; none for the folder itself.
fn names_below(path: &Path, folder: &Path) -> Option<Vec<OsString>> {
    let names: Vec<OsString> = path.strip_prefix(folder).ok()?.iter().map(ToOwned::to_owned).collect();
    (!names.is_empty()).then_some(names)
}

/// Where the repository of a folder is, if its `.git` is a link or a file: worktrees, and repositories kept apart.
fn repositories(folder: &Path) -> Vec<PathBuf> {
    let git = folder.join(".git");
    // A folder of that name is protected by its name.
    let mut found: Vec<PathBuf> = if git.is_symlink() { vec![git.clone()] } else { Vec::new() };
    if git.is_file()
        && let Some(path) = line(&git).as_deref().and_then(|it| it.strip_prefix("gitdir:"))
    {
        found.push(folder.join(path.trim()));
    }
    let shared = |it: &PathBuf| Some(it.join(line(&it.join("commondir"))?.trim()));
    found.extend(found.clone().iter().filter_map(shared));
    found
}

/// The first line of a small file.
fn line(path: &Path) -> Option<String> {
    use std::io::Read as _;
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(GIT_FILE).read_to_string(&mut text).ok()?;
    text.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    fn shown(folder: &Path, surroundings: &Surroundings) -> Vec<String> {
        let text = |it: &Inside| it.names.iter().collect::<PathBuf>().display().to_string();
        let mut shown: Vec<String> = inside(folder, surroundings).iter().map(text).collect();
        shown.sort();
        shown
    }

    #[test]
    fn only_what_is_below_the_folder_counts_whether_it_is_there_or_not() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        create_dir_all(root.join("home/.config")).unwrap();
        let around = Surroundings {
            private: vec![root.join("home/.cache/bellglass")],
            own: vec![root.join("home/.config/bellglass"), root.join("state/bellglass")],
            plugin_places: vec![root.join("home"), root.join("home/dev/x.wasm")],
            ..Surroundings::default()
        };
        let home = root.join("home");
        assert_eq!(shown(&home, &around), [".cache/bellglass", ".config/bellglass", "dev/x.wasm"]);
        assert_eq!(shown(&home.join(".config"), &around), ["bellglass"]);
        assert_eq!(shown(&home.join(".config/bellglass"), &around), [""; 0]);
    }

    #[test]
    fn a_repository_that_is_kept_elsewhere_is_found() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        create_dir_all(root.join("store/worktrees/w")).unwrap();
        write(root.join("store/worktrees/w/commondir"), "../..\n").unwrap();
        write(root.join(".git"), "gitdir: store/worktrees/w\n").unwrap();
        assert_eq!(shown(&root, &Surroundings::default()), ["store", "store/worktrees/w"]);
        std::fs::remove_file(root.join(".git")).unwrap();
        std::os::unix::fs::symlink("store", root.join(".git")).unwrap();
        assert_eq!(shown(&root, &Surroundings::default()), ["store"]);
    }
}
