//! What a guest asks of the layers above its sandbox, as values.
//!
//! Apart, so that the sandbox knows neither toolbox nor session: it sends a [`HostRequest`] with a reply channel, and the
//! session's task answers it.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::capability::{GrantSet, Grants};
use crate::name::{ItemName, PluginName};
use crate::policy::Policy;
use crate::question::{Answer, Question};
use crate::sub_agent::{SubAgent, SubAgentOptions, Tools};
use crate::tool::ToolDefinition;
use crate::transcript::{Message, ToolCall};
use crate::uses::Uses;

/// Requests that may wait for the session before a guest that sends another waits itself.
pub const REQUESTS_WAITING: usize = 64;

/// Which export of a plugin runs, and so what it may do to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// `describe` or one of the `list-…` functions: only `log` answers.
    Loading,
    /// `call-tool`.
    Tool,
    /// `before` or `after`.
    Hook,
    /// `run-command`: the only one that may change the session itself.
    Command,
    /// `complete`.
    Completion,
    /// `fetch` or `list-models`.
    Provider,
}

/// Where in the program a call comes from; handed down from call to call.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// Where requests go; none where no session is there to answer.
    pub requests: Option<mpsc::Sender<HostRequest>>,
    /// Where a provider sends its reply; none for any other call.
    pub reply: Option<mpsc::Sender<ReplyEvent>>,
    /// Nested calls, sub-agents and turns above this one.
    pub depth: u32,
    /// Whether a call above this one holds a permit of the limit on calls at once.
    pub has_permit: bool,
    /// The `session` plugins that wait for this call, innermost first.
    pub chain: Option<Arc<Link>>,
    /// What was done with rights, in the tool call that this is, or is part of.
    pub uses: Arc<Uses>,
    /// Whether a person or a program named this very call, or said yes to it.
    pub approved: bool,
    /// The tool that this call is, by its real name; none for a slash command and for the session itself.
    pub tool: Option<ItemName>,
    /// The rules about calls.
    pub policy: Arc<Policy>,
    /// The tools that may be called, where a sub-agent calls; none for all there are.
    pub tools: Option<Tools>,
    /// What the person granted to a plugin for this one call.
    pub lent: Option<Arc<Lent>>,
}

/// Grants that end with one call. Calls from inside it do not have them.
#[derive(Debug)]
pub struct Lent {
    /// The plugin that was granted them.
    pub plugin: PluginName,
    /// What was granted.
    pub grants: Grants,
}

/// One `session` plugin that waits for a call.
#[derive(Debug)]
pub struct Link {
    /// The plugin whose one instance is busy.
    pub plugin: PluginName,
    /// The number of that instance's task: names repeat in other sessions of the process, numbers never.
    pub resident: u64,
    /// The plugin that waits for that one.
    pub outer: Option<Arc<Link>>,
}

impl CallContext {
    /// A call that comes from a person or a program, not from a plugin.
    pub fn top(requests: Option<mpsc::Sender<HostRequest>>) -> Self {
        Self {
            requests,
            reply: None,
            depth: 0,
            has_permit: false,
            chain: None,
            uses: Arc::default(),
            approved: true,
            tool: None,
            policy: Arc::default(),
            tools: None,
            lent: None,
        }
    }

    /// The context of a call that a plugin makes from inside this one.
    #[must_use]
    pub fn nested(&self) -> Self {
        Self { reply: None, depth: self.depth + 1, approved: false, lent: None, ..self.clone() }
    }

    /// This context with the plugin's one instance, of which `resident` is the number, on the chain.
    #[must_use]
    pub fn inside(mut self, plugin: &PluginName, resident: u64) -> Self {
        self.chain = Some(Arc::new(Link { plugin: plugin.clone(), resident, outer: self.chain.take() }));
        self
    }

    /// Lets the person choose, in the name of the program. None where nobody can answer.
    pub async fn choose(&self, caller: &Caller, question: Question) -> Option<Answer> {
        let (reply, answer) = oneshot::channel();
        let request = HostRequest { caller: caller.clone(), ask: Ask::Choose(question, reply) };
        self.requests.as_ref()?.send(request).await.ok()?;
        answer.await.ok().flatten()
    }

    /// Whether the plugin's one instance waits for this call.
    pub fn is_inside(&self, plugin: &PluginName) -> bool {
        let mut link = self.chain.as_deref();
        while let Some(it) = link {
            if it.plugin == *plugin {
                return true;
            }
            link = it.outer.as_deref();
        }
        false
    }
}

/// Which plugin asks, from which of its calls, and with which rights.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The plugin.
    pub plugin: PluginName,
    /// Which of its exports runs.
    pub entry: Entry,
    /// What it may do.
    pub grants: Arc<GrantSet>,
    /// The call it runs in.
    pub context: CallContext,
}

/// One thing a guest asks of the session.
#[derive(Debug)]
pub struct HostRequest {
    /// Who asks.
    pub caller: Caller,
    /// What is asked.
    pub ask: Ask,
}

