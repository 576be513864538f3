//! Programs on the user's machine. Needs a matching [`Capability::Run`](crate::Capability::Run). They run in the workspace,
//! without standard input.
//!
//! ```
//! use bellglass_guest::{Capability, NoArguments, Result, Setup, Value, json, process::Program, test};
//! use std::time::Duration;
//!
//! fn check(_: NoArguments) -> Result<Value> {
//!     let output = Program::new(["cargo", "check"]).timeout(Duration::from_secs(60)).run()?;
//!     Ok(json!({"passes": output.is_success(), "text": output.stderr}))
//! }
//!
//! fn setup(setup: &mut Setup) {
//!     setup.asks(Capability::run("cargo check"), "to see whether the code compiles");
//!     setup.tool("check", "Whether the code compiles", check);
//! }
//!
//! let plugin = test::plugin(setup).with_program("cargo check", 0, "");
//! assert_eq!(plugin.call("check", json!({}))["passes"], true);
//! ```

use crate::{bindings::bellglass::plugin::process::Options, host_error::HostError, imports::process};
use std::time::Duration;

pub use crate::bindings::bellglass::plugin::process::Output;

/// A program to run.
#[derive(Clone, Debug)]
#[must_use]
pub struct Program {
    line: Line,
    options: Options,
}

#[derive(Clone, Debug)]
enum Line {
    Shell(String),
    Argv(Vec<String>),
}

impl Program {
    /// A program and its arguments, without a shell: what stands in them is never obeyed.
    pub fn new<'a>(argv: impl IntoIterator<Item = &'a str>) -> Self {
        Self::of(Line::Argv(argv.into_iter().map(str::to_owned).collect()))
    }

    /// A shell command line.
    pub fn shell(line: impl Into<String>) -> Self {
        Self::of(Line::Shell(line.into()))
    }

    fn of(line: Line) -> Self {
        Self { line, options: Options { show: false, timeout_ms: None } }
    }

    /// Shows the output while it comes.
    pub fn show(mut self) -> Self {
        self.options.show = true;
        self
    }

    /// Ends it after this time.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.options.timeout_ms = Some(u32::try_from(limit.as_millis()).unwrap_or(u32::MAX));
        self
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// Denied, or it could not be started. A program that fails is an [`Output`].
    pub fn run(self) -> Result<Output, HostError> {
        let output = match &self.line {
            Line::Shell(line) => process::run(line, self.options),
            Line::Argv(argv) => process::run_argv(argv, self.options),
        };
        output.map_err(HostError::new)
    }
}

impl Output {
    /// Whether it ended by itself with exit code 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.exit_code == Some(0)
    }
}
