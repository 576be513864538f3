//! A plugin with one instance for the session: its memory lasts, until a fault.

use std::cell::Cell;

use bellglass_guest::{Capability, Failure, Lifetime, Setup, Value, json, toolbox};

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// A schema that takes anything.
const ANY: &str = r#"{"type":"object"}"#;

fn setup(setup: &mut Setup) {
    setup
        .plugin("resident", "Counts the calls that it gets")
        .lifetime(Lifetime::Session)
        .asks(Capability::call_tool("*"), "to enter itself");
    setup.raw_tool("count", "Counts", ANY, |_: Value| -> Result<Value, Failure> {
        COUNT.set(COUNT.get() + 1);
        Ok(json!({"count": COUNT.get()}))
    });
    setup.raw_tool("trap", "Panics", ANY, |_: Value| -> Result<Value, Failure> { panic!("on purpose") });
    setup.raw_tool("spin", "Never ends", ANY, |_: Value| -> Result<Value, Failure> {
        loop {
            std::hint::black_box(());
        }
    });
    setup.raw_tool("enter", "Calls a tool of its own", ANY, |_: Value| -> Result<Value, Failure> {
        Ok(toolbox::run("count", json!({})).into_value())
    });
    setup.raw_tool("visit", "Calls any tool", ANY, |args: Value| -> Result<Value, Failure> {
        Ok(toolbox::run(args["tool"].as_str().unwrap_or_default(), &args["arguments"]).into_value())
    });
    setup.command("count", "Counts", |_| COUNT.set(COUNT.get() + 1));
}

bellglass_guest::export!(setup);
