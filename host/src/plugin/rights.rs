//! What a plugin asked for and was granted, made into the folders, variables and settings of its sandbox.
//!
//! Apart from loading, because this is where a right becomes a handle.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::audit::Audit;
use crate::capability::{Base, Capability, Credential, Folder, Grant, GrantSet, Grants, Kind, Mode, VariableName};
use crate::grants::{Decision, GrantBook, Subject};
use crate::limits::Limits;
use crate::listing::{Asked, Listing};
use crate::name::PluginName;
use crate::network::NetworkSettings;
use crate::plugin::Plugin;
use crate::plugin::discover::Origin;
use crate::plugin::reserved;
use crate::policy::Policy;
use crate::sandbox::guest::{Identity, OpenFolder};
use crate::sandbox::http::Network;
use crate::sandbox::program::confine::without;
use crate::sandbox::program::{Place, environment};
use crate::secrets::Secrets;

/// Where this process works, and what the user set: the same for all plugins.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The folder that plugins know as `.`.
    pub workspace: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Where plugins keep their `storage`; none where nothing is kept.
    pub storage: Option<PathBuf>,
    /// Folders that no grant opens: compiled code.
    pub private: Vec<PathBuf>,
    /// Other folders of this program itself: configuration, state. A grant of a folder above does not include them.
    pub own: Vec<PathBuf>,
    /// Where plugins are, folders and files. A grant to write a folder above does not include them.
    pub plugin_places: Vec<PathBuf>,
    /// What `--grant` gave, to which plugin; one with several grants stands there several times.
    pub grants: Vec<(PluginName, Grant)>,
    /// What the user decided about plugins, in this session and before.
    pub book: Arc<GrantBook>,
    /// The rules about calls.
    pub policy: Arc<Policy>,
    /// Where it is kept what plugins do; none where nothing is.
    pub audit: Option<Arc<Audit>>,
    /// The `[plugin.NAME]` tables of the user's configuration.
    pub settings: Vec<(PluginName, Map<String, Value>)>,
    /// The environment variables that this process has.
    pub variables: Vec<(String, String)>,
    /// How requests go out.
    pub network: NetworkSettings,
    /// What may be added to them.
    pub secrets: Arc<Secrets>,
}

/// Parses what a plugin asks for. What cannot be parsed cannot be granted: it is left out, with a warning.
pub(crate) fn asked(listing: &Listing, warnings: &mut Vec<String>) -> Vec<(Capability, String)> {
    let mut parsed = Vec::new();
    for it in &listing.asked {
        match capability(it) {
            Ok(capability) => parsed.push((capability, it.reason.clone())),
            Err(error) => warnings.push(format!("asks for something that cannot be granted: {error}")),
        }
    }
    parsed
}

fn capability(asked: &Asked) -> Result<Capability, String> {
    if let Some([secret, origin, header, prefix]) = &asked.credential {
        let credential = Credential::parse(secret, origin, header, prefix).map_err(|it| it.to_string())?;
        return Ok(Capability::Credential(credential));
    }
    let kind = Kind::ALL.into_iter().find(|it| it.as_str() == asked.kind);
    let kind = kind.ok_or_else(|| format!("unknown kind `{}`", asked.kind))?;
    Capability::parse(kind, &asked.value).map_err(|it| it.to_string())
}

/// Makes the identity under which a plugin's instances run.
pub(crate) fn identity(
    listing: &Listing,
    wanted: &[Capability],
    subject: &Subject,
    lent: &Grants,
    surroundings: &Surroundings,
    limits: &Limits,
    warnings: &mut Vec<String>,
) -> Identity {
    let name = &listing.name;
    let grants = if subject.origin == Origin::Bundled.as_str() {
        crate::capability::effective(wanted, wanted)
    } else {
        let mut granted = Grants::default();
        surroundings.grants.iter().filter(|it| it.0 == *name).for_each(|it| granted.add(it.1.clone()));
        if let Decision::Granted(kept) = surroundings.book.decision(subject) {
            kept.iter().for_each(|it| granted.add(it.clone()));
        }
        lent.iter().for_each(|it| granted.add(it.clone()));
        granted.effective(wanted)
    };
    let mut folders = Vec::new();
    for (folder, mode) in grants.folders() {
        match host_folder(folder, mode, surroundings) {
            Ok(host) => folders.extend(spellings(folder, host, mode, surroundings)),
            Err(reason) => warnings.push(format!("was granted `{folder}`, which cannot be opened: {reason}")),
        }
    }
    for folder in grants.named_to_write().filter(|it| !grants.folders().any(|(known, _)| known == *it)) {
        // Covered by a folder above, but for what that one does not include.
        if let Ok(host) = host_folder(folder, Mode::Write, surroundings)
            && reserved::is_reserved(&host, surroundings)
        {
            folders.extend(spellings(folder, host, Mode::Write, surroundings));
        }
    }
    let is_folder = |it: &&Capability| matches!(it.kind(), Kind::Read | Kind::Write);
    let unopened = wanted.iter().filter(is_folder).filter(|it| !grants.allows(it)).map(Grant::from).collect();
    let programs = programs(&folders, surroundings);
    let variables = variables(&grants, wanted, surroundings, warnings);
    // Settings of the user's configuration are for plugins that the user installed, not for one of a cloned repository.
    let own = surroundings.settings.iter().find(|it| it.0 == *name && subject.origin != Origin::Project.as_str());
    let settings = own.map(|it| Value::Object(it.1.clone()).to_string()).unwrap_or_else(|| "{}".into());
    let storage = surroundings.storage.as_ref().map(|it| it.join(&subject.origin).join(name.as_str()));
    let network = Network::new(surroundings.network.clone(), surroundings.secrets.clone(), limits);
    Identity {
        name: name.clone(),
        grants: Arc::new(grants),
        folders,
        unopened,
        variables,
        storage,
        storage_limit: limits.storage,
        programs,
        storage_lock: Default::default(),
        settings,
        network: Arc::new(network),
    }
}

