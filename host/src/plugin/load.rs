//! From a file to a [`Plugin`]: size, outline, code, links, listing, rights. Any of them can fail, and then only this plugin.
//!
//! Apart, because this is the one path that every plugin takes, and the order of its checks is what keeps it safe.

mod error;

pub use error::LoadError;

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};
use wasmtime::component::Component;

use crate::bindings::convert;
use crate::capability::Grants;
use crate::host_request::{CallContext, Entry};
use crate::limits::Limits;
use crate::listing::{ListedTool, Listing};
use crate::name::{ItemName, PluginName};
use crate::plugin::asking::real;
use crate::plugin::discover::{Candidate, Found, Origin};
use crate::plugin::inspect::Inspection;
use crate::plugin::resident::Resident;
use crate::plugin::rights::{self, Surroundings};
use crate::plugin::{Plugin, Tool};
use crate::sandbox::cache::{self, Cache, Stored};
use crate::sandbox::engine::Engine;
use crate::sandbox::exports::{Describe, ListCommands, ListHooks, ListProviders, ListTools};
use crate::sandbox::guest::Identity;
use crate::sandbox::program::Place;
use crate::sandbox::{Sandbox, Terms};
use crate::schema::Schema;
use crate::tool::ToolDefinition;

/// How much longer than its guest time a function may take that is called while a plugin is loaded: the prompt waits for it.
const WALL_OVER_CPU: u32 = 5;

/// What became of one file.
#[derive(Debug)]
pub struct Loaded {
    /// The file.
    pub path: PathBuf,
    /// Where it comes from.
    pub origin: Origin,
    /// The plugin, or why it is none.
    pub plugin: Result<Arc<Plugin>, LoadError>,
    /// Whether code and listing came from the cache: nothing was compiled and no guest ran.
    pub cached: bool,
    /// What the plugin does without, such as a tool with a bad schema.
    pub warnings: Vec<String>,
}

impl Loaded {
    fn broken(candidate: &Candidate, error: &JoinError) -> Self {
        let plugin = Err(LoadError::Panicked(error.to_string()));
        Self { path: candidate.path.clone(), origin: candidate.origin, plugin, cached: false, warnings: Vec::new() }
    }
}

/// Loads plugins with one engine, one cache and one set of rights.
pub(crate) struct Loader {
    engine: Arc<Engine>,
    cache: Option<Cache>,
    surroundings: Arc<Surroundings>,
    compiled: AtomicUsize,
}

impl Loader {
    pub(crate) fn new(engine: Arc<Engine>, cache: Option<Cache>, surroundings: Surroundings) -> Self {
        Self { engine, cache, surroundings: Arc::new(surroundings), compiled: AtomicUsize::new(0) }
    }

    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// How many components were compiled so far.
    pub(crate) fn compiled(&self) -> usize {
        self.compiled.load(Relaxed)
    }

