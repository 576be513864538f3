//! Where the configuration says a secret is: a variable, or a command that prints it.
//! Separate because a command runs with all of the user's rights: only the user's own configuration names one.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;

/// How long a command may take: it may ask a person for a passphrase.
const PATIENCE: Duration = Duration::from_secs(60);

/// More than this is no secret, in bytes.
const MOST: u64 = 16 << 10;

/// A source of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `env`: an environment variable of this process.
    Variable(String),
    /// `command`: a program and its arguments, without a shell.
    Command(Vec<String>),
}

/// Why a source gave nothing. Never holds what a command printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The variable is not set, or is no value.
    #[error("environment variable `{0}` is not set")]
    Unset(String),
    /// The command did not start.
    #[error("cannot run `{program}`: {error}")]
    Start {
        /// Its first word.
        program: String,
        /// Why.
        error: std::io::ErrorKind,
    },
    /// The command failed.
    #[error("`{program}` failed ({status})")]
    Failed {
        /// Its first word.
        program: String,
        /// How it ended.
        status: String,
    },
    /// The command did not end.
    #[error("`{0}` took longer than 60 s")]
    Slow(String),
    /// What it printed is no text, or far too much of it.
    #[error("`{0}` printed no text of at most 16 KiB")]
    NoText(String),
}

/// Runs a command, and returns what it printed.
pub(super) async fn output(words: &[String]) -> Result<String, SourceError> {
    let program = words.first().cloned().unwrap_or_default();
    let failed = |error: &std::io::Error| SourceError::Start { program: program.clone(), error: error.kind() };
    let mut command = tokio::process::Command::new(&program);
    command.args(words.iter().skip(1)).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.kill_on_drop(true).spawn().map_err(|it| failed(&it))?;
    let stdout = child.stdout.take();
    let read = async {
        let mut bytes = zeroize::Zeroizing::new(Vec::with_capacity(MOST as usize + 1));
        if let Some(stdout) = stdout {
            stdout.take(MOST + 1).read_to_end(&mut bytes).await.map_err(|it| failed(&it))?;
        }
        if bytes.len() as u64 > MOST {
            return Err(SourceError::NoText(program.clone()));
        }
        let status = child.wait().await.map_err(|it| failed(&it))?;
        if !status.success() {
            return Err(SourceError::Failed { program: program.clone(), status: status.to_string() });
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| SourceError::NoText(program.clone()))?;
        Ok(text.to_owned())
    };
    tokio::time::timeout(PATIENCE, read).await.unwrap_or_else(|_| Err(SourceError::Slow(program.clone())))
}
