//! Compiled code and listings of plugins, kept between runs.
//!
//! Apart, because cached native code runs outside of every sandbox: whatever is wrong with an entry is a miss, and the folder
//! is the user's alone.

mod prune;

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use wasmtime::component::Component;

/// Largest note beside an entry. A listing is bounded by the limits; this bounds a planted one.
const NOTE: u64 = 64 << 20;

/// The cache of one engine's code.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    /// `…/bellglass/<engine>`.
    folder: PathBuf,
}

/// Why there is no cache in this run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("`{0}` belongs to another user")]
    Owner(PathBuf),
    #[error("`{0}` lies inside the workspace, where plugins and other programs may write")]
    Workspace(PathBuf),
    #[error("cannot use `{path}`: {error}", path = .0.display(), error = .1)]
    Io(PathBuf, io::Error),
}

/// Beside each piece of code: which file it is, and what the plugin listed.
#[derive(Serialize, Deserialize)]
struct Note<L> {
    code: Fingerprint,
    listing: L,
}

/// The code file that this host wrote. Size, time and inode are enough on the quick path; on any doubt its checksum decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Fingerprint {
    bytes: u64,
    modified_s: i64,
    modified_ns: i64,
    inode: u64,
    sha256: String,
}

/// Code that is in the cache, and has no listing yet.
pub(crate) struct Stored(Fingerprint);

impl Cache {
    /// Opens the folder for an engine, and makes it private.
    ///
    /// # Errors
    ///
    /// [`Refused`] when code in it could have been planted by another user, a plugin or a cloned repository.
    pub(crate) fn open(root: &Path, engine: &str, workspace: &Path) -> Result<Self, Refused> {
        let io = |error| Refused::Io(root.to_owned(), error);
        // Before anything is made: a refused cache leaves no folder behind in somebody's project.
        if let Some(there) = root.ancestors().find_map(|it| it.canonicalize().ok())
            && workspace.canonicalize().is_ok_and(|it| there.starts_with(it))
        {
            return Err(Refused::Workspace(root.to_owned()));
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(root).map_err(io)?;
        let root = root.canonicalize().map_err(io)?;
        if workspace.canonicalize().is_ok_and(|it| root.starts_with(it)) {
            return Err(Refused::Workspace(root));
        }
        let folder = root.join(engine);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(io)?;
        for path in [&root, &folder] {
            let metadata = fs::symlink_metadata(path).map_err(io)?;
            if !metadata.is_dir() || metadata.uid() != rustix::process::geteuid().as_raw() {
                return Err(Refused::Owner(path.clone()));
            }
            if metadata.mode() & 0o077 != 0 {
                fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(io)?;
            }
        }
        prune::prune(&root, engine, SystemTime::now());
        Ok(Self { folder })
    }

    /// Loads the code and the listing of the plugin with this content hash. Anything wrong is a miss.
    pub(crate) fn load<L: DeserializeOwned>(&self, engine: &wasmtime::Engine, hash: &str) -> Option<(Component, L)> {
        let note: Note<L> = serde_json::from_slice(&read(&self.note(hash), NOTE)?).ok()?;
        let path = self.code(hash);
        let found = fs::symlink_metadata(&path).ok()?;
        if !found.is_file() {
            self.remove(hash);
            return None;
        }
        let quick = found.len() == note.code.bytes
            && (found.mtime(), found.mtime_nsec()) == (note.code.modified_s, note.code.modified_ns)
            && found.ino() == note.code.inode;
        // A restored backup or a copied home has other times and inodes; its content decides.
        if !quick && sum(&path)? != note.code.sha256 {
            tracing::warn!("the compiled code of plugin {hash} is not what this host wrote: it is compiled again");
            self.remove(hash);
            return None;
        }
        #[expect(unsafe_code, reason = "maps native code: see the comment")]
        // SAFETY: the file was written by `store` of this user's own host: the folder is the user's alone, no grant can name
        // it, and the file is the one whose fingerprint `store` took. wasmtime itself refuses code of another engine.
        let component = unsafe { Component::deserialize_file(engine, &path) };
        match component {
            Ok(component) => Some((component, note.listing)),
            Err(error) => {
                tracing::debug!("cached code of plugin {hash} does not load: {error:#}");
                self.remove(hash);
                None
            }
        }
    }

    /// Writes code, and maps it: on the heap it would cost ten times as much. None when the folder cannot be written.
    pub(crate) fn store_code(&self, engine: &wasmtime::Engine, hash: &str, code: &[u8]) -> Option<(Component, Stored)> {
        let write_code = || -> io::Result<Stored> {
            let path = self.code(hash);
            write(&self.folder, &path, code)?;
            let metadata = fs::symlink_metadata(&path)?;
            Ok(Stored(Fingerprint {
                bytes: metadata.len(),
                modified_s: metadata.mtime(),
                modified_ns: metadata.mtime_nsec(),
                inode: metadata.ino(),
                sha256: hex(&Sha256::digest(code)),
            }))
        };
        let stored = write_code().inspect_err(|error| tracing::warn!("compiled code is not kept: {error}")).ok()?;
        #[expect(unsafe_code, reason = "maps native code: see the comment")]
        // SAFETY: these are the bytes that this process has just compiled, in a folder that is the user's alone.
        let component = unsafe { Component::deserialize_file(engine, self.code(hash)) };
        Some((component.ok()?, stored))
    }

    /// Adds the listing to code that was stored. It comes last: code without one is a miss.
    pub(crate) fn store_listing<L: Serialize>(&self, hash: &str, code: Stored, listing: &L) -> io::Result<()> {
        let note = serde_json::to_vec(&Note { code: code.0, listing }).map_err(io::Error::other)?;
        write(&self.folder, &self.note(hash), &note)
    }

    fn code(&self, hash: &str) -> PathBuf {
        self.folder.join(format!("{hash}.cwasm"))
    }

    fn note(&self, hash: &str) -> PathBuf {
        self.folder.join(format!("{hash}.json"))
    }

    fn remove(&self, hash: &str) {
        for path in [self.note(hash), self.code(hash)] {
            // A folder in the place of a file would stay in the way for ever.
            let removed =
                if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            if let Err(error) = removed {
                tracing::debug!("cannot remove {}: {error}", path.display());
            }
        }
    }
}

/// The SHA-256 of bytes as hexadecimal digits, as `sha256sum` prints it.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// Reads a file that is not larger than `limit`.
fn read(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path).ok()?.take(limit).read_to_end(&mut content).ok()?;
    Some(content)
}

