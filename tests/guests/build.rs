//! Builds the guests of the tests, the same way as the bundled plugins.
//!
//! A build script, so that a plain `cargo test` is enough.

#[path = "../../xtask/src/guest.rs"]
mod guest;

use guest::Guest;

/// A new guest: its package below `tests/guests`, a member in the root manifest, a line here.
const GUESTS: &[Guest] = &[
    Guest { name: "files", package: "guest-files" },
    Guest { name: "files-next", package: "guest-files-next" },
    Guest { name: "hooked", package: "guest-hooked" },
    Guest { name: "hostile", package: "guest-hostile" },
    Guest { name: "measured", package: "guest-measured" },
    Guest { name: "notes", package: "guest-notes" },
    Guest { name: "order", package: "guest-order" },
    Guest { name: "resident", package: "guest-resident" },
    Guest { name: "script", package: "guest-script" },
    Guest { name: "shell", package: "guest-shell" },
    Guest { name: "web", package: "guest-web" },
];

fn main() {
    guest::embed("guests.rs", "GUESTS", GUESTS);
}
