//! Builds the bundled plugins and embeds them, so that the binary is one file.
//!
//! A build script, so that a plain `cargo build` is enough.

#[path = "../xtask/src/guest.rs"]
mod guest;

use guest::Guest;

const BUNDLED: &[Guest] = &[
    Guest { name: "wc", package: "bellglass-wc" },
    Guest { name: "no-rm", package: "bellglass-no-rm" },
    Guest { name: "session", package: "bellglass-session" },
    Guest { name: "anthropic", package: "bellglass-anthropic" },
    Guest { name: "gemini", package: "bellglass-gemini" },
    Guest { name: "ollama", package: "bellglass-ollama" },
    Guest { name: "openai", package: "bellglass-openai" },
    Guest { name: "openai-responses", package: "bellglass-openai-responses" },
    Guest { name: "task", package: "bellglass-task" },
];

fn main() {
    guest::embed("bundled.rs", "BUNDLED", BUNDLED);
}
