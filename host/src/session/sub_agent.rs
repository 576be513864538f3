//! Turns of sub-agents: the same steps as a turn of the session, beside it, with fewer tools.
//!
//! Apart, because a sub-agent's turn belongs to the guest that waits for it: when that goes, all of this is dropped.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::future::join_all;
use tokio::sync::mpsc;

use crate::agent::prompt::SystemPrompt;
use crate::agent::{self, Effect, Turn};
use crate::completion::Request;
use crate::host_request::{CallContext, Caller};
use crate::installed::Installed;
use crate::limits::Limits;
use crate::session::reply::reply;
use crate::session::run::Task;
use crate::session::{Output, SessionOptions};
use crate::sub_agent::{SubAgent, SubAgentOptions};
use crate::tool::{Outcome, ToolDefinition};
use crate::transcript::{Message, ToolCall, Transcript};

/// What a turn needs of the session.
pub(super) struct Surroundings {
    installed: Arc<Installed>,
    options: SessionOptions,
    limits: Limits,
    outputs: mpsc::Sender<Output>,
}

impl Task {
    /// What sub-agents need; none before the plugins are loaded.
    pub(super) fn for_sub_agents(&self) -> Option<Surroundings> {
        Some(Surroundings {
            installed: self.installed.clone()?,
            options: self.options.clone(),
            limits: self.host.limits().clone(),
            outputs: self.outputs.clone(),
        })
    }
}

/// Makes a sub-agent with the tools that its creator could call, or those of them that were named.
pub(super) fn create(
    around: &Surroundings,
    caller: &Caller,
    options: SubAgentOptions,
) -> Result<Arc<SubAgent>, String> {
    if let Some(provider) = &options.provider {
        around.installed.providers.find(provider)?;
    }
    let prompt = prompt(around, &options);
    prompt.render().map_err(|it| it.to_string())?;
    let toolbox = &around.installed.toolbox;
    let mut wanted = Vec::new();
    for name in options.tools.iter().flatten() {
        let tool = toolbox.find(name).ok_or_else(|| toolbox.unknown(name))?;
        wanted.push(tool.name.to_string());
    }
    let may = |tool: &&ToolDefinition| {
        let name = tool.name.as_str();
        caller.grants.may_call(name)
            && caller.context.tools.as_ref().is_none_or(|it| it.contains(name))
            && (options.tools.is_none() || wanted.iter().any(|it| it == name))
    };
    let tools = toolbox.definitions().filter(may).map(|it| it.name.to_string()).collect();
    Ok(Arc::new(SubAgent { options, transcript: Default::default(), tools: Arc::new(tools) }))
}

/// What its provider would get now.
pub(super) fn messages(
    around: &Surroundings,
    agent: &SubAgent,
    transcript: &Transcript,
) -> Result<Vec<Message>, String> {
    let system = prompt(around, &agent.options).render().map_err(|it| it.to_string())?;
    Ok(transcript.messages_with(&system, &[]))
}

/// Runs a turn to its end. Dropping it stops everything that runs for it.
pub(super) async fn turn(
    around: Surroundings,
    agent: Arc<SubAgent>,
    prompt: String,
    context: CallContext,
) -> Result<String, String> {
    let mut transcript = agent.transcript.try_lock().map_err(|_| "this agent is in the middle of a turn".to_owned())?;
    // Another turn of it may have been cut short.
    transcript.close_open_calls(agent::INTERRUPTED);
    let context = CallContext { tools: Some(agent.tools.clone()), ..context.nested() };
    let (mut turn, effects) = Turn::begin(&prompt, around.options.max_rounds);
    let mut effects = VecDeque::from(effects);
    while let Some(effect) = effects.pop_front() {
        match effect {
            Effect::Add(message) => transcript.add(message).map_err(|it| it.to_string())?,
            Effect::Fetch => {
                let mut replied = fetch(&around, &agent, &transcript, &context).await;
                if let Ok(reply) = &mut replied {
                    transcript.make_ids_unique(&mut reply.calls);
                }
                effects.extend(turn.step(agent::Event::Replied(replied)));
            }
            Effect::Call(calls) => {
                let outcomes = join_all(calls.iter().map(|it| call(&around, &agent, it, &context))).await;
                for (place, outcome) in outcomes.iter().enumerate() {
                    let text = super::turn::for_model(outcome, &around.limits, around.options.results.as_deref());
                    effects.extend(turn.step(agent::Event::Called(place, text)));
                }
            }
            Effect::End(result) => {
                transcript.close_open_calls(agent::INTERRUPTED);
                let _ = shown(&around, &agent).send(Output::TurnOver).await;
                return result.map_err(|it| it.to_string());
            }
        }
    }
    Err("the turn ended without a reply".to_owned())
}

async fn fetch(
    around: &Surroundings,
    agent: &SubAgent,
    transcript: &Transcript,
    context: &CallContext,
) -> Result<agent::Reply, crate::completion::ProviderError> {
    use crate::completion::ProviderError::Rejected;
    let name = agent.options.provider.as_ref().unwrap_or(&around.options.provider);
    let provider = around.installed.providers.find(name).map_err(Rejected)?.clone();
    let other = agent.options.provider.is_some();
    let model = agent.options.model.clone().or_else(|| around.options.model.clone().filter(|_| !other));
    let toolbox = &around.installed.toolbox;
    let request = Request {
        model: model.or_else(|| provider.default_model().map(str::to_owned)),
        options: if other { serde_json::Map::new() } else { around.options.provider_options.clone() },
        messages: messages(around, agent, transcript).map_err(Rejected)?,
        tools: toolbox.definitions().filter(|it| agent.tools.contains(it.name.as_str())).cloned().collect(),
    };
    reply(provider, request, context.clone(), shown(around, agent), around.limits.clone()).await
}

async fn call(around: &Surroundings, agent: &SubAgent, call: &ToolCall, context: &CallContext) -> Outcome {
    let outputs = shown(around, agent);
    let _ = outputs.send(Output::Calling(call.name.clone(), call.arguments.clone())).await;
    let outcome = around.installed.toolbox.run(&call.name, &call.arguments, context).await;
    let failed = if outcome.ok() { None } else { outcome.error() };
    let _ = outputs.send(Output::Called(call.name.clone(), failed)).await;
    outcome
}

/// Where its output goes; nowhere for a quiet one.
fn shown(around: &Surroundings, agent: &SubAgent) -> mpsc::Sender<Output> {
    if !agent.options.quiet {
        return around.outputs.clone();
    }
    // Without a receiver, sending fails at once, which nobody minds.
    mpsc::channel(1).0
}

fn prompt(around: &Surroundings, options: &SubAgentOptions) -> SystemPrompt {
    let own = &around.options.prompt;
    SystemPrompt {
        template: options.template.clone().or_else(|| own.template.clone()),
        before: options.system_prompt.clone().or_else(|| own.before.clone()),
        ..own.clone()
    }
}
