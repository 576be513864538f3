//! From a TOML document to rules, with the byte at which something is wrong. Anything unknown is an error.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::rule::is_open_interpreter;
use super::{Decision, Rule, Verdict, judge};
use crate::capability::{CommandPattern, ToolPattern};
use crate::command_line::CommandLine;
use crate::toml_file::Problem;
use crate::toml_file::read::{At, in_order, shown, string, table, unknown_key, wrong_type};

type Value<'i> = Spanned<DeValue<'i>>;

const KEYS: [&str; 5] = ["command", "decision", "examples", "reason", "tool"];

/// Reads all rules; a project's may not allow.
pub(super) fn document(document: &DeTable<'_>, only_tightens: bool) -> Result<Vec<Rule>, At> {
    let mut rules = Vec::new();
    for (key, value) in in_order(document) {
        if key.get_ref() != "rule" {
            return Err((key.span().start, unknown_key(key.get_ref(), "", vec!["rule"])));
        }
        let DeValue::Array(items) = value.get_ref() else {
            let problem = wrong_type("rule".to_owned(), value.get_ref(), "a list of tables `[[rule]]`");
            return Err((value.span().start, problem));
        };
        for item in items {
            rules.push(rule(item, only_tightens)?);
        }
    }
    Ok(rules)
}

fn rule(item: &Value<'_>, only_tightens: bool) -> Result<Rule, At> {
    let (mut tool, mut command, mut decision, mut reason, mut examples) = (None, None, None, None, None);
    for (key, value) in in_order(table("rule", item)?) {
        let at = value.span().start;
        match key.get_ref().as_ref() {
            "tool" => {
                tool = Some(ToolPattern::parse(&string("rule.tool", value)?).map_err(|it| wrong(at, "rule.tool", it))?)
            }
            "command" => {
                let pattern = CommandPattern::parse(&string("rule.command", value)?);
                command = Some((at, pattern.map_err(|it| wrong(at, "rule.command", it))?));
            }
            "decision" => decision = Some((at, decided(value)?)),
            "reason" => reason = Some(string("rule.reason", value)?),
            "examples" => examples = Some(value),
            unknown => return Err((key.span().start, unknown_key(unknown, "rule", KEYS.to_vec()))),
        }
    }
    let missing = |key: &str| wrong(item.span().start, key, "it is missing");
    let (at, decision) = decision.ok_or_else(|| missing("rule.decision"))?;
    if only_tightens && decision == Decision::Allow {
        return Err(wrong(
            at,
            "rule.decision",
            "a project may only `ask` or `deny`; rules that allow are yours, in `policy.toml`",
        ));
    }
    if let Some((at, pattern)) = command.as_ref().filter(|it| decision == Decision::Allow && is_open_interpreter(&it.1))
    {
        let error = format!("`{pattern}` would allow anything that the program is told to run; name the whole command");
        return Err(wrong(*at, "rule.command", error));
    }
    let command = command.map(|it| it.1);
    let rule = Rule { tool: tool.ok_or_else(|| missing("rule.tool"))?, command, decision, reason };
    if let Some(value) = examples {
        check_examples(&rule, value)?;
    }
    Ok(rule)
}

fn decided(value: &Value<'_>) -> Result<Decision, At> {
    let text = string("rule.decision", value)?;
    let all = [Decision::Allow, Decision::Ask, Decision::Deny];
    all.into_iter().find(|it| it.as_str() == text).ok_or_else(|| {
        let expected = all.map(Decision::as_str).to_vec();
        (value.span().start, Problem::Choice { key: "rule.decision", got: shown(&text), expected })
    })
}

/// `examples = { match = [...], other = [...] }`: lines that the rule is about, and lines that it is not about.
fn check_examples(rule: &Rule, value: &Value<'_>) -> Result<(), At> {
    if rule.command.is_none() {
        return Err(wrong(
            value.span().start,
            "rule.examples",
            "they are command lines, and the rule has no `command`",
        ));
    }
    for (key, value) in in_order(table("rule.examples", value)?) {
        let expected = match key.get_ref().as_ref() {
            "match" => true,
            "other" => false,
            unknown => return Err((key.span().start, unknown_key(unknown, "rule.examples", vec!["match", "other"]))),
        };
        let DeValue::Array(items) = value.get_ref() else {
            let problem =
                wrong_type(format!("rule.examples.{}", key.get_ref()), value.get_ref(), "a list of command lines");
            return Err((value.span().start, problem));
        };
        for item in items {
            let line = string("rule.examples", item)?;
            let parsed = CommandLine::parse(&line);
            let is_about = judge(std::iter::once(rule), parsed.as_ref()) != Verdict::Open;
            if is_about != expected {
                let what = if expected { "is not about" } else { "is about" };
                return Err(wrong(item.span().start, "rule.examples", format!("the rule {what} `{}`", shown(&line))));
            }
        }
    }
    Ok(())
}

fn wrong(at: usize, key: &str, error: impl ToString) -> At {
    (at, Problem::Value { key: key.to_owned(), error: error.to_string() })
}
