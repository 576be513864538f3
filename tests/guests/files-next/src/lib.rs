//! A plugin that tries whatever steps it is told on files, with `wasi:filesystem` of WASI 0.3.
//!
//! On the bare interface: a library would turn away what the host has to.

#![allow(missing_docs, unsafe_code, reason = "generated bindings")]
// Natively there is no host to export to; the workspace still checks this crate.
#![cfg_attr(not(target_family = "wasm"), allow(dead_code, reason = "exports exist in WebAssembly alone"))]

#[path = "../../files/src/script.rs"]
mod script;

wit_bindgen::generate!({
    path: "wit",
    world: "bellglass:plugin/guest",
    generate_all,
});

use bellglass::plugin::types::ToolDefinition;
use exports::bellglass::plugin::{manifest, tools};
use serde_json::{Value, json};
use wasi::clocks::monotonic_clock::wait_for;
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
            name: "files-next".into(),
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

    async fn call_tool(_name: String, arguments: String) -> Result<String, String> {
        let arguments: Value = serde_json::from_str(&arguments).map_err(|it| it.to_string())?;
        let number = |key: &str| arguments[key].as_u64().unwrap_or_default();
        for _ in 0..number("waits") {
            wait_for(number("nanoseconds")).await;
        }
        let kept: Vec<_> = (0..number("streams")).map(|_| wit_stream::new::<u8>()).collect();
        std::hint::black_box(&kept);
        if arguments["spins"] == true {
            loop {
                std::hint::black_box(());
            }
        }
        let results = Script::new().run::<Three>(&arguments["steps"]).await;
        Ok(json!({ "results": results }).to_string())
    }
}

struct Three;

impl Version for Three {
    async fn read(file: &Descriptor) -> Result<Vec<u8>, ErrorCode> {
        let (content, done) = file.read_via_stream(0);
        let content = content.collect().await;
        done.await.map(|()| content)
    }

    async fn write(file: &Descriptor, content: Vec<u8>) -> Result<(), ErrorCode> {
        let (mut writer, reader) = wit_stream::new();
        let done = file.write_via_stream(reader, 0);
        writer.write_all(content).await;
        drop(writer);
        done.await
    }

    fn named(error: ErrorCode) -> String {
        // As in WIT: words in lower case with hyphens between them.
        let name = format!("{error:?}").trim_start_matches("ErrorCode::").to_owned();
        let mut words = String::new();
        for letter in name.chars() {
            if letter.is_uppercase() && !words.is_empty() {
                words.push('-');
            }
            words.extend(letter.to_lowercase());
        }
        words
    }
}
