//! Lines as the parts that they run, or the reason why that is not clear.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::capability::CommandPattern;

fn shown(line: &str) -> String {
    match CommandLine::parse(line) {
        Ok(it) => {
            let part = |part: &Part| {
                let mark = if part.role() == Role::Wraps { "(wraps) " } else { "" };
                format!("{mark}{part}")
            };
            it.parts().iter().map(part).collect::<Vec<_>>().join(" | ")
        }
        Err(unclear) => format!("? {unclear}"),
    }
}

#[track_caller]
fn check(line: &str, expected: Expect) {
    expected.assert_eq(&shown(line));
}

#[test]
fn every_command_of_a_line_is_a_part() {
    check("git status && rm -rf x", expect!["git status | rm -rf x"]);
    check("a; b | c || d & e", expect!["a | b | c | d | e"]);
    check("a\nb", expect!["a | b"]);
    check("(a; b) && { c; }", expect!["a | b | c"]);
    check("if a; then b; else c; fi", expect!["a | b | c"]);
    check("for f in x y; do a $f; done", expect!["f=… | a …"]);
    check("while a; do b; done", expect!["a | b"]);
    check("! a", expect!["a"]);
    check("echo $(a) `b` \"$(c `d`)\"", expect!["a | b | d | c … | echo … … …"]);
    check("echo ${x:-$(a)} ${y}", expect!["a | echo … …"]);
    check("a # && b", expect!["a"]);
    check("a \\\n b", expect!["a b"]);
}

#[test]
fn quotes_are_taken_away_before_a_word_is_compared() {
    check(r"\rm -r x", expect!["rm -r x"]);
    check("r\"\"m x", expect!["rm x"]);
    check("'git' 'sta tus'", expect!["git 'sta tus'"]);
    check("echo \"a $x b\" 'c $y'", expect!["echo … 'c $y'"]);
    check("'if' x", expect!["if x"]);
}

#[test]
fn redirections_and_assignments_belong_to_their_command() {
    check("a > b", expect!["a > b"]);
    check("a >| b 2>&1 < c", expect!["a > b"]);
    check("a 2> /dev/null", expect!["a > /dev/null"]);
    check("> b", expect!["> b"]);
    check("FOO=1 rm x", expect!["FOO=… rm x"]);
    check("FOO=$(a)", expect!["a | FOO=…"]);
    check("cat <<E\n$(a)\nE\nb", expect!["cat | a | b"]);
    check("cat <<'E'\n$(a)\nE\nb", expect!["cat | b"]);
}

#[test]
fn what_a_wrapper_runs_is_a_part_as_well() {
    check("env A=1 rm x", expect!["(wraps) env A=1 rm x | A=… rm x"]);
    check("sudo -u x rm y", expect!["sudo -u x rm y | rm y"]);
    check("nice -n 5 nohup timeout 5 rm x", expect!["(wraps) nice -n 5 nohup timeout 5 rm x | (wraps) nohup timeout 5 rm x | (wraps) timeout 5 rm x | rm x"]);
    check("ls | xargs rm -f", expect!["ls | (wraps) xargs rm -f | rm -f …"]);
    check("find . -name x -exec rm {} + -exec ls {} \\;", expect!["find . -name x -exec rm … + -exec ls … ';' | rm … | ls …"]);
    check("find . -delete", expect!["find . -delete > …"]);
    check("sh -c 'git status; rm x'", expect!["(wraps) sh -c 'git status; rm x' | git status | rm x"]);
    check("eval 'rm x'", expect!["(wraps) eval 'rm x' | rm x"]);
    check("/usr/bin/env rm x", expect!["(wraps) /usr/bin/env rm x | rm x"]);
    check("command rm x", expect!["(wraps) command rm x | rm x"]);
}

