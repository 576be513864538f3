//! One tool call from arguments as text to the result, in the steps that `ARCHITECTURE.md` numbers.
//!
//! Apart from the registry, because the order of these steps is the contract that hooks and guests rely on.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::audit::Kind;
use crate::capability::{Capability, Grant, ToolPattern};
use crate::fault::Fault;
use crate::host_request::{CallContext, Caller, Entry};
use crate::plugin::Decision;
use crate::schema::{Schema, parse_arguments};
use crate::tool::Outcome;
use crate::toolbox::{Hook, Registered, Toolbox};
use crate::uses::Uses;

/// Arguments that passed validation: as a value, and as the text that the guest gets.
pub(super) struct Arguments {
    value: Value,
    text: String,
}

/// Parses and validates arguments; what a model got wrong without loss is corrected.
pub(super) fn checked(schema: &Schema, text: &str) -> Result<Arguments, Vec<String>> {
    let value = parse_arguments(text).map_err(|it| vec![it.to_string()])?;
    let errors = schema.check(&value);
    if errors.is_empty() {
        // Written anew, with every digit: of a key that stands there twice, all get the one that was validated.
        let text = value.to_string();
        return Ok(Arguments { value, text });
    }
    match schema.correct(&value) {
        Some(corrected) => {
            for note in &corrected.notes {
                tracing::info!("corrected an argument: {note}");
            }
            let text = corrected.arguments.to_string();
            Ok(Arguments { value: corrected.arguments, text })
        }
        None => Err(errors.iter().map(ToString::to_string).collect()),
    }
}

impl Toolbox {
    /// Runs a tool for a person, a program or a model.
    pub async fn run(&self, name: &str, arguments: &str, context: &CallContext) -> Outcome {
        let Some(registered) = self.lookup(name) else { return Outcome::refused(self.unknown(name)) };
        let real = registered.name();
        if context.tools.as_ref().is_some_and(|it| !it.contains(real)) {
            return Outcome::refused(format!("denied: this agent may not call tool `{real}`")).by_denial();
        }
        self.call(registered, arguments, context).await
    }

    /// Runs a tool for a plugin: its `call-tool` grant is checked, on the real name.
    pub async fn run_for(&self, caller: &Caller, name: &str, arguments: &str) -> Outcome {
        let Some(registered) = self.lookup(name) else { return Outcome::refused(self.unknown(name)) };
        let real = registered.tool.definition.name.as_str();
        // A grant may spell the tool as `plugin.tool`, too.
        let plugin = &caller.plugin;
        let right = Grant::One(Capability::CallTool(ToolPattern::Name(registered.tool.definition.name.clone())));
        if caller.grants.may_call(real) || caller.grants.may_call(&registered.address()) {
            caller.context.uses.allowed(plugin, right);
        } else {
            caller.context.uses.denied(plugin, right);
            let error = format!(
                "denied: plugin `{plugin}` may not call tool `{real}` (`--grant {plugin}:call-tool={real}` if it asks for it)"
            );
            return Outcome::refused(error).by_denial();
        }
        self.call(registered, arguments, &caller.context.nested()).await
    }

    async fn call(&self, registered: &Registered, arguments: &str, context: &CallContext) -> Outcome {
        if context.depth as usize > self.limits.depth {
            let error = format!("calls are nested more than {} deep", self.limits.depth);
            return Outcome::refused(error).at_a_limit();
        }
        // Who waits for a permit holds no instance; a nested call uses the permit of its caller.
        let permit = if context.has_permit { None } else { self.calls.acquire().await.ok() };
        let uses = Arc::<Uses>::default();
        let inner = CallContext {
            has_permit: true,
            uses: uses.clone(),
            policy: registered.plugin.policy().clone(),
            ..context.clone()
        };
        let outcome = self.steps(registered, arguments, &inner).await;
        drop(permit);
        let outcome = if outcome.ok() {
            outcome
        } else {
            uses.failed();
            outcome.for_want_of(&uses)
        };
        // A limit on its requests is told to the guest, which may give up for it.
        let outcome = if !outcome.ok() && uses.hit_limit() { outcome.at_a_limit() } else { outcome };
        context.uses.absorb(&uses);
        registered.plugin.record(Kind::Tool, registered.name(), arguments, outcome.ended(), &uses);
        outcome
    }

    async fn steps(&self, registered: &Registered, arguments: &str, context: &CallContext) -> Outcome {
        let mut arguments = match checked(&registered.tool.schema, arguments) {
            Ok(arguments) => arguments,
            Err(errors) => return Outcome::refused(errors.join(", ")),
        };
        for hook in &registered.before {
            match registered.before(hook, arguments, context).await {
                Ok(next) => arguments = next,
                Err(stopped) => return stopped,
            }
        }
        // With the arguments as they now are: what is judged is what runs.
        let asked = registered.plugin.ready(Entry::Tool, context.clone()).await;
        let approved = match registered.approve(&arguments.value, &asked).await {
            Ok(approved) => approved,
            Err(refused) => return registered.raised(refused, &arguments).by_denial(),
        };
        let tool = Some(registered.tool.definition.name.clone());
        let context = &CallContext { approved, tool, ..asked };
        let mut object = match registered.handler(&arguments, context).await {
            Ok(object) => object,
            Err(failed) => return failed,
        };
        for hook in &registered.after {
            match registered.after(hook, &arguments, object, context).await {
                Ok(next) => object = next,
                Err(failed) => return failed,
            }
        }
        Outcome::of_tool(object)
    }
}

