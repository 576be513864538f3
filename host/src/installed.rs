//! What is installed: the plugins that loaded, with their tools, commands and providers, and what did not load.
//!
//! Apart from the session, because `plugin list`, `tools` and `call` need it without a conversation.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::commands::Commands;
use crate::grants::GrantBook;
use crate::limits::Limits;
use crate::plugin::Plugin;
use crate::plugin::asking::real;
use crate::plugin::bundled::BUNDLED;
use crate::plugin::discover::{Found, Origin, Places, discover};
use crate::plugin::load::{LoadError, Loaded, Loader};
use crate::plugin::rights::{Surroundings, idle_grants};
use crate::provider::Providers;
use crate::sandbox::cache::Cache;
use crate::sandbox::engine::{Engine, Workload};
use crate::toolbox::Toolbox;

/// Loads what is installed, as often as it is asked to.
pub struct Host {
    loader: Arc<Loader>,
    places: Places,
    limits: Limits,
}

/// What a [`Host`] is made of.
#[derive(Clone, Debug, Default)]
pub struct HostOptions {
    /// Where to look for plugins.
    pub places: Places,
    /// Workspace, home, grants, settings.
    pub surroundings: Surroundings,
    /// Limits of every sandbox.
    pub limits: Limits,
    /// Where compiled code is kept; none to compile each time.
    pub cache: Option<PathBuf>,
    /// Only one or a few calls will be made: the instance pool is left out, which starts faster.
    pub single: bool,
}

/// What is installed now.
#[derive(Debug)]
pub struct Installed {
    /// Each file, in the order of loading.
    pub files: Vec<Loaded>,
    /// Files of the project that wait until the user trusts them.
    pub waiting: Vec<Waiting>,
    /// The plugins that count, after replacing.
    pub plugins: Vec<Arc<Plugin>>,
    /// Their tools.
    pub toolbox: Arc<Toolbox>,
    /// Their slash commands.
    pub commands: Arc<Commands>,
    /// Their model APIs, and the stub.
    pub providers: Providers,
    /// What the user should know: one line each, with the plugin, the file and the way out.
    pub warnings: Vec<String>,
    /// Components that were compiled for this; none on a warm start.
    pub compiled: usize,
}

/// A file of the project that was not loaded, as nobody trusted its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its real path.
    pub path: PathBuf,
    /// The SHA-256 of its content, as 64 hexadecimal digits.
    pub sha256: String,
    /// Its size.
    pub bytes: usize,
}

impl Host {
    /// Starts the engine and opens the cache. Loads nothing yet.
    ///
    /// # Errors
    ///
    /// The engine cannot run on this machine.
    pub fn new(options: HostOptions) -> anyhow::Result<Self> {
        let workload = if options.single { Workload::Single } else { Workload::Session };
        let engine = Engine::new(&options.limits, workload)
            .map_err(|error| anyhow::anyhow!(error.to_string()).context("cannot start the WebAssembly engine"))?;
        let open = |root: &PathBuf| match Cache::open(root, &engine.compatibility(), &options.surroundings.workspace) {
            Ok(cache) => Some(cache),
            Err(refused) => {
                tracing::warn!("compiled plugins are not kept: {refused}");
                None
            }
        };
        let cache = options.cache.as_ref().and_then(open);
        let mut surroundings = options.surroundings;
        surroundings.plugin_places.extend(options.places.all().map(ToOwned::to_owned));
        let loader = Arc::new(Loader::new(Arc::new(engine), cache, surroundings));
        Ok(Self { loader, places: options.places, limits: options.limits })
    }

    /// Finds and loads all plugins, as the files are now.
    pub async fn load(&self) -> Installed {
        let before = self.loader.compiled();
        let refreshed = self.book().refresh();
        let found = discover(&self.places, BUNDLED);
        let files = self.loader.load_all(&found).await;
        let mut installed = Installed::new(files, found, &self.limits);
        if let Err(error) = refreshed {
            installed.warnings.push(format!("{error}; what was granted before still holds"));
        }
        let idle = idle_grants(self.loader.surroundings(), &installed.plugins);
        installed.warnings.extend(idle.iter().map(|it| crate::text::visible_line(it).into_owned()));
        installed.compiled = self.loader.compiled() - before;
        installed
    }

