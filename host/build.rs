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
    Guest { name: "task", package: "bellglass-task" },
];

fn main() {
    guest::embed("bundled.rs", "BUNDLED", BUNDLED);
}
