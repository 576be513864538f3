//! `cargo xtask`: sets up what is missing, then runs, tests or measures.
//!
//! Separate from the product, so that a clone and `cargo` are all that anybody needs to start.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a build tool talks to whoever typed it")]

use std::{env, ffi::OsString, process::ExitCode};

mod commands;
#[expect(dead_code, reason = "build scripts build; here is only asked whether they can")]
mod guest;
mod setup;

const USAGE: &str = "\
usage: cargo xtask run [-- ARGS]     build bellglass (release) and run it in this folder
       cargo xtask test              all that a change must pass: format, lints, tests
       cargo xtask bench [-- ARGS]   run the benchmarks; ARGS go to `cargo bench`
       cargo xtask soak              properties on 1,000,000 inputs each; takes a while

Each first installs what is missing, and says so: the Rust target of plugins
with `rustup target add`, or packages of the distribution without rustup.
";

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let done = match parse(&arguments) {
        Ok(Task::Help) => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        Ok(Task::Run(arguments)) => commands::run(arguments),
        Ok(Task::Test) => commands::test(),
        Ok(Task::Bench(arguments)) => commands::bench(arguments),
        Ok(Task::Soak) => commands::soak(),
        Err(fault) => {
            eprint!("error: {fault}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    done.unwrap_or_else(|fault| {
        eprintln!("{fault}");
        ExitCode::FAILURE
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Task<'a> {
    Help,
    Run(&'a [OsString]),
    Test,
    Bench(&'a [OsString]),
    Soak,
}

/// Reads the command line; what follows `--` is not ours.
fn parse(arguments: &[OsString]) -> Result<Task<'_>, String> {
    let (ours, theirs) = match arguments.iter().position(|it| it == "--") {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (arguments, &[][..]),
    };
    if ours.iter().any(|it| it == "--help" || it == "-h") {
        return Ok(Task::Help);
    }
    let Some((command, rest)) = ours.split_first() else {
        return Err("expected a command: `run`, `test`, `bench` or `soak`".to_owned());
    };
    let command = command.display();
    let task = match command.to_string().as_str() {
        "help" => Task::Help,
        "run" => Task::Run(theirs),
        "bench" => Task::Bench(theirs),
        "test" if theirs.is_empty() => Task::Test,
        "test" => return Err("`test` takes no arguments; run `cargo test` for a part of the tests".to_owned()),
        "soak" if theirs.is_empty() => Task::Soak,
        "soak" => return Err("`soak` takes no arguments".to_owned()),
        _ => return Err(format!("unknown command `{command}`, expected `run`, `test`, `bench` or `soak`")),
    };
    match rest {
        [] => Ok(task),
        [first, ..] => {
            let first = first.display();
            Err(format!("unexpected `{first}`; arguments come after `--`: `cargo xtask {command} -- {first}`"))
        }
    }
}

/// Says what is about to happen.
fn say(text: &str) {
    eprintln!("xtask: {text}");
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{Task, parse};

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[track_caller]
    fn check(line: &str, expected: Task<'_>) {
        assert_eq!(parse(&words(line)), Ok(expected), "`{line}`");
    }

    #[track_caller]
    fn check_fault(line: &str, expected: &str) {
        assert_eq!(parse(&words(line)), Err(expected.to_owned()), "`{line}`");
    }

    #[test]
    fn what_follows_two_dashes_belongs_to_the_program() {
        check("run", Task::Run(&[]));
        check("run --", Task::Run(&[]));
        check("run -- ask --help -- x", Task::Run(&words("ask --help -- x")));
        check("bench -- --bench call", Task::Bench(&words("--bench call")));
        check("test", Task::Test);
    }

    #[test]
    fn help_wins_before_two_dashes() {
        for line in ["--help", "-h", "help", "run --help", "test -h"] {
            check(line, Task::Help);
        }
    }

    #[test]
    fn wrong_usage_says_what_is_right() {
        check_fault("", "expected a command: `run`, `test`, `bench` or `soak`");
        check_fault("tset", "unknown command `tset`, expected `run`, `test`, `bench` or `soak`");
        check_fault("run ask", "unexpected `ask`; arguments come after `--`: `cargo xtask run -- ask`");
        check_fault("test -- x", "`test` takes no arguments; run `cargo test` for a part of the tests");
    }
}
