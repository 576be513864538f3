//! A folder of its own for each test, the program in a clean environment, and its whole output as one transcript.
//!
//! Apart from the tests, so that each of them is a few lines.

// Each subject uses some of it.
#![allow(dead_code, unreachable_pub, reason = "shared by all subjects")]

mod attack;
mod bench;
mod component;
mod library;
mod process;
mod scripted;
pub mod server;
mod terminal;

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use expect_test::Expect;

pub use attack::Attack;
pub use bench::{Bench, resident_memory};
pub use component::{PluginText, wat};
pub use library::Talk;
pub use terminal::Terminal;

/// A home and a workspace, both new and empty.
pub struct TestEnv {
    root: tempfile::TempDir,
}

/// What a run of the program showed. `Display` is the transcript: standard output, standard error, exit status.
#[must_use]
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub status: i32,
}

impl TestEnv {
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("bellglass-test-").tempdir().unwrap();
        for folder in ["home", "work", "cache"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    /// The user's home.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The workspace: the program's current folder.
    pub fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// Writes a file in the workspace, with the folders above it.
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        write(&self.work().join(path), content.as_ref());
        self
    }

    /// Writes a file in the home, with the folders above it.
    pub fn home_file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        write(&self.home().join(path), content.as_ref());
        self
    }

    /// Installs a component as the user's plugin: `~/.agents/plugins/FILE`.
    pub fn plugin(self, file: &str, component: impl AsRef<[u8]>) -> Self {
        self.home_file(&format!(".agents/plugins/{file}"), component)
    }

    /// Installs one of the guests in `tests/guests`.
    pub fn guest(self, name: &str) -> Self {
        let component = test_guests::component(name);
        self.plugin(&format!("{name}.wasm"), component)
    }

    /// Writes the user's `config.toml`.
    pub fn config(self, text: &str) -> Self {
        self.home_file(".config/bellglass/config.toml", text)
    }

    /// The program in this environment, ready to be changed further.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bellglass"));
        // One cache of compiled code for all tests: a plugin is compiled once in a run of the suite.
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        command.args(arguments).env_clear().current_dir(self.work());
        command.env("HOME", self.home()).env("XDG_CACHE_HOME", cache);
        command
    }

    /// The same with a cache of its own, empty at first.
    pub fn command_with_own_cache(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command.env("XDG_CACHE_HOME", self.own_cache());
        command
    }

    /// Where the cache of [`Self::command_with_own_cache`] is.
    pub fn own_cache(&self) -> PathBuf {
        self.root.path().join("cache")
    }

    /// Runs the program to its end, with nothing on standard input.
    pub fn run(&self, arguments: &[&str]) -> Run {
        self.finish(self.command(arguments), "")
    }

    /// Runs the REPL on lines that are piped in.
    pub fn repl(&self, lines: &str) -> Run {
        self.finish(self.command(&[]), lines)
    }

    /// Runs a command to its end, with this on standard input.
    pub fn finish(&self, mut command: Command, input: &str) -> Run {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        let writer = std::thread::spawn(move || {
            // A program that ends early closes the pipe: its output says why.
            let _ = stdin.write_all(input.as_bytes());
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        self.shown(&output)
    }

    /// Takes the output of a finished program.
    pub fn shown(&self, output: &std::process::Output) -> Run {
        let text = |bytes: &[u8]| self.redact(&String::from_utf8_lossy(bytes));
        Run { stdout: text(&output.stdout), stderr: text(&output.stderr), status: output.status.code().unwrap_or(-1) }
    }

    /// Paths of this environment as `$ENV`.
    pub fn redact(&self, text: &str) -> String {
        let root = self.root.path();
        let real = root.canonicalize().unwrap();
        text.replace(real.to_str().unwrap(), "$ENV").replace(root.to_str().unwrap(), "$ENV")
    }
}

impl Run {
    /// Compares the whole transcript.
    #[track_caller]
    pub fn check(self, expected: Expect) {
        expected.assert_eq(&self.to_string());
    }

    /// Asserts exit status 0, and returns standard output.
    #[track_caller]
    pub fn success(self) -> String {
        assert_eq!(self.status, 0, "{self}");
        self.stdout
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "--- stderr\n{}", self.stderr)?;
        }
        writeln!(f, "[exit {}]", self.status)
    }
}

fn write(path: &Path, content: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}
