//! The program on a terminal of a given size, and what that terminal shows.
//!
//! Apart, because only here is it seen what a person sees.

use std::io::{Read as _, Write};
use std::sync::mpsc;
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::TestEnv;

/// Longest wait for something to be shown. Reached only by a test that fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a program asks a terminal where its cursor is.
const WHERE: &[u8] = b"\x1b[6n";

/// A running program and its terminal.
pub struct Terminal<'a> {
    env: &'a TestEnv,
    screen: vt100::Parser,
    output: mpsc::Receiver<Vec<u8>>,
    input: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn MasterPty + Send>,
}

impl TestEnv {
    /// Starts the program on a terminal.
    pub fn terminal(&self, columns: u16, rows: u16, arguments: &[&str]) -> Terminal<'_> {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let like = self.command(arguments);
        let mut command = CommandBuilder::new(like.get_program());
        command.args(like.get_args());
        command.env_clear();
        for (name, value) in like.get_envs() {
            command.env(name, value.unwrap());
        }
        command.env("TERM", "xterm");
        command.cwd(like.get_current_dir().unwrap());
        let child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            // The end of a terminal is an error on Linux.
            while let Ok(n @ 1..) = reader.read(&mut piece) {
                if sender.send(piece[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        let input = pair.master.take_writer().unwrap();
        let screen = vt100::Parser::new(rows, columns, 1000);
        Terminal { env: self, screen, output, input, child, _master: pair.master }
    }
}

impl Terminal<'_> {
    /// Types keys.
    pub fn keys(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    /// Waits until the program reads the next line.
    #[track_caller]
    pub fn prompt(&mut self) -> String {
        self.wait("a prompt", |shown| shown.lines().last() == Some(">"))
    }

    /// Types a line at the prompt.
    #[track_caller]
    pub fn line(&mut self, line: &str) {
        self.prompt();
        self.keys(&format!("{line}\r"));
    }

    /// Waits until the screen shows this, and returns the screen.
    #[track_caller]
    pub fn until(&mut self, text: &str) -> String {
        self.wait(text, |shown| shown.contains(text))
    }

    #[track_caller]
    fn wait(&mut self, text: &str, is_there: impl Fn(&str) -> bool) -> String {
        loop {
            let shown = self.shown();
            if is_there(&shown) {
                return shown;
            }
            let piece = self.output.recv_timeout(PATIENCE);
            let piece = piece.unwrap_or_else(|_| panic!("{text:?} is not shown:\n{}", self.shown()));
            self.take(&piece);
        }
    }

    /// What the terminal shows, without blanks at the ends of lines.
    pub fn shown(&self) -> String {
        let lines: Vec<String> = self.screen.screen().rows(0, u16::MAX).map(|it| it.trim_end().to_owned()).collect();
        self.env.redact(lines.join("\n").trim_end())
    }

    /// Waits until the program ends; its exit status.
    pub fn end(mut self) -> u32 {
        while let Ok(piece) = self.output.recv_timeout(PATIENCE) {
            self.take(&piece);
        }
        self.child.wait().unwrap().exit_code()
    }

    fn take(&mut self, piece: &[u8]) {
        self.screen.process(piece);
        for _ in piece.windows(WHERE.len()).filter(|it| *it == WHERE) {
            let (row, column) = self.screen.screen().cursor_position();
            let _ = self.input.write_all(format!("\x1b[{};{}R", row + 1, column + 1).as_bytes());
        }
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // A test that failed leaves no program behind.
        let _ = self.child.kill();
    }
}
