//! A hook around every tool that does nothing: what it costs to have one.

use bellglass_guest::{Setup, Value};

fn setup(setup: &mut Setup) {
    setup.plugin("hooked", "Stands before every tool");
    setup.before_every(|_: &str, _: &Value| ());
}

bellglass_guest::export!(setup);