/// How text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    Plain,
    /// Rendered where a person reads it.
    Markdown,
    /// With `error: ` before it.
    Error,
}

/// Something to show to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Show {
    /// Text and a newline.
    Say(String, Style),
    /// Text as it is.
    Print(String),
    /// Thinking, dimmed.
    Thinking(String),
    /// A line such as `+ name(arguments)`.
    Doing {
        /// The tool.
        name: String,
        /// Its arguments, as JSON.
        arguments: String,
        /// `+` when it starts.
        state: String,
    },
    /// Something takes time.
    Waiting,
}

/// A piece of a provider's reply.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyEvent {
    /// A piece of thinking.
    Thinking(String),
    /// A piece of the answer.
    Saying(String),
    /// A whole tool call.
    Doing(ToolCall),
    /// Tokens so far; a later one replaces an earlier one.
    Usage(Usage),
}

/// Tokens of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// Tokens of the prompt that were read from the provider's cache.
    pub cached_input: u64,
    /// Tokens of the prompt that were written to the provider's cache.
    pub cache_write: u64,
    /// Tokens of the reply that were thinking.
    pub reasoning: u64,
}

/// One hook, as the toolbox lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookListing {
    /// Whether it runs before the tool or after it.
    pub before: bool,
    /// The real name of its tool; none for every tool.
    pub tool: Option<String>,
    /// The plugin that it comes from.
    pub plugin: PluginName,
}

/// One slash command, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandListing {
    /// Without the slash.
    pub name: String,
    /// One line.
    pub description: String,
}

/// A guest's question to the session, with the channel for its answer. An `Err` is the text that the guest gets.
#[derive(Debug)]
pub enum Ask {
    /// Shows something under the plugin's name.
    Show(Show),
    /// Asks the person for a line.
    Line(String, oneshot::Sender<Option<String>>),
    /// Lets the person choose; none where nobody can, or where nobody answered. Only the host asks this, for itself.
    Choose(Question, oneshot::Sender<Option<Answer>>),
    /// Ends the turn that runs, as an interrupt does.
    StopTurn,
    /// Whether a person can answer.
    IsInteractive(oneshot::Sender<bool>),
    /// Runs a tool: its name, the arguments as JSON; answered with the result as JSON.
    RunTool(String, String, oneshot::Sender<String>),
    /// The definitions of all tools.
    Definitions(oneshot::Sender<Vec<ToolDefinition>>),
    /// One tool; none for an unknown name.
    FindTool(String, oneshot::Sender<Option<ToolDefinition>>),
    /// What validation says of arguments for a tool.
    Validate(String, String, oneshot::Sender<Vec<String>>),
    /// All hooks.
    Hooks(oneshot::Sender<Vec<HookListing>>),
    /// The messages of the conversation.
    Messages(oneshot::Sender<Vec<Message>>),
    /// What the provider would get now, system prompt first.
    Context(oneshot::Sender<Vec<Message>>),
    /// Adds a message.
    Add(Message, oneshot::Sender<Result<(), String>>),
    /// Removes all messages.
    Clear(oneshot::Sender<Result<(), String>>),
    /// Runs a turn of the session.
    Turn(String, oneshot::Sender<Result<String, String>>),
    /// Makes a sub-agent.
    CreateAgent(SubAgentOptions, oneshot::Sender<Result<Arc<SubAgent>, String>>),
    /// Runs a turn of a sub-agent.
    AgentTurn(Arc<SubAgent>, String, oneshot::Sender<Result<String, String>>),
    /// What a sub-agent's provider would get now, system prompt first.
    AgentContext(Arc<SubAgent>, oneshot::Sender<Vec<Message>>),
    /// Name and model of the provider in use.
    CurrentProvider(oneshot::Sender<(String, Option<String>)>),
    /// The names of all providers.
    ProviderNames(oneshot::Sender<Vec<String>>),
    /// Switches the provider: name, model, options.
    UseProvider(String, Option<String>, Option<Value>, oneshot::Sender<Result<(), String>>),
    /// All slash commands.
    Commands(oneshot::Sender<Vec<CommandListing>>),
    /// Candidates for a command's argument.
    Completions(String, String, oneshot::Sender<Vec<String>>),
    /// Runs a slash command; false when there is none of the name.
    RunCommand(String, Option<String>, oneshot::Sender<Result<bool, String>>),
    /// Loads the plugins again when the caller has returned.
    Reload(oneshot::Sender<Result<(), String>>),
    /// Ends the session when the caller has returned.
    Exit(oneshot::Sender<Result<(), String>>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_found_on_its_own_chain_at_any_distance() {
        let name = |text: &str| PluginName::try_from(text.to_owned()).unwrap();
        let context = CallContext::top(None).inside(&name("a"), 1).nested().inside(&name("b"), 2).nested();
        assert!(context.is_inside(&name("a")) && context.is_inside(&name("b")));
        assert!(!context.is_inside(&name("c")));
        assert_eq!(context.depth, 2);
    }
}
