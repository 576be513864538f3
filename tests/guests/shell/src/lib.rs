//! A plugin that runs what it is told, as far as it may.

use std::time::Duration;

use bellglass_guest::{Capability, Failure, Setup, Value, json, process::Program};

fn setup(setup: &mut Setup) {
    setup.plugin("shell", "Runs programs").asks(Capability::run("*"), "to run what you ask for");
    setup.raw_tool("run", "Runs a line", r#"{"type":"object"}"#, |arguments: Value| -> Result<Value, Failure> {
        let mut program = match arguments["argv"].as_array() {
            Some(argv) => Program::new(argv.iter().filter_map(Value::as_str)),
            None => Program::shell(arguments["line"].as_str().unwrap_or_default()),
        };
        if let Some(limit) = arguments["timeout_ms"].as_u64() {
            program = program.timeout(Duration::from_millis(limit));
        }
        if arguments["show"] == true {
            program = program.show();
        }
        let output = program.run().map_err(Failure::fault)?;
        Ok(json!({
            "code": output.exit_code,
            "out": output.stdout,
            "err": output.stderr,
            "cut": output.truncated,
            "late": output.timed_out,
        }))
    });
}

bellglass_guest::export!(setup);
