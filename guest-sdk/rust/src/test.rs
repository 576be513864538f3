//! Tests of a plugin without WebAssembly: [`plugin`] stands for a host that granted what the plugin asked for.
//!
//! Each call runs in a plugin that was set up anew, as in the host, unless it asked for
//! [`Lifetime::Session`](crate::Lifetime::Session). Hooks run around calls, grants are checked, and what the plugin calls is
//! answered by doubles that are prepared with `with_…`. Three things differ: arguments are not checked against the schema
//! before they reach the tool, nobody is asked for approval, and files are those of your machine, without a sandbox.
//! `cargo test` runs in the folder of the package.
//!
//! ```
//! use bellglass_guest::{Capability, Result, Setup, json, terminal, test, toolbox};
//!
//! fn first_line(path: Option<&str>) -> Result {
//!     let result = toolbox::run("read", json!({"path": path}));
//!     let text = result["text"].as_str().ok_or("no text")?;
//!     terminal::say(text.lines().next().unwrap_or_default());
//!     Ok(())
//! }
//!
//! fn setup(setup: &mut Setup) {
//!     setup.asks(Capability::call_tool("read"), "to read the file");
//!     setup.command("head", "Shows the first line of a file", first_line);
//! }
//!
//! let plugin = test::plugin(setup).with_tool("read", |_| json!({"text": "one\ntwo\n"}));
//! assert_eq!(plugin.run_command("head", Some("a.txt")).said(), "one\n");
//!
//! // Where the user granted nothing:
//! let plugin = test::plugin(setup).without_grants().with_tool("read", |_| json!({"text": "one"}));
//! assert_eq!(plugin.run_command("head", Some("a.txt")).error(), Some("no text"));
//! ```

mod check;
mod dispatch;
pub(crate) mod doubles;
mod plugin;
mod prepare;
pub(crate) mod script;
mod world;

pub use check::{check_examples, check_listing};
pub use plugin::{CommandRun, TestPlugin};
pub use script::{Answer, Exchange, Piece, Script};

use crate::Setup;

/// A plugin to test.
///
/// A thread has one host at a time: what is called outside of any `TestPlugin`'s methods reaches the last one that was made
/// or used.
pub fn plugin(setup: impl Fn(&mut Setup) + 'static) -> TestPlugin {
    TestPlugin::new(setup)
}
