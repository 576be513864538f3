//! The program while it runs: for what happens between two lines of input.
//!
//! Apart, because most tests know their whole input before they start.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::{Run, TestEnv};

/// A REPL that waits for its next line.
pub struct Running<'a> {
    env: &'a TestEnv,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    seen: String,
}

impl TestEnv {
    /// Starts the program.
    pub fn start(&self, arguments: &[&str]) -> Running<'_> {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Running { env: self, child, stdin, stdout, seen: String::new() }
    }
}

impl Running<'_> {
    /// Types.
    pub fn send(&mut self, lines: &str) {
        self.stdin.write_all(lines.as_bytes()).unwrap();
    }

    /// Reads standard output until a line holds this.
    pub fn until(&mut self, text: &str) {
        loop {
            let mut line = String::new();
            assert_ne!(self.stdout.read_line(&mut line).unwrap(), 0, "no line holds {text:?}:\n{}", self.seen);
            self.seen.push_str(&line);
            if line.contains(text) {
                return;
            }
        }
    }

    /// Kills it, as `kill -9` does.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends the input, and waits for the end.
    pub fn finish(mut self) -> Run {
        drop(self.stdin);
        let mut rest = Vec::new();
        self.stdout.read_to_end(&mut rest).unwrap();
        let mut output = self.child.wait_with_output().unwrap();
        output.stdout = [self.seen.into_bytes(), rest].concat();
        self.env.shown(&output)
    }
}
