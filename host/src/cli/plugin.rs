//! `bellglass plugin`: what is installed, what one plugin has and may do, and what a file is.

mod decide;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::capability::{Capability, Grant};
use crate::cli::{Exit, Global, report, stdout};
use crate::installed::Installed;
use crate::plugin::Plugin;
use crate::plugin::inspect::Inspection;
use crate::plugin::load::read_plugin;
use crate::text::{for_shell, visible_line};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List all plugins, also those that could not be loaded
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what one plugin has, asks for and may do
    Info {
        /// Its name
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Let plugins of a project be loaded: these very files, with no right yet
    Trust {
        /// Files, or the folder `.agents/plugins`
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Grant a plugin rights that it asks for, for good: as long as its file stays this one
    Grant {
        /// Its name
        name: String,
        /// Such as `read=.` or `http=https://example.org`; a kind alone grants all that is asked for of it
        #[arg(value_name = "KIND=VALUE", value_parser = parse_grant)]
        rights: Vec<Grant>,
        /// All that it asks for
        #[arg(long)]
        all: bool,
    },
    /// Take back what was granted; without a grant, everything and the trust in its file
    Revoke {
        /// Its name; or a file, to take back the trust in it
        name: String,
        /// Such as `read=.`
        #[arg(value_name = "KIND=VALUE", value_parser = parse_grant)]
        rights: Vec<Grant>,
    },
    /// Show what a file imports and exports, without running it
    Inspect {
        /// A `.wasm` file
        file: PathBuf,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

fn parse_grant(text: &str) -> Result<Grant, String> {
    Grant::parse(text).map_err(|it| it.to_string())
}

pub(super) async fn run(global: &Global, command: Command) -> anyhow::Result<Exit> {
    let folders = global.folders()?;
    let (host, _) = global.host(&folders, true)?;
    match command {
        Command::List { json } => list(&host.load().await, json),
        Command::Info { name, json } => {
            let installed = host.load().await;
            report(&installed.warnings);
            info(&installed, &name, json)
        }
        Command::Trust { paths } => decide::trust(&host, &folders, &paths).await,
        Command::Grant { name, rights, all } => decide::grant(&host, &name, &rights, all).await,
        Command::Revoke { name, rights } => decide::revoke(&host, &folders, &name, &rights),
        Command::Inspect { file, json } => inspect(&folders.workspace.join(file), host.limits().component, json),
    }
}

fn list(installed: &Installed, as_json: bool) -> anyhow::Result<Exit> {
    let counts = |plugin: &Arc<Plugin>| installed.plugins.iter().any(|it| Arc::ptr_eq(it, plugin));
    let mut rows = Vec::new();
    for file in &installed.files {
        let path = file.path.display().to_string();
        rows.push(match &file.plugin {
            Ok(plugin) => json!({
                "name": plugin.name().as_str(),
                "version": plugin.listing().version,
                "description": plugin.listing().description,
                "state": if counts(plugin) { "loaded" } else { "replaced" },
                "origin": file.origin,
                "path": path,
                "sha256": plugin.hash(),
                "cached": file.cached,
            }),
            Err(error) => {
                json!({"state": "failed", "error": error.to_string(), "origin": file.origin, "path": path})
            }
        });
    }
    for file in &installed.waiting {
        rows.push(json!({
            "state": "waiting for trust",
            "origin": "project",
            "path": file.path.display().to_string(),
            "sha256": file.sha256,
        }));
    }
    if as_json {
        report(&installed.warnings);
        stdout::json(&Value::Array(rows))?;
        return Ok(Exit::Done);
    }
    let text = |row: &Value, key: &str| visible_line(row[key].as_str().unwrap_or_default()).into_owned();
    let line = |row: &Value| {
        // What has no name has a path, which goes last: it is as long as it likes.
        let (name, about) = match (row["name"].as_str(), row["error"].as_str()) {
            (Some(name), _) => (name.to_owned(), text(row, "description")),
            (None, Some(_)) => ("-".into(), format!("{}: {}", text(row, "path"), text(row, "error"))),
            (None, None) => ("-".into(), text(row, "path")),
        };
        vec![name, text(row, "version"), text(row, "origin"), text(row, "state"), about]
    };
    stdout::line(&stdout::table(&rows.iter().map(line).collect::<Vec<_>>()))?;
    Ok(Exit::Done)
}

fn info(installed: &Installed, name: &str, as_json: bool) -> anyhow::Result<Exit> {
    let plugin = decide::find(installed, name)?;
    let listing = plugin.listing();
    let grants = plugin.grants();
    let granted = |it: &Capability| grants.allows(it);
    if as_json {
        let asked = |it: &(Capability, String)| json!({"capability": it.0.to_string(), "reason": it.1, "granted": granted(&it.0)});
        let names = |it: Vec<String>| it;
        stdout::json(&json!({
            "name": name,
            "version": listing.version,
            "description": listing.description,
            "origin": plugin.origin(),
            "path": plugin.path().display().to_string(),
            "sha256": plugin.hash(),
            "bytes": plugin.bytes(),
            "lifetime": if listing.keeps_instance { "session" } else { "call" },
            "capabilities": plugin.asked().iter().map(asked).collect::<Vec<_>>(),
            "tools": names(plugin.definitions().map(|it| it.name.to_string()).collect()),
            "hooks": listing.hooks,
            "commands": names(listing.commands.iter().map(|it| it.name.clone()).collect()),
            "providers": names(listing.providers.iter().map(|it| it.name.clone()).collect()),
        }))?;
        return Ok(Exit::Done);
    }
    let mut rows = vec![
        vec!["plugin".into(), format!("{name} {}", visible_line(&listing.version))],
        vec!["about".into(), visible_line(&listing.description).into_owned()],
        vec!["file".into(), format!("{} ({}, {} bytes)", plugin.path().display(), plugin.origin(), plugin.bytes())],
        vec!["sha256".into(), plugin.hash().into()],
        vec![
            "instance".into(),
            if listing.keeps_instance { "one for the session" } else { "a fresh one for each call" }.into(),
        ],
    ];
    let mut list = |label: &str, items: Vec<String>| {
        for (place, item) in items.into_iter().enumerate() {
            rows.push(vec![if place == 0 { label.into() } else { String::new() }, visible_line(&item).into_owned()]);
        }
    };
    list("tools", plugin.definitions().map(|it| it.name.to_string()).collect());
    let hook = |it: &crate::listing::ListedHook| {
        let moment = if it.before { "before" } else { "after" };
        format!("{moment} {}", it.tool.as_deref().unwrap_or("every tool"))
    };
    list("hooks", listing.hooks.iter().map(hook).collect());
    list("commands", listing.commands.iter().map(|it| format!("/{}", it.name)).collect());
    list("providers", listing.providers.iter().map(|it| it.name.clone()).collect());
    let right = |(capability, reason): &(Capability, String)| {
        let state = if granted(capability) {
            "granted".to_owned()
        } else {
            format!("not granted: `bellglass plugin grant {name} {}`", for_shell(&Grant::from(capability).to_string()))
        };
        format!("{capability}: {reason} ({state})")
    };
    list("rights", plugin.asked().iter().map(right).collect());
    stdout::line(&stdout::table(&rows))?;
    Ok(Exit::Done)
}

fn inspect(file: &std::path::Path, limit: usize, as_json: bool) -> anyhow::Result<Exit> {
    let context = || format!("cannot inspect `{}`", file.display());
    let content = read_plugin(file, limit).map_err(|it| anyhow::Error::from(it).context(context()))?;
    let inspection = Inspection::of(&content).map_err(|it| anyhow::Error::from(it).context(context()))?;
    let problem = inspection.check().err().map(|it| it.to_string());
    let exit = if problem.is_some() { Exit::Failed } else { Exit::Done };
    if as_json {
        stdout::json(&json!({
            "imports": inspection.imports,
            "exports": inspection.exports,
            "kinds": inspection.kinds(),
            "problem": problem,
        }))?;
        return Ok(exit);
    }
    let mut rows = Vec::new();
    for (label, names) in [("imports", &inspection.imports), ("exports", &inspection.exports)] {
        for (place, name) in names.iter().enumerate() {
            rows.push(vec![if place == 0 { label.into() } else { String::new() }, visible_line(name).into_owned()]);
        }
    }
    rows.push(vec!["verdict".into(), problem.unwrap_or_else(|| "a plugin that this host can load".into())]);
    stdout::line(&stdout::table(&rows))?;
    Ok(exit)
}