fn sum(path: &Path) -> Option<String> {
    let mut hasher = Sha256::new();
    let mut file = File::open(path).ok()?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hex(&hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

fn write(folder: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(content)?;
    temporary.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "00ff";

    fn engine() -> wasmtime::Engine {
        wasmtime::Engine::default()
    }

    /// A cache with one entry, and the folder that holds it.
    fn filled() -> (tempfile::TempDir, Cache, wasmtime::Engine) {
        let engine = engine();
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path(), "engine", Path::new("/nowhere")).unwrap();
        let code = engine.precompile_component(&wat::parse_str("(component)").unwrap()).unwrap();
        let (_, stored) = cache.store_code(&engine, HASH, &code).unwrap();
        cache.store_listing(HASH, stored, &"listing".to_owned()).unwrap();
        (root, cache, engine)
    }

    fn load(cache: &Cache, engine: &wasmtime::Engine) -> Option<String> {
        cache.load::<String>(engine, HASH).map(|it| it.1)
    }

    #[test]
    fn what_was_stored_is_loaded() {
        let (_root, cache, engine) = filled();
        assert_eq!(load(&cache, &engine).as_deref(), Some("listing"));
    }

    #[test]
    fn the_folder_is_made_private() {
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let cache = Cache::open(root.path(), "engine", Path::new("/nowhere")).unwrap();
        for path in [root.path(), &cache.folder] {
            assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o700, "{}", path.display());
        }
    }

    #[test]
    fn a_folder_inside_the_workspace_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let refused = Cache::open(&root.path().join("cache"), "engine", root.path()).unwrap_err();
        assert!(matches!(refused, Refused::Workspace(_)), "{refused}");
        assert!(!root.path().join("cache").exists(), "nothing is left behind");
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let refused = Cache::open(Path::new("/proc/1"), "task", Path::new("/nowhere")).unwrap_err();
        assert!(matches!(refused, Refused::Owner(_) | Refused::Io(..)), "{refused}");
    }

    #[test]
    fn a_copied_entry_is_loaded_by_its_checksum() {
        let (_root, cache, engine) = filled();
        let code = fs::read(cache.code(HASH)).unwrap();
        write(&cache.folder, &cache.code(HASH), &code).unwrap();
        assert_eq!(load(&cache, &engine).as_deref(), Some("listing"));
    }

    #[test]
    fn every_damage_is_a_miss() {
        type Damage = fn(&Cache);
        let damages: [(&str, Damage); 8] = [
            ("no code", |it| fs::remove_file(it.code(HASH)).unwrap()),
            ("no note", |it| fs::remove_file(it.note(HASH)).unwrap()),
            ("empty code", |it| fs::write(it.code(HASH), b"").unwrap()),
            ("half the code", |it| {
                let code = fs::read(it.code(HASH)).unwrap();
                fs::write(it.code(HASH), &code[..code.len() / 2]).unwrap();
            }),
            ("junk as code", |it| fs::write(it.code(HASH), vec![7; 100]).unwrap()),
            ("empty note", |it| fs::write(it.note(HASH), b"").unwrap()),
            ("note of another version", |it| fs::write(it.note(HASH), br#"{"listing":"x"}"#).unwrap()),
            ("a link instead of the code", |it| {
                fs::rename(it.code(HASH), it.folder.join("other")).unwrap();
                std::os::unix::fs::symlink(it.folder.join("other"), it.code(HASH)).unwrap();
            }),
        ];
        for (name, damage) in damages {
            let (_root, cache, engine) = filled();
            damage(&cache);
            assert_eq!(load(&cache, &engine), None, "{name}");
        }
    }

    #[test]
    fn code_of_another_engine_is_a_miss() {
        let (_root, cache, _engine) = filled();
        let other = wasmtime::Engine::new(wasmtime::Config::new().epoch_interruption(true)).unwrap();
        assert_eq!(load(&cache, &other), None);
    }
}
