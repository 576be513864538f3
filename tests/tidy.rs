//! What the tree promises of itself: who imports whom, sizes, comments, links.
//!
//! Tests, because a rule that nobody checks is a wish.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The modules of `host/src` from the top down. A module imports only from layers below its own.
const LAYERS: &[&[&str]] = &[
    &["main"],
    &["cli"],
    &["repl"],
    &["session"],
    &["installed"],
    &["commands", "toolbox"],
    &["provider"],
    &["plugin"],
    &["sandbox"],
    &["bindings"],
    DOMAIN,
];

/// Values and rules: they import nothing of ours but each other.
const DOMAIN: &[&str] = &[
    "agent",
    "capability",
    "completion",
    "config",
    "fault",
    "folders",
    "host_request",
    "limits",
    "listing",
    "name",
    "schema",
    "text",
    "tool",
    "transcript",
];

/// Crates that only some modules name.
const CRATES: &[(&str, &[&str])] = &[
    ("wasmtime", &["bindings", "plugin", "sandbox"]),
    ("wasmtime_wasi", &["sandbox"]),
    ("wasmtime_wasi_http", &["sandbox"]),
    ("wasmparser", &["plugin"]),
    ("reedline", &["repl"]),
    ("clap", &["cli", "main"]),
    ("tracing_subscriber", &["cli"]),
    ("jsonschema", &["schema"]),
    ("toml", &["config"]),
];

/// Files that are tables: longer than a file should be, and no harder to read for it.
const TABLES: &[&str] = &[];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The files that git knows, with their text; what is no text is left out.
fn files() -> Vec<(String, String)> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output().unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    let read = |path: &str| Some((path.to_owned(), std::fs::read_to_string(root().join(path)).ok()?));
    let files: Vec<_> = listed.split('\0').filter(|it| !it.is_empty()).filter_map(read).collect();
    assert!(files.len() > 50, "git lists the files of this tree");
    files
}

fn rust() -> impl Iterator<Item = (String, String)> {
    files().into_iter().filter(|(path, _)| path.ends_with(".rs"))
}

/// The code of `host/src`: the first module below it that a file belongs to, the path, and its lines without comments and
/// without what follows `#[cfg(test)]`.
fn host() -> Vec<(String, String, Vec<String>)> {
    let code = |(path, text): (String, String)| {
        let below = path.strip_prefix("host/src/")?;
        let is_test = below.contains("tests");
        let module = below.split(['/', '.']).next().unwrap().to_owned();
        let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = shipped.lines().map(|it| it.split("//").next().unwrap_or_default().to_owned()).collect();
        (!is_test && module != "lib").then_some((module, path, lines))
    };
    rust().filter_map(code).collect()
}

#[track_caller]
fn none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// What a line names after `prefix`, such as `tool` in `use crate::tool::Outcome;`. Of a group, all.
fn named<'a>(line: &'a str, prefix: &'a str) -> impl Iterator<Item = String> + 'a {
    let word = |text: &str| text.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect::<String>();
    line.match_indices(prefix).flat_map(move |(place, _)| {
        let rest = &line[place + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => group.split(',').map(|it| word(it.trim())).collect::<Vec<_>>(),
            None => vec![word(rest)],
        }
    })
}

#[test]
fn imports_go_one_way() {
    let layer = |module: &str| LAYERS.iter().position(|it| it.contains(&module));
    let mut faults = Vec::new();
    for (module, path, lines) in host() {
        let Some(own) = layer(&module) else {
            faults.push(format!("{path}: module `{module}` has no layer in tests/tidy.rs"));
            continue;
        };
        let prefix = if module == "main" { "bellglass::" } else { "crate::" };
        for (number, line) in lines.iter().enumerate() {
            for other in named(line, prefix).filter(|it| *it != module) {
                let Some(other_layer) = layer(&other) else { continue };
                let both_domain = DOMAIN.contains(&module.as_str()) && DOMAIN.contains(&other.as_str());
                if other_layer <= own && !both_domain {
                    faults.push(format!("{path}:{}: `{module}` imports `{other}`", number + 1));
                }
            }
        }
    }
    none(faults);
}

