//! What a person sees of the commands.

use super::setup;
use bellglass_guest::{Message, Value, json, serde_json, test};

#[test]
fn the_host_would_load_it() {
    test::check_listing(setup);
}

#[test]
fn help_aligns_the_descriptions() {
    let help = test::plugin(setup).run_command("help", None).said().to_owned();
    assert!(help.starts_with("/help      List the commands\n/exit      End the session\n"), "{help}");
    assert_eq!(help.lines().count(), 7);
}

#[test]
fn exit_reload_and_clear_reach_the_session() {
    let plugin = test::plugin(setup).with_message(Message::user("hello"));
    plugin.run_command("exit", None);
    plugin.run_command("reload", None);
    assert_eq!((plugin.exits(), plugin.reloads(), plugin.messages().len()), (1, 1, 1));
    plugin.run_command("clear", None);
    assert!(plugin.messages().is_empty());
}

#[test]
fn tools_are_listed_and_shown() {
    let plugin = test::plugin(setup).with_tool("read", |_| json!({})).with_tool("execute", |_| json!({}));
    let list = "read     Stands in for read\nexecute  Stands in for execute\n";
    assert_eq!(plugin.run_command("tools", None).said(), list);
    let shown = "read: Stands in for read\n{\n  \"type\": \"object\"\n}\n";
    assert_eq!(plugin.run_command("tools", Some("read")).said(), shown);
    let error = "no tool `reed`; type /tools NAME with one of: read, execute";
    assert_eq!(plugin.run_command("tools", Some("reed")).error(), Some(error));
    assert_eq!(plugin.complete("tools", "r"), ["read"]);
}

#[test]
fn context_is_shown_whole_in_part_and_as_json() {
    let long = "word ".repeat(40);
    let plugin =
        test::plugin(setup).with_message(Message::user("one\ntwo")).with_message(Message::tool("call_1", &long));
    let run = plugin.run_command("context", None);
    let lines: Vec<&str> = run.said().lines().collect();
    assert_eq!(lines[..2], ["system: You are a helpful assistant.", "user: one two"]);
    assert!(lines[2].starts_with("tool: word word") && lines[2].ends_with('…'), "{}", lines[2]);
    assert_eq!(plugin.run_command("context", Some("2")).said().lines().count(), 2);
    assert_eq!(plugin.run_command("context", Some("99")).said().lines().count(), 3);

    let json: Value = serde_json::from_str(plugin.run_command("context", Some("json")).said()).expect("it prints JSON");
    assert_eq!(json[2], json!({"role": "tool", "content": long, "tool_call_id": "call_1"}));

    let hint = "type /context, /context 3 for the last three messages, or /context json";
    for wrong in ["0", "-1", "all"] {
        assert_eq!(plugin.run_command("context", Some(wrong)).error(), Some(hint));
    }
}

#[test]
fn the_provider_is_shown_and_switched() {
    let plugin = test::plugin(setup).with_provider("openai");
    assert_eq!(plugin.run_command("provider", None).said(), "provider: stub\navailable: stub, openai\n");
    plugin.run_command("provider", Some("openai"));
    assert_eq!(plugin.provider(), ("openai".to_owned(), None));
    let error = "no provider `claude`; type /provider NAME with one of: stub, openai";
    assert_eq!(plugin.run_command("provider", Some("claude")).error(), Some(error));
}

#[test]
fn without_grants_each_command_says_that_it_was_denied() {
    let plugin = test::plugin(setup).without_grants();
    for command in ["exit", "clear", "reload", "tools", "context", "provider"] {
        let run = plugin.run_command(command, None);
        assert!(run.error().is_some_and(|error| error.starts_with("denied")), "{command}: {run:?}");
    }
}
