//! A tool that counts, and the slash command `/wc` that runs it: how a plugin adds things that the model and the user can
//! call. Reads files with plain `std::fs`; which ones it may read is decided outside of it.

use bellglass_guest::{Capability, Result, Setup, json, terminal, toolbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, ErrorKind},
    path::{Component, Path},
};

fn setup(setup: &mut Setup) {
    setup
        .plugin("wc", "Counts the lines, words and bytes of files")
        .asks(Capability::read("."), "to count the files you or the model name")
        .asks(Capability::call_tool("wc"), "so that /wc counts like the tool, with its hooks");
    setup
        .tool("wc", "Counts how many lines, words and bytes a file has.", wc)
        .alias("count")
        .example(r#"{"path": "README.md"}"#, r#"{"lines": 4, "words": 18, "bytes": 111}"#);
    setup.command("wc", "Count the lines, words and bytes of a file", wc_command).completions(complete);
}

bellglass_guest::export!(setup);

/// What the model fills in. The fields and their comments become the tool's JSON Schema.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The file, relative to the workspace.
    path: String,
}

/// What the model gets, in this order.
#[derive(Debug, PartialEq, Serialize)]
struct Counts {
    lines: usize,
    words: usize,
    bytes: usize,
}

fn wc(arguments: Arguments) -> Result<Counts> {
    let path = arguments.path;
    match fs::read(&path) {
        Ok(bytes) => Ok(count(&bytes)),
        Err(error) => Err(explain(&path, &error).into()),
    }
}

/// Counts bytes, not text: a file in any encoding has lines. The last line counts without a newline as well.
fn count(bytes: &[u8]) -> Counts {
    let newlines = bytes.iter().filter(|byte| **byte == b'\n').count();
    let unfinished = bytes.last().is_some_and(|last| *last != b'\n');
    Counts {
        lines: newlines + usize::from(unfinished),
        words: bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count(),
        bytes: bytes.len(),
    }
}

/// Says what the model can act on. What lies outside of the granted folders looks as if it was not there or not permitted.
fn explain(path: &str, error: &io::Error) -> String {
    match (error.kind(), stays_inside(Path::new(path))) {
        (ErrorKind::NotFound, true) => format!("not found: {path}"),
        (ErrorKind::PermissionDenied, true) => format!("not permitted to read: {path}"),
        (ErrorKind::NotFound | ErrorKind::PermissionDenied, false) => {
            format!("outside the folders this plugin may read: {path}")
        }
        _ => format!("cannot read {path}: {error}"),
    }
}

/// Whether a path lies, by its text, below a folder that this plugin can see.
fn stays_inside(path: &Path) -> bool {
    let mut depth = 0;
    let climbs_out = path.components().any(|part| {
        depth += match part {
            Component::Normal(_) => 1,
            Component::ParentDir => -1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => 0,
        };
        depth < 0
    });
    let sees = |folder: &Path| if folder.as_os_str().is_empty() { Path::new(".").is_dir() } else { folder.is_dir() };
    path.is_relative() && !climbs_out && path.ancestors().skip(1).any(sees)
}

/// `/wc FILE`. Runs the tool instead of calling `wc` above, so that hooks and rules apply to it.
fn wc_command(path: Option<&str>) -> Result {
    let path = path.ok_or("which file? type `/wc FILE`")?;
    let result = toolbox::run("wc", json!({"path": path}));
    match result["error"].as_str() {
        Some(error) => Err(error.into()),
        None => {
            let (lines, words, bytes) = (&result["lines"], &result["words"], &result["bytes"]);
            terminal::say(&format!("{lines} lines, {words} words, {bytes} bytes: {path}"));
            Ok(())
        }
    }
}

/// The files and folders whose names start with what was typed; folders end in `/`, so that typing can go on in them.
fn complete(partial: &str) -> Vec<String> {
    let (folder, start) = partial.rsplit_once('/').map_or(("", partial), |(folder, start)| (folder, start));
    let Ok(entries) = fs::read_dir(if folder.is_empty() { "." } else { folder }) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path().is_dir())))
        .filter(|(name, _)| name.starts_with(start) && (start.starts_with('.') || !name.starts_with('.')))
        .map(|(name, is_dir)| {
            let slash = if is_dir { "/" } else { "" };
            if folder.is_empty() { format!("{name}{slash}") } else { format!("{folder}/{name}{slash}") }
        })
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests;
