//! `bellglass session`: the conversations on disk.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::{Exit, Global, report, stdout};
use crate::sessions::{Read, Sessions};
use crate::text::{visible, visible_line};
use crate::transcript::{Message, Role};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List the sessions of this folder, the newest first
    List {
        /// Those of all folders
        #[arg(long)]
        all: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a conversation
    Show {
        /// Its id or the start of it
        id: String,
        /// As JSON: one object a message
        #[arg(long)]
        json: bool,
    },
    /// Go on with a session in the REPL
    Resume {
        /// Its id or the start of it
        id: String,
    },
    /// Write a conversation as Markdown
    Export {
        /// Its id or the start of it
        id: String,
        /// The file; else standard output
        #[arg(short = 'f', long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Delete sessions
    Delete {
        /// Their ids or the start of each
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}

pub(super) async fn run(mut global: Global, command: Command) -> anyhow::Result<Exit> {
    let folders = global.folders()?;
    let sessions = Sessions::new(folders.sessions().ok_or_else(super::no_state)?);
    match command {
        Command::List { all, json } => list(&sessions, (!all).then_some(folders.workspace.as_path()), json),
        Command::Show { id, json } => {
            let read = Sessions::read(&sessions.find(&id)?)?;
            report(&read.left_out);
            for message in read.transcript.messages() {
                if json {
                    stdout::line(&serde_json::to_string(message)?)?;
                } else {
                    stdout::line(&shown(message))?;
                }
            }
            Ok(Exit::Done)
        }
        Command::Resume { id } => {
            global.resume(id);
            super::chat::run(&global).await
        }
        Command::Export { id, file } => {
            let read = Sessions::read(&sessions.find(&id)?)?;
            report(&read.left_out);
            let text = markdown(&read);
            match file {
                None => stdout::line(text.trim_end())?,
                Some(file) => {
                    let file = folders.workspace.join(file);
                    std::fs::write(&file, text)
                        .map_err(|error| anyhow::anyhow!("cannot write `{}`: {error}", file.display()))?;
                }
            }
            Ok(Exit::Done)
        }
        Command::Delete { ids } => {
            // All are found before the first is gone.
            let files = ids.iter().map(|id| sessions.find(id)).collect::<Result<Vec<_>, _>>()?;
            for file in files {
                Sessions::delete(&file)?;
                let id = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                stdout::line(&format!("deleted {id}"))?;
            }
            Ok(Exit::Done)
        }
    }
}

fn list(sessions: &Sessions, workspace: Option<&Path>, as_json: bool) -> anyhow::Result<Exit> {
    let workspace = workspace.map(|it| it.canonicalize().unwrap_or_else(|_| it.to_owned()));
    let mut list = sessions.list()?;
    list.retain(|it| workspace.as_ref().is_none_or(|workspace| it.header.workspace == *workspace));
    if as_json {
        let row = |it: &crate::sessions::Summary| {
            json!({
                "id": it.header.id,
                "title": it.title,
                "messages": it.messages,
                "started": format!("{:.0}", it.header.started),
                "changed": format!("{:.0}", it.changed),
                "workspace": it.header.workspace.display().to_string(),
            })
        };
        stdout::json(&list.iter().map(row).collect())?;
        return Ok(Exit::Done);
    }
    let row = |it: &crate::sessions::Summary| {
        let folder = if workspace.is_none() { it.header.workspace.display().to_string() } else { String::new() };
        let messages = if it.messages == 1 { "1 message".into() } else { format!("{} messages", it.messages) };
        vec![it.header.id.clone(), format!("{:.0}", it.changed), messages, it.title.clone(), folder]
            .into_iter()
            .map(|it| visible_line(&it).into_owned())
            .collect()
    };
    stdout::line(&stdout::table(&list.iter().map(row).collect::<Vec<Vec<String>>>()))?;
    Ok(Exit::Done)
}

/// One message for a person on a terminal.
fn shown(message: &Message) -> String {
    let mut text = match message.role {
        Role::User => format!("> {}", visible(&message.content)),
        Role::Assistant | Role::System => visible(&message.content).into_owned(),
        Role::Tool => format!("= {}", visible_line(&message.content)),
    };
    for call in &message.tool_calls {
        let newline = if text.is_empty() { "" } else { "\n" };
        text += &format!("{newline}+ {}({})", visible_line(&call.name), visible_line(&call.arguments));
    }
    text
}

fn markdown(read: &Read) -> String {
    let mut text = format!("# Session {}\n\n{:.0}\n", read.header.id, read.header.started);
    for message in read.transcript.messages() {
        let title = match message.role {
            Role::User => "You",
            Role::Assistant | Role::System => "Model",
            Role::Tool => "Tool",
        };
        text += &format!("\n## {title}\n");
        if !message.content.is_empty() {
            let content = visible(&message.content);
            let content = if message.role == Role::Tool { fenced(&content) } else { content.into_owned() };
            text += &format!("\n{content}\n");
        }
        for call in &message.tool_calls {
            text += &format!("\n`{}` with\n\n{}\n", visible_line(&call.name), fenced(&visible(&call.arguments)));
        }
    }
    text
}

/// A block of code whose fence is longer than any in it.
fn fenced(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}
