//! The turn that runs: the agent's effects are carried out here, and what comes of them goes back to it as events.
//!
//! Apart from the task, because only this part knows providers and tools.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::agent::{self, Effect, Reply, Turn, TurnError};
use crate::completion::{ProviderError, Request};
use crate::host_request::CallContext;
use crate::limits::Limits;
use crate::session::Output;
use crate::session::reply::reply;
use crate::session::run::{Event, Task};
use crate::tool::Outcome;
use crate::transcript::ToolCall;

/// A turn, and what runs for it. Dropping it stops that.
pub(super) struct Running {
    number: u64,
    turn: Turn,
    context: CallContext,
    reply: oneshot::Sender<Result<String, TurnError>>,
    tasks: JoinSet<()>,
}

/// What happened to a turn.
pub(super) enum TurnEvent {
    Replied(Result<Reply, ProviderError>),
    /// The place of a call among those of the reply, its tool, its result.
    Called(usize, String, Outcome),
}

impl Task {
    /// Begins a turn. There is none yet.
    pub(super) async fn begin_turn(
        &mut self,
        prompt: &str,
        context: CallContext,
        reply: oneshot::Sender<Result<String, TurnError>>,
    ) {
        static NUMBERS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = NUMBERS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        // A command may have added calls and no results for them.
        self.conversation.close_open_calls("no result was added for this call");
        let (turn, effects) = Turn::begin(prompt, self.options.max_rounds);
        self.turn = Some(Running { number, turn, context: context.nested(), reply, tasks: JoinSet::new() });
        self.perform(effects).await;
    }

    pub(super) async fn turn_event(&mut self, number: u64, event: TurnEvent) {
        // What belongs to a turn that was interrupted comes too late.
        if self.turn.as_ref().is_none_or(|it| it.number != number) {
            return;
        }
        let event = match event {
            TurnEvent::Replied(Ok(mut reply)) => {
                self.conversation.make_ids_unique(&mut reply.calls);
                agent::Event::Replied(Ok(reply))
            }
            TurnEvent::Replied(Err(error)) => agent::Event::Replied(Err(error)),
            TurnEvent::Called(place, name, outcome) => {
                let failed = if outcome.ok() { None } else { outcome.error() };
                self.show(Output::Called(name, failed)).await;
                for hint in outcome.hints() {
                    self.show(Output::Note(format!("hint: {hint}"))).await;
                }
                agent::Event::Called(place, for_model(&outcome, self.host.limits(), self.options.results.as_deref()))
            }
        };
        let effects = self.turn.as_mut().map(|it| it.turn.step(event)).unwrap_or_default();
        self.perform(effects).await;
    }

    /// Ends the turn that runs, if one does, with a result for each call.
    pub(super) async fn end_turn_by_interrupt(&mut self) {
        let Some(running) = &mut self.turn else { return };
        running.tasks.abort_all();
        let effects = running.turn.step(agent::Event::Interrupted);
        self.perform(effects).await;
    }

    async fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Add(message) => {
                    if let Err(error) = self.conversation.add(message) {
                        return self.end_turn(Err(TurnError::Prompt(error.to_string()))).await;
                    }
                }
                Effect::Fetch => {
                    if let Err(error) = self.fetch() {
                        return self.end_turn(Err(error)).await;
                    }
                }
                Effect::Call(calls) => self.call(calls),
                Effect::End(result) => return self.end_turn(result).await,
            }
        }
    }

    async fn end_turn(&mut self, result: Result<String, TurnError>) {
        self.conversation.close_open_calls(agent::INTERRUPTED);
        if let Some(running) = self.turn.take() {
            self.show(Output::TurnOver).await;
            let _ = running.reply.send(result);
        }
    }

    /// What the provider gets now: system prompt first.
    pub(super) fn provider_messages(&self) -> Result<Vec<crate::transcript::Message>, TurnError> {
        let system = self.options.prompt.render().map_err(|it| TurnError::Prompt(it.to_string()))?;
        Ok(self.conversation.transcript().messages_with(&system, &[]))
    }

    fn fetch(&mut self) -> Result<(), TurnError> {
        let messages = self.provider_messages()?;
        let (Some(running), Some(installed)) = (&mut self.turn, &self.installed) else { return Ok(()) };
        let provider = installed.providers.find(&self.options.provider).map_err(TurnError::NoProvider)?.clone();
        let request = Request {
            model: self.options.model.clone().or_else(|| provider.default_model().map(str::to_owned)),
            options: self.options.provider_options.clone(),
            messages,
            tools: installed.toolbox.definitions().cloned().collect(),
        };
        let (context, outputs) = (running.context.clone(), self.outputs.clone());
        let (events, number, limits) = (self.events.clone(), running.number, self.host.limits().clone());
        running.tasks.spawn(async move {
            let replied = reply(provider, request, context, outputs, limits).await;
            let _ = events.send(Event::Turn(number, TurnEvent::Replied(replied))).await;
        });
        Ok(())
    }

    fn call(&mut self, calls: Vec<ToolCall>) {
        let (Some(running), Some(installed)) = (&mut self.turn, &self.installed) else { return };
        for (place, call) in calls.into_iter().enumerate() {
            let (toolbox, context) = (installed.toolbox.clone(), running.context.clone());
            let (events, number, outputs) = (self.events.clone(), running.number, self.outputs.clone());
            running.tasks.spawn(async move {
                let _ = outputs.send(Output::Calling(call.name.clone(), call.arguments.clone())).await;
                let outcome = toolbox.run(&call.name, &call.arguments, &context).await;
                let _ = events.send(Event::Turn(number, TurnEvent::Called(place, call.name, outcome))).await;
            });
        }
    }
}

/// A result as the model gets it: cut at both ends when it is too long, with the whole text in a file.
pub(super) fn for_model(outcome: &Outcome, limits: &Limits, results: Option<&std::path::Path>) -> String {
    let text = outcome.to_json();
    let limit = limits.model_result;
    if text.len() <= limit {
        return text;
    }
    let note = match results.and_then(|folder| keep(folder, &text)) {
        Some(path) => format!("\n[{} bytes in all; the whole result is in {}]", text.len(), path.display()),
        None => format!("\n[{} bytes in all]", text.len()),
    };
    format!("{}{note}", crate::text::shorten_middle(&text, limit))
}

/// Writes a whole result to a new file.
fn keep(folder: &std::path::Path, text: &str) -> Option<std::path::PathBuf> {
    let write = || -> std::io::Result<std::path::PathBuf> {
        std::fs::create_dir_all(folder)?;
        let file = tempfile::Builder::new().prefix("result-").suffix(".json").tempfile_in(folder)?;
        std::fs::write(file.path(), text)?;
        Ok(file.into_temp_path().keep()?)
    };
    write().inspect_err(|error| tracing::warn!("a long result was not kept: {error}")).ok()
}

/// The provider in use, for a plugin that asks.
pub(super) fn current(task: &Task) -> (String, Option<String>) {
    let installed: Option<&Arc<_>> = task.installed.as_ref();
    let provider = installed.and_then(|it| it.providers.find(&task.options.provider).ok());
    let model = task.options.model.clone().or_else(|| provider.and_then(|it| it.default_model().map(str::to_owned)));
    (task.options.provider.clone(), model)
}
