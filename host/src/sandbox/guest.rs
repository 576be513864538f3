//! What one store holds: the guest's files, its output, its limits, and whose call it works for.
//!
//! Apart, because every import and every limit meets here, and nothing else may.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use crate::capability::{Folder, Grant, GrantSet, Mode};
use crate::host_request::{CallContext, Caller, Entry};
use crate::limits::Limits;
use crate::name::PluginName;
use crate::sandbox::Terms;
use crate::sandbox::clock::{CpuBudget, Deadline, InHost, Ticks};
use crate::sandbox::files::Files;
use crate::sandbox::http::{Network, Requests};
use crate::sandbox::limiter::Limiter;
use crate::sandbox::output::{Output, Stream};
use crate::sandbox::program::Place;

/// Random bytes that a guest may ask for in one call of `wasi:random`.
const RANDOM: u64 = 1 << 20;

/// Files, streams and timers that one instance may hold open. Each is memory of the host, and each file one of the 1024
/// that a process may usually open.
pub(crate) const HANDLES: usize = 256;

/// Tasks, streams and futures of WASI 0.3 that one instance may have, and handles to all that there is: each is memory of the
/// host, some hundred bytes.
pub(crate) const TASKS: usize = 1024;

/// What the sandbox knows of a plugin; the same for all its instances.
#[derive(Debug)]
pub(crate) struct Identity {
    /// The plugin's name; until it has been asked, that of its file.
    pub name: PluginName,
    /// What it may do.
    pub grants: Arc<GrantSet>,
    /// Folders that it finds opened.
    pub folders: Vec<OpenFolder>,
    /// Folders that it asked for and does not find opened.
    pub unopened: Vec<Grant>,
    /// Environment variables that it may read, with their values.
    pub variables: Vec<(String, String)>,
    /// Where `storage` keeps its values; none while the plugin is loaded.
    pub storage: Option<PathBuf>,
    /// Bytes that it may keep there.
    pub storage_limit: usize,
    /// Where its programs run, and what they may write.
    pub programs: Place,
    /// Held while something is done with the storage.
    pub storage_lock: Arc<tokio::sync::Mutex<()>>,
    /// The user's settings for it, as a JSON object.
    pub settings: String,
    /// How its requests go out, with connections that no other plugin uses.
    pub network: Arc<Network>,
}

/// A folder of the host that a guest finds opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenFolder {
    /// Where it is on the host: its real path when the plugin was loaded.
    pub host: PathBuf,
    /// What the guest calls it.
    pub guest: String,
    /// What was granted.
    pub granted: Folder,
    /// What the guest may do below it.
    pub mode: Mode,
    /// What is below it, and not granted with it; beside what is protected by its name alone.
    pub inside: Arc<[Inside]>,
}

/// A place below a granted folder that the grant does not include.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inside {
    /// The names from the granted folder down; at least one. It need not be there.
    pub names: Vec<OsString>,
    /// Whether it cannot be read either.
    pub hidden: bool,
    /// Whether no grant opens it.
    pub never: bool,
}

/// The data of one store.
pub(crate) struct Guest {
    pub(crate) identity: Arc<Identity>,
    pub(crate) call: Call,
    pub(crate) output: Output,
    pub(crate) limiter: Limiter,
    pub(crate) ticks: Ticks,
    pub(crate) limits: Limits,
    pub(crate) table: ResourceTable,
    pub(crate) files: Files,
    /// Built when the guest first uses WASI: most small calls never do.
    wasi: Option<WasiCtx>,
    http: WasiHttpCtx,
}

/// The call that a store works for.
pub(crate) struct Call {
    pub identity: Arc<Identity>,
    pub context: CallContext,
    pub entry: Entry,
    pub cpu: CpuBudget,
    pub deadline: Arc<Deadline>,
    pub in_host: InHost,
    /// What is kept of its requests.
    pub requests: Requests,
}

impl Call {
    pub(crate) fn new(identity: &Arc<Identity>, context: CallContext, terms: Terms, now: u64) -> Self {
        Self {
            identity: identity.clone(),
            context,
            entry: terms.entry,
            cpu: CpuBudget::new(terms.cpu, now),
            deadline: Deadline::start(terms.deadline),
            in_host: InHost::default(),
            requests: Requests::default(),
        }
    }

    /// Who asks, when an import asks the session for something.
    pub(crate) fn caller(&self) -> Caller {
        Caller {
            plugin: self.identity.name.clone(),
            entry: self.entry,
            grants: self.identity.grants.clone(),
            context: self.context.clone(),
        }
    }
}

impl Guest {
    pub(crate) fn new(identity: Arc<Identity>, call: Call, ticks: Ticks, limits: &Limits) -> Self {
        let output = Output::new(identity.name.as_str(), limits.log);
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES);
        Self {
            identity,
            call,
            output,
            limiter: Limiter::new(limits.memory),
            ticks,
            limits: limits.clone(),
            table,
            files: Files::default(),
            wasi: None,
            http: WasiHttpCtx::new(),
        }
    }

    /// Who asks, when an import asks the session for something.
    pub(crate) fn caller(&self) -> Caller {
        self.call.caller()
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let ctx = self.wasi.get_or_insert_with(|| wasi(&self.identity, self.call.entry, &self.output));
        WasiCtxView { ctx, table: &mut self.table }
    }
}

impl WasiHttpView for Guest {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { hooks: &mut self.call, table: &mut self.table, ctx: &mut self.http }
    }
}

/// WASI with nothing behind it but the granted variables, clocks, random numbers and the log; folders have a file of their own.
fn wasi(identity: &Identity, entry: Entry, output: &Output) -> WasiCtx {
    let mut builder = WasiCtx::builder();
    builder.stdout(output.stream(Stream::Out)).stderr(output.stream(Stream::Err)).max_random_size(RANDOM);
    // Sockets are linked because some languages import them; they reach nothing.
    builder.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
    if entry == Entry::Loading {
        return builder.build();
    }
    for (name, value) in &identity.variables {
        builder.env(name, value);
    }
    builder.build()
}
