//! A sub-agent as data: a conversation of its own, and what it may do. The plugin that made it holds it.
//!
//! Apart from the session that runs its turns, so that the sandbox can hold one and knows nothing of turns.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::transcript::Transcript;

/// What a plugin wants of a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubAgentOptions {
    /// Replaces the default system prompt.
    pub template: Option<String>,
    /// Literal text before the template.
    pub system_prompt: Option<String>,
    /// The tools it may call, of those its creator could; none for all of these.
    pub tools: Option<Vec<String>>,
    /// Another provider than the session's.
    pub provider: Option<String>,
    /// Another model than the session's.
    pub model: Option<String>,
    /// Shows nothing.
    pub quiet: bool,
}

/// A sub-agent. It lives as long as the guest that holds it.
#[derive(Debug)]
pub struct SubAgent {
    /// What was asked for.
    pub options: SubAgentOptions,
    /// Its conversation; locked while a turn runs.
    pub transcript: Mutex<Transcript>,
    /// The real names of the tools that it may call: never more than its creator.
    pub tools: Tools,
}

/// A set of tools by their real names; shared by a sub-agent and the calls that it makes.
pub type Tools = Arc<BTreeSet<String>>;
