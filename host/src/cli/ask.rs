//! `bellglass ask`: one turn for scripts.

mod events;
mod prompt;
mod shape;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::agent::TurnError;
pub(super) use crate::cli::ask::events::Events;
use crate::cli::ask::shape::Shape;
use crate::cli::{Exit, Global, beside, stdout};
use crate::completion::ProviderError;
use crate::session::Session;

/// Run one turn; the reply goes to standard output, all else to standard error
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The prompt; its words are joined. What is piped in is appended; `-` waits for all of it
    prompt: Vec<String>,
    /// One JSON object: reply, tool calls, usage, session, error
    #[arg(long, conflicts_with = "stream_json")]
    json: bool,
    /// One JSON object a line for each thing that happens, and the result as the last, whatever happens
    #[arg(long)]
    stream_json: bool,
    /// The reply is JSON that fits the JSON Schema in this file
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
}

pub(super) async fn run(global: &Global, args: Args) -> anyhow::Result<Exit> {
    if !args.stream_json {
        return turn(global, &args).await;
    }
    // Whoever reads the stream waits for its last line, whatever went wrong.
    let events = Events::default();
    let done = turn_with(global, &args, Some(events.clone())).await;
    if let Err(error) = &done
        && !events.has_ended()
    {
        let error = format!("{error:#}");
        stdout::json_line(&events.last(json!({"reply": null, "error": error, "ok": false})))?;
    }
    done
}

async fn turn(global: &Global, args: &Args) -> anyhow::Result<Exit> {
    turn_with(global, args, None).await
}

async fn turn_with(global: &Global, args: &Args, events: Option<Events>) -> anyhow::Result<Exit> {
    let prompt = prompt::prompt(&args.prompt).await?;
    let folders = global.folders()?;
    let shape = args.schema.as_ref().map(|it| Shape::load(&folders.workspace.join(it))).transpose()?;
    let (host, config) = global.host(&folders, false)?;
    let (conversation, notes) = global.conversation(&folders)?;
    let id = conversation.id().map(str::to_owned);
    super::notes(&notes);
    let options = global.session(&folders, &config, false)?;
    let (session, outputs) = Session::resume(host.clone(), options, conversation);
    if let Some(events) = &events {
        events.begin(id.as_deref())?;
    }
    let shown = tokio::spawn(beside::show(outputs, global.color_of_errors(), events.clone()));
    let reply = match &shape {
        None => ask(&session, &prompt).await.map_err(anyhow::Error::from),
        Some(shape) => in_shape(&session, shape, &prompt).await,
    };
    session.end();
    let seen = shown.await.unwrap_or_default();
    host.flush();
    let reply = reply
        .and_then(|text| if text.trim().is_empty() { Err(anyhow::anyhow!("the reply is empty")) } else { Ok(text) });
    let result = || -> Value {
        let usage = json!({"input_tokens": seen.usage.input, "output_tokens": seen.usage.output});
        let error = reply.as_ref().err().map(|it| format!("{it:#}"));
        let ok = error.is_none();
        let text = reply.as_ref().ok();
        json!({"reply": text, "tool_calls": seen.calls, "usage": usage, "session": id, "error": error, "ok": ok})
    };
    if args.json {
        stdout::json(&result())?;
    }
    if let Some(events) = &events {
        stdout::json_line(&events.last(result()))?;
    }
    match reply {
        Ok(_) if args.json || args.stream_json => Ok(Exit::Done),
        Ok(text) if shape.is_some() => {
            stdout::json_line(&text)?;
            Ok(Exit::Done)
        }
        Ok(text) => {
            stdout::line(crate::text::visible(text.trim_end_matches('\n')).as_ref())?;
            Ok(Exit::Done)
        }
        Err(error) => {
            let exit = status(&error);
            super::print_error(&error);
            Ok(exit)
        }
    }
}

/// Runs a turn; an interrupt ends it.
async fn ask(session: &Session, prompt: &str) -> Result<String, TurnError> {
    let asked = session.ask(prompt);
    tokio::pin!(asked);
    loop {
        tokio::select! {
            reply = &mut asked => return reply,
            _ = tokio::signal::ctrl_c() => session.interrupt(),
        }
    }
}

/// Asks for JSON of a shape; a reply that does not fit goes back once, with what is wrong.
async fn in_shape(session: &Session, shape: &Shape, prompt: &str) -> anyhow::Result<String> {
    let reply = ask(session, &shape.request(prompt)).await?;
    let wrong = match shape.read(&reply) {
        Ok(json) => return Ok(json),
        Err(wrong) => wrong,
    };
    let reply = ask(session, &shape.again(&wrong)).await?;
    shape
        .read(&reply)
        .map_err(|wrong| anyhow::anyhow!("the reply does not fit the schema, also the second time: {wrong}"))
}

fn status(error: &anyhow::Error) -> Exit {
    match error.downcast_ref() {
        Some(TurnError::Interrupted) => Exit::Interrupted,
        Some(TurnError::NoProvider(_)) => Exit::Usage,
        Some(TurnError::Provider(ProviderError::Unauthorized(_))) => Exit::Credentials,
        Some(TurnError::Rounds(_) | TurnError::Repeats) => Exit::Limit,
        Some(TurnError::Provider(ProviderError::Plugin(fault))) if fault.is_limit() => Exit::Limit,
        _ => Exit::Failed,
    }
}
