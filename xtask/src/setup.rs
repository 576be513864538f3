//! Installs what building and checking needs and this machine lacks.
//!
//! Separate from the commands, because each of them starts with it, and so that every decision is a function of `Means`.

use std::{
    env,
    process::{Command, Stdio},
};

use crate::{
    guest::toolchain::{Machine, TARGET, Toolchain},
    say,
};

/// Something that a command cannot do without, and the ways to get it.
#[derive(Debug)]
struct Need {
    what: &'static str,
    /// Arguments of `rustup`: the way to prefer.
    rustup: &'static [&'static str],
    /// Packages of Debian, where `rustup` is missing or cannot download.
    packages: &'static [&'static str],
}

/// What guests are built with. The distribution has no target ready: its compiler, its sources, a C library.
const GUESTS: Need = Need {
    what: "the toolchain of plugins",
    rustup: &["target", "add", TARGET],
    packages: &["rustc-web", "rust-web-src", "wasi-libc"],
};

/// The same, where no toolchain of `rustup` brings the linkers either.
const GUESTS_AND_LINKERS: Need =
    Need { packages: &["rustc-web", "rust-web-src", "wasi-libc", "rust-web-llvm", "lld-22"], ..GUESTS };

const FMT: Need = Need { what: "`cargo fmt`", rustup: &["component", "add", "rustfmt"], packages: &["rustfmt-web"] };

const CLIPPY: Need =
    Need { what: "`cargo clippy`", rustup: &["component", "add", "clippy"], packages: &["rust-web-clippy"] };

/// Makes sure that guests can be built.
pub(crate) fn guests() -> Result<(), String> {
    let is_there = || Toolchain::find(&Machine::this()).is_some();
    if is_there() {
        return Ok(());
    }
    let need = if Machine::this().linkers().is_some() { GUESTS } else { GUESTS_AND_LINKERS };
    provide(&need, &Means::of_this_machine(), &is_there, &run)
}

/// Makes sure that the formatter and the linter are there.
pub(crate) fn checkers() -> Result<(), String> {
    for (need, subcommand) in [(FMT, "fmt"), (CLIPPY, "clippy")] {
        let is_there = || answers("cargo", &[subcommand, "--version"]);
        if !is_there() {
            provide(&need, &Means::of_this_machine(), &is_there, &run)?;
        }
    }
    Ok(())
}

/// What this machine lets us install with.
#[derive(Debug)]
struct Means {
    rustup: bool,
    apt: bool,
    root: bool,
    /// What `RUSTUP_TOOLCHAIN` says: the toolchain that runs us, which need not be the default.
    toolchain: Option<String>,
}

impl Means {
    fn of_this_machine() -> Self {
        let id = Command::new("id").arg("-u").output();
        Self {
            rustup: answers("rustup", &["--version"]),
            apt: answers("apt-get", &["--version"]),
            root: id.is_ok_and(|it| it.stdout.trim_ascii() == b"0"),
            toolchain: env::var("RUSTUP_TOOLCHAIN").ok(),
        }
    }
}

/// Tries each way in turn until what is needed is there; otherwise says what to type.
fn provide(
    need: &Need,
    means: &Means,
    is_there: &dyn Fn() -> bool,
    run: &dyn Fn(&[&str]) -> bool,
) -> Result<(), String> {
    let rustup = rustup(need, means);
    if means.rustup {
        announce(need, &rustup);
        if run(&rustup) && is_there() {
            return Ok(());
        }
    }
    let apt = apt(need);
    if means.apt && means.root {
        for command in &apt {
            announce(need, command);
            // A failed update can still leave lists that know the packages: the install decides.
            run(command);
        }
        if is_there() {
            return Ok(());
        }
    }
    Err(advice(need, means, &rustup, &apt))
}

fn announce(need: &Need, command: &[&str]) {
    say(&format!("{} is missing, installing it: `{}`", need.what, command.join(" ")));
}

fn rustup<'a>(need: &Need, means: &'a Means) -> Vec<&'a str> {
    let mut command = vec!["rustup"];
    command.extend(&need.rustup[..2]);
    command.extend(means.toolchain.as_deref().iter().flat_map(|it| ["--toolchain", it]));
    command.extend(&need.rustup[2..]);
    command
}

/// The lists first: those of a fresh image know compilers that are too old, or files that are gone. Nothing that is
/// installed goes: these packages exclude those of another compiler.
fn apt(need: &Need) -> [Vec<&'static str>; 2] {
    let mut install = vec!["apt-get", "install", "-y", "--no-remove", "--no-install-recommends"];
    install.extend(need.packages);
    [vec!["apt-get", "update"], install]
}

