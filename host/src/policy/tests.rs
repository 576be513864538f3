//! Rules against calls and command lines, and what is said of mistakes in the file.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::name::{ItemName, PluginName};

fn subject() -> Subject {
    Subject {
        plugin: PluginName::try_from("shell".to_owned()).unwrap(),
        tool: Some(ItemName::try_from("execute".to_owned()).unwrap()),
    }
}

fn policy(text: &str) -> Policy {
    Policy { file: None, rules: Mutex::new(Policy::parse(text, "policy.toml").unwrap()) }
}

fn rules(rules: &[(&str, &str, &str)]) -> String {
    let rule = |it: &(&str, &str, &str)| {
        let command = if it.1.is_empty() { String::new() } else { format!("command = \"{}\"\n", it.1) };
        format!("[[rule]]\ntool = \"{}\"\n{command}decision = \"{}\"\n", it.0, it.2)
    };
    rules.iter().map(rule).collect()
}

fn of_command(text: &str, line: &str) -> Verdict {
    let parsed = CommandLine::parse(line);
    policy(text).of_command(&subject(), parsed.as_ref())
}

fn denied() -> Verdict {
    Verdict::Deny("a rule denies it".into())
}

#[test]
fn deny_beats_ask_beats_allow_whatever_the_order() {
    let all = [("execute", "", "allow"), ("*", "", "ask"), ("shell.execute", "", "deny")];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        assert_eq!(policy(&rules(&order.map(|it| all[it]))).of_tool(&subject()), denied());
    }
    assert_eq!(policy(&rules(&all[..2])).of_tool(&subject()), Verdict::Ask);
    assert_eq!(policy(&rules(&all[..1])).of_tool(&subject()), Verdict::Allow);
    assert_eq!(policy(&rules(&[("other.execute", "", "allow"), ("read", "", "allow")])).of_tool(&subject()), Verdict::Open);
}

#[test]
fn a_rule_that_allows_covers_every_part_of_a_line() {
    let text = rules(&[("execute", "git *", "allow"), ("execute", "ls", "allow")]);
    for (line, expected) in [
        ("git status", Verdict::Allow), ("git status && ls", Verdict::Allow), ("git status && rm x", Verdict::Open),
        ("git log > x", Verdict::Open), ("git log $(rm x)", Verdict::Open), ("$X", Verdict::Open), ("sh -c 'git log'", Verdict::Allow),
        ("sudo git log", Verdict::Open), ("FOO=1 git log", Verdict::Open), ("git log; python x", Verdict::Open),
    ] {
        assert_eq!(of_command(&text, line), expected, "{line}");
    }
}

#[test]
fn a_rule_that_denies_misses_no_part_and_asks_where_it_cannot_be_sure() {
    let text = rules(&[("*", "*", "allow"), ("*", "rm *", "deny")]);
    for line in ["rm x", "git log && rm x", "/bin/rm x", r"\rm x", "env rm x", "sh -c 'rm x'", "find . -exec rm {} +", "echo $(rm x)", "ls | xargs rm"] {
        assert_eq!(of_command(&text, line), denied(), "{line}");
    }
    assert_eq!(of_command(&text, "$X y"), Verdict::Ask, "it may be rm");
    assert_eq!(of_command(&text, "ls"), Verdict::Allow);
    assert_eq!(of_command(&rules(&[("*", "git push *", "ask"), ("*", "git *", "allow")]), "git push -f"), Verdict::Ask);
}

#[test]
fn what_allows_an_interpreter_allows_one_whole_command() {
    assert_eq!(of_command(&rules(&[("*", "python x.py", "allow")]), "python x.py"), Verdict::Allow);
    assert_eq!(of_command(&rules(&[("*", "python x.py", "allow")]), "python -c y"), Verdict::Open);
    for text in ["shell:python *", "shell:sudo *", "execute:npx *", "execute:env python *"] {
        assert!(matches!(Allow::parse(text), Err(AllowError::Interpreter(_))), "{text}");
    }
    assert!(Allow::parse("shell:cargo *").is_ok() && Allow::parse("shell.execute").is_ok() && Allow::parse("*").is_ok());
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&Policy::parse(text, "policy.toml").unwrap_err().to_string());
}

