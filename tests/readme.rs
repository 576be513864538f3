//! `README.md` as a test: every session in it is run, its plugin is built and called, and its tables are compared.
//!
//! A session is a block of the language `console`. Its commands start with `$ `, further lines of one command with `> `.
//! `UPDATE_EXPECT=1` writes into `README.md` what the program shows.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use expect_test::{expect, expect_file};

use crate::support::TestEnv;

#[path = "../xtask/src/guest.rs"]
#[allow(dead_code, clippy::print_stdout, reason = "a nested cargo is all that is needed of it")]
mod guest;

use guest::toolchain::{Machine, TARGET, Toolchain};

#[test]
fn every_session_shows_what_the_program_shows() {
    // The reader is in a clone, which has this very page.
    let env = TestEnv::new().file("README.md", readme().0).file(&format!("../todo/{}", built_by_cargo()), &*PLUGIN);
    let mut folder = env.work();
    let shown: String = readme()
        .parts()
        .map(|part| match part {
            Part::Text(text) => text.to_owned(),
            Part::Block { language: "console", body } => {
                format!("```console\n{}```\n", session(&env, &mut folder, body))
            }
            Part::Block { language, body } => format!("```{language}\n{body}```\n"),
        })
        .collect();
    expect_file!["../README.md"].assert_eq(&shown);
}

#[test]
fn a_command_that_is_not_run_in_a_session_is_one_that_is_tested_elsewhere() {
    for line in readme().blocks("sh").flat_map(str::lines) {
        let command = line.split(" # ").next().unwrap_or_default().trim_end();
        match command {
            // `PLUGIN` is built with it.
            "cargo build --release --target wasm32-wasip2" => {}
            // The tests of `xtask` parse these; sessions have the first with arguments.
            "cargo xtask run" | "cargo xtask test" => {}
            _ => panic!("`{command}` is no session: make it a `console` block, or test it"),
        }
    }
    let known = ["console", "rust", "sh", "toml"];
    for part in readme().parts() {
        if let Part::Block { language, .. } = part {
            assert!(known.contains(&language), "a block of the language `{language}` is not tested");
        }
    }
}

