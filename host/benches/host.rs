//! What loading and calling costs, each beside the same work done with plain wasmtime.
//!
//! Criterion, for figures with their spread; the ratios that are promised come from `ratios`.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that fails says why, and criterion generates items")]

mod common;

use std::path::Path;

use common::{Ours, Plain, arguments_1k, host, plain_engine};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use tokio::runtime::Runtime;
use wasmtime::component::Component;

fn folder_of(guests: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for guest in guests {
        std::fs::write(folder.path().join(format!("{guest}.wasm")), test_guests::component(guest)).unwrap();
    }
    folder
}

fn load(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let plugins = folder_of(&["measured"]);
    let cache = tempfile::tempdir().unwrap();
    let component = test_guests::component("measured");
    let mut group = c.benchmark_group("load");
    group.sample_size(10);
    group.bench_function("cold/host", |b| {
        let host = host(plugins.path(), None);
        b.iter(|| assert!(runtime.block_on(host.load()).compiled >= 1));
    });
    group.bench_function("cold/plain", |b| {
        let engine = plain_engine();
        b.iter(|| Component::new(&engine, component).unwrap());
    });
    group.bench_function("cached/host", |b| {
        let host = host(plugins.path(), Some(cache.path()));
        runtime.block_on(host.load());
        b.iter(|| assert_eq!(runtime.block_on(host.load()).compiled, 0));
    });
    group.bench_function("cached/plain", |b| {
        let engine = plain_engine();
        let path = cache.path().join("plain.cwasm");
        std::fs::write(&path, engine.precompile_component(component).unwrap()).unwrap();
        #[expect(unsafe_code, reason = "the file was written two lines above")]
        // SAFETY: it holds what this engine has just compiled.
        b.iter(|| unsafe { Component::deserialize_file(&engine, &path).unwrap() });
    });
    group.finish();
}

fn call(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let load = |folder: &Path| runtime.block_on(Ours::load(folder, cache.path()));
    let (alone, hooked) = (folder_of(&["measured", "resident"]), folder_of(&["measured", "hooked"]));
    let (ours, hooked) = (load(alone.path()), load(hooked.path()));
    let plain = Plain::compile(test_guests::component("measured"));
    let plain_resident = Plain::compile(test_guests::component("resident"));
    let args = arguments_1k();
    let mut group = c.benchmark_group("call");
    group.bench_function("noop/fresh/host", |b| b.to_async(&runtime).iter(|| ours.call("noop", "{}")));
    group.bench_function("noop/fresh/plain", |b| b.to_async(&runtime).iter(|| plain.call("noop", "{}")));
    group.bench_function("1k/host", |b| b.to_async(&runtime).iter(|| ours.call("measured.count", &args)));
    group.bench_function("1k/plain", |b| b.to_async(&runtime).iter(|| plain.call("count", &args)));
    group.bench_function("noop/session/host", |b| b.to_async(&runtime).iter(|| ours.call("resident.count", "{}")));
    group.bench_function("noop/session/plain", |b| {
        let (mut store, instance) = runtime.block_on(plain_resident.instance());
        b.iter(|| runtime.block_on(plain_resident.call_in(&mut store, &instance, "count", "{}")));
    });
    group.finish();
    c.bench_function("hook/noop/host", |b| b.to_async(&runtime).iter(|| hooked.call("noop", "{}")));
    c.bench_function("instantiate/host", |b| {
        let plugin = ours.installed.toolbox.plugin_of("noop").unwrap();
        b.to_async(&runtime).iter(|| async { plugin.try_instance().await.unwrap() });
    });
    c.bench_function("instantiate/plain", |b| b.to_async(&runtime).iter(|| async { drop(plain.instance().await) }));
}

fn start(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let (plugins, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let component = test_guests::component("measured");
    for n in 0..100_u8 {
        // A custom section of its own makes each file another plugin for the cache.
        let mut copy = component.to_vec();
        copy.extend([0, 4, 1, b'n', n, n]);
        std::fs::write(plugins.path().join(format!("{n}.wasm")), copy).unwrap();
    }
    runtime.block_on(host(plugins.path(), Some(cache.path())).load());
    let mut group = c.benchmark_group("start");
    group.sample_size(10);
    group.bench_function("100-plugins/host", |b| {
        b.iter_batched(
            || (),
            |()| {
                let host = host(plugins.path(), Some(cache.path()));
                assert_eq!(runtime.block_on(host.load()).compiled, 0);
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("100-plugins/plain", |b| {
        let compiling = plain_engine();
        let files = tempfile::tempdir().unwrap();
        let code = compiling.precompile_component(component).unwrap();
        for n in 0..100 {
            std::fs::write(files.path().join(n.to_string()), &code).unwrap();
        }
        b.iter(|| {
            let engine = plain_engine();
            for n in 0..100 {
                #[expect(unsafe_code, reason = "the file was written above")]
                // SAFETY: it holds what an engine of the same settings has just compiled.
                let component =
                    unsafe { Component::deserialize_file(&engine, files.path().join(n.to_string())).unwrap() };
                std::hint::black_box(Plain::of(engine.clone(), &component));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, load, call, start);
criterion_main!(benches);
