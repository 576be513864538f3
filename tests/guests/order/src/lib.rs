//! A plugin whose hooks say when they run: before and after its own tool, and around every other.

use bellglass_guest::{Capability, Failure, Setup, Value, json, terminal, toolbox};

/// A schema that takes anything.
const ANY: &str = r#"{"type":"object"}"#;

fn setup(setup: &mut Setup) {
    setup.plugin("order", "Says what runs when").asks(Capability::call_tool("*"), "to call and to list");
    // The tool's own are added first, and run after the global ones all the same.
    setup.before("steps", |arguments: &Value| match arguments["stop"].as_bool() {
        Some(true) => {
            terminal::say("own before 1 stops it");
            Err("own before 1 says no")
        }
        _ => {
            terminal::say("own before 1");
            Ok(())
        }
    });
    setup.before("steps", |_: &Value| terminal::say("own before 2"));
    setup.after("steps", |_: &Value, outcome: &Value| terminal::say(&format!("own after 1: {outcome}")));
    setup.after("steps", |_: &Value, _: &Value| terminal::say("own after 2"));
    setup.before_every(|tool: &str, _: &Value| terminal::say(&format!("global before of {tool}")));
    setup.after_every(|tool: &str, _: &Value, _: &Value| terminal::say(&format!("global after of {tool}")));
    setup.before("later", |_: &Value| Err::<(), _>("later, please"));
    setup
        .raw_tool("steps", "Says that it ran", ANY, |arguments: Value| -> Result<Value, Failure> {
            terminal::say("the tool");
            match &arguments["raise"] {
                Value::String(text) => Err(Failure::fault(text)),
                _ => Ok(arguments["answer"].clone()),
            }
        })
        .alias("walk");
    setup.raw_tool("look", "Looks at the toolbox", ANY, look);
}

bellglass_guest::export!(setup);

/// What the toolbox says of a tool, of arguments for it, and of all hooks.
fn look(arguments: Value) -> Result<Value, Failure> {
    let name = arguments["tool"].as_str().unwrap_or("steps");
    let hooks = toolbox::hooks()?;
    let hooks = hooks.iter().map(|it| format!("{:?} {}", it.moment, it.tool.as_deref().unwrap_or("*")));
    Ok(json!({
        "found": toolbox::find(name)?.name,
        "problems": toolbox::validate(name, arguments["arguments"].clone())?,
        "hooks": hooks.collect::<Vec<_>>(),
    }))
}