impl Registered {
    fn name(&self) -> &str {
        self.tool.definition.name.as_str()
    }

    /// `plugin.tool`, for messages.
    fn address(&self) -> String {
        format!("{}.{}", self.plugin.name(), self.name())
    }

    /// A handler or a hook failed: a warning in the log, and a result with name and arguments.
    fn raised(&self, error: String, arguments: &Arguments) -> Outcome {
        tracing::warn!(tool = %self.address(), "{}", crate::text::visible_line(&error));
        Outcome::raised(error, self.name(), arguments.value.clone())
    }

    fn stopped(&self, error: String, fault: &Fault, arguments: &Arguments) -> Outcome {
        let outcome = self.raised(error, arguments);
        if fault.is_limit() { outcome.at_a_limit() } else { outcome }
    }

    async fn before(&self, hook: &Hook, arguments: Arguments, context: &CallContext) -> Result<Arguments, Outcome> {
        let plugin = hook.plugin.name();
        let decided = hook.plugin.before(context.clone(), hook.number, self.name(), &arguments.text).await;
        match decided {
            Ok(Ok(Decision::Proceed)) => Ok(arguments),
            Ok(Ok(Decision::Replace(text))) => {
                tracing::debug!(%plugin, tool = %self.address(), "a hook replaced the arguments");
                checked(&self.tool.schema, &text).map_err(|errors| {
                    let errors = errors.join(", ");
                    Outcome::refused(format!(
                        "a hook of plugin `{plugin}` replaced the arguments by invalid ones: {errors}"
                    ))
                })
            }
            Ok(Ok(Decision::Ask(question))) => match super::question::ask(&hook.plugin, &question, context).await {
                Ok(()) => Ok(arguments),
                Err(refused) => {
                    let name = self.name();
                    Err(self.raised(format!("User denied permission: {name}{refused}"), &arguments).by_denial())
                }
            },
            Ok(Err(error)) => Err(self.raised(error, &arguments)),
            Err(fault) => {
                let error = format!(
                    "a before hook of plugin `{plugin}` could not be evaluated, so the call was stopped: it {fault}"
                );
                Err(self.stopped(error, &fault, &arguments))
            }
        }
    }

    async fn handler(&self, arguments: &Arguments, context: &CallContext) -> Result<Map<String, Value>, Outcome> {
        match self.plugin.call_tool(context.clone(), self.name(), &arguments.text).await {
            Ok(Ok(text)) => object(&text).map_err(|got| {
                let error = format!("tool `{}` must answer with a JSON object, it answered with {got}", self.address());
                self.raised(error, arguments)
            }),
            Ok(Err(error)) => Err(self.raised(error, arguments)),
            Err(fault) => Err(self.stopped(fault.ended(&format!("tool `{}`", self.address())), &fault, arguments)),
        }
    }

    async fn after(
        &self,
        hook: &Hook,
        arguments: &Arguments,
        outcome: Map<String, Value>,
        context: &CallContext,
    ) -> Result<Map<String, Value>, Outcome> {
        let plugin = hook.plugin.name();
        let text = serde_json::to_string(&outcome).expect("a map of JSON values is always JSON");
        // First, because what a plugin says may be long: a model must not run the tool again for it.
        let failed = |what: String| format!("the tool already ran, then {what}");
        match hook.plugin.after(context.clone(), hook.number, self.name(), &arguments.text, &text).await {
            Ok(Ok(None)) => Ok(outcome),
            Ok(Ok(Some(text))) => object(&text).map_err(|got| {
                let error =
                    format!("an after hook of plugin `{plugin}` replaced the result by {got}, expected a JSON object");
                self.raised(failed(error), arguments)
            }),
            Ok(Err(error)) => {
                Err(self.raised(failed(format!("an after hook of plugin `{plugin}` failed: {error}")), arguments))
            }
            Err(fault) => {
                let error = failed(format!("an after hook of plugin `{plugin}` {fault}"));
                Err(self.stopped(error, &fault, arguments))
            }
        }
    }
}

/// Parses a guest's answer; `Err` names what came instead of an object.
fn object(text: &str) -> Result<Map<String, Value>, &'static str> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(Value::Array(_)) => Err("a list"),
        Ok(Value::String(_)) => Err("text"),
        Ok(Value::Number(_)) => Err("a number"),
        Ok(Value::Bool(_)) => Err("a boolean"),
        Ok(Value::Null) => Err("nothing"),
        Err(_) if text.trim().is_empty() => Err("nothing"),
        Err(_) => Err("text that is no JSON"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_no_object_is_named() {
        for (text, expected) in [
            ("[1]", "a list"),
            ("\"x\"", "text"),
            ("5", "a number"),
            ("true", "a boolean"),
            ("null", "nothing"),
            ("", "nothing"),
            ("{", "text that is no JSON"),
        ] {
            assert_eq!(object(text), Err(expected), "{text}");
        }
        assert_eq!(object(r#"{"a":9007199254740993}"#).unwrap()["a"].to_string(), "9007199254740993");
    }
}
