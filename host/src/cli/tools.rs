//! `bellglass tools`: what the model is told.

use serde_json::Value;

use crate::cli::{Exit, Global, report, stdout};
use crate::text::{visible, visible_line};

/// Show what the model is told of the tools
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// One tool, with its parameters
    name: Option<String>,
    /// As JSON: the definitions as they are sent
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> anyhow::Result<Exit> {
    let folders = global.folders()?;
    let (host, _) = global.host(&folders, true)?;
    let installed = host.load().await;
    report(&installed.warnings);
    let toolbox = &installed.toolbox;
    match args.name {
        None if args.json => stdout::json(&Value::Array(toolbox.definitions().map(|it| it.to_json()).collect()))?,
        None => {
            let row = |it: &crate::tool::ToolDefinition| {
                let first_line = it.description.lines().next().unwrap_or_default();
                vec![it.name.to_string(), visible_line(first_line).into_owned()]
            };
            stdout::line(&stdout::table(&toolbox.definitions().map(row).collect::<Vec<_>>()))?;
        }
        Some(name) => {
            let Some(tool) = toolbox.find(&name) else { anyhow::bail!(toolbox.validate(&name, "{}").join(", ")) };
            if args.json {
                stdout::json(&tool.to_json())?;
                return Ok(Exit::Done);
            }
            let plugin = toolbox.plugin_of(&name).map(|it| it.name().to_string()).unwrap_or_default();
            let aliases = tool.aliases.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let parameters = serde_json::to_string_pretty(&*tool.parameters)?;
            let mut text = format!("{} (plugin {plugin})\n{}", tool.name, visible(&tool.description));
            if !aliases.is_empty() {
                text.push_str(&format!("\naliases: {aliases}"));
            }
            stdout::line(&format!("{text}\n{}", visible(&parameters)))?;
        }
    }
    Ok(Exit::Done)
}