#[test]
fn what_shells_read_differently_or_is_known_only_when_it_runs_is_unclear() {
    for line in [
        "", "  ", "$X foo", "$(echo rm) x", "*", "r* x", "a <(b)", "a &> b", "a |& b", "a <<< b", "[[ a ]]", "((a))",
        "echo $((a))", "f() { a; }", "case x in y) a;; esac", "$'rm' x", "a 'b", "a \"b", "a `b", "a $(b", "(a", "a)",
        "eval $x", "sh -c \"$x\"", "env -S 'rm x'", "xargs $x", "find . -exec rm", "cat <<E\nx", "a\0b", "a\rb", "a\u{a0}b",
        "echo ${x@P}", "echo ${!x}", "test -v $x", "cd /tmp; ./x", "function f", "sudo --unknown rm", "a \\",
    ] {
        assert!(shown(line).starts_with("? "), "{line:?}: {}", shown(line));
    }
    assert!(CommandLine::parse(&"a ".repeat(MOST_CHARS)).is_err());
    assert!(CommandLine::parse(&"(".repeat(1000)).is_err());
}

#[track_caller]
fn covered(line: &str, pattern: &str) -> bool {
    let pattern = CommandPattern::parse(pattern).unwrap();
    let line = CommandLine::parse(line).unwrap();
    line.parts().iter().filter(|it| it.role() == Role::Runs).all(|it| it.is_covered_by(&pattern))
}

#[test]
fn a_prefix_covers_its_own_command_and_nothing_around_it() {
    assert!(covered("git status", "git status") && covered("git log -1", "git *") && covered("git $x", "git *"));
    for line in [
        "git status && rm x", "git status; rm x", "git log | sh", "git log > x", "FOO=1 git log", "git log $(rm x)", "gitx",
        "env LD_PRELOAD=x git log", "sudo git log", "./git log",
    ] {
        assert!(!covered(line, "git *"), "{line}");
    }
    assert!(covered("git log 2>/dev/null", "git *") && covered("LC_ALL=C git log", "git *"));
}

#[test]
fn a_denied_program_is_found_whatever_its_folder() {
    let rm = CommandPattern::parse("rm *").unwrap();
    let found = |line: &str| CommandLine::parse(line).unwrap().parts().iter().map(|it| it.matches(&rm)).max().unwrap();
    for line in ["rm x", "/bin/rm x", "../rm x", "env rm x", "xargs rm", "sh -c 'rm x'", "find . -exec rm {} +"] {
        assert_eq!(found(line), Match::Yes, "{line}");
    }
    assert_eq!(found("ls x"), Match::No);
}

#[test]
fn interpreters_are_known_in_each_version() {
    for program in ["python", "python3.11", "/usr/bin/perl", "node", "npx", "bash", "awk", "make"] {
        let line = format!("{program} x");
        assert!(CommandLine::parse(&line).unwrap().parts()[0].is_interpreter(), "{program}");
    }
    assert!(!CommandLine::parse("git log").unwrap().parts()[0].is_interpreter());
}

/// Pieces of lines that shells read in surprising ways.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = [
        "rm", "git", " ", " ", "\n", ";", "&", "|", "&&", "||", "(", ")", "{", "}", "$", "$(", "`", "'", "\"", "\\", "<", ">",
        "<<", "E", "#", "!", "*", "~", "=", "A=", "${", ":-", "if", "then", "fi", "for", "in", "do", "done", "env", "sudo",
        "-u", "xargs", "find", "-exec", "{}", "+", "sh", "-c", "eval", "2", "é", "\u{0}", "\t", "[", "?", "x",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24).prop_map(|it| it.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

    #[test]
    fn any_line_is_taken_apart_or_unclear(line in hostile()) {
        if let Ok(it) = CommandLine::parse(&line) {
            prop_assert!(!it.parts().is_empty());
            for part in it.parts() {
                prop_assert!(part.words().first().is_none_or(|it| it.exact().is_some()), "{part}");
                prop_assert!(part.pattern().is_any() || part.is_covered_by(&part.pattern()), "{part}");
            }
        }
    }

    #[test]
    fn a_command_put_behind_any_line_is_one_of_its_parts(line in hostile(), separator in prop::sample::select(vec![";", "&&", "|", "\n"])) {
        if CommandLine::parse(&line).is_ok()
            && let Ok(it) = CommandLine::parse(&format!("{line}{separator} hidden"))
        {
            // Behind a comment it is none, and in a quote the line would not have been whole.
            let last = line.rsplit('\n').next().unwrap_or_default();
            let found = it.parts().iter().any(|it| it.program() == Some("hidden") || it.words().contains(&Word::Exact("hidden".into())));
            prop_assert!(found || last.contains('#'), "{line:?}");
        }
    }
}
