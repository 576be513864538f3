//! A provider that says what its options tell it to, and commands that do to the session what a command may do.

use bellglass_guest::{
    Capability, Completion, Message, Model, Provider, ProviderError, Request, Result, Role, Setup, StopReason,
    ToolCall, Value, agents, conversation, json,
    reply::{self, Usage},
    session, terminal,
};

fn setup(setup: &mut Setup) {
    setup
        .plugin("script", "Replies as it is told")
        .asks(Capability::Conversation, "to add messages")
        .asks(Capability::Model, "to run turns")
        .asks(Capability::SessionControl, "to run commands");
    setup.provider("script", "Replies as its options say", Script).default_model("script-1");
    setup.provider("twin", "Does the same", Script);
    setup.command("put", "Adds a message, given as JSON", put);
    setup.command("last", "Shows the last message as the session keeps it", |_| last());
    setup.command("relay", "Runs another command, and says how that went", relay);
    setup.command("twice", "Runs two turns", twice);
    setup.command("use", "Switches the provider: NAME [MODEL]", switch);
    setup.command("styles", "Says things in every style", |_| styles());
    setup.command("exit-late", "Asks for the end, then says something", |_| -> Result {
        session::exit()?;
        terminal::say("one more thing");
        Ok(())
    });
    setup.command("busy", "Says so, and never ends", |_| -> Result {
        terminal::say("busy");
        loop {
            std::hint::black_box(());
        }
    });
    setup.command("tell", "Nothing", |_| ()).choices(["plain", "pla\u{1b}[2Jin"]);
}

bellglass_guest::export!(setup);

/// `think`, `say`: lists of pieces. `repeat`: the prompt is said. `see`: what else came is said. `replay`: some is written, and
/// what came back is said. `calls`: `[{id, name, arguments}]`. `usage`: `[[input, output]]`, one after another.
/// `cut`: the output limit was hit. `hang`: it never ends.. Otherwise what tools answered is said.
struct Script;

impl Provider for Script {
    fn list_models(&self, _options: &Value) -> Result<Vec<Model>, ProviderError> {
        Ok(vec![Model::new("script-1")])
    }

    fn fetch(&self, request: &Request) -> Result<Completion, ProviderError> {
        let options = &request.options;
        let list = |key: &str| options[key].as_array().cloned().unwrap_or_default();
        for usage in list("usage") {
            let tokens = |place: usize| usage[place].as_u64().unwrap_or_default();
            reply::usage(Usage {
                input_tokens: tokens(0),
                output_tokens: tokens(1),
                cached_input_tokens: 0,
                cache_write_tokens: 0,
                reasoning_tokens: 0,
            });
        }
        let results = request.messages.iter().rev().take_while(|it| it.role == Role::Tool);
        let results: Vec<&str> = results.map(|it| it.content.as_str()).collect();
        if !results.is_empty() {
            reply::saying(results.into_iter().rev().collect::<Vec<_>>().join("\n"));
            return Ok(Completion::new(StopReason::End));
        }
        let pieces = |key: &str| list(key).iter().filter_map(|it| it.as_str().map(str::to_owned)).collect::<Vec<_>>();
        pieces("think").into_iter().for_each(reply::thinking);
        pieces("say").into_iter().for_each(reply::saying);
        if options["hang"] == true {
            loop {
                std::hint::black_box(());
            }
        }
        if options["repeat"] == true {
            let prompt = request.messages.iter().rev().find(|it| it.role == Role::User);
            reply::saying(prompt.map_or("", |it| it.content.as_str()));
        }
        if options["see"] == true {
            let names: Vec<&str> = request.tools.iter().map(|it| it.name.as_str()).collect();
            reply::saying(json!({"model": request.model, "tools": names}).to_string());
        }
        if options["replay"] == true {
            let replays: Vec<_> = request.messages.iter().filter_map(|it| it.replay.as_deref()).collect();
            reply::saying(format!("got back {replays:?}"));
            return Ok(Completion::new(StopReason::End).replay(&json!({"of": request.provider})));
        }
        let calls = list("calls");
        for call in &calls {
            let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
            reply::doing(ToolCall { id: text("id"), name: text("name"), arguments: text("arguments") });
        }
        Ok(Completion::new(match (options["cut"] == true, calls.is_empty()) {
            (true, _) => StopReason::Length,
            (false, false) => StopReason::ToolCalls,
            (false, true) => StopReason::End,
        }))
    }
}

fn put(text: Option<&str>) -> Result {
    let object: Value = bellglass_guest::serde_json::from_str(text.unwrap_or_default())?;
    let text = |value: &Value, key: &str| value[key].as_str().map(str::to_owned);
    let calls = object["tool_calls"].as_array().cloned().unwrap_or_default();
    let call = |it: &Value| ToolCall {
        id: text(it, "id").unwrap_or_default(),
        name: text(it, "name").unwrap_or_default(),
        arguments: text(it, "arguments").unwrap_or_default(),
    };
    conversation::add(&Message {
        role: match object["role"].as_str() {
            Some("system") => Role::System,
            Some("assistant") => Role::Assistant,
            Some("tool") => Role::Tool,
            _ => Role::User,
        },
        content: text(&object, "content").unwrap_or_default(),
        tool_calls: calls.iter().map(call).collect(),
        tool_call_id: text(&object, "tool_call_id"),
        replay: None,
        extra: object.get("extra").map(ToString::to_string),
    })?;
    terminal::say("added");
    Ok(())
}

fn last() -> Result {
    let messages = conversation::messages()?;
    let Some(last) = messages.last() else { return Err("there is none".into()) };
    terminal::say(&format!(
        "{}: {} {}",
        last.role.name(),
        last.content,
        last.extra.as_deref().unwrap_or("nothing extra")
    ));
    Ok(())
}

fn relay(line: Option<&str>) -> Result {
    let (name, argument) = match line.unwrap_or_default().split_once(' ') {
        Some((name, argument)) => (name, Some(argument)),
        None => (line.unwrap_or_default(), None),
    };
    let ran = session::run_command(name, argument);
    terminal::say(&format!("it answered {:?}", ran.map_err(|it| it.to_string())));
    Ok(())
}

fn twice(prompt: Option<&str>) -> Result {
    for _ in 0..2 {
        let reply = agents::turn(prompt.unwrap_or("again"))?;
        terminal::say(&format!("the reply was {reply:?}"));
    }
    Ok(())
}

fn switch(names: Option<&str>) -> Result {
    let mut names = names.unwrap_or_default().split_whitespace();
    agents::use_provider(names.next().unwrap_or_default(), names.next(), None)?;
    let current = agents::current_provider()?;
    terminal::say(&format!("{} with {}", current.name, current.model.as_deref().unwrap_or("no model")));
    Ok(())
}

fn styles() {
    terminal::say("plain");
    terminal::say(" \n ");
    terminal::say_error("an error");
    terminal::print("no ");
    terminal::print(" \n ");
    terminal::print("newline");
    terminal::thinking("");
    terminal::thinking("thoughts");
    terminal::doing("wc", r#"{"path":"a"}"#, "+");
    terminal::say("\u{1b}]0;title\u{7}red\u{9b}31m");
}
