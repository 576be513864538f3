//! Each import, tried without asking whether it is allowed.

use serde_json::{Value, json};

use crate::bellglass::plugin::types::Message;
use crate::bellglass::plugin::{agents, conversation, process, session, settings, toolbox};

/// Tries one import.
pub(super) fn attempt(what: &str) -> Result<String, String> {
    let found = |what: String| Ok(json!({"found": what}).to_string());
    if let Some(name) = what.strip_prefix("env ") {
        return std::env::var(name).map_err(|it| it.to_string()).and_then(found);
    }
    let message = || Message {
        role: crate::bellglass::plugin::types::Role::User,
        content: "x".into(),
        tool_calls: vec![],
        tool_call_id: None,
        replay: None,
        extra: None,
    };
    match what {
        "messages" => found(format!("{:?}", conversation::messages()?)),
        "context" => found(format!("{:?}", conversation::context()?)),
        "add" => found(format!("{:?}", conversation::add(&message())?)),
        "clear" => found(format!("{:?}", conversation::clear()?)),
        "agent" => {
            let options = agents::AgentOptions {
                template: None,
                system_prompt: None,
                tools: None,
                provider: None,
                model: None,
                quiet: true,
            };
            found(agents::Agent::create(&options)?.turn("x")?)
        }
        "turn" => found(agents::turn("x")?),
        "current-provider" => found(format!("{:?}", agents::current_provider()?)),
        "provider-names" => found(format!("{:?}", agents::provider_names()?)),
        "use-provider" => found(format!("{:?}", agents::use_provider("fails", None, None)?)),
        "definitions" => found(format!("{:?}", toolbox::definitions()?)),
        "hooks" => found(format!("{:?}", toolbox::hooks()?)),
        "validate" => found(format!("{:?}", toolbox::validate("echo", "{}")?)),
        "reload" => found(format!("{:?}", session::reload()?)),
        "exit" => found(format!("{:?}", session::exit()?)),
        "run-command" => found(format!("{:?}", session::run_command("fail", None)?)),
        // A tool: its result with `ok` as it came.
        tool => match serde_json::from_str::<Value>(&toolbox::run(tool, r#"{"path":"read-me/a.txt"}"#)) {
            Ok(result) if result["ok"] == true => found(result.to_string()),
            other => Err(format!("{other:?}")),
        },
    }
}

/// What each import answers to a plugin without its grant.
pub(super) fn denied() -> Value {
    let options = process::Options { show: false, timeout_ms: None };
    json!({
        "conversation": conversation::messages().err(),
        "add": conversation::add(&Message {
            role: crate::bellglass::plugin::types::Role::User,
            content: "x".into(),
            tool_calls: vec![],
            tool_call_id: None,
            replay: None,
            extra: None,
        }).err(),
        "model": agents::turn("x").err(),
        "session": session::exit().err(),
        "process": process::run("true", options).err(),
        "toolbox": toolbox::definitions().err(),
        "run": serde_json::from_str::<Value>(&toolbox::run("echo", "{}")).ok(),
        "socket": std::net::TcpStream::connect("127.0.0.1:9").err().map(|it| it.to_string()),
        "secret": settings::has_secret("KEY"),
    })
}
