//! A plugin that asks for one right, and says what it can do with it.

use bellglass_guest::{Capability, Failure, Setup, Value, json, terminal};

fn setup(setup: &mut Setup) {
    setup.plugin("notes", "Lists notes").asks(Capability::read("."), "to find your notes");
    setup.raw_tool("notes", "Lists notes", r#"{"type":"object"}"#, |_: Value| -> Result<Value, Failure> {
        Ok(json!({"notes": list().map_err(Failure::fault)?}))
    });
    setup.command("notes", "Lists notes", |_| match list() {
        Ok(names) => terminal::say(&format!("found {}", names.join(", "))),
        Err(error) => terminal::say(&format!("nothing found: {error}")),
    });
}

bellglass_guest::export!(setup);

fn list() -> std::io::Result<Vec<String>> {
    let names = std::fs::read_dir(".")?.map(|it| it.map(|it| it.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<std::io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}
