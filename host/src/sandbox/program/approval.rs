//! The rules, then the person, about the exact line that runs.
//!
//! Apart from running it, and judged on the value that is run: nothing comes in between.

use crate::approval::{choices, settle};
use crate::capability::CommandPattern;
use crate::command_line::{CommandLine, Part, Role};
use crate::policy::{Allow, Subject, Verdict};
use crate::question::Question;
use crate::sandbox::imports::port::Port;
use crate::sandbox::program::Program;
use crate::sandbox::program::confine::confinement;
use crate::text::for_shell;

/// Lets the program through, or says why not.
pub(crate) async fn approve(port: &Port<'_>, program: &Program) -> Result<(), String> {
    let context = &port.caller.context;
    let subject = Subject { plugin: port.caller.plugin.clone(), tool: context.tool.clone() };
    let (line, shown) = match program {
        Program::Line(line) => (CommandLine::parse(line), line.clone()),
        Program::Argv(argv) => {
            (CommandLine::of_argv(argv), argv.iter().map(|it| for_shell(it)).collect::<Vec<_>>().join(" "))
        }
    };
    match context.policy.of_command(&subject, line.as_ref()) {
        Verdict::Deny(reason) => return Err(format!("User denied permission: `{shown}`: {reason}")),
        Verdict::Allow => return Ok(()),
        Verdict::Open if context.approved => return Ok(()),
        Verdict::Open | Verdict::Ask => {}
    }
    // One rule for each command; what only `*` would cover is allowed once.
    let runs = |it: &CommandLine| -> Vec<CommandPattern> {
        it.parts().iter().filter(|it| it.role() == Role::Runs).map(Part::pattern).collect()
    };
    let kept = line.as_ref().map(runs).unwrap_or_default();
    let kept = if kept.iter().any(CommandPattern::is_any) { Vec::new() } else { kept };
    let mut lines: Vec<String> = shown.lines().map(str::to_owned).collect();
    lines.extend(line.err().map(|it| format!("it is not clear what it runs: {it}")));
    lines.push(confinement().sentence().to_owned());
    let names: Vec<String> = kept.iter().map(|it| format!("`{it}`")).collect();
    let choices = choices((!names.is_empty()).then(|| names.join(", ")).as_deref());
    let question = Question { subject: format!("may plugin `{}` run this?", subject.plugin), lines, choices };
    let _pause = port.deadline.pause();
    let Some(answer) = context.choose(&port.caller, question).await else {
        let any = [CommandPattern::any()];
        let patterns = if kept.is_empty() { &any[..] } else { &kept };
        let flag = patterns.iter().map(|it| Allow::flag(&subject, Some(it))).collect::<Vec<_>>().join(" ");
        return Err(format!("User denied permission: `{shown}`: nobody can answer here (`{flag}` allows it)"));
    };
    settle(&answer, &port.caller, &subject, &kept, &format!("`{shown}`")).await
}
