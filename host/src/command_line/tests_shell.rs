//! The parser against the shell itself: whatever `/bin/sh` runs must be among the parts.
//!
//! Apart, because here lines really run, in an empty folder and with programs that only write down their names.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use super::*;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

/// Programs that note that they ran, and nothing else.
const STUBS: [&str; 6] = ["aa", "bb", "cc", "git", "rm", "sudo"];

struct Shell {
    folder: tempfile::TempDir,
    path: String,
}

impl Shell {
    /// With the programs of the system, behind those that only note their name.
    fn new(with_system: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        std::fs::write(folder.path().join("work/file"), "").unwrap();
        for name in STUBS {
            let run = if name == "sudo" { "shift 2; exec \"$@\"\n" } else { "" };
            let script = format!("#!/bin/sh\necho {name} >> \"$RAN\"\n{run}");
            std::fs::write(bin.join(name), script).unwrap();
            std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let system = if with_system { ":/usr/bin:/bin" } else { "" };
        let path = format!("{}{system}", bin.display());
        Self { folder, path }
    }

    /// The programs that ran.
    fn run(&self, line: &str) -> BTreeSet<String> {
        // One for each line: what runs in the background may write late.
        let log = tempfile::NamedTempFile::new_in(self.folder.path()).unwrap();
        let mut command = Command::new("/bin/sh");
        command
            .arg("-c")
            .arg(line)
            .env_clear()
            .env("PATH", &self.path)
            .env("RAN", log.path())
            .current_dir(self.folder.path().join("work"));
        // Reading to the end waits for what still holds the pipe.
        command.stdin(Stdio::null()).output().unwrap();
        std::fs::read_to_string(log.path()).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Checks a line, and returns what ran.
    fn check(&self, line: &str) -> BTreeSet<String> {
        let ran = self.run(line);
        if let Ok(parsed) = CommandLine::parse(line) {
            let found = parsed.parts().iter().filter_map(Part::program).map(names::base);
            let found: BTreeSet<String> = found.map(str::to_owned).collect();
            assert!(ran.is_subset(&found), "{line:?} ran {ran:?}, found {found:?}");
        }
        ran
    }
}

#[test]
fn every_program_that_a_shell_runs_is_among_the_parts() {
    let shell = Shell::new(true);
    let lines = [
        "git status && rm -rf x",
        "git status; rm -rf x",
        "git status | rm -rf x",
        "false || rm -rf x",
        "git status\nrm -rf x",
        "git status & rm -rf x; wait",
        "git $(rm -rf x)",
        "git `rm -rf x`",
        "git ${x:-$(rm -rf x)}",
        "git \"${x:-$(rm -rf x)}\"",
        "cat <<EOF\n$(rm -rf x)\nEOF",
        "cat <<EOF\n`rm -rf x`\nEOF",
        "git status >| out; rm x",
        "eval rm x",
        "eval 'git; rm x'",
        "env rm x",
        "env A=1 rm x",
        "sudo -u x rm x",
        "FOO=1 rm x",
        "find . -exec rm {} \\;",
        "find . -execdir rm {} +",
        "echo x | xargs rm",
        "echo x | xargs -I{} rm {}",
        "\\rm x",
        "r\"\"m x",
        "sh -c 'rm x'",
        "bash -c 'rm x'",
        "sh -c \"sh -c 'rm x'\"",
        "nohup nice timeout 5 rm x",
        "command rm x",
        "exec rm x",
        "trap 'rm x' EXIT",
        "f() { rm x; }; f",
        "if git; then rm x; fi",
        "for i in 1; do rm x; done",
        "case a in a) rm x;; esac",
        "(rm x)",
        "{ rm x; }",
        "! rm x",
        "while git; do rm x; break; done",
        "git 2>&1 | rm",
        "echo \"a\n$(rm)\"",
    ];
    for line in lines {
        assert!(shell.check(line).contains("rm"), "{line:?} runs it, so it is worth testing");
    }
    let long = format!("git {}; rm x", "a ".repeat(9_000));
    assert!(shell.check(&long).contains("rm"));
}

/// Lines of programs that do nothing: no name of a real program, no path, no function that is called.
fn line() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "aa ",
        "bb ",
        "cc ",
        "aa",
        "bb",
        " ",
        "\n",
        "; ",
        " & ",
        " | ",
        " && ",
        " || ",
        "(",
        ")",
        "{ ",
        "; }",
        "> f ",
        "<<E\n",
        "\nE\n",
        "$(",
        "`",
        "'",
        "\"",
        "\\",
        "#",
        "$x",
        "${x:-",
        "}",
        "X=1 ",
        "! ",
        "if ",
        "; then ",
        "; fi",
        "eval ",
        "command ",
        "exec ",
        "f() ",
        "$((",
        "))",
        "\\\n",
        "'aa'",
        "case x in x) ",
        ";; esac",
        "2>&1 ",
        "<f ",
        "for x in a; do ",
        "; done",
        "trap ",
        " EXIT",
        "set -- ",
        "$@",
        "$'",
        "<(",
        "[[ ",
        "&> ",
        "{aa,bb} ",
        "time ",
        "E",
    ]);
    prop::collection::vec(token, 1..14).prop_map(|it| it.concat())
}

