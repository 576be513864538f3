//! Reads a file that a plugin may read, for the host itself to show.
//!
//! Apart, because here the host opens a path that a stranger chose: the kernel resolves it below a granted folder, or not at
//! all.

use std::io::Read as _;
use std::path::Path;

use crate::sandbox::guest::OpenFolder;

/// Reads at most `limit` bytes of a file, by a path as the plugin would write it. None for anything that the plugin could
/// not read itself.
pub(crate) fn read(folders: &[OpenFolder], path: &str, limit: usize) -> Option<String> {
    // The longest name is the nearest folder, as for the guest's own library.
    let mut below: Vec<(&OpenFolder, &str)> =
        folders.iter().filter_map(|it| Some((it, beneath(&it.guest, path)?))).collect();
    below.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.guest.len()));
    let (folder, rest) = below.first()?;
    let file = open(&folder.host, Path::new(rest))?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut content = Vec::new();
    file.take(limit as u64).read_to_end(&mut content).ok()?;
    Some(String::from_utf8_lossy(&content).into_owned())
}

/// The rest of a path below a folder's name; `.` is above every relative path.
fn beneath<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    if folder == "." {
        return (!path.starts_with('/')).then_some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

#[cfg(target_os = "linux")]
fn open(folder: &Path, path: &Path) -> Option<std::fs::File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
    let folder = openat(CWD, folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    // Without O_NONBLOCK a named pipe would block.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    openat2(folder, path, flags, Mode::empty(), resolve).ok().map(Into::into)
}

/// Without a kernel that resolves below a folder, nothing is opened: the plugin's fallback is shown.
#[cfg(not(target_os = "linux"))]
fn open(_folder: &Path, _path: &Path) -> Option<std::fs::File> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::capability::Mode;

    #[test]
    fn only_what_the_plugin_could_read_itself_is_read() {
        let root = tempfile::tempdir().unwrap();
        let granted = root.path().join("granted");
        std::fs::create_dir_all(granted.join("sub")).unwrap();
        std::fs::write(root.path().join("secret"), "no").unwrap();
        std::fs::write(granted.join("sub/a"), "yes").unwrap();
        std::os::unix::fs::symlink("../secret", granted.join("out")).unwrap();
        std::os::unix::fs::symlink("sub/a", granted.join("in")).unwrap();
        let folder = |guest: &str| OpenFolder { host: granted.clone(), guest: guest.into(), mode: Mode::Read };
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
