//! Programs and variables that are special to a judge of command lines.
//!
//! Apart, because these are lists that grow, and nothing in them is about syntax.

/// Whether a prefix such as `python *` says nothing of what would happen: the program runs what its arguments, its input or
/// its surroundings tell it to, or it changes what later commands mean.
pub(super) fn is_interpreter(program: &str) -> bool {
    let name = base(program);
    // `python3.11` is `python`.
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&plain)
}

/// The name of a program without its folder.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether a path is where systems keep their own programs, so that its name says what it is.
pub(super) fn is_system(program: &str) -> bool {
    let folder = program.rsplit_once('/').map(|it| it.0);
    folder.is_none_or(|it| ["/bin", "/sbin", "/usr/bin", "/usr/sbin"].contains(&it))
}

/// Whether a variable changes what a program shows and nothing of what it does.
pub(super) fn is_harmless_variable(name: &str) -> bool {
    name.starts_with("LC_") || HARMLESS.contains(&name)
}

const HARMLESS: [&str; 10] =
    ["CI", "COLUMNS", "FORCE_COLOR", "LANG", "LINES", "NO_COLOR", "RUST_BACKTRACE", "RUST_LOG", "TERM", "TZ"];

/// Commands after which a relative path means another file.
pub(super) const MOVES: [&str; 4] = ["cd", "pushd", "popd", "chroot"];

/// Words that start something in a shell and cannot be a program; those of bash too.
pub(super) const RESERVED: [&str; 21] = [
    "!", "{", "}", "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "in", "then", "until", "while",
    "[[", "]]", "function", "select", "coproc",
];

/// Builtins that evaluate text in their arguments in some shells: bash reads the subscript of `test -v 'a[$(rm x)]'`.
pub(super) const EVALUATES: [&str; 3] = ["[", "printf", "test"];

#[rustfmt::skip]
const INTERPRETERS: &[&str] = &[
    // Shells, and builtins that change what later commands mean.
    "sh", "ash", "bash", "dash", "csh", "elvish", "fish", "ksh", "mksh", "nu", "pwsh", "rbash", "tcsh", "xonsh", "zsh",
    ".", "alias", "bind", "compgen", "complete", "declare", "enable", "eval", "export", "fc", "getopts", "hash", "let",
    "local", "mapfile", "read", "readarray", "readonly", "set", "shopt", "source", "trap", "typeset", "unalias", "unset",
    // Languages.
    "awk", "gawk", "mawk", "nawk", "bc", "dc", "clojure", "deno", "elixir", "emacs", "erl", "expect", "ghc", "ghci",
    "groovy", "guile", "iex", "irb", "java", "jjs", "jshell", "julia", "kotlin", "lua", "luajit", "m", "node", "nodejs",
    "ocaml", "perl", "php", "pypy", "python", "pythonw", "racket", "raku", "runghc", "R", "Rscript", "ruby", "sbcl",
    "scala", "sed", "swift", "swipl", "tclsh", "ts-node", "tsx", "wish", "bun", "qjs", "wasmtime", "wasmer",
    // Package managers and task runners: what they run stands in files.
    "ant", "bazel", "bunx", "bundle", "bundler", "composer", "conda", "corepack", "gem", "gmake", "gradle", "gradlew",
    "just", "make", "meson", "mix", "mvn", "mvnw", "ninja", "nix", "nix-shell", "npm", "npx", "pip", "pipx", "pnpm",
    "pnpx", "poetry", "rake", "task", "tox", "uv", "uvx", "yarn", "hatch", "pdm", "pixi", "mise", "asdf", "direnv",
    // Programs that run others, here or elsewhere.
    "at", "batch", "chroot", "crontab", "dbus-run-session", "docker", "doas", "entr", "faketime", "flatpak", "flock",
    "gdb", "kubectl", "lldb", "ltrace", "nc", "ncat", "nsenter", "parallel", "pkexec", "podman", "proxychains", "rlwrap",
    "rsync", "run-parts", "runuser", "scp", "screen", "script", "setpriv", "sftp", "socat", "ssh", "start-stop-daemon",
    "strace", "su", "sudo", "systemd-run", "taskset", "tmux", "torsocks", "unshare", "valgrind", "watch", "watchexec",
    "xvfb-run", "chrt", "numactl", "prlimit", "capsh", "firejail", "bwrap", "ld.so", "busybox", "toybox", "nsjail",
    // Editors and pagers, which have a command for it.
    "ed", "ex", "less", "man", "more", "nano", "nvim", "rvim", "vi", "view", "vim", "vimdiff",
];
