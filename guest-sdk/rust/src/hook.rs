//! Hooks: code that runs around tool calls, also those of other plugins' tools.

use crate::{bindings::exports::bellglass::plugin::hooks as wit, failure::Failure, handler::Returns};
use serde_json::Value;
use std::borrow::Cow;

/// What a before hook wants done with the call. To stop it, the hook returns an error, which the model reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Decision {
    /// Go on. What a hook that returns `()` or `Ok(())` says.
    #[default]
    Proceed,
    /// Go on with these arguments instead. The host checks them against the schema again.
    Replace(Value),
    /// Go on if the user says yes to this question; where nobody can answer, stop the call.
    Ask(String),
}

/// What an after hook makes of the tool's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Amendment {
    /// The answer stays. What a hook that returns `()` or `Ok(())` says.
    #[default]
    Keep,
    /// This object is the answer now.
    Replace(Value),
}

impl From<()> for Decision {
    fn from((): ()) -> Self {
        Self::Proceed
    }
}

impl From<()> for Amendment {
    fn from((): ()) -> Self {
        Self::Keep
    }
}

impl Returns<Decision> for Decision {
    fn returned(self) -> Result<Decision, Failure> {
        Ok(self)
    }
}

impl Returns<Amendment> for Amendment {
    fn returned(self) -> Result<Amendment, Failure> {
        Ok(self)
    }
}

type Before = Box<dyn Fn(&str, &Value) -> Result<Decision, Failure>>;
type After = Box<dyn Fn(&str, &Value, &Value) -> Result<Amendment, Failure>>;

pub(crate) struct Hook {
    /// None: it is for every tool.
    pub(crate) tool: Option<Cow<'static, str>>,
    run: Run,
}

enum Run {
    Before(Before),
    After(After),
}

impl Hook {
    pub(crate) fn before<R: Returns<Decision>>(
        tool: Option<Cow<'static, str>>,
        hook: impl Fn(&str, &Value) -> R + 'static,
    ) -> Self {
        let run = Run::Before(Box::new(move |tool, arguments| hook(tool, arguments).returned()));
        Self { tool, run }
    }

    pub(crate) fn after<R: Returns<Amendment>>(
        tool: Option<Cow<'static, str>>,
        hook: impl Fn(&str, &Value, &Value) -> R + 'static,
    ) -> Self {
        let run = Run::After(Box::new(move |tool, arguments, outcome| hook(tool, arguments, outcome).returned()));
        Self { tool, run }
    }

    pub(crate) fn moment(&self) -> wit::Moment {
        match self.run {
            Run::Before(_) => wit::Moment::Before,
            Run::After(_) => wit::Moment::After,
        }
    }

    pub(crate) fn to_wit(&self) -> wit::Hook {
        wit::Hook { moment: self.moment(), tool: self.tool.as_ref().map(ToString::to_string) }
    }

    pub(crate) fn run_before(&self, tool: &str, arguments: &str) -> Result<wit::Decision, String> {
        let Run::Before(hook) = &self.run else { return Err("this hook runs after the tool".to_owned()) };
        match hook(tool, &parse(arguments)?).map_err(Failure::into_message)? {
            Decision::Proceed => Ok(wit::Decision::Proceed),
            Decision::Replace(arguments) => Ok(wit::Decision::Replace(arguments.to_string())),
            Decision::Ask(question) => Ok(wit::Decision::Ask(question)),
        }
    }

    pub(crate) fn run_after(&self, tool: &str, arguments: &str, outcome: &str) -> Result<Option<String>, String> {
        let Run::After(hook) = &self.run else { return Err("this hook runs before the tool".to_owned()) };
        match hook(tool, &parse(arguments)?, &parse(outcome)?).map_err(Failure::into_message)? {
            Amendment::Keep => Ok(None),
            Amendment::Replace(outcome) => Ok(Some(outcome.to_string())),
        }
    }
}

fn parse(json: &str) -> Result<Value, String> {
    serde_json::from_str(json).map_err(|error| format!("the host sent broken JSON: {error}"))
}