#[test]
fn each_mistake_is_told_with_its_place() {
    check("[[rules]]", expect!["`policy.toml:1:3`: unknown key `rules`, expected `rule`"]);
    check("rule = 1", expect!["`policy.toml:1:8`: `rule` is a whole number, expected a list of tables `[[rule]]`"]);
    check("[[rule]]\ntool = \"x\"", expect!["`policy.toml:1:1`: `rule.decision`: it is missing"]);
    check("[[rule]]\ndecision = \"deny\"", expect!["`policy.toml:1:1`: `rule.tool`: it is missing"]);
    check("[[rule]]\ntool = \"a b\"", expect!["`policy.toml:2:8`: `rule.tool`: `a b` names no tool, expected its name, or `*` for all"]);
    check("[[rule]]\ndecision = \"yes\"", expect!["`policy.toml:2:12`: `rule.decision` is `yes`, expected `allow`, `ask` or `deny`"]);
    check("[[rule]]\ntool = \"*\"\ncommand = \"a && b\"", expect!["`policy.toml:3:11`: `rule.command`: pattern `a && b` holds shell syntax, expected the words of one command"]);
    check("[[rule]]\ntool = \"*\"\ncommand = \"python *\"\ndecision = \"allow\"", expect!["`policy.toml:3:11`: `rule.command`: `python *` would allow anything that the program is told to run; name the whole command"]);
    check("[[rule]]\nwhy = 1", expect!["`policy.toml:2:1`: unknown key `why` in `rule`, expected `command`, `decision`, `examples`, `reason` or `tool`"]);
}

#[test]
fn examples_are_checked_when_the_file_is_read() {
    let text = |examples: &str| format!("[[rule]]\ntool = \"*\"\ncommand = \"git *\"\ndecision = \"allow\"\nexamples = {{ {examples} }}");
    assert!(Policy::parse(&text("match = [\"git log\"], other = [\"git log; rm x\", \"gitk\"]"), "p").is_ok());
    check(&text("match = [\"gitk\"]"), expect!["`policy.toml:5:23`: `rule.examples`: the rule is not about `gitk`"]);
    check(&text("other = [\"git log\"]"), expect!["`policy.toml:5:23`: `rule.examples`: the rule is about `git log`"]);
}

#[test]
fn a_project_may_only_tighten() {
    let allow = rules(&[("*", "", "allow")]);
    let error = Policy::parse_project(&allow, ".agents/bellglass.toml").unwrap_err().to_string();
    expect!["`.agents/bellglass.toml:3:12`: `rule.decision`: a project may only `ask` or `deny`; rules that allow are yours, in `policy.toml`"].assert_eq(&error);
    assert!(Policy::parse_project(&rules(&[("*", "", "deny")]), "p").is_ok());
}

#[test]
fn a_rule_that_is_kept_is_added_to_the_file_which_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, "# mine\n[[rule]]\ntool = \"x\"\ndecision = \"deny\"").unwrap();
    let policy = Policy::open(Some(file.clone()), None, &[]).unwrap();
    policy.keep(Rule::allow(&subject(), Some(crate::capability::CommandPattern::parse("cargo test").unwrap()))).unwrap();
    expect![[r#"
        # mine
        [[rule]]
        tool = "x"
        decision = "deny"

        [[rule]]
        tool = "shell.execute"
        command = "cargo test"
        decision = "allow"
    "#]].assert_eq(&std::fs::read_to_string(&file).unwrap());
    let line = CommandLine::parse("cargo test");
    assert_eq!(Policy::open(Some(file.clone()), None, &[]).unwrap().of_command(&subject(), line.as_ref()), Verdict::Allow);
    std::fs::write(&file, "broken").unwrap();
    assert!(policy.keep(Rule::allow(&subject(), None)).is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "broken");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

    #[test]
    fn any_text_is_read_or_refused_with_a_place(
        text in prop::collection::vec(prop::sample::select(vec![
            "[[rule]]", "\n", "tool", "command", "decision", "reason", "examples", "=", "\"", "x", "*", "[", "]", "allow", "deny",
            "{", "}", ",", "#", "git *", "\\u0000", "1", "é", "match", "rule",
        ]), 0..24).prop_map(|it| it.concat()),
    ) {
        if let Err(error) = Policy::parse(&text, "policy.toml") {
            prop_assert!(error.to_string().starts_with("`policy.toml:"), "{}", error);
        }
    }
}
