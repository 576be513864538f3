//! The engine: one per process, with the settings that decide what a fresh instance costs.
//!
//! Apart, because each number here was measured, and because the key of the cache follows from them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use wasmtime::component::Linker;
use wasmtime::{Config, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::limits::Limits;
use crate::sandbox::clock::Clock;
use crate::sandbox::guest::Guest;
use crate::sandbox::imports;

/// Address space that one pooled memory reserves: 4 GiB and a guard, as compiled code expects.
const RESERVED: u64 = 4 << 30;

/// Bytes of a memory that stay mapped between two instances, so that a fresh call faults no page. Beyond 1 MiB, clearing
/// costs more than it saves for small guests.
const KEEP_MEMORY: usize = 1 << 20;

/// As [`KEEP_MEMORY`], for tables.
const KEEP_TABLES: usize = 64 << 10;

/// Compiler, linker, clock and pool of all sandboxes of this process.
pub(crate) struct Engine {
    inner: wasmtime::Engine,
    linker: Linker<Guest>,
    clock: Clock,
    limits: Limits,
    alive: Arc<AtomicUsize>,
}

/// How many calls the process is about to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workload {
    /// One or a few: the pool would cost more to set up (about 1 ms) than it saves.
    Single,
    /// Many.
    Session,
}

/// One of the instances that may be alive at once.
pub(crate) struct Permit(Arc<AtomicUsize>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Engine {
    /// Builds the engine. Falls back to allocation on demand where the pool's address space is not to be had.
    pub(crate) fn new(limits: &Limits, workload: Workload) -> wasmtime::Result<Self> {
        let pooled =
            if workload == Workload::Session { wasmtime::Engine::new(&config(limits, true)).ok() } else { None };
        if workload == Workload::Session && pooled.is_none() {
            tracing::info!("no address space for the instance pool: instances are allocated on demand");
        }
        let inner = match pooled {
            Some(engine) => engine,
            None => wasmtime::Engine::new(&config(limits, false))?,
        };
        let mut linker = Linker::new(&inner);
        imports::add_to_linker(&mut linker)?;
        let clock = Clock::start(&inner).map_err(wasmtime::Error::from)?;
        Ok(Self { inner, linker, clock, limits: limits.clone(), alive: Arc::default() })
    }

    pub(crate) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.inner
    }

    pub(crate) fn linker(&self) -> &Linker<Guest> {
        &self.linker
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Takes one of the instances that may be alive; none when all are.
    pub(crate) fn permit(&self) -> Option<Permit> {
        let permit = Permit(self.alive.clone());
        if self.alive.fetch_add(1, SeqCst) < self.limits.instances { Some(permit) } else { None }
    }

    /// What compiled code must have been compiled with to run here, as hexadecimal digits.
    pub(crate) fn compatibility(&self) -> String {
        let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
        self.inner.precompile_compatibility_hash().hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

/// FNV-1a: the standard library's hasher may change between releases, which would empty the cache for no reason.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

fn config(limits: &Limits, pooling: bool) -> Config {
    let mut config = Config::new();
    config.wasm_component_model(true);
    config.epoch_interruption(true);
    config.max_wasm_stack(limits.stack);
    // The fibre's stack holds the guest's and the host functions below it.
    config.async_stack_size(limits.stack + (512 << 10));
    config.memory_reservation(RESERVED);
    if pooling {
        let instances = u32::try_from(limits.instances).unwrap_or(u32::MAX);
        let mut pool = PoolingAllocationConfig::new();
        pool.total_component_instances(instances);
        // An interpreter with an adapter has two dozen core instances and a handful of memories and tables.
        pool.total_core_instances(instances.saturating_mul(4));
        pool.total_memories(instances.saturating_add(instances / 4));
        pool.total_tables(instances.saturating_mul(2));
        // A guest of WASI 0.3 takes one for each of its tasks that waits.
        pool.total_stacks(instances.saturating_mul(4));
        pool.max_core_instances_per_component(100);
        pool.max_memories_per_component(20);
        pool.max_tables_per_component(40);
        pool.table_elements(20_000);
        pool.max_memory_size(limits.memory);
        pool.linear_memory_keep_resident(KEEP_MEMORY);
        pool.table_keep_resident(KEEP_TABLES);
        // Finds the pages that a guest has dirtied on Linux 6.7 and later; elsewhere all kept pages are cleared.
        pool.pagemap_scan(wasmtime::Enabled::Auto);
        // As many as components are likely loaded: each keeps its slot's image mapped.
        pool.max_unused_warm_slots(1000);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_compiled_with_the_pool_runs_without_it() {
        let limits = Limits::default();
        let pooled = Engine::new(&limits, Workload::Session).unwrap();
        let single = Engine::new(&limits, Workload::Single).unwrap();
        assert_eq!(pooled.compatibility(), single.compatibility());
    }

    #[test]
    fn other_settings_of_the_compiler_have_another_key() {
        let a = Engine::new(&Limits::default(), Workload::Single).unwrap();
        let mut config = config(&Limits::default(), false);
        config.epoch_interruption(false);
        let other = wasmtime::Engine::new(&config).unwrap();
        let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
        other.precompile_compatibility_hash().hash(&mut hasher);
        assert_ne!(a.compatibility(), format!("{:016x}", hasher.finish()));
    }

    #[test]
    fn no_more_instances_are_alive_than_the_limit() {
        let limits = Limits { instances: 2, ..Limits::default() };
        let engine = Engine::new(&limits, Workload::Single).unwrap();
        let first = engine.permit();
        let second = engine.permit();
        assert!(first.is_some() && second.is_some());
        assert!(engine.permit().is_none());
        drop(first);
        assert!(engine.permit().is_some());
    }
}
