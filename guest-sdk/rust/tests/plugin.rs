//! The SDK as an author sees it, with the host played by `bellglass_guest::test`.

use bellglass_guest::{
    Amendment, Capability, Decision, Failure, JsonSchema, Lifetime, Message, NoArguments, Result, Setup, Value, agents,
    conversation, json, process::Program, session, terminal, test, toolbox,
};
use std::cell::Cell;

#[derive(serde::Deserialize, JsonSchema)]
struct Number {
    /// Any number
    n: i64,
}

#[test]
fn a_failure_is_an_answer_and_a_fault_names_the_call() {
    let plugin = test::plugin(|setup: &mut Setup| {
        setup.tool("fails", "Fails", |_: NoArguments| -> Result<Value> {
            Err(Failure::new("tests failed").with("exit_status", 1))
        });
        setup.tool("faults", "Faults", |_: NoArguments| -> Result<Value> { Err(Failure::fault("no disk")) });
    });
    assert_eq!(plugin.call("fails", json!({})), json!({"error": "tests failed", "exit_status": 1, "ok": false}));
    let fault = json!({"error": "no disk", "name": "faults", "args": {"a": 1}, "ok": false});
    assert_eq!(plugin.call("faults", json!({"a": 1})), fault);
}

#[test]
fn any_printable_error_and_nothing_at_all_can_be_returned() {
    let plugin = test::plugin(|setup: &mut Setup| {
        setup.tool("io", "Reads", |_: NoArguments| -> Result<()> {
            std::fs::read("no such file")?;
            Ok(())
        });
        setup.tool("nothing", "Does nothing", |_: NoArguments| -> Result<(), String> { Ok(()) });
        setup.tool("text", "Answers wrongly", |_: NoArguments| -> Result<&str> { Ok("text") });
    });
    assert_eq!(plugin.call("nothing", json!({})), json!({"ok": true}));
    assert!(plugin.call("io", json!({}))["error"].as_str().is_some_and(|text| text.contains("No such file")));
    assert_eq!(plugin.call("text", json!({}))["error"], "a tool answers with a JSON object, `text` answered \"text\"");
}

#[test]
fn what_does_not_fit_the_type_is_told_to_the_model() {
    let setup = |setup: &mut Setup| {
        setup.tool("double", "Doubles", |number: Number| json!({"n": number.n * 2})).alias("twice");
    };
    assert_eq!(test::plugin(setup).call("twice", json!({"n": 4})), json!({"n": 8, "ok": true}));
    let error = test::plugin(setup).call("double", json!({"n": "x"}))["error"].to_string();
    assert!(error.contains("invalid arguments: invalid type: string"), "{error}");
    let error = test::plugin(setup).call("dubble", json!({}))["error"].to_string();
    assert!(error.contains("unknown tool `dubble`, there is: double"), "{error}");
}

#[test]
fn the_last_of_a_name_wins_in_the_place_of_the_first() {
    let plugin = test::plugin(|setup: &mut Setup| {
        setup.tool("a", "First", |_: NoArguments| json!({"n": 1}));
        setup.tool("b", "Other", |_: NoArguments| json!({}));
        setup.tool("a", "Second", |_: NoArguments| json!({"n": 2}));
    });
    let listed: Vec<_> = plugin.tools().into_iter().map(|tool| tool.description).collect();
    assert_eq!(listed, ["Second", "Other"]);
    assert_eq!(plugin.call("a", json!({}))["n"], 2);
}

#[test]
fn hooks_run_in_the_order_of_the_host() {
    let plugin = test::plugin(|setup: &mut Setup| {
        setup.after("t", |_: &Value, _: &Value| terminal::print("5"));
        setup.after_every(|_: &str, _: &Value, _: &Value| terminal::print("4"));
        setup.before("t", |_: &Value| terminal::print("2"));
        setup.before_every(|_: &str, _: &Value| terminal::print("1"));
        setup.before("other", |_: &Value| terminal::print("never"));
        setup.tool("t", "Prints", |_: NoArguments| -> Result {
            terminal::print("3");
            Ok(())
        });
    });
    plugin.call("t", json!({}));
    assert_eq!(plugin.said(), "12345");
}

