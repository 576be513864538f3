//! Removes the code of engines that are no longer used: each release of the engine leaves a folder behind.
//!
//! Apart from the cache, because it deletes, and must never delete what is not the cache's own.

use std::path::Path;
use std::time::{Duration, SystemTime};

/// How long the code of another engine is kept: who goes back to an older program within a month finds it again.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Digits of an engine's name.
const DIGITS: usize = 16;

/// Removes the folders of other engines below `root` that were last written before [`KEPT`]. What cannot be removed stays.
pub(super) fn prune(root: &Path, engine: &str, now: SystemTime) {
    let Ok(entries) = std::fs::read_dir(root) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|it| it.len() == DIGITS && *it != engine) else { continue };
        // `metadata` of an entry does not follow links.
        let Ok(metadata) = entry.metadata() else { continue };
        let is_old = metadata.modified().is_ok_and(|it| now.duration_since(it).is_ok_and(|age| age > KEPT));
        if metadata.is_dir() && is_old && name.bytes().all(|it| it.is_ascii_hexdigit()) {
            match std::fs::remove_dir_all(entry.path()) {
                Ok(()) => tracing::info!("removed the compiled code of an older engine: {name}"),
                Err(error) => tracing::debug!("cannot remove {}: {error}", entry.path().display()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_other_engines_that_are_a_month_old_go() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let (mine, other) = ("00112233445566aa", "ffeeddccbbaa9988");
        for folder in [mine, other, "notes", "zzzzzzzzzzzzzzzz"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
            std::fs::write(root.path().join(folder).join("x"), "").unwrap();
        }
        std::fs::write(root.path().join("0123456789abcdef"), "a file").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("aaaaaaaaaaaaaaaa")).unwrap();
        let left = || {
            let names =
                std::fs::read_dir(root.path()).unwrap().flatten().map(|it| it.file_name().into_string().unwrap());
            let mut names: Vec<String> = names.collect();
            names.sort();
            names
        };
        prune(root.path(), mine, SystemTime::now());
        assert_eq!(left().len(), 6);
        prune(root.path(), mine, SystemTime::now() + KEPT + Duration::from_secs(60));
        assert_eq!(left(), [mine, "0123456789abcdef", "aaaaaaaaaaaaaaaa", "notes", "zzzzzzzzzzzzzzzz"]);
        assert!(outside.path().is_dir());
    }
}
