//! Reads a file that a plugin may read, for the host itself to show.
//!
//! Apart, because here the host opens a path that a stranger chose: it does so as the plugin would, with no right of its own.

use std::io::Read as _;

use wasmtime_wasi::filesystem::Descriptor;

use crate::sandbox::files::guard::Guard;
use crate::sandbox::files::open::{How, open};
use crate::sandbox::guest::OpenFolder;

/// Reads at most `limit` bytes of a file, by a path as the plugin would write it. None for anything that the plugin could
/// not read itself. Blocks.
pub(crate) fn read(folders: &[OpenFolder], path: &str, limit: usize) -> Option<String> {
    let guard = Guard::open(folders, "");
    // The longest name is the nearest folder, as for the guest's own library.
    let below = guard.roots.iter().filter_map(|it| Some((it, beneath(&it.folder.guest, path)?)));
    let (root, rest) = below.max_by_key(|(root, _)| root.folder.guest.len())?;
    let how = How { follow: true, read: true, ..How::default() };
    let Descriptor::File(file) = open(&guard, &root.dir, rest, how).ok()? else { return None };
    let mut content = Vec::new();
    file.file.take(limit as u64).read_to_end(&mut content).ok()?;
    Some(String::from_utf8_lossy(&content).into_owned())
}

/// The rest of a path below a folder's name; `.` is above every relative path.
fn beneath<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    if folder == "." {
        return (!path.starts_with('/')).then_some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::{Folder, Mode};

    #[test]
    fn only_what_the_plugin_could_read_itself_is_read() {
        let root = tempfile::tempdir().unwrap();
        let granted = root.path().canonicalize().unwrap().join("granted");
        std::fs::create_dir_all(granted.join("sub")).unwrap();
        std::fs::write(root.path().join("secret"), "no").unwrap();
        std::fs::write(granted.join("sub/a"), "yes").unwrap();
        std::os::unix::fs::symlink("../secret", granted.join("out")).unwrap();
        std::os::unix::fs::symlink("sub/a", granted.join("in")).unwrap();
        let folder = |guest: &str| OpenFolder {
            host: granted.clone(),
            guest: guest.into(),
            granted: Folder::workspace(),
            mode: Mode::Read,
            inside: [].into(),
        };
        let folders = [folder("."), folder("/w")];
        for path in ["sub/a", "in", "./sub/a", "/w/sub/a", "sub/../sub/a"] {
            assert_eq!(read(&folders, path, 100).as_deref(), Some("yes"), "{path}");
        }
        for path in ["out", "../secret", "/etc/passwd", "/w/../secret", "sub", "nope", "", "/w", "/wx/sub/a"] {
            assert_eq!(read(&folders, path, 100), None, "{path}");
        }
        assert_eq!(read(&folders, "sub/a", 2).as_deref(), Some("ye"));
        assert_eq!(read(&[], "sub/a", 2), None);
    }
}
