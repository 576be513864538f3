//! A tool that hands a task to a sub-agent: long work stays out of the conversation that asked for it, and only the answer
//! comes back.

use bellglass_guest::{Capability, Result, Setup, Value, agents::SubAgent, json};
use schemars::JsonSchema;
use serde::Deserialize;

fn setup(setup: &mut Setup) {
    setup
        .plugin("task", "Hands a task to a sub-agent")
        .asks(Capability::Model, "to run the sub-agent")
        .asks(Capability::call_tool("*"), "so that the sub-agent can call the tools that you have");
    setup.tool(
        "task",
        "Hands a task to a sub-agent with a conversation of its own, and returns its answer. It knows nothing of this \
         conversation: say all that it needs.",
        task,
    );
}

bellglass_guest::export!(setup);

/// What the model fills in.
#[derive(Deserialize, JsonSchema)]
struct Task {
    /// What is to be done, with all that is needed to know
    prompt: String,
    /// The tools that it may call; all that there are unless said
    #[serde(default)]
    tools: Option<Vec<String>>,
}

fn task(task: Task) -> Result<Value> {
    let mut agent = SubAgent::new();
    if let Some(tools) = &task.tools {
        agent = agent.tools(tools.iter().map(String::as_str));
    }
    Ok(json!({"reply": agent.create()?.turn(&task.prompt)?}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellglass_guest::test;

    #[test]
    fn the_answer_of_the_sub_agent_is_the_result() {
        let plugin = test::plugin(setup).with_reply("In `main.rs`.");
        assert_eq!(plugin.call("task", json!({"prompt": "Where is main?"}))["reply"], "In `main.rs`.");
    }

    #[test]
    fn without_the_right_to_ask_the_model_it_says_so() {
        let result = test::plugin(setup).without_grants().call("task", json!({"prompt": "x"}));
        assert!(result["error"].as_str().is_some_and(|it| it.contains("denied")), "{result}");
    }
}
