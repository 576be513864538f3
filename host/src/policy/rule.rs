//! One rule, how it is written, and what it is about.

use std::fmt;

use crate::capability::{CommandPattern, PatternError, ToolPattern};
use crate::name::{ItemName, PluginName};
use crate::text::for_shell;

/// What a rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may run.
    Allow,
    /// The person is asked.
    Ask,
    /// It may not run.
    Deny,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The tool: its name, `plugin.tool`, or `*`.
    pub tool: ToolPattern,
    /// The command lines that it is about; none for a rule about the tool itself.
    pub command: Option<CommandPattern>,
    /// What it decides.
    pub decision: Decision,
    /// Why, for the model; for one that denies.
    pub reason: Option<String>,
}

/// Who calls or runs something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The plugin.
    pub plugin: PluginName,
    /// The tool by its real name; none where a slash command runs.
    pub tool: Option<ItemName>,
}

/// What `--allow` says: a tool, and the command lines of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    tool: ToolPattern,
    command: Option<CommandPattern>,
}

/// Why a text is no `--allow`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllowError {
    /// The tool or the pattern is wrong.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The prefix of an interpreter says nothing of what will run.
    #[error("`{0}` would allow anything that the program is told to run; name the whole command, or `*`")]
    Interpreter(CommandPattern),
}

impl Decision {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl Rule {
    /// Allows a tool of a plugin.
    pub fn allow(subject: &Subject, command: Option<CommandPattern>) -> Self {
        let address = ToolPattern::parse(&subject.to_string()).unwrap_or(ToolPattern::Any);
        Self { tool: address, command, decision: Decision::Allow, reason: None }
    }

    /// Whether it is about what this plugin's tool does.
    pub(super) fn is_about(&self, subject: &Subject) -> bool {
        match (&self.tool, &subject.tool) {
            (ToolPattern::Any, _) => true,
            (ToolPattern::Name(_), None) => self.tool.allows(&subject.to_string()),
            (ToolPattern::Name(_), Some(tool)) => {
                self.tool.allows(tool.as_str()) || self.tool.allows(&subject.to_string())
            }
        }
    }

    pub(super) fn reason(&self) -> String {
        self.reason.clone().unwrap_or_else(|| "a rule denies it".to_owned())
    }

    /// The rule as `policy.toml` has it.
    pub fn to_toml(&self) -> String {
        let quoted = |it: &dyn fmt::Display| serde_json::Value::from(it.to_string()).to_string();
        let mut text = format!("\n[[rule]]\ntool = {}\n", quoted(&self.tool));
        if let Some(command) = &self.command {
            text += &format!("command = {}\n", quoted(command));
        }
        text += &format!("decision = \"{}\"\n", self.decision.as_str());
        if let Some(reason) = &self.reason {
            text += &format!("reason = {}\n", quoted(reason));
        }
        text
    }
}

/// Whether a pattern that allows says nothing of what will run, such as `python *`.
pub(super) fn is_open_interpreter(pattern: &CommandPattern) -> bool {
    let line = crate::command_line::CommandLine::of_argv(pattern.words());
    pattern.is_open() && line.is_ok_and(|it| it.parts().iter().any(crate::command_line::Part::is_interpreter))
}

/// `plugin.tool`; the plugin alone where a slash command runs.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            Some(tool) => write!(f, "{}.{tool}", self.plugin),
            None => self.plugin.fmt(f),
        }
    }
}

impl Allow {
    /// Parses `TOOL` or `TOOL:PATTERN`.
    ///
    /// # Errors
    ///
    /// The tool or the pattern is none; the pattern allows whatever an interpreter is told.
    pub fn parse(text: &str) -> Result<Self, AllowError> {
        let (tool, command) = match text.split_once(':') {
            Some((tool, command)) => (tool, Some(CommandPattern::parse(command)?)),
            None => (text, None),
        };
        if let Some(pattern) = command.as_ref().filter(|it| is_open_interpreter(it)) {
            return Err(AllowError::Interpreter(pattern.clone()));
        }
        Ok(Self { tool: ToolPattern::parse(tool)?, command })
    }

    pub(super) fn rule(&self) -> Rule {
        Rule { tool: self.tool.clone(), command: self.command.clone(), decision: Decision::Allow, reason: None }
    }

    /// The flag that allows what was asked about.
    pub fn flag(subject: &Subject, command: Option<&CommandPattern>) -> String {
        let value = match command {
            Some(command) => format!("{subject}:{command}"),
            None => subject.to_string(),
        };
        format!("--allow {}", for_shell(&value))
    }
}
