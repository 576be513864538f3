//! Checks that fit every plugin: that its examples hold, and that a host would take what it lists.

use super::plugin::TestPlugin;
use crate::Setup;
use serde_json::Value;

/// Makes each call that a tool gives as an [example](crate::Tool::example) and compares the answer, `ok` left out.
///
/// # Panics
///
/// When an answer differs, or no tool has an example.
#[track_caller]
pub fn check_examples(setup: impl Fn(&mut Setup) + 'static) {
    TestPlugin::new(setup).check_examples();
}

impl TestPlugin {
    /// As [`check_examples`], for tools whose examples need something prepared.
    ///
    /// # Panics
    ///
    /// When an answer differs, or no tool has an example.
    #[track_caller]
    pub fn check_examples(&self) {
        let mut checked = 0;
        for tool in self.instance().tools() {
            for example in &tool.examples {
                let arguments = json(&tool.name, "arguments", &example.arguments);
                let expected = json(&tool.name, "result", &example.result);
                let mut answer = self.call(&tool.name, arguments);
                if let Value::Object(answer) = &mut answer {
                    answer.shift_remove("ok");
                }
                let call = format!("{}({})", tool.name, example.arguments);
                assert!(answer == expected, "the example {call} answers\n  {answer}\nbut says\n  {expected}");
                checked += 1;
            }
        }
        assert!(checked > 0, "no tool has an example");
    }
}

/// Checks what a host would refuse to load: names, descriptions, schemas.
///
/// # Panics
///
/// When it would refuse something.
#[track_caller]
pub fn check_listing(setup: impl Fn(&mut Setup) + 'static) {
    let plugin = TestPlugin::new(setup);
    let name = plugin.describe().name;
    let legal = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
    assert!(
        name.len() <= 64 && name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(legal),
        "the plugin's name is `{name}`: it must be up to 64 of a-z, 0-9 and -, and start with a letter"
    );
    for (capability, reason) in plugin.instance().asked() {
        assert!(!reason.trim().is_empty(), "{capability:?} is asked for without a reason");
    }
    for tool in plugin.tools() {
        assert!(!tool.name.is_empty(), "a tool has no name");
        assert!(!tool.description.is_empty(), "the tool `{}` has no description", tool.name);
        let schema = json(&tool.name, "schema", &tool.parameters);
        assert!(schema["type"] == "object", "the parameters of `{}` are no object: {schema}", tool.name);
        if let Some(outside) = reference_outside(&schema) {
            panic!("the schema of `{}` refers to {outside:?}, which is outside of it", tool.name);
        }
    }
    for command in plugin.commands() {
        let legal = !command.name.is_empty() && !command.name.contains([' ', '/']);
        assert!(legal, "`{}` cannot be typed as a command", command.name);
    }
}

fn json(tool: &str, what: &str, text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => panic!("`{tool}`: the {what} is no JSON: {error}\n  {text}"),
    }
}

/// A `$ref` that leaves the document.
fn reference_outside(schema: &Value) -> Option<&str> {
    match schema {
        Value::Object(keys) => {
            let reference = keys.get("$ref").and_then(Value::as_str).filter(|to| !to.starts_with('#'));
            reference.or_else(|| keys.values().find_map(reference_outside))
        }
        Value::Array(items) => items.iter().find_map(reference_outside),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
