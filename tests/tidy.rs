//! What the tree promises of itself: sizes, comments, links. Who imports whom is in `architecture.rs`.
//!
//! Tests, because a rule that nobody checks is a wish.

use std::path::{Path, PathBuf};
use std::process::Command;

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

#[track_caller]
fn none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn a_file_has_less_than_400_lines() {
    let long = rust().filter(|it| it.1.lines().count() >= 400);
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
fn every_guest_is_used_by_a_test_or_a_benchmark() {
    let users: String = rust().filter(|(path, _)| !path.starts_with("tests/guests/")).map(|it| it.1).collect();
    none(test_guests::names().filter(|it| !users.contains(&format!("\"{it}\""))).map(str::to_owned).collect());
}
