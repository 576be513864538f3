//! `ARCHITECTURE.md` as a test: its map names every module, imports go down it, and each library stays behind its module.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn imports_go_down_the_map_of_the_architecture() {
    let (layers, values) = map();
    let mut upwards = Vec::new();
    for (module, line) in code() {
        for imported in line.split("crate::").skip(1).map(first_word) {
            let is_down = match (place(&layers, &module), place(&layers, imported)) {
                _ if imported == module => true,
                (Some(from), Some(to)) => from < to,
                (None, Some(_)) => false,
                (_, None) => place(&values, imported).is_some() || !modules().iter().any(|it| it == imported),
            };
            if !is_down {
                upwards.push(format!("{module}: {}", line.trim()));
            }
        }
    }
    assert_eq!(upwards, Vec::<String>::new());
}

#[test]
fn the_map_of_the_architecture_names_every_module_once() {
    let (layers, values) = map();
    let mut named = [layers, values].concat();
    named.sort();
    assert_eq!(named, modules());
}

#[test]
fn each_library_stays_behind_its_module() {
    let behind: [(&str, &[&str]); 12] = [
        ("clap", &["cli", "main"]),
        ("tracing_subscriber", &["cli"]),
        ("reedline", &["repl"]),
        ("wasmtime", &["plugin", "sandbox", "bindings"]),
        ("wasmtime_wasi", &["sandbox"]),
        ("wasmtime_wasi_http", &["sandbox"]),
        ("wasmparser", &["plugin"]),
        ("jsonschema", &["schema"]),
        ("toml", &["toml_file", "config", "grants", "policy"]),
        ("reqwest", &["sandbox"]),
        ("rustls", &["sandbox"]),
        ("keyring", &["secrets"]),
    ];
    let mut outside = Vec::new();
    for (module, line) in code() {
        for (library, modules) in behind {
            let names_it = line.split(&format!("{library}::")).count() > 1;
            if names_it && !modules.contains(&module.as_str()) {
                outside.push(format!("{module}: {}", line.trim()));
            }
        }
    }
    assert_eq!(outside, Vec::<String>::new());
}

/// The modules of the two tables, in their order.
fn map() -> (Vec<String>, Vec<String>) {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = |heading: &str| -> Vec<String> {
        let rows = text.lines().skip_while(|it| !it.starts_with(heading)).skip(2).take_while(|it| it.starts_with('|'));
        let names = rows.flat_map(|it| it.split('|').nth(1).unwrap_or_default().split(','));
        names.map(|it| it.trim().trim_matches('`').to_owned()).collect()
    };
    (table("| module of `host/src` |"), table("| module |"))
}

/// The files directly in `host/src`, but the library's own; sorted.
fn modules() -> Vec<String> {
    let files = fs::read_dir(root().join("host/src")).unwrap().map(|it| it.unwrap().path());
    let stem = |it: PathBuf| Some(it.file_name()?.to_str()?.strip_suffix(".rs")?.to_owned());
    let mut modules: Vec<_> = files.filter_map(stem).filter(|it| it != "lib").collect();
    modules.sort();
    modules
}

/// Every line of code with its top module. Comments are none.
fn code() -> Vec<(String, String)> {
    let source = root().join("host/src");
    let mut lines = Vec::new();
    let mut folders = vec![source.clone()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let top = path.strip_prefix(&source).unwrap().iter().next().unwrap().to_str().unwrap();
            let module = top.trim_end_matches(".rs");
            if module == "lib" {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let is_code = |it: &&str| !it.trim_start().starts_with("//");
            lines.extend(text.lines().filter(is_code).map(|it| (module.to_owned(), it.to_owned())));
        }
    }
    lines
}

fn place(modules: &[String], module: &str) -> Option<usize> {
    modules.iter().position(|it| it == module)
}

fn first_word(text: &str) -> &str {
    text.split(|it: char| !it.is_alphanumeric() && it != '_').next().unwrap_or_default()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}
