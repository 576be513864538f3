//! `bellglass chat`: the REPL, on a terminal or in a pipe.

use std::io::IsTerminal as _;

use crate::cli::{Exit, Global};
use crate::repl::{self, ReplOptions};
use crate::session::Session;

pub(super) async fn run(global: &Global) -> anyhow::Result<Exit> {
    let folders = global.folders()?;
    let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let (host, config) = global.host(&folders, false)?;
    let options = global.session(&folders, &config, interactive)?;
    let (conversation, notes) = global.conversation(&folders)?;
    let (session, outputs) = Session::resume(host.clone(), options, conversation);
    super::notes(&notes);
    let options =
        ReplOptions { interactive, color: global.color(std::io::stdout().is_terminal()), workspace: folders.workspace };
    let done = repl::run(session, outputs, options).await;
    host.flush();
    match done {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(Exit::Done),
    }
}
