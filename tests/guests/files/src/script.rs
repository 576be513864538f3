//! Steps on files, as JSON, and what came of each: `ok`, what was read, or the name of the error.
//!
//! Apart from both guests that include it: the two versions of WASI differ in their types, not in what is tried with them.

use std::collections::HashMap;
use std::future::Future;

use serde_json::{Value, json};

use crate::wasi::filesystem::preopens::get_directories;
use crate::wasi::filesystem::types::{Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags};

/// Descriptors under names: the granted folders under theirs, opened ones under those that steps give.
pub(crate) struct Script {
    descriptors: HashMap<String, Descriptor>,
}

/// What the versions of WASI do differently; and all that waits in one of them.
pub(crate) trait Version {
    fn read(file: &Descriptor) -> impl Future<Output = Result<Vec<u8>, ErrorCode>>;
    fn write(file: &Descriptor, content: Vec<u8>) -> impl Future<Output = Result<(), ErrorCode>>;
    fn named(error: ErrorCode) -> String;
}

/// Runs an operation, which in WASI 0.3 waits.
macro_rules! operation {
    ($it:expr) => {{
        #[cfg(feature = "waits")]
        let done = $it.await;
        #[cfg(not(feature = "waits"))]
        let done = $it;
        done
    }};
}

/// A text as an operation takes it: one that waits keeps it.
macro_rules! given {
    ($text:expr) => {{
        #[cfg(feature = "waits")]
        let given = $text.clone();
        #[cfg(not(feature = "waits"))]
        let given = $text.as_str();
        given
    }};
}

impl Script {
    pub(crate) fn new() -> Self {
        Self { descriptors: get_directories().into_iter().map(|(it, name)| (name, it)).collect() }
    }

    /// Runs all steps, each whatever came of the ones before it.
    pub(crate) async fn run<V: Version>(&mut self, steps: &Value) -> Value {
        let mut results = Vec::new();
        for step in steps.as_array().into_iter().flatten() {
            let result = self.step::<V>(step).await.unwrap_or_else(|error| json!(error));
            results.push(result);
        }
        Value::Array(results)
    }

    async fn step<V: Version>(&mut self, step: &Value) -> Result<Value, String> {
        let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
        let is = |key: &str| step[key].as_bool().unwrap_or_default();
        let (path, to) = (text("path"), text("to"));
        let named = |key: &str| step[key].as_str().unwrap_or(".");
        let find = |key: &str| self.descriptors.get(named(key)).ok_or_else(|| format!("no folder `{}`", named(key)));
        let at = find("at")?;
        let follow = if is("nofollow") { PathFlags::empty() } else { PathFlags::SYMLINK_FOLLOW };
        let done = match text("do").as_str() {
            "open" => {
                let opened = operation!(at.open_at(follow, given!(path), open_flags(step), descriptor_flags(step)));
                match opened {
                    Ok(it) => {
                        self.descriptors.insert(text("as"), it);
                        Ok(())
                    }
                    Err(error) => Err(error),
                }
            }
            "put" => {
                let open = OpenFlags::CREATE | OpenFlags::TRUNCATE;
                let opened = operation!(at.open_at(follow, given!(path), open, DescriptorFlags::WRITE));
                match opened {
                    Ok(file) => V::write(&file, text("text").into_bytes()).await,
                    Err(error) => Err(error),
                }
            }
            "get" => {
                let opened = operation!(at.open_at(follow, given!(path), OpenFlags::empty(), DescriptorFlags::READ));
                let read = match opened {
                    Ok(file) => V::read(&file).await,
                    Err(error) => Err(error),
                };
                return read.map(|it| json!({ "text": String::from_utf8_lossy(&it) })).map_err(V::named);
            }
            "write" => V::write(at, text("text").into_bytes()).await,
            "read" => {
                let read = V::read(at).await.map_err(V::named)?;
                return Ok(json!({ "text": String::from_utf8_lossy(&read) }));
            }
            "size" => operation!(at.set_size(step["size"].as_u64().unwrap_or_default())),
            "touch" => operation!(at.set_times(NewTimestamp::Now, NewTimestamp::Now)),
            "touch-at" => operation!(at.set_times_at(follow, given!(path), NewTimestamp::Now, NewTimestamp::Now)),
            "mkdir" => operation!(at.create_directory_at(given!(path))),
            "rmdir" => operation!(at.remove_directory_at(given!(path))),
            "unlink" => operation!(at.unlink_file_at(given!(path))),
            "rename" => operation!(at.rename_at(given!(path), find("in")?, given!(to))),
            "link" => operation!(at.link_at(PathFlags::empty(), given!(path), find("in")?, given!(to))),
            "symlink" => operation!(at.symlink_at(given!(to), given!(path))),
            "stat" => operation!(at.stat_at(follow, given!(path))).map(drop),
            "readlink" => {
                let read = operation!(at.readlink_at(given!(path)));
                return read.map(|it| json!({ "text": it })).map_err(V::named);
            }
            other => return Err(format!("no step `{other}`")),
        };
        done.map(|()| json!("ok")).map_err(V::named)
    }
}

fn open_flags(step: &Value) -> OpenFlags {
    let flags = [
        ("create", OpenFlags::CREATE),
        ("directory", OpenFlags::DIRECTORY),
        ("exclusive", OpenFlags::EXCLUSIVE),
        ("truncate", OpenFlags::TRUNCATE),
    ];
    let set = flags.into_iter().filter(|(name, _)| step[*name] == true);
    set.fold(OpenFlags::empty(), |all, (_, flag)| all | flag)
}

fn descriptor_flags(step: &Value) -> DescriptorFlags {
    let flags = [
        ("read", DescriptorFlags::READ),
        ("write", DescriptorFlags::WRITE),
        ("mutate", DescriptorFlags::MUTATE_DIRECTORY),
    ];
    let set = flags.into_iter().filter(|(name, _)| step[*name] == true);
    set.fold(DescriptorFlags::empty(), |all, (_, flag)| all | flag)
}

/// What both guests ask for: each right that a test grants.
pub(crate) const READS: [&str; 2] = [".", "src"];
pub(crate) const WRITES: [&str; 11] = [
    ".",
    ".git",
    ".agents",
    ".agents/plugins",
    "src",
    "plug",
    "bare",
    "~/.config",
    "~/.config/bellglass",
    "~/.cache/bellglass",
    "~/notes",
];