/// Programs start in the workspace; they write there, and where the plugin itself may write, but never in our own folders.
fn programs(folders: &[OpenFolder], surroundings: &Surroundings) -> Place {
    let real = |it: &PathBuf| it.canonicalize().unwrap_or_else(|_| it.clone());
    let private: Vec<PathBuf> = surroundings.private.iter().chain(&surroundings.own).map(real).collect();
    let granted = folders.iter().filter(|it| it.mode == Mode::Write).map(|it| it.host.clone());
    let temporary = surroundings.variables.iter().find(|it| it.0 == "TMPDIR").map(|it| PathBuf::from(&it.1));
    let temporary = temporary.filter(|it| it.is_absolute());
    let mut writable: Vec<PathBuf> = granted.chain([real(&surroundings.workspace)]).chain(temporary).collect();
    writable.sort();
    writable.dedup();
    Place {
        workspace: surroundings.workspace.clone(),
        variables: environment(&surroundings.variables),
        writable: writable.iter().flat_map(|it| without(it, &private)).collect(),
    }
}

/// The granted environment variables. One that holds a secret is none of them: the host adds it to requests instead.
fn variables(
    grants: &GrantSet,
    asked: &[Capability],
    surroundings: &Surroundings,
    warnings: &mut Vec<String>,
) -> Vec<(String, String)> {
    let is_own_secret =
        |name: &VariableName| asked.iter().any(|it| matches!(it, Capability::Credential(it) if it.secret() == name));
    let mut variables = Vec::new();
    for name in grants.env_names() {
        let is_secret = VariableName::parse(name)
            .is_ok_and(|it| is_own_secret(&it) || surroundings.secrets.is_variable_of_secret(&it));
        if is_secret {
            warnings.push(format!("was granted the variable `{name}`, which is a secret: no plugin reads one"));
            continue;
        }
        variables.extend(surroundings.variables.iter().filter(|it| it.0 == name).cloned());
    }
    variables
}

/// Says which of the grants of this run give nothing: a name that no plugin has, a right that the plugin does not ask for.
pub(crate) fn idle_grants(surroundings: &Surroundings, plugins: &[Arc<Plugin>]) -> Vec<String> {
    let mut idle = Vec::new();
    for (name, grant) in &surroundings.grants {
        let Some(plugin) = plugins.iter().find(|it| it.name() == name) else {
            let names: Vec<&str> = plugins.iter().map(|it| it.name().as_str()).collect();
            let names = names.join(", ");
            idle.push(format!("a grant is for plugin `{name}`, which there is not; there are: {names}"));
            continue;
        };
        let asked: Vec<Capability> = plugin.asked().iter().map(|it| it.0.clone()).collect();
        let mut alone = Grants::default();
        alone.add(grant.clone());
        if alone.effective(&asked).is_empty() {
            let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
            let asks = if asked.is_empty() { "nothing".into() } else { asked.join("; ") };
            idle.push(format!("plugin `{name}` does not ask for the grant `{grant}`; it asks for: {asks}"));
        }
    }
    // One plugin may have several grants.
    idle.dedup();
    idle
}

/// Where a granted folder is. A link inside the workspace that leads out of it is not what the user granted.
fn host_folder(folder: &Folder, mode: Mode, surroundings: &Surroundings) -> Result<PathBuf, String> {
    let base = match folder.base() {
        Base::Workspace => surroundings.workspace.clone(),
        Base::Home => surroundings.home.clone().ok_or("there is no home folder")?,
    };
    let base = base.canonicalize().map_err(|it| it.to_string())?;
    let path = folder.names().iter().fold(base.clone(), |path, name| path.join(name));
    let real = path.canonicalize().map_err(|it| it.to_string())?;
    if !real.starts_with(&base) {
        return Err(format!("it leads out of `{}`", base.display()));
    }
    for private in &surroundings.private {
        let private = reserved::real(private);
        if real.starts_with(&private) {
            return Err(format!("`{}` is bellglass's own", private.display()));
        }
    }
    // What has to be named is not named by a link to it.
    if real != path && reserved::has_to_be_named(&real, &base, mode, surroundings) {
        return Err(format!("it is a link to `{}`, which a grant has to name itself", real.display()));
    }
    Ok(real)
}

