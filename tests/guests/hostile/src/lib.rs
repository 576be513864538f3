//! A plugin that does everything wrong, on demand: one tool for each limit, and hooks that fail in every way.
//!
//! On the bare bindings, so that it can answer what the SDK would not let an author answer.

#![allow(missing_docs, unsafe_code, clippy::print_stderr, reason = "generated bindings")]
// Natively there is no host to export to; the workspace still checks this crate.
#![cfg_attr(not(target_family = "wasm"), allow(dead_code, reason = "exports exist in WebAssembly alone"))]

wit_bindgen::generate!({ path: "../../../wit", world: "bellglass:plugin/full-plugin" });

use std::hint::black_box;
use std::time::Duration;

use bellglass::plugin::types::{Command, Message, ToolDefinition};
use bellglass::plugin::{agents, conversation, log, settings, storage, terminal, toolbox};
use exports::bellglass::plugin::{commands, hooks, manifest, providers, tools};
use serde_json::{Value, json};

mod imports;

struct Hostile;

#[cfg(target_family = "wasm")]
export!(Hostile);

/// Tools by name; each takes any object.
const TOOLS: [&str; 27] = [
    "echo",
    "answer",
    "raise",
    "trap",
    "panic",
    "exit",
    "spin",
    "recurse",
    "eat-memory",
    "sleep",
    "big-result",
    "print-much",
    "log-much",
    "stderr-much",
    "store",
    "store-much",
    "nest",
    "read",
    "write",
    "env",
    "deny",
    "settings",
    "spin-slowly",
    "ask",
    "hoard",
    "truncate",
    "try",
];

impl manifest::Guest for Hostile {
    fn describe() -> manifest::PluginInfo {
        use manifest::Capability as C;
        // Too early: nothing but `log` works yet.
        let _ = storage::set("described", b"x");
        let asks = |capability| manifest::CapabilityRequest { capability, reason: "to do harm".into() };
        manifest::PluginInfo {
            name: "hostile".into(),
            version: "6.6.6".into(),
            description: "Breaks every rule".into(),
            capabilities: vec![
                asks(C::Read("read-me".into())),
                asks(C::Write("write-me".into())),
                asks(C::CallTool("*".into())),
                asks(C::Env("GRANTED".into())),
                asks(C::Conversation),
                asks(C::Model),
                asks(C::SessionControl),
            ],
            lifetime: manifest::Lifetime::Call,
            extra: None,
        }
    }
}

impl tools::Guest for Hostile {
    fn list_tools() -> Vec<ToolDefinition> {
        let tool = |name: &&str| {
            ToolDefinition {
            name: (*name).into(),
            description: format!("Does {name}"),
            parameters: r#"{"type":"object","properties":{"n":{"type":"integer"},"flag":{"type":"boolean"},"list":{"type":"array"}}}"#.into(),
            aliases: if *name == "echo" { vec!["repeat".into()] } else { Vec::new() },
        }
        };
        TOOLS.iter().map(tool).collect()
    }

