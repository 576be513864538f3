//! `bellglass plugin trust`, `grant` and `revoke`: what a person decides about plugins, kept in `grants.toml`.
//!
//! Apart from looking at plugins, because these write.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::capability::{Capability, Grant, Grants};
use crate::cli::{Exit, Hint, Usage, report, stdout};
use crate::folders::Folders;
use crate::grants::{About, Keep};
use crate::installed::{Host, Installed};
use crate::name::PluginName;
use crate::plugin::Plugin;
use crate::plugin::discover::Origin;
use crate::plugin::load::read_plugin;
use crate::text::visible_line;

/// Trusts files, then says what each of them asks for.
pub(super) async fn trust(host: &Host, folders: &Folders, paths: &[PathBuf]) -> anyhow::Result<Exit> {
    let files = files(&folders.workspace, paths, host.limits().component)?;
    for (path, content) in &files {
        let sha256 = crate::plugin::load::sha256(content);
        host.book().trust(path, &sha256, Keep::Always)?;
        stdout::line(&format!("trusted {} (sha256 {sha256})", visible_line(&path.to_string_lossy())))?;
    }
    let installed = host.load().await;
    let places = folders.project_plugins().and_then(|it| it.canonicalize().ok());
    for (path, _) in &files {
        if path.parent() != places.as_deref() {
            let shown = visible_line(&path.to_string_lossy()).into_owned();
            report(&[format!("`{shown}` is not in `.agents/plugins` of this folder: it is loaded where it is")]);
        }
        let found = installed.plugins.iter().find(|it| it.subject().file.as_ref() == Some(path));
        if let Some(plugin) = found {
            stdout::line(&wants(plugin))?;
        }
    }
    Ok(Exit::Done)
}

/// The files behind the arguments, by their real paths, with their content.
fn files(workspace: &Path, paths: &[PathBuf], limit: usize) -> anyhow::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    for path in paths {
        let path = workspace.join(path);
        let shown = visible_line(&path.to_string_lossy()).into_owned();
        let real = path.canonicalize().map_err(|it| anyhow::anyhow!("cannot read `{shown}`: {it}"))?;
        let mut inside = vec![real.clone()];
        if real.is_dir() {
            inside = std::fs::read_dir(&real)?.flatten().map(|it| it.path()).collect();
            inside.retain(|it| it.extension().is_some_and(|it| it == "wasm"));
            inside.sort();
        }
        if inside.is_empty() {
            return Err(Usage(format!("no plugin is in `{shown}`, expected files `*.wasm`")).into());
        }
        for file in inside {
            let content = read_plugin(&file, limit).map_err(|it| anyhow::anyhow!("`{}`: {it}", file.display()))?;
            files.push((file, content));
        }
    }
    Ok(files)
}

/// What a plugin asks for and lacks, and the command that grants it.
fn wants(plugin: &Plugin) -> String {
    let name = plugin.name();
    let missing = plugin.missing();
    if missing.is_empty() {
        return format!("plugin `{name}` has all that it asks for");
    }
    let mut text = format!("plugin `{name}` asks for what it does not have:");
    for (capability, reason) in missing {
        text += &format!("\n  {capability}: \"{}\"", visible_line(&reason));
    }
    text + &format!("\n`bellglass plugin grant {name} --all` grants it")
}

/// Grants for good: all that the plugin asks for, or what is named.
pub(super) async fn grant(host: &Host, name: &str, grants: &[Grant], all: bool) -> anyhow::Result<Exit> {
    let installed = host.load().await;
    let plugin = find(&installed, name)?;
    if plugin.origin() == Origin::Bundled {
        return Err(Usage(format!("plugin `{name}` is bundled: it has all that it asks for")).into());
    }
    let asked: Vec<Capability> = plugin.asked().iter().map(|it| it.0.clone()).collect();
    let mut given = Grants::default();
    if all {
        asked.iter().for_each(|it| given.add(Grant::from(it)));
    }
    for grant in grants {
        let mut alone = Grants::default();
        alone.add(grant.clone());
        if alone.effective(&asked).is_empty() {
            return Err(anyhow::Error::from(Usage(format!("plugin `{name}` does not ask for `{grant}`")))
                .context(Hint(wants(plugin))));
        }
        given.add(grant.clone());
    }
    if given.is_empty() {
        return Err(anyhow::Error::from(Usage("name what to grant, or `--all`".into())).context(Hint(wants(plugin))));
    }
    let about = About { version: &plugin.listing().version, asked: &asked };
    host.book().grant(&plugin.subject(), about, &given, Keep::Always)?;
    for capability in given.effective(&asked).iter() {
        stdout::line(&format!("plugin `{name}` may {capability}"))?;
    }
    Ok(Exit::Done)
}

/// Takes back grants, or all of them, or the trust in a file.
pub(super) fn revoke(host: &Host, folders: &Folders, which: &str, grants: &[Grant]) -> anyhow::Result<Exit> {
    let name = PluginName::try_from(which.to_owned());
    let taken = match &name {
        Ok(name) => host.book().revoke(name, grants)?,
        Err(_) if grants.is_empty() => {
            let path = folders.workspace.join(which);
            host.book().distrust(&path.canonicalize().unwrap_or(path))?
        }
        Err(error) => return Err(Usage(error.to_string()).into()),
    };
    let which = visible_line(which);
    if taken == 0 {
        anyhow::bail!("nothing was granted to `{which}` that this would take back");
    }
    let what = if taken == 1 { "1 decision".to_owned() } else { format!("{taken} decisions") };
    stdout::line(&format!("took back {what} about `{which}`"))?;
    Ok(Exit::Done)
}

pub(super) fn find<'i>(installed: &'i Installed, name: &str) -> anyhow::Result<&'i Arc<Plugin>> {
    if let Some(plugin) = installed.plugins.iter().find(|it| it.name().as_str() == name) {
        return Ok(plugin);
    }
    let names: Vec<&str> = installed.plugins.iter().map(|it| it.name().as_str()).collect();
    let error = anyhow::anyhow!("unknown plugin `{}`, expected one of: {}", visible_line(name), names.join(", "));
    Err(match installed.waiting.first() {
        Some(first) => {
            let trust = first.trust_command(installed.waiting.len() > 1);
            error.context(Hint(format!("plugins of this project wait for trust: `{trust}`")))
        }
        None => error,
    })
}
