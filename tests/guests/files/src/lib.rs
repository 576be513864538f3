//! A plugin that tries whatever steps it is told on files, with `wasi:filesystem` of WASI 0.2.
//!
//! On the bare interface: a library would turn away what the host has to.

#![allow(missing_docs, unsafe_code, reason = "generated bindings")]
// Natively there is no host to export to; the workspace still checks this crate.
#![cfg_attr(not(target_family = "wasm"), allow(dead_code, reason = "exports exist in WebAssembly alone"))]

mod script;

wit_bindgen::generate!({
    path: ["../../../wit", "wit"],
    world: "test:files/guest",
    generate_all,
});

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bellglass::plugin::types::ToolDefinition;
use exports::bellglass::plugin::{manifest, tools};
use serde_json::{Value, json};
use wasi::filesystem::types::{Descriptor, ErrorCode};

use script::{READS, Script, Version, WRITES};

struct Files;

#[cfg(target_family = "wasm")]
export!(Files);

impl manifest::Guest for Files {
    fn describe() -> manifest::PluginInfo {
        use manifest::{Capability as C, CapabilityRequest};
        let reads = READS.map(|it| C::Read(it.into())).into_iter();
        let asked = reads.chain(WRITES.map(|it| C::Write(it.into())));
        manifest::PluginInfo {
            name: "files".into(),
            version: "1.0.0".into(),
            description: "Tries things on files".into(),
            capabilities: asked.map(|capability| CapabilityRequest { capability, reason: "to try".into() }).collect(),
            lifetime: manifest::Lifetime::Call,
            extra: None,
        }
    }
}

impl tools::Guest for Files {
    fn list_tools() -> Vec<ToolDefinition> {
        vec![ToolDefinition {
            name: "try".into(),
            description: "Runs steps".into(),
            parameters: r#"{"type":"object"}"#.into(),
            aliases: Vec::new(),
        }]
    }

    fn call_tool(_name: String, arguments: String) -> Result<String, String> {
        let arguments: Value = serde_json::from_str(&arguments).map_err(|it| it.to_string())?;
        let mut script = Script::new();
        let run = pin!(script.run::<Two>(&arguments["steps"]));
        // Nothing waits in this version: what is polled once is done.
        match run.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(results) => Ok(json!({ "results": results }).to_string()),
            Poll::Pending => Err("a step waits".into()),
        }
    }
}

struct Two;

impl Version for Two {
    async fn read(file: &Descriptor) -> Result<Vec<u8>, ErrorCode> {
        file.read(1 << 20, 0).map(|it| it.0)
    }

    async fn write(file: &Descriptor, content: Vec<u8>) -> Result<(), ErrorCode> {
        file.write(&content, 0).map(drop)
    }

    fn named(error: ErrorCode) -> String {
        error.name().into()
    }
}