#[test]
fn hooks_change_ask_and_stop() {
    let plugin = test::plugin(|setup: &mut Setup| {
        setup.tool("double", "Doubles", |number: Number| json!({"n": number.n * 2}));
        setup.before("double", |arguments: &Value| match arguments["n"].as_i64() {
            Some(1) => Ok(Decision::Replace(json!({"n": 10}))),
            Some(2) => Ok(Decision::Ask("Really?".to_owned())),
            Some(3) => Err("not three"),
            _ => Ok(Decision::Proceed),
        });
        setup.after("double", |_: &Value, outcome: &Value| -> Result<Amendment> {
            match outcome["n"].as_i64() {
                Some(8) => Ok(Amendment::Replace(json!({"n": "eight"}))),
                Some(12) => Err("twelve is too much".into()),
                _ => Ok(Amendment::Keep),
            }
        });
    })
    .with_answer("y")
    .with_answer("n");
    let n = |n: i64| plugin.call("double", json!({"n": n}));
    assert_eq!(n(1), json!({"n": 20, "ok": true}));
    assert_eq!(n(2), json!({"n": 4, "ok": true}));
    assert_eq!(n(2)["error"], "User denied permission: double");
    assert_eq!(n(3), json!({"error": "not three", "name": "double", "args": {"n": 3}, "ok": false}));
    assert_eq!(n(4), json!({"n": "eight", "ok": true}));
    assert_eq!(n(6)["error"], "`double` ran, then a hook failed: twelve is too much");
}

#[test]
fn a_call_starts_afresh_unless_the_plugin_lasts() {
    let counting = |lifetime: Lifetime| {
        test::plugin(move |setup: &mut Setup| {
            setup.plugin("counts", "Counts").lifetime(lifetime).asks(Capability::call_tool("*"), "to call itself");
            let count = Cell::new(0);
            setup.tool("count", "Counts calls", move |_: NoArguments| {
                count.set(count.get() + 1);
                json!({"count": count.get()})
            });
            setup.tool("nested", "Calls itself", |_: NoArguments| json!({"inner": *toolbox::run("count", json!({}))}));
        })
    };
    let call = counting(Lifetime::Call);
    for _ in 0..2 {
        assert_eq!(call.call("count", json!({})), json!({"count": 1, "ok": true}));
    }
    assert_eq!(call.call("nested", json!({}))["inner"]["count"], 1);

    let session = counting(Lifetime::Session);
    session.call("count", json!({}));
    assert_eq!(session.call("count", json!({}))["count"], 2);
    let inner = &session.call("nested", json!({}))["inner"];
    assert_eq!(inner["error"], "the plugin is waiting for this call");
}

#[test]
fn what_was_not_asked_for_or_not_granted_is_denied() {
    let silent = |setup: &mut Setup| {
        setup.command("try", "Tries everything", |_: Option<&str>| {
            let denied = [
                toolbox::run("try", json!({})).error().map(ToString::to_string),
                toolbox::definitions().err().map(|error| error.to_string()),
                conversation::add(&Message::user("x")).err().map(|error| error.to_string()),
                agents::turn("x").err().map(|error| error.to_string()),
                session::exit().err().map(|error| error.to_string()),
                Program::shell("ls").run().err().map(|error| error.to_string()),
            ];
            let count = denied.iter().flatten().filter(|text| text.contains("denied")).count();
            terminal::say(&format!("{count} of {}", denied.len()));
        });
    };
    assert_eq!(test::plugin(silent).run_command("try", None).said(), "6 of 6\n");

    let asking = move |setup: &mut Setup| {
        silent(setup);
        setup
            .asks(Capability::SessionControl, "to try")
            .asks(Capability::Conversation, "to try")
            .asks(Capability::run("ls *"), "to try");
    };
    assert_eq!(test::plugin(asking).run_command("try", None).said(), "4 of 6\n");
    let plugin = test::plugin(asking).with_grant(Capability::Conversation);
    assert_eq!(plugin.run_command("try", None).said(), "5 of 6\n");
}

#[test]
fn a_plugin_describes_itself() {
    let info = test::plugin(|setup: &mut Setup| {
        setup
            .plugin("web", "Reads pages")
            .version("1.2.3")
            .asks(Capability::credential("KEY", "https://example.org", "authorization", "Bearer "), "to log in");
    })
    .describe();
    assert_eq!((&*info.name, &*info.version, info.lifetime), ("web", "1.2.3", Lifetime::Call));
    let asked = format!("{:?}", info.capabilities);
    assert!(asked.contains("to log in") && asked.contains("https://example.org"), "{asked}");
}

#[test]
#[should_panic(expected = "but says")]
fn an_example_that_does_not_hold_is_found() {
    test::check_examples(|setup: &mut Setup| {
        setup
            .tool("double", "Doubles", |number: Number| json!({"n": number.n * 2}))
            .example(r#"{"n":1}"#, r#"{"n":3}"#);
    });
}

#[test]
#[should_panic(expected = "refers to \"https://example.org/schema\"")]
fn a_schema_that_refers_outside_is_found() {
    test::check_listing(|setup: &mut Setup| {
        let schema = r#"{"type":"object","properties":{"x":{"$ref":"https://example.org/schema"}}}"#;
        setup.raw_tool("outside", "Refers", schema, |arguments: Value| arguments);
    });
}
