//! One call's store: an instance of a plugin with its files, its limits and nothing else.
//!
//! Apart from [`crate::plugin`], because this is where guest code runs: whoever wants to know what a plugin can do reads this
//! folder.

pub(crate) mod cache;
pub(crate) mod clock;
pub(crate) mod engine;
pub(crate) mod exports;
pub(crate) mod files;
pub(crate) mod guest;
pub(crate) mod http;
pub(crate) mod imports;
mod limiter;
mod output;
pub(crate) mod program;
mod seen;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use wasmtime::component::{Component, Instance, InstancePre};
use wasmtime::{CallHook, Store, StoreContextMut, UpdateDeadline};

use crate::fault::Fault;
use crate::host_request::{CallContext, Entry};
use crate::sandbox::clock::Running;
use crate::sandbox::engine::{Engine, Permit};
use crate::sandbox::exports::{Export, Exports};
use crate::sandbox::guest::{Call, Guest, Identity};
use crate::sandbox::seen::Seen;

/// Bytes on top of a value's own that wasmtime counts when it is passed: lengths, tags, list elements.
const VALUE_OVERHEAD: usize = 64 << 10;

/// A plugin's component, linked, with what the sandbox knows of it: instances are made from this.
pub(crate) struct Sandbox {
    engine: Arc<Engine>,
    pre: InstancePre<Guest>,
    exports: Exports,
    /// Replaced when the user grants something; an instance keeps the one that it was made with.
    identity: RwLock<Arc<Identity>>,
}

/// What a call may use up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Which export runs.
    pub entry: Entry,
    /// Guest time.
    pub cpu: Duration,
    /// Wall time; none for a call that has timers of its own.
    pub deadline: Option<Duration>,
}

/// A store with its instance, once it has one.
pub(crate) struct Live {
    store: Store<Guest>,
    instance: Option<Instance>,
    /// Keeps the clock awake while a call runs, and only then.
    running: Option<Running>,
    _permit: Permit,
}

impl Sandbox {
    /// Links a component. The error is wasmtime's: [`crate::plugin::load`] puts it into words.
    pub(crate) fn link(engine: &Arc<Engine>, component: &Component, identity: Identity) -> wasmtime::Result<Self> {
        let pre = engine.linker().instantiate_pre(component)?;
        let exports = Exports::probe(&pre)?;
        Ok(Self { engine: engine.clone(), pre, exports, identity: RwLock::new(Arc::new(identity)) })
    }

    /// The same component with another identity.
    pub(crate) fn with_identity(&self, identity: Identity) -> Self {
        Self {
            engine: self.engine.clone(),
            pre: self.pre.clone(),
            exports: self.exports.clone(),
            identity: RwLock::new(Arc::new(identity)),
        }
    }

    pub(crate) fn exports(&self) -> &Exports {
        &self.exports
    }

