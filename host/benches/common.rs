//! The two sides of every comparison: our host, and plain wasmtime with the settings that were measured to be the best.
//!
//! Apart from the benchmarks, because both of them compare the same pair.

#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used, reason = "shared by two benchmarks")]

use std::path::Path;
use std::sync::Arc;

use bellglass::host_request::CallContext;
use bellglass::installed::{Host, HostOptions, Installed};
use bellglass::plugin::discover::Places;
use bellglass::plugin::rights::Surroundings;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, ComponentExportIndex, Instance, InstancePre, Linker, ResourceTable, TypedFunc};
use wasmtime::{
    Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store, StoreLimits, StoreLimitsBuilder,
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// Arguments of about 1 KB, for the tool `count`.
pub fn arguments_1k() -> String {
    let text = "seven words stand on this line here\\n".repeat(27);
    format!(r#"{{"text":"{text}"}}"#)
}

/// Our host, with plugins from files and a cache.
pub struct Ours {
    pub installed: Installed,
    context: CallContext,
}

impl Ours {
    /// Loads the plugins in a folder.
    pub async fn load(plugins: &Path, cache: &Path) -> Self {
        let host = host(plugins, Some(cache));
        Self { installed: host.load().await, context: CallContext::top(None) }
    }

    pub async fn call(&self, tool: &str, arguments: &str) {
        let outcome = self.installed.toolbox.run(tool, arguments, &self.context).await;
        assert!(outcome.ok(), "{}", outcome.to_json());
    }
}

/// A host for a folder of plugins.
pub fn host(plugins: &Path, cache: Option<&Path>) -> Arc<Host> {
    let options = HostOptions {
        places: Places { folders: vec![plugins.to_owned()], ..Places::default() },
        surroundings: Surroundings { workspace: plugins.join("nowhere"), ..Surroundings::default() },
        cache: cache.map(Path::to_owned),
        ..HostOptions::default()
    };
    Arc::new(Host::new(options).unwrap())
}

/// Plain wasmtime: pool, resident pages, limiter, deadline, WASI built on first use. No checks, no log, no names.
pub struct Plain {
    engine: Engine,
    pre: InstancePre<State>,
    call: ComponentExportIndex,
}

/// The data of a plain store.
pub struct State {
    wasi: Option<WasiCtx>,
    table: ResourceTable,
    limits: StoreLimits,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let ctx = self.wasi.get_or_insert_with(|| WasiCtx::builder().build());
        WasiCtxView { ctx, table: &mut self.table }
    }
}

/// `call-tool`
type CallTool = TypedFunc<(String, String), (Result<String, String>,)>;

/// An engine with the best set-up.
pub fn plain_engine() -> Engine {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(256);
    pool.total_core_instances(1024);
    pool.total_memories(256);
    pool.total_tables(512);
    pool.total_stacks(256);
    pool.max_memory_size(256 << 20);
    pool.linear_memory_keep_resident(1 << 20);
    pool.table_keep_resident(64 << 10);
    pool.pagemap_scan(wasmtime::Enabled::Auto);
    pool.max_unused_warm_slots(1000);
    let mut config = Config::new();
    config.wasm_component_model(true);
    config.epoch_interruption(true);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config).unwrap()
}

impl Plain {
    pub fn compile(component: &[u8]) -> Self {
        let engine = plain_engine();
        let component = Component::new(&engine, component).unwrap();
        Self::of(engine, &component)
    }

    pub fn of(engine: Engine, component: &Component) -> Self {
        let mut linker: Linker<State> = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        // What a guest imports of ours is there and never called: only types and functions count for linking.
        for (name, import) in component.component_type().imports(&engine) {
            let ComponentItem::ComponentInstance(interface) = import.ty else { continue };
            if !name.starts_with("bellglass:") {
                continue;
            }
            let mut instance = linker.instance(name).unwrap();
            for (function, item) in interface.exports(&engine) {
                if matches!(item.ty, ComponentItem::ComponentFunc(_)) {
                    instance.func_new(function, |_, _, _, _| wasmtime::bail!("not here")).unwrap();
                }
            }
        }
        let (_, tools) = component.get_export(None, "bellglass:plugin/tools@0.1.0").unwrap();
        let (_, call) = component.get_export(Some(&tools), "call-tool").unwrap();
        let pre = linker.instantiate_pre(component).unwrap();
        Self { engine, pre, call }
    }

    pub async fn instance(&self) -> (Store<State>, Instance) {
        let state = State {
            wasi: None,
            table: ResourceTable::new(),
            limits: StoreLimitsBuilder::new().memory_size(256 << 20).build(),
        };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|it| &mut it.limits);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|_| Ok(wasmtime::UpdateDeadline::Yield(1)));
        let instance = self.pre.instantiate_async(&mut store).await.unwrap();
        (store, instance)
    }

    pub async fn call_in(&self, store: &mut Store<State>, instance: &Instance, tool: &str, arguments: &str) {
        let call: CallTool = instance.get_typed_func(&mut *store, self.call).unwrap();
        let (answer,) = call.call_async(store, (tool.to_owned(), arguments.to_owned())).await.unwrap();
        assert!(answer.is_ok());
    }

    pub async fn call(&self, tool: &str, arguments: &str) {
        let (mut store, instance) = self.instance().await;
        self.call_in(&mut store, &instance, tool, arguments).await;
    }
}