#[test]
fn the_plugin_is_built_from_an_empty_folder_and_reads_what_was_granted() {
    let env = TestEnv::new().file("todo.wasm", &*PLUGIN).file("notes.md", "[ ] bread\n[x] milk\n[ ] tea\n");
    env.run(&["--plugin", "todo.wasm", "call", "todo"]).check(expect![[r#"
        {"error":"notes.md: No such file or directory (os error 44)","ok":false}
        --- stderr
        hint: plugin `todo` has no `read=.`: `--grant todo:read=.` for one run, `bellglass plugin grant todo read=.` for good
        [exit 3]
    "#]]);
    env.run(&["--plugin", "todo.wasm", "--grant", "todo:read=.", "call", "todo"]).check(expect![[r#"
        {"open":2,"ok":true}
        [exit 0]
    "#]]);
}

#[test]
fn a_provider_of_a_plugin_answers_when_it_is_named() {
    let env = TestEnv::new().guest("hostile");
    env.run(&["-p", "speaks", "-m", "small", "ask", "hello"]).check(expect![[r#"
        2 messages, model Some("small")
        --- stderr
        hm
        [exit 0]
    "#]]);
}

#[test]
fn the_limits_are_those_of_the_program() {
    let limits = bellglass::limits::Limits::default().shown();
    let readme = readme();
    let rows: Vec<_> = readme.rows("limit").collect();
    assert!(!rows.is_empty(), "no table of limits");
    for row in rows {
        let (name, value) = (row[0].trim_matches('`'), row[1].as_str());
        assert!(limits.iter().any(|it| it.0 == name && it.1 == value), "{name} is not {value}");
    }
}

#[test]
fn every_folder_has_its_sentence() {
    let is_folder = |it: &fs::DirEntry| it.path().is_dir() && it.file_name() != "target";
    let mut folders: Vec<String> = fs::read_dir(root())
        .unwrap()
        .map(Result::unwrap)
        .filter(is_folder)
        .map(|it| format!("`{}/`", it.file_name().to_str().unwrap()))
        .filter(|it| !it.starts_with("`.git/"))
        .collect();
    folders.sort();
    let readme = readme();
    let mut named: Vec<String> = readme.rows("folder").map(|row| row[0].clone()).collect();
    named.sort();
    assert_eq!(named, folders);
}

/// The component of the README's plugin: its two files in an empty folder, and the command that it says.
static PLUGIN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let readme = readme();
    let [manifest] = readme.blocks("toml").collect::<Vec<_>>()[..] else { panic!("one block is the manifest") };
    let [source] = readme.blocks("rust").collect::<Vec<_>>()[..] else { panic!("one block is the source") };
    let sdk = root().join("guest-sdk/rust");
    let beside = r#""../bellglass/guest-sdk/rust""#;
    assert!(manifest.contains(beside), "the manifest depends on the SDK in a clone beside it");
    // Below the target folder it would count as a part of this workspace.
    let manifest = format!("{}\n[workspace]\n", manifest.replace(beside, &format!("{sdk:?}")));

    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = tmp.join("readme-plugin");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), source).unwrap();
    // The versions of this workspace: they are there already.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();

    let toolchain = Toolchain::find(&Machine::this()).expect("the guests of the tests were built with it");
    let target = tmp.join(format!("readme-{}", toolchain.folder()));
    let mut cargo = guest::cargo();
    cargo.args(["build", "--release", "--target", TARGET]).current_dir(&folder);
    cargo.env("CARGO_TARGET_DIR", &target).env("CARGO_NET_OFFLINE", "true");
    toolchain.apply(&mut cargo, env::var_os("PATH").unwrap_or_default());
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read(target.join(built_by_cargo().strip_prefix("target/").unwrap())).unwrap()
});

/// Where cargo puts the component, from the plugin's folder.
fn built_by_cargo() -> String {
    format!("target/{TARGET}/release/todo.wasm")
}

/// Runs the commands of a session where the one before it ended, and returns them with what a terminal would show.
fn session(env: &TestEnv, folder: &mut PathBuf, body: &str) -> String {
    let mut script = String::from("exec 2>&1\n");
    let mut lines = body.lines().peekable();
    assert!(lines.peek().is_some_and(|it| it.starts_with("$ ")), "a session starts with a command:\n{body}");
    while let Some(line) = lines.next() {
        let Some(first) = line.strip_prefix("$ ") else { continue };
        let (mut command, mut typed) = (format!("{first}\n"), format!("{line}\n"));
        while let Some(more) = lines.next_if(|it| it.starts_with("> ")) {
            command += &format!("{}\n", &more[2..]);
            typed += &format!("{more}\n");
        }
        script += &format!("cat <<'TYPED BY THE READER'\n{typed}TYPED BY THE READER\n{command}");
    }
    script += "pwd > ~/folder\n";
    let output = shell(env, &script).current_dir(&folder).output().unwrap();
    *folder = fs::read_to_string(env.home().join("folder")).unwrap().trim_end().into();
    env.shown(&output).success()
}

/// A shell which finds the program as `bellglass` and as `cargo xtask run`.
fn shell(env: &TestEnv, script: &str) -> Command {
    let bin = env.home().join("bin");
    if !bin.exists() {
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_bellglass"), bin.join("bellglass")).unwrap();
        let cargo = "#!/bin/sh\n[ \"$1 $2 $3\" = 'xtask run --' ] || exit 1\nshift 3\nexec bellglass \"$@\"\n";
        fs::write(bin.join("cargo"), cargo).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(bin.join("cargo"), executable).unwrap();
    }
    let mut path = vec![bin];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let program = env.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).env_clear();
    shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("PATH", env::join_paths(path).unwrap());
    shell
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The text of `README.md`.
struct Readme(String);

/// A piece of it.
enum Part<'a> {
    /// A line outside of blocks.
    Text(&'a str),
    /// What stands between two fences.
    Block { language: &'a str, body: &'a str },
}

fn readme() -> Readme {
    Readme(fs::read_to_string(root().join("README.md")).unwrap())
}

impl Readme {
    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let mut rest = self.0.as_str();
        std::iter::from_fn(move || {
            let line = rest.split_inclusive('\n').next()?;
            rest = &rest[line.len()..];
            let Some(language) = line.strip_prefix("```") else { return Some(Part::Text(line)) };
            let (body, after) = rest.split_once("```\n").expect("a block that is opened is closed");
            rest = after;
            Some(Part::Block { language: language.trim_end(), body })
        })
    }

    fn blocks<'a>(&'a self, wanted: &'a str) -> impl Iterator<Item = &'a str> {
        self.parts().filter_map(move |part| match part {
            Part::Block { language, body } if language == wanted => Some(body),
            Part::Block { .. } | Part::Text(_) => None,
        })
    }

    /// The rows of the table whose first column has this heading.
    fn rows<'a>(&'a self, heading: &'a str) -> impl Iterator<Item = Vec<String>> + 'a {
        let cells =
            |line: &str| -> Vec<String> { line.trim_matches('|').split('|').map(|it| it.trim().to_owned()).collect() };
        let table = self.0.lines().skip_while(move |it| !it.starts_with(&format!("| {heading} |")));
        table.skip(2).take_while(|it| it.starts_with('|')).map(cells)
    }
}