    /// Loads all candidates, as many at a time as there are processors. The order of the answer is that of the files.
    pub(crate) async fn load_all(self: &Arc<Self>, found: &Found) -> Vec<Loaded> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let slots = Arc::new(Semaphore::new(processors));
        let mut tasks = JoinSet::new();
        let mut places = HashMap::new();
        for (place, candidate) in found.candidates.iter().cloned().enumerate() {
            let (loader, slots) = (self.clone(), slots.clone());
            let task = tasks.spawn(async move {
                let _slot = slots.acquire_owned().await;
                loader.load(candidate).await
            });
            places.insert(task.id(), place);
        }
        let mut loaded: Vec<(usize, Loaded)> = Vec::with_capacity(tasks.len());
        while let Some(done) = tasks.join_next_with_id().await {
            let id = done.as_ref().map_or_else(JoinError::id, |it| it.0);
            let place = places[&id];
            // A panic of ours costs one plugin, and not its line in the listing.
            loaded.push((place, done.map_or_else(|it| Loaded::broken(&found.candidates[place], &it), |it| it.1)));
        }
        loaded.sort_by_key(|it| it.0);
        loaded.into_iter().map(|it| it.1).collect()
    }

    async fn load(self: Arc<Self>, candidate: Candidate) -> Loaded {
        let mut warnings = Vec::new();
        let mut cached = false;
        let (path, origin) = (candidate.path.clone(), candidate.origin);
        let plugin = self.try_load(candidate, &mut warnings, &mut cached).await;
        Loaded { path, origin, plugin: plugin.map(Arc::new), cached, warnings }
    }

    async fn try_load(
        self: &Arc<Self>,
        candidate: Candidate,
        warnings: &mut Vec<String>,
        cached: &mut bool,
    ) -> Result<Plugin, LoadError> {
        let started = Instant::now();
        let loader = self.clone();
        let of_thread = candidate.clone();
        let code = tokio::task::spawn_blocking(move || loader.code(&of_thread));
        let code = code.await.unwrap_or_else(|error| Err(LoadError::Panicked(error.to_string())))?;
        let stranger = stranger(&candidate.path);
        let linked = Sandbox::link(&self.engine, &code.component, stranger).map_err(|it| LoadError::of_linker(&it))?;
        let limits = self.engine.limits();
        let listing = match code.listing {
            Some(listing) => {
                *cached = true;
                listing
            }
            None => {
                let listing = list(&linked, limits).await?;
                self.keep(&code.hash, code.stored, &listing).await;
                listing
            }
        };
        listing.check(limits)?;
        let asked = rights::asked(&listing, warnings);
        let tools = listing.tools.iter().filter_map(|it| tool(it, limits, warnings)).collect();
        let mut plugin = Plugin {
            resident: listing.keeps_instance.then(Resident::default),
            sandbox: Arc::new(linked),
            surroundings: self.surroundings.clone(),
            asking: tokio::sync::Mutex::default(),
            loaded_in: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
            path: candidate.path,
            origin: candidate.origin,
            hash: code.hash,
            bytes: code.bytes,
            listing,
            asked,
            tools,
        };
        let (wanted, subject, around) = (plugin.wanted(), plugin.subject(), &self.surroundings);
        let none = Grants::default();
        let identity = rights::identity(&plugin.listing, &wanted, &subject, &none, around, limits, warnings);
        plugin.sandbox = Arc::new(plugin.sandbox.with_identity(identity));
        Ok(plugin)
    }

    /// Reads the file, and loads or compiles its code. Blocks.
    fn code(&self, candidate: &Candidate) -> Result<Code, LoadError> {
        let read;
        let content: &[u8] = match candidate.bundled {
            Some(content) => content,
            None => {
                read = read_plugin(&candidate.path, self.engine.limits().component)?;
                &read
            }
        };
        let hash = cache::hash(content);
        // On the bytes that are loaded, not on those that were there when somebody looked.
        if candidate.needs_trust && !self.surroundings.book.trusts(&real(&candidate.path), &hash) {
            return Err(LoadError::Untrusted { sha256: hash, bytes: content.len() });
        }
        let engine = self.engine.wasmtime();
        if let Some((component, listing)) = self.cache.as_ref().and_then(|it| it.load(engine, &hash)) {
            return Ok(Code { component, listing: Some(listing), stored: None, hash, bytes: content.len() });
        }
        Inspection::of(content)?.check()?;
        tracing::info!("compiling {} ({} bytes)", candidate.path.display(), content.len());
        self.compiled.fetch_add(1, Relaxed);
        let compiled = engine.precompile_component(content).map_err(|it| LoadError::of_compiler(&it))?;
        let kept = self.cache.as_ref().and_then(|it| it.store_code(engine, &hash, &compiled));
        let (component, stored) = match kept {
            Some((component, stored)) => (component, Some(stored)),
            None => (deserialize(engine, &compiled).map_err(|it| LoadError::of_compiler(&it))?, None),
        };
        Ok(Code { component, listing: None, stored, hash, bytes: content.len() })
    }

    async fn keep(&self, hash: &str, stored: Option<Stored>, listing: &Listing) {
        let (Some(cache), Some(stored)) = (self.cache.clone(), stored) else { return };
        let (hash, listing) = (hash.to_owned(), listing.clone());
        let kept = tokio::task::spawn_blocking(move || cache.store_listing(&hash, stored, &listing)).await;
        match kept {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!("compiled code was not kept: {error}"),
            Err(error) => tracing::warn!("compiled code was not kept: {error}"),
        }
    }
}

/// The code of one plugin.
struct Code {
    component: Component,
    listing: Option<Listing>,
    stored: Option<Stored>,
    hash: String,
    bytes: usize,
}

/// The SHA-256 of a plugin's bytes, as `sha256sum` prints it.
pub(crate) fn sha256(content: &[u8]) -> String {
    cache::hash(content)
}