    fn call_tool(name: String, arguments: String) -> Result<String, String> {
        let args: Value = serde_json::from_str(&arguments).map_err(|it| it.to_string())?;
        let text = |key: &str| args[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| args[key].as_u64().unwrap_or_default();
        match name.as_str() {
            "echo" => Ok(json!({"arguments": args, "text": arguments}).to_string()),
            "answer" => Ok(text("text")),
            "raise" => Err(text("text")),
            "trap" => trap(),
            "panic" => panic!("{}", text("text")),
            "exit" => std::process::exit(3),
            "spin" => spin(),
            "recurse" => Ok(recurse(number("n")).to_string()),
            "eat-memory" => Ok(eat_memory()),
            "sleep" => {
                std::thread::sleep(Duration::from_millis(number("n")));
                Ok("{}".into())
            }
            "spin-slowly" => {
                // Little work between many waits: waiting is not computing.
                for _ in 0..number("n") {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok("{}".into())
            }
            "big-result" => Ok(json!({"text": "x".repeat(number("n") as usize)}).to_string()),
            "print-much" => {
                (0..number("n")).for_each(|_| terminal::print(&"p".repeat(1000)));
                Ok("{}".into())
            }
            "log-much" => {
                (0..number("n")).for_each(|_| log::log(log::Level::Info, &"l".repeat(1000)));
                Ok("{}".into())
            }
            "stderr-much" => {
                (0..number("n")).for_each(|_| eprintln!("{}", "e".repeat(999)));
                Ok("{}".into())
            }
            "store" => {
                let last = storage::get("last").map(|it| String::from_utf8_lossy(&it).into_owned());
                storage::set("last", text("text").as_bytes())?;
                Ok(json!({"last": last, "keys": storage::keys()}).to_string())
            }
            "store-much" => {
                for n in 0..number("n") {
                    storage::set(&format!("key {n}"), &vec![0; 1 << 20])?;
                }
                Ok("{}".into())
            }
            "nest" => Ok(toolbox::run(&text("tool"), &args["arguments"].to_string())),
            "read" => std::fs::read_to_string(text("path"))
                .map(|it| json!({"text": it}).to_string())
                .map_err(|it| it.to_string()),
            "write" => std::fs::write(text("path"), "written").map(|()| "{}".into()).map_err(|it| it.to_string()),
            "hoard" => (0..number("n"))
                .try_for_each(|_| std::fs::File::open(text("path")).map(std::mem::forget))
                .map(|()| "{}".into())
                .map_err(|it| it.to_string()),
            "truncate" => std::fs::OpenOptions::new()
                .write(true)
                .truncate(true)
                .open(text("path"))
                .map(|_| "{}".into())
                .map_err(|it| it.to_string()),
            "env" => Ok(json!(
                std::env::vars().collect::<Vec<_>>().into_iter().map(|it| it.0 + "=" + &it.1).collect::<Vec<_>>()
            )
            .as_array()
            .map(|it| json!({"env": it}).to_string())
            .unwrap_or_default()),
            "deny" => Ok(imports::denied().to_string()),
            "try" => imports::attempt(&text("what")),
            "settings" => Ok(settings::get()),
            "ask" => {
                Ok(json!({"interactive": terminal::is_interactive(), "answer": terminal::ask("well? ")}).to_string())
            }
            other => Err(format!("no tool {other}")),
        }
    }
}

fn trap() -> ! {
    #[cfg(target_family = "wasm")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_family = "wasm"))]
    std::process::abort();
}

fn spin() -> ! {
    let mut n = 0_u64;
    loop {
        n = black_box(n.wrapping_add(1));
    }
}

fn recurse(n: u64) -> u64 {
    // Small frames, so that the stack of WebAssembly ends before the guest's own in its memory.
    let n = black_box(n);
    if n == u64::MAX { 0 } else { recurse(n + 1).wrapping_add(n) }
}

fn eat_memory() -> String {
    let mut eaten: Vec<Vec<u8>> = Vec::new();
    loop {
        eaten.push(black_box(vec![1; 1 << 20]));
    }
}

impl hooks::Guest for Hostile {
    fn list_hooks() -> Vec<hooks::Hook> {
        let of_echo = |moment| hooks::Hook { moment, tool: Some("echo".into()) };
        vec![of_echo(hooks::Moment::Before), of_echo(hooks::Moment::After)]
    }

    fn before(_hook: u32, _tool: String, arguments: String) -> Result<hooks::Decision, String> {
        let args: Value = serde_json::from_str(&arguments).unwrap_or_default();
        match args["before"].as_str() {
            Some("raise") => Err("the hook says no".into()),
            Some("trap") => trap(),
            Some("spin") => spin(),
            Some("replace") => Ok(hooks::Decision::Replace(args["with"].to_string())),
            Some("ask") => Ok(hooks::Decision::Ask("really?".into())),
            _ => Ok(hooks::Decision::Proceed),
        }
    }

    fn after(_hook: u32, _tool: String, arguments: String, outcome: String) -> Result<Option<String>, String> {
        let args: Value = serde_json::from_str(&arguments).unwrap_or_default();
        match args["after"].as_str() {
            Some("raise") => Err("the hook regrets".into()),
            Some("trap") => trap(),
            Some("replace") => Ok(Some(args["with"].to_string())),
            Some("see") => Ok(Some(json!({"seen": outcome}).to_string())),
            _ => Ok(None),
        }
    }
}

impl commands::Guest for Hostile {
    fn list_commands() -> Vec<Command> {
        let command = |name: &str| Command { name: name.into(), description: format!("Does {name}") };
        ["say", "fail", "crash", "loop", "turn", "add", "slow"].into_iter().map(command).collect()
    }

    fn complete(name: String, partial: String) -> Vec<String> {
        match name.as_str() {
            "say" => vec!["hello".into(), "help me".into(), "日本".into(), format!("{partial}!")],
            "slow" => spin(),
            "crash" => trap(),
            _ => Vec::new(),
        }
    }

    fn run_command(name: String, arguments: Option<String>) -> Result<(), String> {
        match name.as_str() {
            "say" => {
                terminal::say(&format!("[{}]", arguments.as_deref().unwrap_or("none")), terminal::Style::Plain);
                terminal::say(" \n ", terminal::Style::Plain);
                terminal::print("\u{1b}[2J");
                Ok(())
            }
            "fail" => Err("it went wrong".into()),
            "crash" => trap(),
            "loop" => spin(),
            "turn" => {
                agents::turn(arguments.as_deref().unwrap_or("hi")).map(|it| terminal::say(&it, terminal::Style::Plain))
            }
            "add" => conversation::add(&Message {
                role: bellglass::plugin::types::Role::User,
                content: arguments.unwrap_or_default(),
                tool_calls: vec![],
                tool_call_id: None,
                replay: None,
                extra: None,
            }),
            _ => Ok(()),
        }
    }
}

impl providers::Guest for Hostile {
    fn list_providers() -> Vec<providers::Provider> {
        let provider = |name: &str| providers::Provider {
            name: name.into(),
            description: "Fails".into(),
            default_model: Some("bad-1".into()),
            secret: None,
            extra: None,
        };
        vec![provider("fails"), provider("traps"), provider("speaks"), provider("loops"), provider("puppet")]
    }

    fn list_models(_provider: String, _options: String) -> Result<Vec<providers::Model>, providers::ProviderError> {
        Ok(Vec::new())
    }

    fn fetch(request: providers::Request) -> Result<providers::Completion, providers::ProviderError> {
        use bellglass::plugin::reply::{Event, emit};
        match request.provider.as_str() {
            "fails" => Err(providers::ProviderError::Busy(("429 Too Many Requests".into(), None))),
            "traps" => trap(),
            "loops" => {
                emit(&Event::Doing(bellglass::plugin::types::ToolCall {
                    id: "same".into(),
                    name: "wc".into(),
                    arguments: r#"{"path":"nope"}"#.into(),
                }));
                Ok(providers::Completion { reason: providers::StopReason::ToolCalls, replay: None, extra: None })
            }
            // Calls the tool that the prompt names, `TOOL JSON`, and repeats its result.
            "puppet" => {
                let last = request.messages.last().map(|it| (it.role, it.content.clone()));
                match last {
                    Some((bellglass::plugin::types::Role::User, prompt)) => {
                        let (name, arguments) = prompt.split_once(' ').unwrap_or((&prompt, "{}"));
                        emit(&Event::Doing(bellglass::plugin::types::ToolCall {
                            id: "puppet".into(),
                            name: name.into(),
                            arguments: arguments.into(),
                        }));
                        Ok(providers::Completion {
                            reason: providers::StopReason::ToolCalls,
                            replay: None,
                            extra: None,
                        })
                    }
                    last => {
                        emit(&Event::Saying(last.map(|it| it.1).unwrap_or_default()));
                        Ok(providers::Completion { reason: providers::StopReason::End, replay: None, extra: None })
                    }
                }
            }
            _ => {
                emit(&Event::Thinking("hm".into()));
                emit(&Event::Saying(format!("{} messages, model {:?}", request.messages.len(), request.model)));
                Ok(providers::Completion { reason: providers::StopReason::End, replay: None, extra: None })
            }
        }
    }
}
