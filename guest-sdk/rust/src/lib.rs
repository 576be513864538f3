//! Write plugins for bellglass: tools, hooks, slash commands and model providers, as WebAssembly components that reach only
//! what their user granted.
//!
//! # A first plugin
//!
//! A library crate that is built as a `cdylib`:
//!
//! ```toml
//! [package]
//! name = "dice"
//! version = "0.1.0"
//! description = "Rolls dice"
//! edition = "2024"
//!
//! [lib]
//! crate-type = ["cdylib", "rlib"]
//!
//! [dependencies]
//! bellglass-guest = "0.1"
//! serde = { version = "1", features = ["derive"] }
//! schemars = "1"
//! ```
//!
//! with one function that says all there is, and one macro that exports it:
//!
//! ```
//! use bellglass_guest::{JsonSchema, Result, Setup, Value, json, terminal};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Roll {
//!     /// How many sides the die has
//!     sides: u64,
//!     /// Any number; the same one rolls the same
//!     seed: u64,
//! }
//!
//! fn roll(roll: Roll) -> Result<Value> {
//!     if roll.sides == 0 {
//!         return Err("a die has at least one side".into()); // the model reads this and tries again
//!     }
//!     let mixed = roll.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
//!     Ok(json!({"rolled": mixed % roll.sides + 1}))
//! }
//!
//! fn setup(setup: &mut Setup) {
//!     setup
//!         .tool("roll", "Rolls a die", roll)
//!         .alias("dice")
//!         .example(r#"{"sides": 1, "seed": 7}"#, r#"{"rolled": 1}"#);
//!     setup.command("dice", "Explains the dice", |_| terminal::say("The model rolls them."));
//!     setup.before("roll", |arguments: &Value| match arguments["sides"].as_u64() {
//!         Some(7) => Err("nobody has a die of seven sides"),
//!         _ => Ok(()),
//!     });
//! }
//!
//! bellglass_guest::export!(setup);
//!
//! // In `#[cfg(test)] mod tests`:
//! use bellglass_guest::test;
//! test::check_examples(setup);
//! test::check_listing(setup);
//! let plugin = test::plugin(setup);
//! assert_eq!(plugin.call("roll", json!({"sides": 1, "seed": 2})), json!({"rolled": 1, "ok": true}));
//! assert_eq!(plugin.call("roll", json!({"sides": 7, "seed": 2}))["error"], "nobody has a die of seven sides");
//! assert_eq!(plugin.run_command("dice", None).said(), "The model rolls them.\n");
//! ```
//!
//! `cargo test` needs no WebAssembly. `cargo build --release --target wasm32-wasip2` makes
//! `target/wasm32-wasip2/release/dice.wasm`; put it into `~/.agents/plugins`, or load it with `bellglass --plugin FILE`.
//!
//! # What a plugin can reach
//!
//! Nothing, unless it [asks](Setup::asks) and its user grants it. Then files are reached with `std::fs` below the folders
//! granted, the network with [`http`] or any client over `wasi:http`, and the rest by the modules of this crate. A component imports only what its
//! author uses; what is not asked for answers that it was denied.
//!
//! | to | use | ask for |
//! |---|---|---|
//! | show something, ask the user | [`terminal`] | |
//! | write to the log | [`log`] | |
//! | send HTTP requests | [`http`] | [`Http`](Capability::Http), [`Credential`](Capability::Credential) |
//! | read and write files | `std::fs` | [`Read`](Capability::Read), [`Write`](Capability::Write) |
//! | run another tool | [`toolbox`] | [`CallTool`](Capability::CallTool) |
//! | run a program | [`process`] | [`Run`](Capability::Run) |
//! | read or change the conversation | [`conversation`] | [`Conversation`](Capability::Conversation) |
//! | ask the model, switch the provider | [`agents`] | [`Model`](Capability::Model) |
//! | run commands, reload, exit | [`session`] | [`SessionControl`](Capability::SessionControl) |
//! | keep something for later | [`storage`] | |
//! | read its settings | [`settings`] | |
//! | answer as a model provider | [`provider`], [`reply`] | |
//!
//! # How long things last
//!
//! Each call gets a fresh instance: `setup` runs, one handler runs, the instance is gone. So nothing leaks from one call to
//! the next, calls run in parallel, and a panic ends one call only. Keep `setup` to registering; schemas are made only when
//! the host lists the tools. What shall last goes to [`storage`], or the plugin asks for [`Lifetime::Session`].

mod capability;
mod command;
mod failure;
mod handler;
mod hook;
mod host_error;
mod manifest;
mod message;
mod setup;
mod tool;

pub mod agents;
pub mod conversation;
pub mod http;
pub mod log;
pub mod process;
pub mod provider;
pub mod reply;
pub mod session;
pub mod settings;
pub mod storage;
pub mod terminal;
pub mod toolbox;

#[cfg(not(target_family = "wasm"))]
pub mod test;

#[doc(hidden)]
#[allow(missing_docs, unsafe_code, clippy::all, reason = "generated")]
#[cfg_attr(not(target_family = "wasm"), allow(dead_code, reason = "natively, doubles answer"))]
pub mod bindings;
#[doc(hidden)]
pub mod exports;
mod imports;

pub use bindings::bellglass::plugin::types::{Message, Role, ToolCall, ToolDefinition};
pub use capability::{Capability, Credential};
pub use command::Command;
pub use failure::{Failure, Result};
pub use handler::{Answer, Returns};
pub use hook::{Amendment, Decision};
pub use host_error::HostError;
pub use manifest::{Lifetime, Manifest};
pub use provider::{Completion, Model, Provider, ProviderEntry, ProviderError, Request, StopReason};
pub use schemars::{self, JsonSchema};
pub use serde_json::{self, Value, json};
pub use setup::Setup;
pub use tool::{NoArguments, Tool};

/// Makes a plugin of a `fn(&mut Setup)`. Once in a crate.
///
/// The version, and the name and description unless [`Setup::plugin`] says others, are those of the package. The component's
/// exports are made only for WebAssembly, so that the same crate links natively for tests.
#[macro_export]
macro_rules! export {
    ($setup:path) => {
        #[cfg(target_family = "wasm")]
        #[allow(unsafe_code, reason = "exports of a component")]
        const _: () = {
            struct Plugin;

            impl $crate::exports::Author for Plugin {
                const NAME: &'static str = env!("CARGO_PKG_NAME");
                const VERSION: &'static str = env!("CARGO_PKG_VERSION");
                const DESCRIPTION: &'static str = env!("CARGO_PKG_DESCRIPTION");

                fn setup(setup: &mut $crate::Setup) {
                    $setup(setup);
                }
            }

    $crate::bindings::export_component!(Plugin with_types_in $crate::bindings);
        };
        #[cfg(not(target_family = "wasm"))]
        const _: fn(&mut $crate::Setup) = $setup;
    };
}
