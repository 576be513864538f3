//! The program `bellglass`: arguments in, exit status out.

use std::process::ExitCode;

use bellglass::cli::{Cli, Exit, Usage, print_error};
use clap::Parser as _;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(exit) => exit.into(),
        Err(error) => {
            print_error(&error);
            if error.is::<Usage>() { Exit::Usage.into() } else { Exit::Failed.into() }
        }
    }
}
