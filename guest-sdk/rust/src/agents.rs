//! Turns, sub-agents and the provider in use. Needs [`Capability::Model`](crate::Capability::Model).
//!
//! ```
//! use bellglass_guest::{Capability, JsonSchema, Result, Setup, Value, agents::SubAgent, json, test};
//!
//! #[derive(serde::Deserialize, JsonSchema)]
//! struct Task {
//!     /// What to find out
//!     question: String,
//! }
//!
//! fn research(task: Task) -> Result<Value> {
//!     let agent = SubAgent::new().template("You look things up. Be brief.").tools(["read"]).create()?;
//!     Ok(json!({"answer": agent.turn(&task.question)?}))
//! }
//!
//! fn setup(setup: &mut Setup) {
//!     setup.asks(Capability::Model, "to look things up in a conversation of its own");
//!     setup.tool("research", "Finds something out", research);
//! }
//!
//! let plugin = test::plugin(setup).with_reply("In `main.rs`.");
//! let result = plugin.call("research", json!({"question": "Where is main?"}));
//! assert_eq!(result["answer"], "In `main.rs`.");
//! ```

use crate::{
    bindings::bellglass::plugin::{agents::AgentOptions, types::Message},
    host_error::HostError,
    imports::agents,
};
use serde_json::Value;

/// What a sub-agent shall be, before it is [created](SubAgent::create).
#[derive(Clone, Debug)]
#[must_use]
pub struct SubAgent(AgentOptions);

impl Default for SubAgent {
    fn default() -> Self {
        Self::new()
    }
}

impl SubAgent {
    /// One like the session's agent.
    pub fn new() -> Self {
        Self(AgentOptions {
            template: None,
            system_prompt: None,
            tools: None,
            provider: None,
            model: None,
            quiet: false,
        })
    }

    /// Replaces the default system prompt.
    pub fn template(mut self, template: impl Into<String>) -> Self {
        self.0.template = Some(template.into());
        self
    }

    /// Literal text before the template.
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.0.system_prompt = Some(text.into());
        self
    }

    /// The tools it may call, of those its creator could; all of these unless said.
    pub fn tools<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.0.tools = Some(names.into_iter().map(str::to_owned).collect());
        self
    }

    /// Another provider than the session's.
    pub fn provider(mut self, name: impl Into<String>) -> Self {
        self.0.provider = Some(name.into());
        self
    }

    /// Another model than the session's.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.0.model = Some(name.into());
        self
    }

    /// Shows nothing of its work.
    pub fn quiet(mut self) -> Self {
        self.0.quiet = true;
        self
    }

    /// Creates it.
    ///
    /// # Errors
    ///
    /// Denied, or there is no such provider.
    pub fn create(self) -> Result<Agent, HostError> {
        agents::Agent::create(&self.0).map(Agent).map_err(HostError::new)
    }
}

/// A sub-agent: a conversation of its own, with the session's tools and terminal, and never more rights than the plugin.
#[derive(Debug)]
pub struct Agent(agents::Agent);

impl Agent {
    /// Runs a turn and returns the reply.
    ///
    /// # Errors
    ///
    /// The provider failed, or a limit was hit.
    pub fn turn(&self, prompt: &str) -> Result<String, HostError> {
        self.0.turn(prompt).map_err(HostError::new)
    }

    /// Its messages, without the system prompt.
    #[must_use]
    pub fn messages(&self) -> Vec<Message> {
        self.0.messages()
    }

    /// What its provider would get now, system prompt first.
    #[must_use]
    pub fn context(&self) -> Vec<Message> {
        self.0.context()
    }

    /// Adds a message of the user, the assistant or a tool.
    ///
    /// # Errors
    ///
    /// The message is of the system.
    pub fn add(&self, message: &Message) -> Result<(), HostError> {
        self.0.add(message).map_err(HostError::new)
    }

    /// Removes every message; the system prompt stays.
    pub fn clear(&self) {
        self.0.clear();
    }
}

/// The provider in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentProvider {
    /// As in `-p NAME`.
    pub name: String,
    /// None where the provider decides.
    pub model: Option<String>,
}

/// Runs a turn of the session and returns the reply. Only from a command while no turn runs; a tool uses a [`SubAgent`].
///
/// # Errors
///
/// Denied, a turn runs, the provider failed, or a limit was hit.
pub fn turn(prompt: &str) -> Result<String, HostError> {
    agents::turn(prompt).map_err(HostError::new)
}

/// The provider in use.
///
/// # Errors
///
/// Denied.
pub fn current_provider() -> Result<CurrentProvider, HostError> {
    let (name, model) = agents::current_provider().map_err(HostError::new)?;
    Ok(CurrentProvider { name, model })
}

/// The names of the providers there are.
///
/// # Errors
///
/// Denied.
pub fn provider_names() -> Result<Vec<String>, HostError> {
    agents::provider_names().map_err(HostError::new)
}

/// Uses another provider from the next request on. `options` is a JSON object.
///
/// # Errors
///
/// Denied, or there is no such provider.
pub fn use_provider(name: &str, model: Option<&str>, options: Option<&Value>) -> Result<(), HostError> {
    let options = options.map(ToString::to_string);
    agents::use_provider(name, model, options.as_deref()).map_err(HostError::new)
}
