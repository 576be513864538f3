//! One turn, from a prompt to the reply that asks for no more tools: a pure step function from events to effects.
//!
//! Apart from the session, because every order of replies, results and interrupts can then be tested without a model, a tool
//! or a clock.

pub mod prompt;

use serde_json::Value;

use crate::completion::{ProviderError, StopReason};
use crate::transcript::{Message, Role, ToolCall};

/// Requests of one turn; a model that asks for tools for ever is stopped here.
pub const ROUNDS: u32 = 100;

/// The same calls with the same results, one after another, after which a turn ends: the model is going in a circle.
const REPEATS: u32 = 3;

/// The text of a call's result when the turn was interrupted before it came.
pub const INTERRUPTED: &str = "interrupted by the user";

/// A whole reply of a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What it said.
    pub text: String,
    /// The tools it asks for.
    pub calls: Vec<ToolCall>,
    /// Data to be given back to the same provider.
    pub replay: Option<Value>,
    /// The output limit cut it.
    pub cut: bool,
}

impl Reply {
    /// Whether it was cut, by the reason that the provider gave.
    pub fn is_cut(reason: StopReason) -> bool {
        match reason {
            StopReason::Length => true,
            StopReason::End | StopReason::ToolCalls | StopReason::Refused => false,
        }
    }
}

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// A request ended.
    Replied(Result<Reply, ProviderError>),
    /// A tool call of the last reply ended; its place among the calls, and the result as the model gets it.
    Called(usize, String),
    /// The person wants it to stop.
    Interrupted,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Add a message to the transcript.
    Add(Message),
    /// Send the transcript to the provider.
    Fetch,
    /// Run the calls, all at once.
    Call(Vec<ToolCall>),
    /// The turn is over.
    End(Result<String, TurnError>),
}

/// Why a turn ended without a reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The provider failed. Never stored as a reply.
    #[error("no reply: {0}")]
    Provider(ProviderError),
    /// No provider of the name.
    #[error("{0}")]
    NoProvider(String),
    /// Too many requests.
    #[error("the turn was stopped after {rounds}; `--max-rounds` sets another limit", rounds = rounds(*.0))]
    Rounds(u32),
    /// The model asks for the same again and again.
    #[error("the turn was stopped: the model made the same call {REPEATS} times and got the same result")]
    Repeats,
    /// The person wanted it to stop.
    #[error("interrupted")]
    Interrupted,
    /// The prompt could not be made or added.
    #[error("{0}")]
    Prompt(String),
}

fn rounds(n: u32) -> String {
    if n == 1 { "1 round".into() } else { format!("{n} rounds") }
}

/// A turn that runs.
#[derive(Debug)]
pub struct Turn {
    rounds: u32,
    max_rounds: u32,
    calls: Vec<ToolCall>,
    results: Vec<Option<String>>,
    /// The calls and results of the round before, and how often they came in a row.
    last: Vec<(String, String, String)>,
    repeats: u32,
}

impl Turn {
    /// Begins a turn: the prompt is added, and the first request sent.
    pub fn begin(prompt: &str, max_rounds: u32) -> (Self, Vec<Effect>) {
        let turn = Self { rounds: 1, max_rounds, calls: vec![], results: vec![], last: vec![], repeats: 0 };
        (turn, vec![Effect::Add(Message::new(Role::User, prompt)), Effect::Fetch])
    }

    /// Takes one step.
    pub fn step(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Replied(Err(error)) => vec![Effect::End(Err(TurnError::Provider(error)))],
            Event::Replied(Ok(reply)) => self.replied(reply),
            Event::Called(place, result) => self.called(place, result),
            Event::Interrupted => {
                let mut effects = self.answer_open_calls(INTERRUPTED);
                effects.push(Effect::End(Err(TurnError::Interrupted)));
                effects
            }
        }
    }

    fn replied(&mut self, reply: Reply) -> Vec<Effect> {
        let mut message = Message::new(Role::Assistant, reply.text.clone());
        message.tool_calls = reply.calls.clone();
        message.replay = reply.replay;
        if reply.calls.is_empty() {
            return vec![Effect::Add(message), Effect::End(Ok(reply.text))];
        }
        self.results = vec![None; reply.calls.len()];
        self.calls = reply.calls;
        if !reply.cut {
            return vec![Effect::Add(message), Effect::Call(self.calls.clone())];
        }
        // Half a call is never run, and never completed by guessing.
        let mut effects = vec![Effect::Add(message)];
        effects.extend(self.answer_open_calls("the output limit cut this call off: it was not run"));
        effects.extend(self.next_round());
        effects
    }

    fn called(&mut self, place: usize, result: String) -> Vec<Effect> {
        let Some(slot @ None) = self.results.get_mut(place) else { return Vec::new() };
        *slot = Some(result);
        if self.results.iter().any(Option::is_none) {
            return Vec::new();
        }
        let round = self.calls.iter().zip(&self.results);
        let round: Vec<_> = round
            .map(|(call, result)| (call.name.clone(), call.arguments.clone(), result.clone().unwrap_or_default()))
            .collect();
        self.repeats = if round == self.last { self.repeats + 1 } else { 1 };
        self.last = round;
        // Results are recorded in the order asked, whatever order they came in.
        let mut effects = self.answer_open_calls("");
        if self.repeats >= REPEATS {
            effects.push(Effect::End(Err(TurnError::Repeats)));
        } else {
            effects.extend(self.next_round());
        }
        effects
    }

    fn next_round(&mut self) -> Vec<Effect> {
        self.rounds += 1;
        if self.rounds > self.max_rounds {
            vec![Effect::End(Err(TurnError::Rounds(self.max_rounds)))]
        } else {
            vec![Effect::Fetch]
        }
    }

    /// One result for each call of the last reply: its own, or a failure with this text.
    fn answer_open_calls(&mut self, otherwise: &str) -> Vec<Effect> {
        let results = std::mem::take(&mut self.results);
        let calls = std::mem::take(&mut self.calls);
        let answered = calls.into_iter().zip(results).map(|(call, result)| {
            let result = result.unwrap_or_else(|| crate::tool::Outcome::refused(otherwise).to_json());
            Effect::Add(Message::tool(call.id, result))
        });
        answered.collect()
    }
}

#[cfg(test)]
mod tests;
