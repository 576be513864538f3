//! The plugin that the benchmarks call: nothing, and a count of a text.

use bellglass_guest::{Failure, Setup, Value, json};

/// The schema of the count: what a real tool has.
const TEXT: &str = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;

fn setup(setup: &mut Setup) {
    setup.plugin("measured", "Is measured");
    setup.raw_tool("noop", "Does nothing", r#"{"type":"object"}"#, |_: Value| -> Result<Value, Failure> {
        Ok(json!({}))
    });
    setup.raw_tool("count", "Counts a text", TEXT, |arguments: Value| -> Result<Value, Failure> {
        let text = arguments["text"].as_str().unwrap_or_default();
        Ok(json!({"lines": text.lines().count(), "words": text.split_whitespace().count(), "bytes": text.len()}))
    });
}

bellglass_guest::export!(setup);
