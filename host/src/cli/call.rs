//! `bellglass call`: one tool, one JSON object on standard output.

use std::io::Read as _;

use crate::cli::{Exit, Global, Usage, beside, stdout};
use crate::session::Session;

/// Run one tool without a model, and print its result as one JSON object
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The tool: its name, an alias, or `plugin.tool`
    tool: String,
    /// Its arguments, as JSON; `-` reads them from standard input
    #[arg(value_name = "JSON", default_value = "{}", allow_hyphen_values = true)]
    arguments: String,
}

pub(super) async fn run(global: &Global, args: Args) -> anyhow::Result<Exit> {
    let folders = global.folders()?;
    let (host, config) = global.host(&folders, true)?;
    let arguments = if args.arguments == "-" { read_all(host.limits().value)? } else { args.arguments };
    let (session, outputs) = Session::start(host.clone(), global.session(&folders, &config, false)?);
    let shown = tokio::spawn(beside::show(outputs, global.color_of_errors(), None));
    let called = async {
        let installed = session.installed().await?;
        // On a task of its own: the main thread only waits.
        let (tool, context) = (args.tool, session.context());
        // It may be the tool of a plugin that nobody trusted yet; a warning has told how to.
        let waits = installed.toolbox.find(&tool).is_none() && !installed.waiting.is_empty();
        let called =
            tokio::spawn(async move { installed.toolbox.run(&tool, &arguments, &context).await }).await.ok()?;
        Some(if waits { called.by_denial() } else { called })
    };
    let outcome = tokio::select! {
        outcome = called => outcome,
        _ = tokio::signal::ctrl_c() => {
            host.flush();
            return Ok(Exit::Interrupted);
        }
    };
    session.end();
    let _ = shown.await;
    host.flush();
    let Some(outcome) = outcome else { return Ok(Exit::Failed) };
    stdout::json_line(&outcome.to_json())?;
    for hint in outcome.hints() {
        super::say(&format!("hint: {hint}"));
    }
    Ok(match outcome.ok() {
        true => Exit::Done,
        false if outcome.was_denied() => Exit::Denied,
        false if outcome.hit_a_limit() => Exit::Limit,
        false if outcome.lacks_secret() => Exit::Credentials,
        false => Exit::Failed,
    })
}

/// Reads arguments of at most `limit` bytes.
fn read_all(limit: usize) -> anyhow::Result<String> {
    let mut text = Vec::new();
    std::io::stdin().lock().take(limit as u64 + 1).read_to_end(&mut text)?;
    if text.len() > limit {
        let limit = crate::fault::bytes(limit);
        return Err(Usage(format!("the arguments on standard input are larger than {limit}")).into());
    }
    String::from_utf8(text).map_err(|_| Usage("the arguments on standard input are not UTF-8".into()).into())
}