/// Reads a file of at most `limit` bytes; anything but a file is refused before it is opened, as a pipe would block.
pub(crate) fn read_plugin(path: &Path, limit: usize) -> Result<Vec<u8>, LoadError> {
    let metadata = std::fs::metadata(path).map_err(LoadError::Read)?;
    if !metadata.is_file() {
        return Err(LoadError::NoFile);
    }
    let mut content = Vec::new();
    let file = std::fs::File::open(path).map_err(LoadError::Read)?;
    file.take(limit as u64 + 1).read_to_end(&mut content).map_err(LoadError::Read)?;
    if content.len() > limit { Err(LoadError::TooLarge(limit)) } else { Ok(content) }
}

fn deserialize(engine: &wasmtime::Engine, compiled: &[u8]) -> wasmtime::Result<Component> {
    #[expect(unsafe_code, reason = "loads native code: see the comment")]
    // SAFETY: these are the bytes that this process has just compiled.
    unsafe {
        Component::deserialize(engine, compiled)
    }
}

/// The identity of a plugin that has not said yet who it is: the name of its file, for the log, and no right at all.
fn stranger(file: &Path) -> Identity {
    let stem = file.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
    let name = PluginName::try_from(stem.to_owned()).or_else(|_| PluginName::try_from("unnamed".to_owned()));
    Identity {
        name: name.expect("a name in lower-case letters"),
        grants: Arc::default(),
        folders: Vec::new(),
        unopened: Vec::new(),
        variables: Vec::new(),
        storage: None,
        storage_limit: 0,
        programs: Place::default(),
        storage_lock: Default::default(),
        settings: "{}".into(),
        network: Arc::default(),
    }
}

/// Asks a plugin who it is and what it has, each function in a fresh instance under the limits for listing.
async fn list(sandbox: &Sandbox, limits: &Limits) -> Result<Listing, LoadError> {
    // There is nothing to wait for yet: neither files nor network. The rest is for a processor that is shared.
    let deadline = limits.deadline.min(limits.listing_cpu.saturating_mul(WALL_OVER_CPU));
    let terms = Terms { entry: Entry::Loading, cpu: limits.listing_cpu, deadline: Some(deadline) };
    let context = || CallContext::top(None);
    macro_rules! ask {
        ($function:literal, $export:expr, $there:expr) => {
            if $there {
                let answer = sandbox.once(context(), terms, $export).await;
                answer.map_err(|fault| LoadError::of($function, fault))?
            } else {
                Default::default()
            }
        };
    }
    let exports = sandbox.exports();
    let described = sandbox.once(context(), terms, Describe).await;
    let described = described.map_err(|fault| LoadError::of("describe", fault))?;
    let tools = ask!("list-tools", ListTools, exports.tools.is_some());
    let hooks = ask!("list-hooks", ListHooks, exports.hooks.is_some());
    let commands = ask!("list-commands", ListCommands, exports.commands.is_some());
    let providers = ask!("list-providers", ListProviders, exports.providers.is_some());
    Ok(convert::listing(described, tools, hooks, commands, providers)?)
}

/// Checks one tool. A bad name or schema disables this tool, and leaves the plugin's others.
fn tool(listed: &ListedTool, limits: &Limits, warnings: &mut Vec<String>) -> Option<Tool> {
    let shown = crate::text::visible_line(crate::text::first_chars(&listed.name, 64)).into_owned();
    let name = match ItemName::try_from(listed.name.clone()) {
        Ok(name) => name,
        Err(error) => {
            warnings.push(format!("tool `{shown}` is left out: {error}"));
            return None;
        }
    };
    let schema = match Schema::compile(&listed.parameters, limits.schema) {
        Ok(schema) => schema,
        Err(error) => {
            warnings.push(format!("tool `{shown}` is left out: its {error}"));
            return None;
        }
    };
    let mut aliases = Vec::new();
    for alias in &listed.aliases {
        match ItemName::try_from(alias.clone()) {
            Ok(alias) => aliases.push(alias),
            Err(error) => warnings.push(format!("an alias of tool `{shown}` is left out: {error}")),
        }
    }
    let definition = ToolDefinition {
        name,
        description: listed.description.as_str().into(),
        parameters: Arc::new(schema.document().clone()),
        aliases,
    };
    Some(Tool { definition, schema: Arc::new(schema) })
}
