//! `process`: programs on the user's machine, for plugins with a `run` grant that covers every command of the line.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::bindings::bellglass::plugin::process::{Host, Options, Output};
use crate::capability::{Capability, CommandPattern, Grant};
use crate::command_line::{self, CommandLine};
use crate::host_request::{Ask, Entry, Show};
use crate::limits::Limits;
use crate::sandbox::guest::Identity;
use crate::sandbox::imports::port::Port;
use crate::sandbox::program::{self, Ended, Program, approval};

/// The way up, for what is shown; what the plugin may run and where; and how long.
pub(crate) struct View<'a> {
    pub port: Port<'a>,
    pub identity: Arc<Identity>,
    pub limits: Limits,
}

/// Pieces of output that may wait for the terminal.
const SHOWN: usize = 16;

impl Host for View<'_> {
    async fn run(&mut self, command_line: String, options: Options) -> wasmtime::Result<Result<Output, String>> {
        Ok(self.start(Program::Line(command_line), options).await)
    }

    async fn run_argv(&mut self, argv: Vec<String>, options: Options) -> wasmtime::Result<Result<Output, String>> {
        Ok(self.start(Program::Argv(argv), options).await)
    }
}

impl View<'_> {
    async fn start(&self, program: Program, options: Options) -> Result<Output, String> {
        if self.port.caller.entry == Entry::Loading {
            return Err("only `log` works while a plugin is loaded".into());
        }
        self.judge(&program)?;
        approval::approve(&self.port, &program).await?;
        let wanted = options.timeout_ms.map(|it| Duration::from_millis(it.into()));
        let timeout = wanted.unwrap_or(self.limits.program).min(self.limits.program_longest);
        // The program has its own time.
        let _pause = self.port.deadline.pause();
        let (shown, mut pieces) = mpsc::channel(SHOWN);
        let run = program::run(
            &self.identity.programs,
            program,
            timeout,
            self.limits.program_output,
            options.show.then_some(shown),
        );
        tokio::pin!(run);
        let ended = loop {
            tokio::select! {
                biased;
                Some(piece) = pieces.recv() => self.show(piece).await,
                ended = &mut run => break ended?,
            }
        };
        while let Ok(piece) = pieces.try_recv() {
            self.show(piece).await;
        }
        let Ended { exit_code, stdout, stderr, truncated, timed_out } = ended;
        Ok(Output { exit_code, stdout, stderr, truncated, timed_out })
    }

    /// Whether every command of it is granted; what is missing is noted, and named.
    fn judge(&self, program: &Program) -> Result<(), String> {
        let (plugin, uses) = (&self.identity.name, &self.port.caller.context.uses);
        let line = match program {
            Program::Line(line) => CommandLine::parse(line),
            Program::Argv(argv) => CommandLine::of_argv(argv),
        };
        let granted: Vec<CommandPattern> = self.identity.grants.commands().cloned().collect();
        let judged = command_line::granted(line.as_ref().ok(), &granted);
        match judged {
            Ok(patterns) => {
                patterns.into_iter().for_each(|it| uses.allowed(plugin, Grant::One(Capability::Run(it))));
                Ok(())
            }
            Err(missing) => {
                let missing = Capability::Run(missing);
                let grant = Grant::from(&missing);
                let flag = grant.flag(plugin);
                uses.denied(plugin, grant);
                Err(format!("denied: plugin `{plugin}` may not {missing} (`{flag}` if it asks for it)"))
            }
        }
    }

    /// Nobody who is not there misses it.
    async fn show(&self, piece: String) {
        let _ = self.port.send(Ask::Show(Show::Print(piece))).await;
    }
}
