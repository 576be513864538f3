//! Programs that run another program which stands in their arguments: what they run is judged too.
//!
//! Apart from the syntax, because a shell knows nothing of them. An option that is not known here makes the line unclear: what
//! comes after it may be its value, or the program.

use super::{Part, Unclear, Word, names, syntax};

/// How a wrapper's arguments lead to the program.
struct Wrapper {
    name: &'static str,
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options whose value is the next word, or follows at once.
    valued: &'static [&'static str],
    /// Words before the program, such as a duration.
    operands: usize,
    /// It must be allowed itself: it gives more rights, or repeats.
    counts: bool,
}

const fn wrapper(name: &'static str, flags: &'static [&'static str], valued: &'static [&'static str]) -> Wrapper {
    Wrapper { name, flags, valued, operands: 0, counts: false }
}

const WRAPPERS: [Wrapper; 14] = [
    wrapper("env", &["-i", "--ignore-environment", "-0", "--null"], &["-u", "--unset", "-C", "--chdir"]),
    wrapper("nice", &[], &["-n", "--adjustment"]),
    wrapper("nohup", &[], &[]),
    wrapper("time", &["-p"], &["-f", "-o"]),
    wrapper("command", &["-p"], &[]),
    wrapper("builtin", &[], &[]),
    wrapper("exec", &["-c", "-l"], &["-a"]),
    wrapper("stdbuf", &[], &["-i", "-o", "-e", "--input", "--output", "--error"]),
    wrapper("setsid", &["-c", "-f", "-w", "--ctty", "--fork", "--wait"], &[]),
    wrapper("ionice", &["-t", "--ignore"], &["-c", "-n", "--class", "--classdata"]),
    Wrapper {
        operands: 1,
        ..wrapper(
            "timeout",
            &["--foreground", "--preserve-status", "-v", "--verbose"],
            &["-s", "--signal", "-k", "--kill-after"],
        )
    },
    Wrapper {
        counts: true,
        ..wrapper("sudo", &["-n", "-E", "-H", "-S", "-k", "-b"], &["-u", "-g", "-p", "-D", "-R", "-T", "-C"])
    },
    Wrapper { counts: true, ..wrapper("doas", &["-n"], &["-u", "-C"]) },
    wrapper(
        "xargs",
        &["-0", "--null", "-r", "--no-run-if-empty", "-t", "--verbose", "-x", "--exit"],
        &["-n", "--max-args", "-L", "-P", "--max-procs", "-I", "-s", "-d", "--delimiter", "-E", "-a", "--arg-file"],
    ),
];

/// Shells that take a line with `-c`.
const SHELLS: [&str; 6] = ["sh", "ash", "bash", "dash", "ksh", "zsh"];

/// Adds a part, and after it what it runs.
pub(super) fn unwrap(part: Part, depth: usize, parts: &mut Vec<Part>) -> Result<(), Unclear> {
    if depth > super::MOST_DEEP {
        return Err(Unclear::new("it is nested too deep"));
    }
    let Some(first) = part.words().first() else {
        parts.push(part);
        return Ok(());
    };
    let Some(program) = first.exact() else {
        return Err(Unclear::new("which program runs is known only when it runs"));
    };
    let name = if names::is_system(program) { names::base(program) } else { program };
    let arguments: Vec<Word> = part.words()[1..].to_vec();
    if names::EVALUATES.contains(&name) && arguments.contains(&Word::Any) {
        return Err(Unclear::new(format!("`{name}` may run what a variable holds")));
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|it| it.name == name) {
        return wrapped(wrapper, part, &arguments, depth, parts);
    }
    match name {
        "find" => find(part, &arguments, depth, parts),
        "eval" => {
            let line =
                literal(&arguments).ok_or_else(|| Unclear::new("it evaluates what is known only when it runs"))?;
            parts.push(part.wrapping());
            syntax::read(&line, depth + 1, parts)
        }
        shell if SHELLS.contains(&shell) => shell_line(part, &arguments, depth, parts),
        _ => {
            parts.push(part);
            Ok(())
        }
    }
}

fn wrapped(
    wrapper: &Wrapper,
    part: Part,
    arguments: &[Word],
    depth: usize,
    parts: &mut Vec<Part>,
) -> Result<(), Unclear> {
    let unknown = || Unclear::new(format!("what `{}` runs is not clear", wrapper.name));
    let (mut at, mut operands, mut assigns) = (0, wrapper.operands, Vec::new());
    let mut options_over = false;
    while let Some(word) = arguments.get(at) {
        let Some(text) = word.exact() else { return Err(unknown()) };
        if !options_over && text.starts_with('-') && text.len() > 1 {
            at += 1;
            let (option, has_value) = match text.split_once('=') {
                Some((option, _)) if option.starts_with("--") => (option, true),
                _ => (text, false),
            };
            let is_number = wrapper.name == "nice" && text[1..].bytes().all(|it| it.is_ascii_digit());
            if text == "--" {
                options_over = true;
            } else if wrapper.flags.contains(&option) || is_number {
            } else if wrapper.valued.contains(&option) {
                at += usize::from(!has_value);
            } else if !wrapper.valued.iter().any(|it| it.len() == 2 && text.starts_with(it)) {
                return Err(unknown());
            }
        } else if wrapper.name == "env" && text == "-" {
            at += 1;
        } else if matches!(wrapper.name, "env" | "sudo" | "doas") && text.contains('=') {
            assigns.push(text.split('=').next().unwrap_or_default().to_owned());
            options_over = true;
            at += 1;
        } else if operands > 0 {
            operands -= 1;
            at += 1;
        } else {
            break;
        }
    }
    let mut inner: Vec<Word> = arguments.get(at..).unwrap_or_default().to_vec();
    if inner.is_empty() {
        // Alone it shows something, or runs a shell.
        parts.push(part);
        return Ok(());
    }
    if wrapper.name == "xargs" {
        // Its input is appended, or put anywhere.
        inner.push(Word::Any);
    }
    let carried = part.assigns().to_vec();
    let outer = if wrapper.counts || !part.writes().is_empty() { part } else { part.wrapping() };
    parts.push(outer);
    unwrap(Part::of(inner).assigning(carried).assigning(assigns), depth + 1, parts)
}

/// `find` runs what follows `-exec`, and removes or writes with a few others.
fn find(part: Part, arguments: &[Word], depth: usize, parts: &mut Vec<Part>) -> Result<(), Unclear> {
    let acts = ["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];
    let is = |word: &Word, names: &[&str]| word.exact().is_some_and(|it| names.contains(&it));
    let changes = arguments.iter().any(|it| is(it, &acts));
    parts.push(if changes { part.writing([Word::Any]) } else { part });
    let mut rest = arguments;
    while let Some(start) = rest.iter().position(|it| is(it, &["-exec", "-execdir", "-ok", "-okdir"])) {
        let inner = &rest[start + 1..];
        let end = inner.iter().position(|it| is(it, &[";", "+"]));
        let end = end.ok_or_else(|| Unclear::new("what `find` runs has no end"))?;
        // The name of a file is put in.
        let word = |it: &Word| if it.exact().is_some_and(|it| it.contains("{}")) { Word::Any } else { it.clone() };
        unwrap(Part::of(inner[..end].iter().map(word).collect()), depth + 1, parts)?;
        rest = &inner[end + 1..];
    }
    Ok(())
}

/// `sh -c LINE` runs the line; a shell with a file, or with its input, is an interpreter.
fn shell_line(part: Part, arguments: &[Word], depth: usize, parts: &mut Vec<Part>) -> Result<(), Unclear> {
    for (place, word) in arguments.iter().enumerate() {
        let Some(option) = word.exact() else { break };
        if !option.starts_with('-') || option.starts_with("--") {
            break;
        }
        if option.contains('c') {
            // `-e` and `-u` change when it stops, nothing else.
            if option[1..].chars().any(|it| !"ceux".contains(it)) {
                break;
            }
            let line = arguments.get(place + 1).and_then(Word::exact);
            let line = line.ok_or_else(|| Unclear::new("the line of a shell is known only when it runs"))?;
            let line = line.to_owned();
            parts.push(part.wrapping());
            return syntax::read(&line, depth + 1, parts);
        }
        if option[1..].chars().any(|it| !"eux".contains(it)) {
            break;
        }
    }
    parts.push(part);
    Ok(())
}

/// The words joined by blanks, if all are known.
fn literal(words: &[Word]) -> Option<String> {
    Some(words.iter().map(Word::exact).collect::<Option<Vec<_>>>()?.join(" "))
}