#[test]
fn generated_lines_run_nothing_that_was_not_found() {
    let shell = Shell::new(false);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut ran = 0;
    for _ in 0..20_000 {
        let line = line().new_tree(&mut runner).unwrap().current();
        // What is unclear is never run without a question.
        if CommandLine::parse(&line).is_ok() && !line.contains("while") {
            ran += usize::from(!shell.check(&line).is_empty());
        }
    }
    assert!(ran > 100, "only {ran} of the lines ran something");
}

#[test]
fn lines_that_are_made_to_be_misread_run_nothing_that_was_not_found() {
    let shell = Shell::new(true);
    for line in [
        "git \"$\\\n(rm x)\"",
        "cat <<EOF\n$\\\n(rm x)\nEOF",
        "cat <<\\\n-EOF\nEOF\nrm x\n-EOF",
        "cat <<EOF\na\\\nEOF\ncat <<'X'\nEOF\nrm x\nX",
        "cat <<cat $(\nrm x\ncat\n)\ncat",
        "git $(cat <<EOF)\nrm x\nEOF",
        "find . -maxdepth 0 ${X:--exec rm x ;}",
        "find . -maxdepth 0 {-exec,rm,x,\\;}",
        "cat <<EOF\nEO\\\nF\nrm x\nEOF",
        "git \"${x:-\"}\"; rm x #\"}\"",
        "git \"${x:-\"}\"}\"; rm x",
        "cat <<E $(git\n)\nrm x\nE",
        "cat <<E \"$(git\nE\n)\"\nrm x\nE\nE",
        "cat <<'E' `git\nE\n`\nrm x\nE",
        "test -v 'a[$(rm x)]'",
        "printf -v 'a[$(rm x)]' b",
        "time X=1 rm x",
        "git ${x#'}; rm x; echo '}",
        "git ${x%\"}; rm x; echo \"}",
        "trap 'rm x' EXIT",
        "trap 'rm x' 0",
        "echo $(echo ')' ; rm x)",
        "cat <<E\n${x:-`rm x`}\nE",
        "cat <<E\n\\\\$(rm x)\nE",
        "cat <<\\E\n$(git)\nE\nrm x",
        "cat <<-E\n\tE\nrm x",
        "cat << E; rm x\nE",
        r#"git `echo "\`rm x\`"`"#,
        "git \"`echo \\\"a; rm x\\\"`\"",
        "git \\\n# ; rm x",
        "git a\\\n#b; rm x",
        "git;# a\\\nrm x",
        "# a\\\nrm x",
        "git # a\\\nrm x",
        "git ${#x}; rm x",
        "git ${x:-a}b}; rm x",
        "git $#; rm x",
        "git ${#}; rm x #}",
        "git ${#-}; rm x #}",
        "git ${##}; rm x #}",
        "git ${#:-}; rm x",
        "git ${x:-{}; rm x; }",
        "git \"${x:-'}\"; rm x; \"'}\"",
        "git ${x:-\\}}; rm x",
        "git \"${x:-\\}}\"; rm x",
        "find . -exec sh -c 'rm x' \\;",
        "echo a | xargs -n1 rm",
        "env -- rm x",
        "exec 3>&1; rm x",
        "git 2>&1; rm x",
        "{ git; } ; rm x",
        "{ git\n}\nrm x",
        "if git; then rm x; fi",
        "git <<E\n$(\nrm x\n)\nE",
        "git <<E\n$(cat <<F\n$(rm x)\nF\n)\nE",
    ] {
        shell.check(line);
    }
}
