//! One tool call, with hooks around it, in the order of the host.

use super::world::{self, StandIn};
use crate::{
    Setup,
    bindings::exports::bellglass::plugin::hooks::{Decision, Moment},
};
use serde_json::{Map, Value, json};

/// Who runs a tool.
pub(super) enum Runner {
    Plugin,
    StandIn(StandIn),
}

/// Finds a tool by name, then by alias, and gives its real name.
pub(super) fn find(name: &str) -> Option<(String, Runner)> {
    let plugin = world::fresh();
    let by_name = plugin.tools().iter().find(|tool| tool.name == name);
    if let Some(tool) = by_name {
        return Some((tool.name.to_string(), Runner::Plugin));
    }
    let stand_in = world::with(|world| world.tools.iter().rfind(|(other, _)| other == name).cloned());
    if let Some((name, tool)) = stand_in {
        return Some((name, Runner::StandIn(tool)));
    }
    let by_alias = plugin.tools().iter().find(|tool| tool.aliases.iter().any(|alias| alias == name));
    by_alias.map(|tool| (tool.name.to_string(), Runner::Plugin))
}

/// Runs a tool and gives its result, with `ok`.
pub(super) fn call(name: &str, arguments: Value) -> Value {
    let Some((name, runner)) = find(name) else {
        return failure(&format!("unknown tool `{name}`, there is: {}", names().join(", ")));
    };
    let hooks = world::fresh();
    let arguments = match before(&hooks, &name, arguments.clone()) {
        Ok(arguments) => arguments,
        Err(error) => return fault(&error, &name, &arguments),
    };
    match run(&runner, &name, &arguments).and_then(|outcome| after(&hooks, &name, &arguments, outcome)) {
        Ok(mut outcome) => {
            let failed = !matches!(outcome.get("error"), None | Some(Value::Null | Value::Bool(false)));
            outcome.insert("ok".to_owned(), Value::Bool(!failed));
            Value::Object(outcome)
        }
        Err(error) => fault(&error, &name, &arguments),
    }
}

/// The names of all tools, the plugin's own first.
pub(super) fn names() -> Vec<String> {
    let plugin = world::fresh();
    let own = plugin.tools().iter().map(|tool| tool.name.to_string());
    own.chain(world::with(|world| world.tools.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>())).collect()
}

/// The places of the hooks that run at this moment: those for every tool first.
fn places(plugin: &Setup, moment: Moment, name: &str) -> Vec<u32> {
    let hooks = plugin.list_hooks();
    let of = |tool: Option<&str>| {
        let fits = hooks.iter().zip(0..).filter(|(hook, _)| hook.moment == moment && hook.tool.as_deref() == tool);
        fits.map(|(_, place)| place).collect::<Vec<u32>>()
    };
    [of(None), of(Some(name))].concat()
}

fn before(plugin: &Setup, name: &str, mut arguments: Value) -> Result<Value, String> {
    for place in places(plugin, Moment::Before, name) {
        match plugin.run_before(place, name, &arguments.to_string())? {
            Decision::Proceed => {}
            Decision::Replace(replaced) => arguments = parse(&replaced)?,
            Decision::Ask(question) => {
                world::with(|world| world.show(&format!("{question}\n")));
                match world::with(|world| world.answer()).as_deref() {
                    Some("y" | "yes") => {}
                    _ => return Err(format!("User denied permission: {name}")),
                }
            }
        }
    }
    Ok(arguments)
}

fn run(runner: &Runner, name: &str, arguments: &Value) -> Result<Map<String, Value>, String> {
    let outcome = match runner {
        Runner::StandIn(tool) => tool(arguments),
        Runner::Plugin => parse(&world::instance(|plugin| plugin.call_tool(name, &arguments.to_string()))??)?,
    };
    match outcome {
        Value::Object(outcome) => Ok(outcome),
        other => Err(format!("a tool answers with a JSON object, `{name}` answered {other}")),
    }
}

fn after(
    plugin: &Setup,
    name: &str,
    arguments: &Value,
    mut outcome: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    for place in places(plugin, Moment::After, name) {
        let text = Value::Object(outcome.clone()).to_string();
        let replaced = plugin.run_after(place, name, &arguments.to_string(), &text);
        let replaced = replaced.map_err(|error| format!("`{name}` ran, then a hook failed: {error}"))?;
        match replaced.map(|text| parse(&text)).transpose()? {
            None => {}
            Some(Value::Object(replaced)) => outcome = replaced,
            Some(other) => return Err(format!("a hook may only answer with a JSON object, not {other}")),
        }
    }
    Ok(outcome)
}

fn parse(json: &str) -> Result<Value, String> {
    serde_json::from_str(json).map_err(|error| format!("broken JSON: {error}"))
}

pub(super) fn failure(error: &str) -> Value {
    json!({"error": error, "ok": false})
}

fn fault(error: &str, name: &str, arguments: &Value) -> Value {
    json!({"error": error, "name": name, "args": arguments, "ok": false})
}
