//! What a person can answer to a call or a line that wants to run, and what follows from it.
//!
//! Apart from those who ask, the toolbox and the programs, because the answers and their meaning are the same for both.

use crate::capability::CommandPattern;
use crate::host_request::{Ask, Caller, HostRequest};
use crate::policy::{Rule, Subject};
use crate::question::{Answer, Choice};

/// The answers to every question of this kind. `kept` is what is allowed for longer; without it, only this once.
pub(crate) fn choices(kept: Option<&str>) -> Vec<Choice> {
    let mut choices = vec![Choice::new('y', "yes, this once")];
    if let Some(kept) = kept {
        choices.push(Choice::new('s', format!("session: {kept}, until it ends")));
        choices.push(Choice::new('a', format!("always: {kept}, in policy.toml")));
    }
    choices.push(Choice::new('t', "turn: no, and stop it"));
    choices.push(Choice::new('n', "no").with_reason());
    choices
}

/// Does what was answered: keeps rules for the commands, or for the tool itself where there are none, stops the turn, or gives the reason of a no.
///
/// # Errors
///
/// The sentence for the model, after anything but a yes.
pub(crate) async fn settle(
    answer: &Answer,
    caller: &Caller,
    subject: &Subject,
    commands: &[CommandPattern],
    what: &str,
) -> Result<(), String> {
    let policy = &caller.context.policy;
    let of_tool = || vec![Rule::allow(subject, None)];
    let of_commands = || commands.iter().map(|it| Rule::allow(subject, Some(it.clone()))).collect();
    let rules: Vec<Rule> = if commands.is_empty() { of_tool() } else { of_commands() };
    match answer.key {
        'y' => Ok(()),
        's' => {
            rules.into_iter().for_each(|it| policy.add(it));
            Ok(())
        }
        'a' => {
            for rule in rules {
                if let Err(error) = policy.keep(rule.clone()) {
                    tracing::warn!("allowed for this session alone: {error}");
                    policy.add(rule);
                }
            }
            Ok(())
        }
        't' => {
            if let Some(requests) = &caller.context.requests {
                // A session that is gone has no turn.
                let _ = requests.send(HostRequest { caller: caller.clone(), ask: Ask::StopTurn }).await;
            }
            Err(format!("User denied permission: {what}: the turn was stopped"))
        }
        _ if answer.reason.is_empty() => Err(format!("User denied permission: {what}")),
        _ => Err(format!("User denied permission: {what}: {}", answer.reason)),
    }
}