    pub(crate) fn identity(&self) -> Arc<Identity> {
        self.identity.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives the instances that are made from now on another identity.
    pub(crate) fn set_identity(&self, identity: Identity) {
        *self.identity.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(identity);
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Runs one export in a fresh instance. Dropping the future drops the store, and with it the guest.
    pub(crate) async fn once<E: Export>(
        &self,
        context: CallContext,
        terms: Terms,
        export: E,
    ) -> Result<E::Answer, Fault> {
        self.open(context, terms)?.run(self, export).await
    }

    /// Makes an instance, and drops it.
    pub(crate) async fn start(&self, context: CallContext, terms: Terms) -> Result<(), Fault> {
        self.open(context, terms)?.run(self, exports::Start).await
    }

    /// Makes a store. The instance comes with the first call, inside that call's limits: a start function is guest code.
    pub(crate) fn open(&self, context: CallContext, terms: Terms) -> Result<Live, Fault> {
        let limits = self.engine.limits();
        let permit = self.engine.permit().ok_or(Fault::Instances(limits.instances))?;
        let running = self.engine.clock().enter();
        let identity = self.identity();
        let call = Call::new(&identity, context, terms, running.ticks().now());
        let guest = Guest::new(identity, call, running.ticks().clone(), limits);
        let mut store = Store::new(self.engine.wasmtime(), guest);
        store.limiter(|guest| &mut guest.limiter);
        store.set_hostcall_fuel(limits.value + VALUE_OVERHEAD);
        store.set_max_component_handles(guest::TASKS);
        if let Some(table) = store.concurrent_resource_table() {
            table.set_max_capacity(guest::TASKS);
        }
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(on_tick);
        store.call_hook(on_boundary);
        Ok(Live { store, instance: None, running: Some(running), _permit: permit })
    }
}

impl Live {
    /// Whether the store was made with the rights that the plugin has now.
    pub(crate) fn is_current(&self, sandbox: &Sandbox) -> bool {
        Arc::ptr_eq(&self.store.data().identity, &sandbox.identity())
    }

    /// Makes the store work for another call: a new budget, a new deadline, another caller.
    pub(crate) fn begin(&mut self, sandbox: &Sandbox, context: CallContext, terms: Terms) {
        self.running = Some(sandbox.engine.clock().enter());
        let guest = self.store.data_mut();
        guest.output.next_call();
        guest.limiter.next_call();
        guest.call = Call::new(&guest.identity, context, terms, guest.ticks.now());
        self.store.set_epoch_deadline(1);
    }

    /// Runs one export. After an `Err` the store must be dropped: a component cannot be entered again after a trap.
    pub(crate) async fn run<E: Export>(&mut self, sandbox: &Sandbox, export: E) -> Result<E::Answer, Fault> {
        let limit = sandbox.engine.limits().value;
        if export.size() > limit {
            self.running = None;
            return Err(Fault::Given(limit));
        }
        let deadline = self.store.data().call.deadline.clone();
        let started = Instant::now();
        let mut made = Duration::ZERO;
        let (store, instance, made_in) = (&mut self.store, &mut self.instance, &mut made);
        let call = async {
            let instance = match instance {
                Some(instance) => *instance,
                None => *instance.insert(sandbox.pre.instantiate_async(&mut *store).await?),
            };
            *made_in = started.elapsed();
            export.call(store, &instance, &sandbox.exports).await
        };
        let done = deadline.run(call).await;
        self.running = None;
        let guest = self.store.data_mut();
        guest.output.finish();
        let in_host = guest.call.in_host.total();
        guest.call.context.uses.spent(made, started.elapsed().saturating_sub(made + in_host), in_host);
        match done {
            Err(limit) => Err(Fault::Deadline(limit)),
            Ok(Err(error)) => {
                let fault = seen(guest, sandbox.engine.limits()).fault(&error);
                tracing::debug!(plugin = %guest.identity.name, "{error:?}");
                Err(fault)
            }
            Ok(Ok(answer)) => Ok(answer),
        }
    }
}

/// The guest saw a tick: it pays for it, and lets others run.
fn on_tick(mut store: StoreContextMut<'_, Guest>) -> wasmtime::Result<UpdateDeadline> {
    let guest = store.data_mut();
    let now = guest.ticks.now();
    if guest.call.cpu.tick(now) { Ok(UpdateDeadline::Yield(1)) } else { Err(Fault::Cpu(guest.call.cpu.limit()).into()) }
}

/// Guest and host hand over to each other: ticks that pass in the host are not the guest's.
fn on_boundary(mut store: StoreContextMut<'_, Guest>, hook: CallHook) -> wasmtime::Result<()> {
    let guest = store.data_mut();
    let now = guest.ticks.now();
    match hook {
        // A function of WASI 0.3 that waits returns, and is called again.
        CallHook::CallingHost | CallHook::ReturningFromWasm => {
            guest.call.in_host.enter();
            guest.call.cpu.leave(now);
        }
        CallHook::ReturningFromHost | CallHook::CallingWasm => {
            guest.call.in_host.leave();
            if let Some(ticks) = guest.call.cpu.come_back(now) {
                store.set_epoch_deadline(ticks);
            }
        }
    }
    Ok(())
}

fn seen(guest: &mut Guest, limits: &crate::limits::Limits) -> Seen {
    Seen {
        memory_denied: guest.limiter.denied(),
        memory_limit: limits.memory,
        stack_limit: limits.stack,
        value_limit: limits.value,
        instance_limit: limits.instances,
        // Both are tables, and say the same when they are full: this one is, or the other was.
        handle_limit: if guest.table.push(()).is_err() { guest::HANDLES } else { guest::TASKS },
        stderr: guest.output.tail(),
    }
}
