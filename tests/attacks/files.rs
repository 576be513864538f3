//! What a plugin does to get more than its files: each attack once with WASI 0.2 and once with 0.3.

mod beneath;
mod own;
mod repository;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::support::{Bench, TestEnv};

/// One thing that is tried, what it comes to, and the same or its like where it is allowed.
struct Attack {
    /// A sentence: what would be so if it worked.
    name: &'static str,
    /// What was granted, beside the plugin's name.
    grants: &'static [&'static str],
    /// The steps; each has to end like this.
    steps: &'static [(&'static str, &'static str)],
    /// The grants that the host says were missing.
    missing: &'static [&'static str],
    /// Grants and steps that succeed.
    control: (&'static [&'static str], &'static [&'static str]),
}

const NO: &str = "not-permitted";
const OK: &str = "ok";

/// The same guest with either version.
const GUESTS: [&str; 2] = ["files", "files-next"];

/// A workspace with all that an attacker could wish for.
fn workspace() -> TestEnv {
    let env = TestEnv::new()
        .guest("files")
        .guest("files-next")
        .file(".git/config", "[core]")
        .file(".git/hooks/old", "old hook")
        .file("sub/.git/config", "[core]")
        .file("module/.git", "gitdir: ../.git/modules/module")
        .file(".agents/plugins/p.wasm", "plugin")
        .file("plug/p.wasm", "plugin")
        .file("src/main.rs", "fn main() {}")
        .file("src/deep/a.txt", "deep")
        .file("dev/deep/a.txt", "deep")
        .file("bare/HEAD", "ref: refs/heads/main")
        .file("bare/refs/heads/main", "")
        .file("bare/objects/info/packs", "")
        .file("bare/hooks/old", "")
        .file("free.txt", "free")
        .home_file("outside.txt", "outside")
        .home_file(".config/bellglass/grants.toml", "# grants")
        .home_file(".cache/bellglass/code", "code");
    let work = env.work();
    for (to, link) in [
        (".git", "repository"),
        ("../.git/hooks", "src/hooks"),
        ("../home/outside.txt", "out"),
        ("../home", "house"),
        ("/etc/passwd", "passwd"),
        ("src", "source"),
    ] {
        symlink(to, work.join(link)).unwrap();
    }
    fs::write(work.join("empty.txt"), "").unwrap();
    let made = std::process::Command::new("mkfifo").arg(work.join("pipe")).status().unwrap();
    assert!(made.success());
    env
}

fn bench(plugin: &str, grants: &[&str]) -> Bench {
    let env = workspace();
    let (work, home) = (env.work(), env.home());
    let mut bench = Bench::of(env);
    bench.options.places.project = Some(work.join(".agents/plugins"));
    bench.options.places.folders = vec![];
    bench.options.surroundings.plugin_places = vec![work.join("plug"), work.join("dev/one.wasm")];
    bench.options.surroundings.own = vec![home.join(".config/bellglass")];
    bench.options.surroundings.private = vec![home.join(".cache/bellglass")];
    grants.iter().fold(bench, |bench, it| bench.grant(&format!("{plugin}:{it}")))
}

/// A step from its short form, such as `put .git/config` or `open src as=d read`; `@NAME` is the folder to start in.
fn step(text: &str) -> Value {
    let mut step = serde_json::Map::new();
    let mut free = ["do", "path", "to"].into_iter();
    for word in text.split(' ') {
        if let Some(at) = word.strip_prefix('@') {
            step.insert("at".into(), json!(at));
        } else if let Some(other) = word.strip_prefix("in=") {
            step.insert("in".into(), json!(other));
        } else if let Some(name) = word.strip_prefix("as=") {
            step.insert("as".into(), json!(name));
        } else if let Some(flag) = word.strip_prefix('+') {
            step.insert(flag.into(), json!(true));
        } else if let Some(key) = free.next() {
            step.insert(key.into(), json!(word));
        }
    }
    step.insert("text".into(), json!("planted"));
    Value::Object(step)
}

fn steps<'a>(steps: impl IntoIterator<Item = &'a str>) -> Value {
    json!({ "steps": steps.into_iter().map(step).collect::<Vec<_>>() })
}

/// What came of each step, in words.
fn results(answer: &Value) -> Vec<String> {
    let shown = |it: &Value| it.as_str().map_or_else(|| it["text"].as_str().unwrap_or("?").to_owned(), str::to_owned);
    answer["results"].as_array().unwrap().iter().map(shown).collect()
}

/// Everything below a folder, with its content, to see that nothing changed.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime, u64)> {
    let mut seen = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            let meta = path.symlink_metadata().unwrap();
            let content = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            seen.push((path.clone(), content, meta.modified().unwrap(), meta.nlink()));
            if meta.is_dir() {
                folders.push(path);
            }
        }
    }
    seen.sort();
    seen
}

async fn run(attacks: &[Attack]) {
    for attack in attacks {
        for plugin in GUESTS {
            let tool = format!("{plugin}.try");
            let name = format!("{} ({plugin})", attack.name);
            let bench = bench(plugin, attack.grants);
            let protected = || {
                ["work/.git", "work/sub", "work/.agents", "work/plug", "work/bare", "home/.config", "home/.cache"]
                    .map(|it| tree(&bench.env().work().parent().unwrap().join(it)))
            };
            let host = bench.load().await;
            let before = protected();
            let answer = host.answer(&tool, steps(attack.steps.iter().map(|it| it.0))).await;
            let expected: Vec<&str> = attack.steps.iter().map(|it| it.1).collect();
            assert_eq!(results(&answer), expected, "{name}");
            assert_eq!(protected(), before, "{name}");
            assert_eq!(host.denied(), attack.missing, "{name}");
            let next = if attack.grants == ["write=src"] { "get main.rs @src" } else { "get free.txt" };
            let next = results(&host.answer(&tool, steps([next])).await);
            assert!(next == ["free"] || next == ["fn main() {}"], "the call after: {name}: {next:?}");
            let (grants, control) = attack.control;
            let bench = self::bench(plugin, grants);
            let host = bench.load().await;
            let answer = host.answer(&tool, steps(control.iter().copied())).await;
            let failed: Vec<_> = results(&answer).into_iter().filter(|it| it.contains('-') && it != "-").collect();
            assert_eq!(failed, Vec::<String>::new(), "control of: {name}: {answer}");
            assert_eq!(host.denied(), Vec::<String>::new(), "control of: {name}");
        }
    }
}

const WORKSPACE: &[&str] = &["write=."];
const WITH_GIT: &[&str] = &["write=.", "write=.git"];
