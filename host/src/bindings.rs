//! The one place where the WIT package becomes Rust.
//!
//! Apart, so that a change of `wit/` shows here and in [`convert`] and nowhere else.

pub(crate) mod convert;

wasmtime::component::bindgen!({
    path: "../wit",
    world: "bellglass:plugin/full-plugin",
    imports: { default: async | trappable },
    exports: { default: async },
    with: {
        "bellglass:plugin/agents.agent": crate::bindings::SubAgent,
    },
});

/// A sub-agent, as the plugin that made it holds it.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct SubAgent(pub(crate) std::sync::Arc<crate::sub_agent::SubAgent>);

/// The package that this host serves, without its version.
pub(crate) const PACKAGE: &str = "bellglass:plugin";

/// The version of [`PACKAGE`] that this host serves.
pub(crate) const VERSION: &str = "0.1.0";

/// Interfaces of [`PACKAGE`] that a plugin may import.
pub(crate) const OFFERED: [&str; 11] = [
    "types",
    "log",
    "terminal",
    "reply",
    "toolbox",
    "conversation",
    "agents",
    "session",
    "process",
    "storage",
    "settings",
];

/// Interfaces of [`PACKAGE`] that a plugin may export. `types` and `manifest` come along with any of the others.
pub(crate) const EXPORTS: [&str; 5] = ["manifest", "tools", "hooks", "commands", "providers"];
