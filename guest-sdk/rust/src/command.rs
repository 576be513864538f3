//! [`Command`]: a slash command that the user can type.

use crate::{bindings::bellglass::plugin::types as wit, failure::Failure, handler::Returns};
use std::{borrow::Cow, fmt};

/// A slash command in [`Setup`](crate::Setup), to say how its argument is completed.
pub struct Command {
    pub(crate) name: Cow<'static, str>,
    description: Cow<'static, str>,
    run: Run,
    complete: Option<Complete>,
}

type Run = Box<dyn Fn(Option<&str>) -> Result<(), Failure>>;
type Complete = Box<dyn Fn(&str) -> Vec<String>>;

impl Command {
    pub(crate) fn new<R: Returns<()>>(
        name: Cow<'static, str>,
        description: Cow<'static, str>,
        run: impl Fn(Option<&str>) -> R + 'static,
    ) -> Self {
        Self { name, description, run: Box::new(move |argument| run(argument).returned()), complete: None }
    }

    /// How the argument is completed. The function gets what was typed of it; the host keeps the candidates that start
    /// with that, and goes on without any after 200 ms.
    pub fn completions<I>(&mut self, complete: impl Fn(&str) -> I + 'static) -> &mut Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.complete = Some(Box::new(move |partial| complete(partial).into_iter().map(Into::into).collect()));
        self
    }

    /// The only arguments there are.
    pub fn choices<const N: usize>(&mut self, choices: [&'static str; N]) -> &mut Self {
        self.completions(move |_| choices)
    }

    pub(crate) fn to_wit(&self) -> wit::Command {
        wit::Command { name: self.name.to_string(), description: self.description.to_string() }
    }

    pub(crate) fn run(&self, argument: Option<&str>) -> Result<(), String> {
        (self.run)(argument).map_err(Failure::into_message)
    }

    pub(crate) fn complete(&self, partial: &str) -> Vec<String> {
        self.complete.as_ref().map(|complete| complete(partial)).unwrap_or_default()
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Command").field("name", &self.name).finish_non_exhaustive()
    }
}