    /// Writes what is still to be written about what plugins did.
    pub fn flush(&self) {
        if let Some(audit) = &self.loader.surroundings().audit {
            audit.flush();
        }
    }

    /// What the user decided about plugins.
    pub fn book(&self) -> &Arc<GrantBook> {
        &self.loader.surroundings().book
    }

    /// The limits of every sandbox.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
}

impl Installed {
    fn new(files: Vec<Loaded>, found: Found, limits: &Limits) -> Self {
        let mut warnings = Vec::new();
        let mut waiting = Vec::new();
        let files: Vec<Loaded> = files.into_iter().filter(|it| !is_waiting(it, &mut waiting)).collect();
        for (folder, reason) in &found.unreadable {
            warnings.push(format!("cannot read the plugin folder `{}`: {reason}", folder.display()));
        }
        for file in &files {
            match &file.plugin {
                Ok(plugin) => {
                    let of_plugin = |it: &String| format!("plugin `{}`: {it}", plugin.name());
                    warnings.extend(file.warnings.iter().map(of_plugin));
                }
                Err(error) => warnings.push(format!("cannot load plugin `{}`: {error}", file.path.display())),
            }
        }
        let plugins = counting(&files, &mut warnings);
        let toolbox = Toolbox::new(&plugins, limits);
        let commands = Commands::new(&plugins);
        let providers = Providers::new(&plugins);
        for more in [toolbox.warnings(), commands.warnings(), providers.warnings()] {
            warnings.extend_from_slice(more);
        }
        if let Some(first) = waiting.first() {
            let n = waiting.len();
            let trust = first.trust_command(n > 1);
            let of_project = if n == 1 {
                "1 plugin of this project waits for trust and is not loaded".to_owned()
            } else {
                format!("{n} plugins of this project wait for trust and are not loaded")
            };
            warnings.push(format!("{of_project}: `{trust}`"));
        }
        // Part of what is said comes from plugins.
        let warnings = warnings.into_iter().map(|it| crate::text::visible_line(&it).into_owned()).collect();
        Self {
            files,
            waiting,
            plugins,
            toolbox: Arc::new(toolbox),
            commands: Arc::new(commands),
            providers,
            warnings,
            compiled: 0,
        }
    }
}

impl Waiting {
    /// The command that trusts the file; or, for more than one, its folder.
    pub fn trust_command(&self, whole_folder: bool) -> String {
        let path = if whole_folder { self.path.parent().unwrap_or(&self.path) } else { &self.path };
        format!("bellglass plugin trust {}", crate::text::for_shell(&path.to_string_lossy()))
    }
}

/// Takes what was not trusted out of the files that failed.
fn is_waiting(file: &Loaded, waiting: &mut Vec<Waiting>) -> bool {
    let Err(LoadError::Untrusted { sha256, bytes }) = &file.plugin else { return false };
    waiting.push(Waiting { path: real(&file.path), sha256: sha256.clone(), bytes: *bytes });
    true
}

/// The plugins after replacing: a later one of the same name counts, in the place of the first, unless it is a project's.
fn counting(files: &[Loaded], warnings: &mut Vec<String>) -> Vec<Arc<Plugin>> {
    let mut plugins: Vec<Arc<Plugin>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for plugin in files.iter().filter_map(|it| it.plugin.as_ref().ok()) {
        let name = plugin.name();
        let Some(&place) = places.get(name.as_str()) else {
            places.insert(name.to_string(), plugins.len());
            plugins.push(plugin.clone());
            continue;
        };
        let other = &plugins[place];
        let (new, old) = (plugin.path().display(), other.path().display());
        if plugin.origin() == Origin::Project && other.origin() != Origin::Project {
            warnings.push(format!(
                "plugin `{name}` of the project (`{new}`) does not replace `{old}` ({})",
                other.origin()
            ));
        } else {
            warnings.push(format!(
                "plugin `{name}` in `{new}` ({}) replaces `{old}` ({})",
                plugin.origin(),
                other.origin()
            ));
            plugins[place] = plugin.clone();
        }
    }
    plugins
}
