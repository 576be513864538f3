//! Sub-agents: their own conversation, never more tools than their creator, and their end with it.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::TestEnv;

/// The options of the guest `script`: it calls `task`, whose sub-agent is the same script.
fn calls(calls: &Value) -> String {
    format!("calls={calls}")
}

fn task(arguments: Value) -> Value {
    json!([{"id": "1", "name": "task", "arguments": arguments.to_string()}])
}

#[test]
fn a_sub_agent_answers_in_a_conversation_of_its_own() {
    let env = TestEnv::new().guest("hostile").file("t", "Be brief.").file("a.txt", "one two\n");
    // The puppet calls what the prompt names and repeats the result: outside the task, inside it `wc`.
    let prompt = format!("task {}", json!({"prompt": "wc {\"path\":\"a.txt\"}"}));
    let flags = ["-p", "puppet", "--template", "t", "--log", "error", "--ephemeral", "--allow", "task"];
    let lines = format!("{prompt}\n/context\n");
    env.finish(env.command(&flags), &lines).check(expect![[r#"
        + task({"prompt":"wc {\"path\":\"a.txt\"}"})
        + wc({"path":"a.txt"})
        {"lines":1,"words":2,"bytes":8,"ok":true}
        {"reply":"{\"lines\":1,\"words\":2,\"bytes\":8,\"ok\":true}","ok":true}
        [session]
        system: Be brief.
        user: task {"prompt":"wc {\"path\":\"a.txt\"}"}
        assistant: task({"prompt":"wc {\"path\":\"a.txt\"}"})
        tool: {"reply":"{\"lines\":1,\"words\":2,\"bytes\":8,\"ok\":true}","ok":true}
        assistant: {"reply":"{\"lines\":1,\"words\":2,\"bytes\":8,\"ok\":true}","ok":true}
        [exit 0]
    "#]]);
}

#[test]
fn a_sub_agent_has_only_the_tools_that_were_named() {
    let env = TestEnv::new().guest("hostile").file("t", "Be brief.").file("a.txt", "one two\n");
    let run = |tools: Value| {
        let inner = "wc {\"path\":\"a.txt\"}";
        let prompt = format!("task {}", json!({"prompt": inner, "tools": tools}));
        let flags = ["ask", &prompt, "-p", "puppet", "--template", "t", "--ephemeral", "--allow", "task"];
        env.run(&flags).to_string()
    };
    let denied = run(json!(["echo"]));
    assert!(denied.contains("denied: this agent may not call tool `wc`"), "{denied}");
    let allowed = run(json!(["wc"]));
    assert!(!allowed.contains("denied"), "{allowed}");
    let alias = run(json!(["count"]));
    assert!(!alias.contains("denied"), "an alias names the tool: {alias}");
    let unknown = run(json!(["nope"]));
    assert!(unknown.contains("unknown tool `nope`"), "{unknown}");
}

#[test]
fn a_sub_agent_of_a_sub_agent_has_no_more_tools_than_the_first() {
    let env = TestEnv::new().guest("hostile").file("t", "Be brief.").file("a.txt", "x\n");
    let inner = format!("task {}", json!({"prompt": "wc {\"path\":\"a.txt\"}"}));
    let prompt = format!("task {}", json!({"prompt": inner, "tools": ["task", "echo"]}));
    let run = env.run(&["ask", &prompt, "-p", "puppet", "--template", "t", "--ephemeral", "--allow", "task"]);
    assert!(run.to_string().contains("denied: this agent may not call tool `wc`"), "{run}");
}

#[test]
fn sub_agents_are_nested_eight_deep_and_no_deeper() {
    let env = TestEnv::new().guest("hostile").file("t", "Be brief.");
    let deep = (0..12).fold("echo {}".to_owned(), |inner, _| format!("task {}", json!({"prompt": inner})));
    let run = env.run(&["ask", &deep, "-p", "puppet", "--template", "t", "--ephemeral", "--allow", "task"]);
    assert!(run.to_string().contains("calls are nested more than 8 deep"), "{run}");
}

#[test]
fn without_the_right_to_ask_the_model_no_sub_agent_is_made() {
    let env = TestEnv::new().guest("hostile");
    let run = env.run(&["call", "try", r#"{"what":"agent"}"#]);
    assert!(run.stdout.contains("denied: plugin `hostile` has no `model` grant"), "{run}");
    let granted = env.run(&["call", "try", r#"{"what":"agent"}"#, "--grant", "hostile:model"]);
    assert_eq!(granted.status, 0, "{granted}");
}

#[test]
fn a_failing_model_is_an_error_of_the_task() {
    let env = TestEnv::scripted();
    let call = calls(&task(json!({"prompt": "x"})));
    let run = env.script(&["-o", &call, "--max-rounds", "2", "--allow", "task"], "go\n");
    // The sub-agent is the same script, and calls `task` again until it is too deep.
    assert!(run.to_string().contains("nested more than 8 deep") || run.to_string().contains("round"), "{run}");
}
