//! `storage`: a small store of the plugin's own, one file for each key, that lasts between sessions.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::bindings::bellglass::plugin::storage::Host;
use crate::fault::bytes;
use crate::sandbox::guest::Identity;

/// Longest key, in bytes.
const KEY: usize = 256;

/// Keys of one plugin. Each is a file, and takes a block of the disk however small it is.
const KEYS: usize = 1024;

/// The plugin's own folder and its limit.
pub(crate) struct View<'a> {
    pub identity: &'a Identity,
}

impl View<'_> {
    fn folder(&self) -> Result<&Path, String> {
        self.identity.storage.as_deref().ok_or_else(|| "there is no storage here".to_owned())
    }

    /// Runs file work where it may block.
    async fn work<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Path, usize) -> Result<R, String> + Send + 'static,
    ) -> Result<R, String> {
        let folder = self.folder()?.to_owned();
        let limit = self.identity.storage_limit;
        // Two calls of one plugin must not both think that there is room. Other plugins do not wait for them.
        let _lock = self.identity.storage_lock.lock().await;
        let done = tokio::task::spawn_blocking(move || work(&folder, limit)).await;
        done.unwrap_or_else(|_| Err("the storage failed".into()))
    }
}

impl Host for View<'_> {
    async fn get(&mut self, key: String) -> wasmtime::Result<Option<Vec<u8>>> {
        let value = self.work(move |folder, _| Ok(read(&file(folder, &key), &key))).await;
        Ok(value.ok().flatten())
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<(), String>> {
        Ok(self.work(move |folder, limit| set(folder, &key, &value, limit)).await)
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<()> {
        let gone = self.work(move |folder, _| fs::remove_file(file(folder, &key)).map_err(|it| it.to_string())).await;
        if let Err(error) = gone {
            tracing::debug!(plugin = %self.identity.name, "not deleted from the storage: {error}");
        }
        Ok(())
    }

    async fn keys(&mut self) -> wasmtime::Result<Vec<String>> {
        let keys = self.work(|folder, _| Ok(keys(folder))).await;
        Ok(keys.unwrap_or_default())
    }
}

/// The file of a key. The name is a hash, so that no key can name another file; the key itself is the file's first line.
fn file(folder: &Path, key: &str) -> PathBuf {
    let hash = Sha256::digest(key.as_bytes());
    let name: String = hash.iter().take(16).map(|it| format!("{it:02x}")).collect();
    folder.join(name)
}

fn read(file: &Path, key: &str) -> Option<Vec<u8>> {
    let content = fs::read(file).ok()?;
    let header = serde_json::to_string(key).ok()?;
    content.strip_prefix(header.as_bytes())?.strip_prefix(b"\n").map(<[u8]>::to_vec)
}

fn set(folder: &Path, key: &str, value: &[u8], limit: usize) -> Result<(), String> {
    if key.len() > KEY {
        return Err(format!("the key is longer than {KEY} bytes"));
    }
    let target = file(folder, key);
    let header = serde_json::to_string(key).map_err(|it| it.to_string())?;
    let needed = header.len() + 1 + value.len();
    let (others, used) = others(folder, &target);
    if used.saturating_add(needed) > limit {
        return Err(format!("the storage of a plugin holds at most {}", bytes(limit)));
    }
    if others >= KEYS {
        return Err(format!("the storage of a plugin holds at most {KEYS} keys"));
    }
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        temporary.write_all(header.as_bytes())?;
        temporary.write_all(b"\n")?;
        temporary.write_all(value)?;
        temporary.persist(&target)?;
        Ok(())
    };
    write().map_err(|error| {
        tracing::warn!("cannot write {}: {error}", target.display());
        "the storage cannot be written".to_owned()
    })
}

/// How many other keys there are, and the bytes that they take.
fn others(folder: &Path, but: &Path) -> (usize, usize) {
    let Ok(entries) = fs::read_dir(folder) else { return (0, 0) };
    let sizes = entries.flatten().filter(|it| it.path() != but).filter_map(|it| it.metadata().ok());
    let sizes = sizes.map(|it| usize::try_from(it.len()).unwrap_or(usize::MAX));
    sizes.fold((0, 0), |(count, sum), size| (count + 1, usize::saturating_add(sum, size)))
}

fn keys(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let first_line = |path: PathBuf| -> Option<String> {
        let content = fs::read(path).ok()?;
        let end = content.iter().position(|it| *it == b'\n')?;
        serde_json::from_slice(&content[..end]).ok()
    };
    let mut keys: Vec<String> = entries.flatten().filter_map(|it| first_line(it.path())).collect();
    keys.sort();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_got_again_whatever_the_key() {
        let folder = tempfile::tempdir().unwrap();
        for key in ["a", "", "../../etc/passwd", "a/b", "日本", "with\nnewline", "\0"] {
            set(folder.path(), key, key.as_bytes(), 1 << 20).unwrap();
        }
        for key in ["a", "", "../../etc/passwd", "a/b", "日本", "with\nnewline", "\0"] {
            assert_eq!(read(&file(folder.path(), key), key).as_deref(), Some(key.as_bytes()), "{key:?}");
        }
        assert_eq!(keys(folder.path()).len(), 7);
    }

    #[test]
    fn the_storage_is_full_at_its_limit_and_a_value_can_still_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        set(folder.path(), "a", &[0; 900], 1000).unwrap();
        let error = set(folder.path(), "b", &[0; 200], 1000).unwrap_err();
        assert_eq!(error, "the storage of a plugin holds at most 1000 bytes");
        set(folder.path(), "a", &[1; 950], 1000).unwrap();
        assert!(set(folder.path(), &"k".repeat(257), b"", 1000).is_err());
    }

    #[test]
    fn the_number_of_keys_is_bounded_however_small_they_are() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..KEYS {
            fs::write(file(folder.path(), &n.to_string()), format!("\"{n}\"\n")).unwrap();
        }
        let error = set(folder.path(), "more", b"", 1 << 20).unwrap_err();
        assert_eq!(error, "the storage of a plugin holds at most 1024 keys");
        set(folder.path(), "7", b"again", 1 << 20).unwrap();
    }
}