#[test]
fn each_crate_is_named_only_where_it_belongs() {
    let mut faults = Vec::new();
    for (module, path, lines) in host() {
        for (name, modules) in CRATES.iter().filter(|it| !it.1.contains(&module.as_str())) {
            for (number, line) in lines.iter().enumerate() {
                let is_use = |it: &str| it.contains(&format!("{name}::"));
                let names = line
                    .split(|it: char| !(it.is_alphanumeric() || it == '_' || it == ':'))
                    .any(|it| it.starts_with(&format!("{name}::")) && is_use(it));
                if names {
                    faults.push(format!("{path}:{}: `{name}` is for {modules:?}", number + 1));
                }
            }
        }
    }
    none(faults);
}

#[test]
fn a_file_has_less_than_400_lines() {
    let long = rust().filter(|(path, text)| text.lines().count() >= 400 && !TABLES.contains(&path.as_str()));
    none(long.map(|(path, text)| format!("{path}: {} lines", text.lines().count())).collect());
}

#[test]
fn a_file_begins_with_what_it_is() {
    let silent =
        rust().filter(|(_, text)| !text.lines().next().is_some_and(|it| it.starts_with("//! ") && it.len() > 10));
    none(silent.map(|(path, _)| path).collect());
}

#[test]
fn nothing_is_left_to_be_done_later() {
    // In two pieces, so that this file does not find itself.
    let marks =
        [["TO", "DO"], ["FIX", "ME"], ["XX", "X:"], ["todo", "!("], ["unimplemented", "!("]].map(|it| it.concat());
    let mut faults = Vec::new();
    for (path, text) in files().iter().filter(|(path, _)| !path.ends_with(".lock")) {
        for (number, line) in text.lines().enumerate() {
            if marks.iter().any(|it| line.contains(it.as_str())) {
                faults.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    none(faults);
}

#[test]
fn no_path_of_a_machine_is_in_the_tree() {
    let places = [["/ro", "ot/"], ["/wo", "rk/shared"], ["/tmp", "/wt-"], ["/Us", "ers/"]].map(|it| it.concat());
    let mut faults = Vec::new();
    for (path, text) in files() {
        for (number, line) in text.lines().enumerate() {
            if places.iter().any(|it| line.contains(it.as_str())) {
                faults.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    none(faults);
}

#[test]
fn every_dependency_says_why_it_is_there() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (_, dependencies) = manifest.split_once("[workspace.dependencies]\n").unwrap();
    let mut faults = Vec::new();
    // A comment counts for the lines below it, up to a blank one; a crate of our own needs none.
    let mut explained = false;
    for line in dependencies.lines().take_while(|it| !it.starts_with('[')) {
        if line.is_empty() || line.starts_with('#') {
            explained = !line.is_empty();
        } else if !explained && !line.contains("path = ") {
            faults.push(format!("Cargo.toml: {line}"));
        }
    }
    none(faults);
}

#[test]
fn dependencies_of_every_crate_come_from_the_root() {
    let mut faults = Vec::new();
    for (path, text) in files().iter().filter(|(path, _)| path.ends_with("/Cargo.toml")) {
        let mut in_dependencies = false;
        for line in text.lines() {
            if line.starts_with('[') {
                in_dependencies = line.ends_with("dependencies]");
            } else if in_dependencies
                && line.contains('=')
                && !line.starts_with('#')
                && !line.contains("workspace = true")
            {
                faults.push(format!("{path}: {line}"));
            }
        }
    }
    none(faults);
}

#[test]
fn links_of_the_documents_lead_somewhere() {
    let mut faults = Vec::new();
    for (path, text) in files().iter().filter(|(path, _)| path.ends_with(".md")) {
        let folder = root().join(path).parent().unwrap().to_owned();
        for (place, _) in text.match_indices("](") {
            let target = text[place + 2..].split([')', ' ']).next().unwrap_or_default();
            let file = target.split('#').next().unwrap_or_default();
            let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
            if !is_elsewhere && !file.is_empty() && !folder.join(file).exists() {
                faults.push(format!("{path}: {target}"));
            }
        }
    }
    none(faults);
}

#[test]
fn every_guest_is_used_by_a_test() {
    let subjects: String = files()
        .into_iter()
        .filter(|(path, _)| path.starts_with("tests/") && !path.starts_with("tests/guests/"))
        .map(|it| it.1)
        .collect();
    let names: BTreeSet<_> = test_guests::names().collect();
    none(names.into_iter().filter(|it| !subjects.contains(&format!("\"{it}\""))).map(str::to_owned).collect());
}
