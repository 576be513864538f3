//! The slash commands of the session itself: what a plugin can do that only adds commands. Each is a function that says
//! something or returns an error that tells what to type instead.

mod context;

use bellglass_guest::{
    Capability, Result, Setup, agents, conversation, serde_json,
    session::{self, Command},
    terminal, toolbox,
};

fn setup(setup: &mut Setup) {
    setup
        .plugin("session", "Slash commands for the session itself")
        .asks(Capability::SessionControl, "for /exit and /reload")
        .asks(Capability::Conversation, "for /clear and /context")
        .asks(Capability::Model, "for /provider")
        .asks(Capability::call_tool("*"), "for /tools, which lists them; it runs none");
    setup.command("help", "List the commands", help);
    setup.command("exit", "End the session", exit);
    setup.command("clear", "Forget the conversation", clear);
    setup.command("reload", "Load all plugins again", reload);
    setup.command("tools", "List the tools, or show one: /tools NAME", tools).completions(|_| tool_names());
    setup.command("context", "Show what the model would get: /context [N|json]", context::show).choices(["json"]);
    setup
        .command("provider", "Show the provider, or switch it: /provider NAME", provider)
        .completions(|_| agents::provider_names().unwrap_or_default());
}

bellglass_guest::export!(setup);

fn help(_: Option<&str>) {
    let commands = session::commands();
    terminal::say(&table(commands.iter().map(|Command { name, description }| (format!("/{name}"), &**description))));
}

fn exit(_: Option<&str>) -> Result {
    Ok(session::exit()?)
}

fn clear(_: Option<&str>) -> Result {
    conversation::clear()?;
    terminal::say("The conversation is empty.");
    Ok(())
}

fn reload(_: Option<&str>) -> Result {
    Ok(session::reload()?)
}

fn tools(name: Option<&str>) -> Result {
    let Some(name) = name.map(str::trim) else {
        let tools = toolbox::definitions()?;
        let lines = tools.iter().map(|tool| (tool.name.clone(), first_line(&tool.description)));
        terminal::say(&table(lines));
        return Ok(());
    };
    let tool = toolbox::find(name)?;
    // An unknown name gives a stand-in whose name is the one asked for and a question mark.
    if tool.name.strip_suffix('?') == Some(name) {
        return Err(format!("no tool `{name}`; type /tools NAME with one of: {}", tool_names().join(", ")).into());
    }
    terminal::say(&format!("{}: {}", tool.name, tool.description));
    terminal::say(&serde_json::to_string_pretty(&tool.schema())?);
    Ok(())
}

fn tool_names() -> Vec<String> {
    toolbox::definitions().unwrap_or_default().into_iter().map(|tool| tool.name).collect()
}

fn provider(name: Option<&str>) -> Result {
    let names = agents::provider_names()?;
    if let Some(name) = name.map(str::trim) {
        if !names.iter().any(|known| known == name) {
            return Err(format!("no provider `{name}`; type /provider NAME with one of: {}", names.join(", ")).into());
        }
        agents::use_provider(name, None, None)?;
    }
    let current = agents::current_provider()?;
    let model = current.model.map(|model| format!(", model {model}")).unwrap_or_default();
    terminal::say(&format!("provider: {}{model}", current.name));
    terminal::say(&format!("available: {}", names.join(", ")));
    Ok(())
}

/// Two columns, the second aligned.
fn table<'a>(rows: impl Iterator<Item = (String, &'a str)>) -> String {
    let rows: Vec<_> = rows.collect();
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let lines = rows.iter().map(|(name, text)| format!("{name:width$}  {text}").trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
