//! The plugin's own tools and the stand-ins, behind `call-tool`.

use crate::{
    Capability,
    bindings::{
        bellglass::plugin::{
            toolbox::{Hook, Moment},
            types::ToolDefinition,
        },
        exports::bellglass::plugin::hooks,
    },
    test::{
        dispatch::{self, Runner},
        world,
    },
};

pub(crate) fn run(name: &str, arguments: &str) -> String {
    let real = dispatch::find(name).map_or_else(|| name.to_owned(), |(real, _)| real);
    let allowed = world::need(&format!("call-tool={real}"), |capability| match capability {
        Capability::CallTool(granted) => granted == "*" || *granted == real,
        _ => false,
    });
    let result = match (allowed, serde_json::from_str(arguments)) {
        (Err(denied), _) => dispatch::failure(&denied),
        (Ok(()), Err(error)) => dispatch::failure(&format!("the arguments are no JSON: {error}")),
        (Ok(()), Ok(arguments)) => dispatch::call(name, arguments),
    };
    result.to_string()
}

/// Looking needs a grant as well, for whichever tool.
fn look() -> Result<(), String> {
    world::need("call-tool", |capability| matches!(capability, Capability::CallTool(_)))
}

pub(crate) fn definitions() -> Result<Vec<ToolDefinition>, String> {
    look()?;
    let own = world::fresh().list_tools();
    let all = dispatch::names();
    let others = all.iter().skip(own.len()).map(|name| stand_in(name)).collect::<Vec<_>>();
    Ok([own, others].concat())
}

fn stand_in(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        description: format!("Stands in for {name}"),
        parameters: r#"{"type":"object"}"#.to_owned(),
        aliases: Vec::new(),
    }
}

pub(crate) fn find(name: &str) -> Result<ToolDefinition, String> {
    look()?;
    Ok(match dispatch::find(name) {
        Some((name, Runner::StandIn(_))) => stand_in(&name),
        Some((name, Runner::Plugin)) => {
            let own = world::fresh().list_tools().into_iter().find(|tool| tool.name == name);
            own.unwrap_or_else(|| stand_in(&name))
        }
        None => stand_in(&format!("{name}?")),
    })
}

pub(crate) fn validate(name: &str, _arguments: &str) -> Result<Vec<String>, String> {
    look()?;
    // Schemas are the host's to judge; a double knows only whether there is such a tool.
    Ok(if dispatch::find(name).is_some() { Vec::new() } else { vec![format!("unknown tool `{name}`")] })
}

pub(crate) fn hooks() -> Result<Vec<Hook>, String> {
    look()?;
    let plugin = world::fresh();
    let name = plugin.describe().name;
    let listed = plugin.list_hooks().into_iter().map(|hook| Hook {
        moment: match hook.moment {
            hooks::Moment::Before => Moment::Before,
            hooks::Moment::After => Moment::After,
        },
        tool: hook.tool,
        plugin: name.clone(),
    });
    Ok(listed.collect())
}
