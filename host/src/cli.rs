//! The command line as typed, and one file for each subcommand.
//!
//! Apart from the library, because only here is it known that there is a shell outside: arguments, streams, exit status.

mod ask;
mod audit;
mod beside;
mod call;
mod chat;
mod log;
mod options;
mod plugin;
mod secret;
mod session;
mod stdout;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use options::Global;

/// An agent for the terminal whose plugins are sandboxed WebAssembly components.
#[derive(Debug, Parser)]
#[command(name = "bellglass", version, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Talk with a model; the default.
    Chat,
    /// Run one turn; the reply goes to standard output, all else to standard error.
    Ask(ask::Args),
    /// Run one tool without a model, and print its result as one JSON object.
    Call(call::Args),
    /// Show what the model is told of the tools.
    Tools(tools::Args),
    /// Look at plugins, trust them, grant them rights.
    #[command(subcommand)]
    Plugin(plugin::Command),
    /// Show what plugins did.
    Audit(audit::Args),
    /// Look at conversations, go on with one, delete them.
    #[command(subcommand)]
    Session(session::Command),
    /// Keep the secrets that plugins may have added to their requests.
    #[command(subcommand)]
    Secret(secret::Command),
}

/// How a run ended; the number is the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Failed, and none of the others fits.
    Failed = 1,
    /// Wrong usage.
    Usage = 2,
    /// Denied.
    Denied = 3,
    /// A limit was hit.
    Limit = 4,
    /// No or refused credentials.
    Credentials = 5,
    /// Interrupted.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The usage was wrong: exit status 2, with what is right.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// A next step for the person, beside an error.
#[derive(Debug)]
pub(crate) struct Hint(pub String);

impl std::fmt::Display for Hint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Prints an error on standard error: what failed, each cause on its own line, and the next step.
pub fn print_error(error: &anyhow::Error) {
    let hint = error.downcast_ref::<Hint>();
    let causes: Vec<String> =
        error.chain().map(ToString::to_string).filter(|it| hint.is_none_or(|hint| hint.0 != *it)).collect();
    for (place, cause) in causes.iter().enumerate() {
        let cause = crate::secrets::redact(cause);
        let cause = crate::text::visible(&cause);
        say(&if place == 0 { format!("error: {cause}") } else { format!("  caused by: {cause}") });
    }
    if let Some(hint) = hint {
        say(&format!("  hint: {hint}"));
    }
}

/// Prints warnings on standard error: what a listing leaves out is said beside it.
fn report(warnings: &[String]) {
    for warning in warnings {
        say(&format!("warning: {warning}"));
    }
}

/// Prints what a person should know before it begins.
fn notes(notes: &[String]) {
    for note in notes {
        say(&crate::text::visible_line(note));
    }
}

/// There is nowhere to keep what lasts.
fn no_state() -> Usage {
    Usage("there is no state folder: neither `HOME` nor `XDG_STATE_HOME` is set".into())
}

/// Writes a line on standard error. Where nobody reads it there is nobody to tell; `eprintln!` would panic.
fn say(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

impl Cli {
    /// Runs what was asked for.
    ///
    /// # Errors
    ///
    /// Anything that ends the run; [`Usage`] where the command line was wrong.
    pub fn run(self) -> anyhow::Result<Exit> {
        self.global.start_log();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let done = runtime.block_on(async {
            match self.command.unwrap_or(Command::Chat) {
                Command::Chat => chat::run(&self.global).await,
                Command::Ask(args) => ask::run(&self.global, args).await,
                Command::Call(args) => call::run(&self.global, args).await,
                Command::Tools(args) => tools::run(&self.global, args).await,
                Command::Plugin(command) => plugin::run(&self.global, command).await,
                Command::Audit(args) => audit::run(&self.global, args),
                Command::Session(command) => session::run(self.global, command).await,
                Command::Secret(command) => secret::run(&self.global, command).await,
            }
        });
        // A guest's file operation, or a line editor that waits for a key, must not hold up the end.
        runtime.shutdown_background();
        done
    }
}
