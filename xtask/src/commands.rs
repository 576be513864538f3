//! What `run`, `test` and `bench` do once everything is in place.
//!
//! Separate from the command line, so that a step of the checks is one line here.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use crate::{say, setup};

/// What a change must pass, in order: the quick ones first.
const CHECKS: &[(&str, &[&str])] = &[
    ("format", &["fmt", "--all", "--check"]),
    ("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    // Plain `cargo test`: unit tests, those of the built binary and documentation, with nothing to install.
    ("tests", &["test", "--workspace", "--no-fail-fast"]),
];

/// Runs every check; stops at the first that fails.
pub(crate) fn test() -> Result<ExitCode, String> {
    setup::checkers()?;
    setup::guests()?;
    for (name, arguments) in CHECKS {
        let typed = format!("cargo {}", arguments.join(" "));
        say(&format!("{name}: `{typed}`"));
        if !succeeds(cargo().current_dir(root()).args(*arguments))? {
            return Err(format!("error: {name} failed\n  hint: repeat this step with `{typed}`"));
        }
    }
    say("all checks passed");
    Ok(ExitCode::SUCCESS)
}

/// Runs the benchmarks.
pub(crate) fn bench(arguments: &[OsString]) -> Result<ExitCode, String> {
    setup::guests()?;
    let passed = succeeds(cargo().current_dir(root()).args(["bench", "--package", "bellglass"]).args(arguments))?;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Generated inputs of one property in a long run; 20,000 in the tests.
const SOAK: &str = "1000000";

/// Tries every property on many more inputs, with the checks of a debug build: in the tests they are tried on 20,000.
pub(crate) fn soak() -> Result<ExitCode, String> {
    setup::guests()?;
    say(&format!("properties: {SOAK} inputs each"));
    let mut cargo = cargo();
    cargo.current_dir(root()).env("BELLGLASS_CASES", SOAK);
    cargo.args(["test", "--package", "bellglass", "--lib"]);
    let passed = succeeds(&mut cargo)?;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds the binary and becomes it, in the folder where this was typed.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode, String> {
    setup::guests()?;
    let mut build = cargo();
    build.args(["build", "--release", "--package", "bellglass", "--bin", "bellglass"]);
    build.arg("--manifest-path").arg(root().join("Cargo.toml"));
    if !succeeds(&mut build)? {
        return Err("error: bellglass did not build\n  hint: its errors are above".to_owned());
    }
    let binary = beside(env::current_exe().ok().as_deref())
        .filter(|it| it.is_file())
        .ok_or("error: cannot find the binary that was built\n  hint: run it with `cargo run --release`")?;
    become_program(Command::new(binary).args(arguments))
}

/// The binary that a release build makes, from where cargo put `xtask`: the folder is the same, whatever set it.
fn beside(xtask: Option<&Path>) -> Option<PathBuf> {
    let profile = xtask?.parent()?;
    Some(profile.with_file_name("release").join(format!("bellglass{}", env::consts::EXE_SUFFIX)))
}

/// Exit code and signals are the program's own.
#[cfg(unix)]
fn become_program(command: &mut Command) -> Result<ExitCode, String> {
    use std::os::unix::process::CommandExt;
    let fault = command.exec();
    Err(cannot_run(command.get_program(), &fault))
}

/// Without `exec`, at least the exit code is the program's own.
#[cfg(not(unix))]
fn become_program(command: &mut Command) -> Result<ExitCode, String> {
    let status = command.status().map_err(|fault| cannot_run(command.get_program(), &fault))?;
    std::process::exit(status.code().unwrap_or(1))
}

/// Cargo without the variables that `cargo run` gave to `xtask`: build scripts that watch one of them would otherwise
/// run again whenever a plain `cargo build` and `cargo xtask` take turns.
fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_cargo_run(&name.to_string_lossy())) {
        cargo.env_remove(name);
    }
    cargo
}

fn is_of_cargo_run(name: &str) -> bool {
    name == "CARGO" || name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

fn succeeds(command: &mut Command) -> Result<bool, String> {
    let status = command.status().map_err(|fault| cannot_run(command.get_program(), &fault))?;
    Ok(status.success())
}

fn cannot_run(program: &OsStr, fault: &std::io::Error) -> String {
    format!("error: cannot run `{}`\n  caused by: {fault}", program.display())
}

/// The folder of the workspace.
fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask is a folder of the workspace")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{beside, is_of_cargo_run};

    #[test]
    fn the_binary_is_found_below_the_target_folder_of_xtask() {
        let found = |xtask: &str| beside(Some(Path::new(xtask)));
        assert_eq!(found("/t/debug/xtask"), Some("/t/release/bellglass".into()));
        assert_eq!(found("/t/some-triple/debug/xtask"), Some("/t/some-triple/release/bellglass".into()));
    }

    #[test]
    fn cargo_keeps_what_the_user_set() {
        for name in ["CARGO_TARGET_DIR", "CARGO_HOME", "RUSTFLAGS", "RUSTUP_TOOLCHAIN"] {
            assert!(!is_of_cargo_run(name), "`{name}`");
        }
        for name in ["CARGO", "CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"] {
            assert!(is_of_cargo_run(name), "`{name}`");
        }
    }
}