fn advice(need: &Need, means: &Means, rustup: &[&str], apt: &[Vec<&str>; 2]) -> String {
    let mut text = format!("error: {} is missing and was not installed", need.what);
    if means.rustup || !means.apt {
        text += &format!("\n  hint: with a connection, run `{}`", rustup.join(" "));
    }
    if means.apt {
        let sudo = if means.root { "" } else { "sudo " };
        let [update, install] = apt;
        let (update, install) = (update.join(" "), install.join(" "));
        text += &format!("\n  hint: on Debian, run `{sudo}{update} && {sudo}{install}`");
    }
    if !means.rustup {
        text += "\n  hint: `rustup` is not in `PATH`; https://rustup.rs says how to get it";
    }
    text
}

fn answers(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|it| it.success())
}

/// Runs an installer, whose output goes to standard error: standard output belongs to what is run later.
fn run(command: &[&str]) -> bool {
    let [program, arguments @ ..] = command else { return false };
    let mut command = Command::new(program);
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command.stdin(Stdio::null()).stdout(std::io::stderr());
    command.status().is_ok_and(|it| it.success())
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::{CLIPPY, GUESTS, GUESTS_AND_LINKERS, Means, Need, provide};

    const APT: [&str; 2] =
        ["apt-get update", "apt-get install -y --no-remove --no-install-recommends rustc-web rust-web-src wasi-libc"];

    fn means(rustup: bool, apt: bool, root: bool) -> Means {
        Means { rustup, apt, root, toolchain: None }
    }

    /// Runs `provide` on a machine where only commands that begin with `works` do what they should.
    fn attempt(need: &Need, means: &Means, works: &str) -> (Vec<String>, Result<(), String>) {
        let (typed, is_there) = (RefCell::new(Vec::new()), Cell::new(false));
        let run = |command: &[&str]| {
            let command = command.join(" ");
            let success = command.starts_with(works);
            is_there.set(is_there.get() || success && command.contains(" add ") || success && command.contains("-y"));
            typed.borrow_mut().push(command);
            success
        };
        let outcome = provide(need, means, &|| is_there.get(), &run);
        (typed.into_inner(), outcome)
    }

    #[test]
    fn rustup_is_asked_first_and_alone_where_it_can_download() {
        let (typed, outcome) = attempt(&GUESTS, &means(true, true, true), "rustup");
        assert_eq!(outcome, Ok(()));
        assert_eq!(typed, ["rustup target add wasm32-wasip2"]);
    }

    #[test]
    fn rustup_acts_on_the_toolchain_that_runs_us() {
        let means = Means { toolchain: Some("1.95.0".to_owned()), ..means(true, false, true) };
        let (typed, _) = attempt(&CLIPPY, &means, "rustup");
        assert_eq!(typed, ["rustup component add --toolchain 1.95.0 clippy"]);
    }

    #[test]
    fn packages_follow_where_rustup_fails_or_is_missing() {
        let (typed, outcome) = attempt(&GUESTS, &means(true, true, true), "apt-get");
        assert_eq!(outcome, Ok(()));
        assert_eq!(typed, ["rustup target add wasm32-wasip2", APT[0], APT[1]]);

        let (typed, outcome) = attempt(&GUESTS_AND_LINKERS, &means(false, true, true), "apt-get");
        assert_eq!(outcome, Ok(()));
        assert_eq!(typed, [APT[0].to_owned(), format!("{} rust-web-llvm lld-22", APT[1])]);
    }

    #[test]
    fn lists_that_cannot_be_updated_do_not_stop_the_install() {
        let (typed, outcome) = attempt(&GUESTS, &means(false, true, true), "apt-get install");
        assert_eq!(outcome, Ok(()));
        assert_eq!(typed, APT);
    }

    #[track_caller]
    fn check_advice(means: Means, expected_typed: usize, expected: &str) {
        let (typed, outcome) = attempt(&GUESTS, &means, "nothing works");
        assert_eq!((typed.len(), outcome), (expected_typed, Err(expected.to_owned())));
    }

    #[test]
    fn who_may_not_install_is_told_what_to_type() {
        check_advice(
            means(false, true, false),
            0,
            "error: the toolchain of plugins is missing and was not installed\n  \
             hint: on Debian, run `sudo apt-get update && sudo apt-get install -y --no-remove \
             --no-install-recommends rustc-web rust-web-src wasi-libc`\n  \
             hint: `rustup` is not in `PATH`; https://rustup.rs says how to get it",
        );
        check_advice(
            means(true, false, true),
            1,
            "error: the toolchain of plugins is missing and was not installed\n  \
             hint: with a connection, run `rustup target add wasm32-wasip2`",
        );
        check_advice(
            means(false, false, false),
            0,
            "error: the toolchain of plugins is missing and was not installed\n  \
             hint: with a connection, run `rustup target add wasm32-wasip2`\n  \
             hint: `rustup` is not in `PATH`; https://rustup.rs says how to get it",
        );
    }
}
