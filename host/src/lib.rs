//! An agent for the terminal whose plugins are sandboxed WebAssembly components, as a library: what the program `bellglass`
//! does, another Rust program can do with these types.
//!
//! A [`Host`](installed::Host) finds and loads plugins; what it [installed](installed::Installed) is a
//! [`Toolbox`](toolbox::Toolbox), [`Commands`](commands::Commands) and [`Providers`](provider::Providers). A tool runs
//! without a model and without a session:
//!
//! ```
//! use bellglass::host_request::CallContext;
//! use bellglass::installed::{Host, HostOptions};
//! use bellglass::plugin::rights::Surroundings;
//!
//! #[tokio::main]
//! async fn main() -> anyhow::Result<()> {
//!     let workspace = tempfile::tempdir()?;
//!     std::fs::write(workspace.path().join("haiku.txt"), "old pond\na frog jumps in\nthe sound of water\n")?;
//!
//!     // No folder to look into is named here: only the bundled plugins are loaded.
//!     let surroundings = Surroundings { workspace: workspace.path().into(), ..Surroundings::default() };
//!     let host = Host::new(HostOptions { surroundings, single: true, ..HostOptions::default() })?;
//!     let installed = host.load().await;
//!
//!     // Nobody is there to answer what a plugin asks of a session.
//!     let context = CallContext::top(None);
//!     let outcome = installed.toolbox.run("wc", r#"{"path": "haiku.txt"}"#, &context).await;
//!     assert_eq!(outcome.to_json(), r#"{"lines":3,"words":10,"bytes":44,"ok":true}"#);
//!     Ok(())
//! }
//! ```
//!
//! A conversation is a [`Session`](session::Session): it is started with a host and [options](session::SessionOptions),
//! [`ask`](session::Session::ask) runs one turn, and what it shows comes out of [`Outputs`](session::Outputs).
//!
//! # In reading order
//!
//! | | |
//! |---|---|
//! | [`plugin`] | from a file to tools, hooks and commands: finding, inspecting, loading, rights |
//! | `sandbox`, `bindings` | where guest code runs, and the WIT package as Rust; private, with all of wasmtime |
//! | [`toolbox`], [`commands`], [`provider`] | what all plugins have, under their names; the steps of a tool call |
//! | [`installed`] | the host, and what it loaded |
//! | [`agent`] | one turn as a step function, without any IO |
//! | [`session`] | the task that owns a conversation, runs turns, and answers what guests ask |
//! | [`repl`], [`cli`] | the two ends at a person or a script |
//! | [`transcript`], [`sessions`], [`tool`], [`completion`], [`retry`], [`host_request`], [`sub_agent`], [`question`], [`uses`], [`audit`] | the values that go between these |
//! | [`listing`], [`schema`], [`capability`], [`command_line`], [`grants`], [`policy`], [`name`] | what a plugin says of itself, asks for and is called, checked |
//! | [`network`], [`secrets`] | how requests go out, and what may be added to them |
//! | [`limits`], [`fault`], [`config`], [`toml_file`], [`folders`], [`text`] | limits and what hits them, what the user set, where it is, and how it is shown |
//!
//! `ARCHITECTURE.md` has the direction of imports, the way of one call through these, and the invariants.

// The two ends.
pub mod cli;
pub mod repl;

// A conversation.
pub mod agent;
pub mod session;

// What is installed.
pub mod commands;
pub mod installed;
pub mod provider;
pub mod toolbox;

// Plugins and the sandbox. Only these name wasmtime.
pub mod plugin;

mod bindings;
mod sandbox;

// Values, which import nothing of the above.
mod approval;
pub mod audit;
pub mod capability;
#[cfg(test)]
mod cases;
pub mod command_line;
pub mod completion;
pub mod config;
pub mod fault;
pub mod folders;
pub mod grants;
pub mod host_request;
pub mod limits;
pub mod listing;
pub mod name;
pub mod network;
pub mod policy;
pub mod question;
pub mod retry;
pub mod schema;
pub mod secrets;
pub mod sessions;
pub mod sub_agent;
pub mod text;
pub mod toml_file;
pub mod tool;
pub mod transcript;
pub mod uses;
