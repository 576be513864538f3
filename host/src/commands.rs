//! Slash commands: a line that starts with `/`, its name, and what comes after the first space.
//!
//! Apart from tools, because a person types them, and only they may change the session.

pub mod complete;

use std::collections::HashMap;
use std::sync::Arc;

use crate::audit::Kind;
use crate::host_request::{CallContext, CommandListing, Entry};
use crate::name::ItemName;
use crate::plugin::Plugin;
use crate::plugin::discover::Origin;

/// Candidates that are offered for one line.
pub const CANDIDATES: usize = 20;

/// Every slash command there is.
#[derive(Debug, Default)]
pub struct Commands {
    commands: Vec<Command>,
    names: HashMap<String, usize>,
    warnings: Vec<String>,
}

#[derive(Debug)]
struct Command {
    name: ItemName,
    description: String,
    plugin: Arc<Plugin>,
}

/// A typed line, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The name, without the slash; empty for a lone `/`.
    pub name: &'a str,
    /// Everything after the first space, without blanks around it; none when that is nothing.
    pub argument: Option<&'a str>,
}

impl<'a> Line<'a> {
    /// Takes a line apart; none when it does not start with `/`.
    pub fn parse(line: &'a str) -> Option<Self> {
        let rest = line.strip_prefix('/')?;
        let (name, argument) = match rest.split_once([' ', '\t', '\n']) {
            Some((name, argument)) => (name, argument.trim()),
            None => (rest.trim_end(), ""),
        };
        Some(Self { name, argument: (!argument.is_empty()).then_some(argument) })
    }
}

impl Commands {
    /// Registers the commands of plugins, in their order. A later one replaces an earlier one of its name, in its place.
    pub fn new(plugins: &[Arc<Plugin>]) -> Self {
        let mut commands = Self::default();
        for plugin in plugins {
            for listed in &plugin.listing().commands {
                match ItemName::try_from(listed.name.clone()) {
                    Ok(name) => commands.add(plugin, name, listed.description.clone()),
                    Err(error) => {
                        commands.warnings.push(format!("a command of plugin `{}` is left out: {error}", plugin.name()))
                    }
                }
            }
        }
        commands
    }

    fn add(&mut self, plugin: &Arc<Plugin>, name: ItemName, description: String) {
        let command = Command { name: name.clone(), description, plugin: plugin.clone() };
        let Some(&place) = self.names.get(name.as_str()) else {
            self.names.insert(name.into(), self.commands.len());
            self.commands.push(command);
            return;
        };
        let other = &self.commands[place].plugin;
        if plugin.origin() == Origin::Project && other.origin() != Origin::Project {
            let (plugin, other) = (plugin.name(), other.name());
            self.warnings.push(format!(
                "command `/{name}` of project plugin `{plugin}` does not replace that of plugin `{other}`"
            ));
            return;
        }
        self.warnings.push(format!(
            "command `/{name}` of plugin `{}` replaces that of plugin `{}`",
            plugin.name(),
            other.name()
        ));
        self.commands[place] = command;
    }

    /// All commands, in the order added.
    pub fn list(&self) -> Vec<CommandListing> {
        let listing = |it: &Command| CommandListing { name: it.name.to_string(), description: it.description.clone() };
        self.commands.iter().map(listing).collect()
    }

    /// What was replaced or left out when the commands were registered.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The names of all commands with their slash, in the order added.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.commands.iter().map(|it| format!("/{}", it.name))
    }

    /// Whether there is a command of the name.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Runs a command; none when there is none of the name. `Err` is the sentence for the person.
    pub async fn run(&self, name: &str, argument: Option<&str>, context: CallContext) -> Option<Result<(), String>> {
        let command = self.find(name)?;
        let plugin = &command.plugin;
        let context = plugin.ready(Entry::Command, context).await;
        // What it runs is asked about, whoever typed the command.
        let context = CallContext { policy: plugin.policy().clone(), approved: false, tool: None, ..context };
        let uses = context.uses.clone();
        let ran = plugin.run_command(context, name, argument).await;
        if !matches!(ran, Ok(Ok(()))) {
            uses.failed();
        }
        let ended = match &ran {
            Ok(Ok(())) => "ok",
            Ok(Err(_)) if !uses.denials().is_empty() => "denied",
            Err(fault) if fault.is_limit() => "limit",
            Ok(Err(_)) | Err(_) => "error",
        };
        plugin.record(Kind::Command, name, argument.unwrap_or_default(), ended, &uses);
        Some(match ran {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(error),
            Err(fault) => Err(fault.ended(&format!("command `/{name}` of plugin `{}`", plugin.name()))),
        })
    }

    /// Candidates of a command for its argument: those that start with what was typed. A slow or failing plugin has none.
    pub async fn complete(&self, name: &str, partial: &str, context: CallContext) -> Vec<String> {
        let Some(command) = self.find(name) else { return Vec::new() };
        match command.plugin.complete(context, name, partial).await {
            Ok(mut candidates) => {
                // What is offered stands in the terminal as it is, and becomes part of the line.
                candidates.retain(|it| it.starts_with(partial) && crate::text::is_visible_line(it));
                candidates.truncate(CANDIDATES);
                candidates
            }
            Err(fault) => {
                tracing::debug!(plugin = %command.plugin.name(), "no completions: {fault}");
                Vec::new()
            }
        }
    }

    /// The sentence for a name that no command has.
    pub fn unknown(&self, name: &str) -> String {
        let name = crate::text::visible_line(crate::text::first_chars(name, 100));
        let names = self.names().collect::<Vec<_>>().join(", ");
        if names.is_empty() {
            format!("unknown command `/{name}`: there are none")
        } else {
            format!("unknown command `/{name}`, expected one of: {names}")
        }
    }

    fn find(&self, name: &str) -> Option<&Command> {
        self.names.get(name).map(|it| &self.commands[*it])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, name: &str, argument: Option<&str>) {
        assert_eq!(Line::parse(line), Some(Line { name, argument }), "{line:?}");
    }

    #[test]
    fn the_name_ends_at_the_first_blank_and_the_rest_is_one_text() {
        check("/context 3", "context", Some("3"));
        check("/skills fetch example.com", "skills", Some("fetch example.com"));
        check("/a\tb", "a", Some("b"));
    }

    #[test]
    fn trailing_blanks_alone_are_no_argument() {
        check("/help", "help", None);
        check("/help   ", "help", None);
    }

    #[test]
    fn a_lone_slash_is_a_command_without_a_name() {
        check("/", "", None);
        check("/ x", "", Some("x"));
    }

    #[test]
    fn other_lines_are_no_commands() {
        assert_eq!(Line::parse("hello /x"), None);
        assert_eq!(Line::parse(""), None);
    }
}