/// The names under which a guest finds a folder: as it asked for it, and as an absolute path.
fn spellings(folder: &Folder, host: PathBuf, mode: Mode, surroundings: &Surroundings) -> Vec<OpenFolder> {
    let relative = match folder.base() {
        Base::Workspace if folder.names().is_empty() => Some(".".to_owned()),
        Base::Workspace => Some(folder.names().join("/")),
        Base::Home => None,
    };
    let base: Option<&Path> = match folder.base() {
        Base::Workspace => Some(&surroundings.workspace),
        Base::Home => surroundings.home.as_deref(),
    };
    let absolute = base.map(|it| folder.names().iter().fold(it.to_owned(), |path, name| path.join(name)));
    let absolute = absolute.and_then(|it| it.to_str().map(str::to_owned));
    let inside = reserved::inside(&host, surroundings);
    let open = |guest| OpenFolder { host: host.clone(), guest, granted: folder.clone(), mode, inside: inside.clone() };
    relative.into_iter().chain(absolute).map(open).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(workspace: &Path) -> Surroundings {
        Surroundings { workspace: workspace.into(), ..Surroundings::default() }
    }

    #[test]
    fn the_workspace_is_found_as_a_dot_and_under_its_absolute_path() {
        let workspace = tempfile::tempdir().unwrap();
        let around = surroundings(workspace.path());
        let host = host_folder(&Folder::workspace(), Mode::Read, &around).unwrap();
        let names = spellings(&Folder::workspace(), host, Mode::Read, &around);
        let names: Vec<String> = names.into_iter().map(|it| it.guest).collect();
        assert_eq!(names, [".", workspace.path().to_str().unwrap()]);
    }

    #[test]
    fn a_granted_folder_that_is_a_link_out_of_the_workspace_is_not_opened() {
        let workspace = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", workspace.path().join("docs")).unwrap();
        std::fs::create_dir(workspace.path().join("src")).unwrap();
        std::os::unix::fs::symlink("src", workspace.path().join("inside")).unwrap();
        let around = surroundings(workspace.path());
        let open = |folder: &str| host_folder(&Folder::parse(folder).unwrap(), Mode::Write, &around);
        assert!(open("docs").unwrap_err().contains("leads out of"));
        assert!(open("inside").is_ok());
        assert!(open("missing").is_err());
        assert!(open("~/x").is_err());
    }

    #[test]
    fn compiled_code_is_never_opened_and_the_programs_other_folders_only_where_a_grant_names_them() {
        let home = tempfile::tempdir().unwrap();
        let (cache, own) = (home.path().join(".cache/bellglass"), home.path().join(".config/bellglass"));
        std::fs::create_dir_all(cache.join("engine")).unwrap();
        std::fs::create_dir_all(&own).unwrap();
        let around = Surroundings {
            home: Some(home.path().into()),
            private: vec![cache],
            own: vec![own],
            ..surroundings(home.path())
        };
        let open = |folder: &str| host_folder(&Folder::parse(folder).unwrap(), Mode::Read, &around);
        for folder in ["~/.cache/bellglass", "~/.cache/bellglass/engine", ".cache/bellglass"] {
            assert!(open(folder).unwrap_err().contains("own"), "{folder}");
        }
        // What is opened here, the sandbox keeps from what lies inside.
        for folder in ["~/.cache", "~/.config", "~/.config/bellglass", "."] {
            assert!(open(folder).is_ok(), "{folder}");
        }
    }
    #[test]
    fn a_link_does_not_name_what_it_leads_to() {
        let home = tempfile::tempdir().unwrap();
        for folder in [".config/bellglass", ".git/hooks", "plug", "src"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        for (to, link) in [(".config/bellglass", "own"), (".git/hooks", "git"), ("plug", "more"), ("src", "code")] {
            std::os::unix::fs::symlink(to, home.path().join(link)).unwrap();
        }
        let around = Surroundings {
            own: vec![home.path().join(".config/bellglass")],
            plugin_places: vec![home.path().join("plug")],
            ..surroundings(&home.path().canonicalize().unwrap())
        };
        let open = |folder: &str, mode| host_folder(&Folder::parse(folder).unwrap(), mode, &around);
        for link in ["own", "git", "more"] {
            assert!(open(link, Mode::Write).unwrap_err().contains("has to name itself"), "{link}");
        }
        assert!(
            open("own", Mode::Read).is_err() && open("git", Mode::Read).is_ok() && open("code", Mode::Write).is_ok()
        );
        for folder in [".config/bellglass", ".git/hooks", "plug"] {
            assert!(open(folder, Mode::Write).is_ok(), "{folder}");
        }
    }
}
