//! `bellglass secret`: values go in and never come out.
//!
//! Apart, because a value comes from a pipe or from a terminal that does not show it, and from no argument: those stand in the
//! list of processes and in the history of the shell.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::sync::Arc;

use crate::capability::VariableName;
use crate::cli::{Exit, Global, Hint, Usage, stdout};
use crate::secrets::{Kept, KeyringError, SecretError, SecretValue, Secrets};

/// Longest input that is read, in bytes; more is no secret.
const INPUT: u64 = 16 << 10;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Store a secret in the keyring of the operating system; the value comes from standard input
    Set {
        /// Its name, such as `ANTHROPIC_API_KEY`
        #[arg(value_parser = name)]
        name: VariableName,
    },
    /// Show the names of all secrets and where each comes from
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a secret from the keyring
    Delete {
        /// Its name
        #[arg(value_parser = name)]
        name: VariableName,
    },
}

fn name(text: &str) -> Result<VariableName, String> {
    VariableName::parse(text).map_err(|it| it.to_string())
}

pub(super) async fn run(global: &Global, command: Command) -> anyhow::Result<Exit> {
    let secrets = Arc::new(Global::secrets(&global.folders()?)?);
    match command {
        Command::Set { name } => set(secrets, name).await,
        Command::List { json } => list(&secrets, json),
        Command::Delete { name } => delete(secrets, name).await,
    }
}

async fn set(secrets: Arc<Secrets>, name: VariableName) -> anyhow::Result<Exit> {
    refuse_configured(&secrets, &name)?;
    let asked = name.clone();
    // On a thread of its own: nothing else can end a read that waits.
    let reading = tokio::task::spawn_blocking(move || read(&asked));
    let value = tokio::select! {
        value = reading => value??,
        _ = tokio::signal::ctrl_c() => {
            Echo::restore();
            return Ok(Exit::Interrupted);
        }
    };
    let value = SecretValue::parse(value).map_err(|it| Usage(it.to_string()))?;
    let stored = name.clone();
    tokio::task::spawn_blocking(move || secrets.set(&stored, &value)).await?.map_err(|it| with_way_out(it, &name))?;
    Ok(Exit::Done)
}

fn list(secrets: &Secrets, json: bool) -> anyhow::Result<Exit> {
    let listed = secrets.list();
    if json {
        let row =
            |(name, kept): &(VariableName, Kept)| serde_json::json!({"name": name.as_str(), "from": kept.to_string()});
        stdout::json(&listed.iter().map(row).collect())?;
    } else if !listed.is_empty() {
        let rows: Vec<_> = listed.iter().map(|(name, kept)| vec![name.to_string(), kept.to_string()]).collect();
        stdout::line(&stdout::table(&rows))?;
    }
    Ok(Exit::Done)
}

async fn delete(secrets: Arc<Secrets>, name: VariableName) -> anyhow::Result<Exit> {
    refuse_configured(&secrets, &name)?;
    let wanted = name.clone();
    let was_there = tokio::task::spawn_blocking(move || secrets.delete(&wanted)).await??;
    if !was_there {
        anyhow::bail!("no secret `{name}` was stored");
    }
    Ok(Exit::Done)
}

/// What the configuration names counts: a stored value would never be used.
fn refuse_configured(secrets: &Secrets, name: &VariableName) -> anyhow::Result<()> {
    let configured = secrets.source(name);
    if let Some(kept) = configured {
        anyhow::bail!("secret `{name}` comes from the {kept}, as `[secret.{name}]` of the configuration says");
    }
    Ok(())
}

/// Without a keyring there are two other ways, and neither is a file in clear.
fn with_way_out(error: SecretError, name: &VariableName) -> anyhow::Error {
    let no_keyring = matches!(error, SecretError::Keyring { error: KeyringError::None, .. });
    let error = anyhow::Error::from(error);
    if !no_keyring {
        return error;
    }
    error.context(Hint(format!(
        "set the environment variable `{name}`, or name a command in config.toml: \
         `[secret.{name}]` with `command = [\"pass\", \"show\", \"{}\"]`",
        name.as_str().to_lowercase()
    )))
}

/// Reads the value: a line from a terminal that does not show it, else all of standard input.
fn read(name: &VariableName) -> anyhow::Result<String> {
    let stdin = std::io::stdin();
    let mut text = String::new();
    if stdin.is_terminal() {
        let _ = write!(std::io::stderr().lock(), "value of `{name}` (not shown): ");
        let echo = Echo::off();
        let read = stdin.read_line(&mut text);
        drop(echo);
        let _ = writeln!(std::io::stderr().lock());
        read?;
    } else {
        let read = stdin.lock().take(INPUT).read_to_string(&mut text);
        read.map_err(|_| Usage("the value on standard input is not UTF-8".into()))?;
    }
    Ok(text)
}

/// The terminal does not show what is typed as long as this lives.
struct Echo;

/// The settings to go back to.
#[cfg(unix)]
static BEFORE: std::sync::Mutex<Option<rustix::termios::Termios>> = std::sync::Mutex::new(None);

#[cfg(unix)]
impl Echo {
    fn off() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let stdin = std::io::stdin();
        if let Ok(before) = tcgetattr(&stdin) {
            let mut silent = before.clone();
            silent.local_modes.remove(LocalModes::ECHO);
            *BEFORE.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(before);
            let _ = tcsetattr(&stdin, OptionalActions::Flush, &silent);
        }
        Echo
    }

    fn restore() {
        use rustix::termios::{OptionalActions, tcsetattr};
        let before = BEFORE.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(before) = before {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &before);
        }
    }
}

#[cfg(not(unix))]
impl Echo {
    fn off() -> Self {
        Echo
    }

    fn restore() {}
}

impl Drop for Echo {
    fn drop(&mut self) {
        Echo::restore();
    }
}
