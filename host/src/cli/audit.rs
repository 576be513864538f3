//! `bellglass audit`: what plugins did.

use crate::audit::{Entry, Filter, after, read};
use crate::cli::{Exit, Global, stdout};
use crate::text::visible_line;

/// Show what plugins did: each call with its rights, and what it was refused
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Of one plugin
    #[arg(long = "of", value_name = "PLUGIN")]
    of: Option<String>,
    /// Of one tool, command or provider
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Only calls in which something was refused
    #[arg(long)]
    denied: bool,
    /// Only since then: `15min`, `2h`, `3d`, or a time such as `2026-12-01T08:00:00Z`
    #[arg(long, value_name = "WHEN", value_parser = after)]
    since: Option<String>,
    /// The last so many; all with 0
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    last: usize,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(global: &Global, args: Args) -> anyhow::Result<Exit> {
    let folders = global.folders()?;
    let folder = folders.audit().ok_or_else(super::no_state)?;
    let last = (args.last > 0).then_some(args.last);
    let filter = Filter { plugin: args.of, name: args.name, denied: args.denied, since: args.since, last };
    let entries = read(&folder, &filter)
        .map_err(|error| anyhow::anyhow!("cannot read the audit log in `{}`: {error}", folder.display()))?;
    if args.json {
        for entry in &entries {
            stdout::line(entry.to_line().trim_end())?;
        }
        return Ok(Exit::Done);
    }
    stdout::line(&stdout::table(&entries.iter().map(row).collect::<Vec<_>>()))?;
    Ok(Exit::Done)
}

fn row(entry: &Entry) -> Vec<String> {
    let kind = serde_json::to_value(entry.kind).unwrap_or_default();
    let used = |it: &crate::audit::Used| format!("{}{}", if it.allowed { "" } else { "refused " }, it.grant);
    let uses: Vec<String> = entry.uses.iter().map(used).collect();
    let times = entry.times;
    let total = times.instantiate + times.guest + times.host;
    let cells = [
        &entry.time,
        &format!("{}.{}", entry.plugin, entry.name),
        kind.as_str().unwrap_or_default(),
        &entry.ended,
        &format!("{}.{:03} ms", total / 1000, total % 1000),
        &uses.join(", "),
    ];
    cells.into_iter().map(|it| visible_line(it).into_owned()).collect()
}
