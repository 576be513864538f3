//! Between the WIT's types and ours, and nowhere else. Matches are exhaustive, so that a new case does not compile silently.
//!
//! Apart, because a conversion written twice goes wrong in one of the two places.

use serde_json::{Map, Value};

use crate::bindings::bellglass::plugin::{reply, terminal, toolbox, types};
use crate::bindings::exports::bellglass::plugin::{hooks, manifest, providers};
use crate::completion::{Completion, ProviderError, Request, StopReason, replay_for, replay_of};
use crate::host_request::{CommandListing, HookListing, ReplyEvent, Style, Usage};
use crate::listing::{Asked, ListedCommand, ListedHook, ListedProvider, ListedTool, Listing};
use crate::name::{NameError, PluginName};
use crate::secrets::{redact, redact_json};
use crate::tool::ToolDefinition;
use crate::transcript::{Message, Role, ToolCall};

/// What a plugin says of itself.
pub(crate) fn listing(
    info: manifest::PluginInfo,
    tools: Vec<types::ToolDefinition>,
    hooks: Vec<hooks::Hook>,
    commands: Vec<types::Command>,
    providers: Vec<providers::Provider>,
) -> Result<Listing, NameError> {
    Ok(Listing {
        name: PluginName::try_from(info.name)?,
        version: info.version,
        description: info.description,
        asked: info.capabilities.into_iter().map(asked).collect(),
        keeps_instance: match info.lifetime {
            manifest::Lifetime::Call => false,
            manifest::Lifetime::Session => true,
        },
        tools: tools.into_iter().map(listed_tool).collect(),
        hooks: hooks.into_iter().map(listed_hook).collect(),
        commands: commands.into_iter().map(|it| ListedCommand { name: it.name, description: it.description }).collect(),
        providers: providers.into_iter().map(listed_provider).collect(),
    })
}

fn asked(request: manifest::CapabilityRequest) -> Asked {
    use manifest::Capability as C;
    let mut credential = None;
    let (kind, value) = match request.capability {
        C::Read(folder) => ("read", folder),
        C::Write(folder) => ("write", folder),
        C::Http(origin) => ("http", origin),
        C::Credential(it) => {
            credential = Some([it.secret, it.origin, it.header, it.prefix]);
            ("credential", String::new())
        }
        C::Run(pattern) => ("run", pattern),
        C::CallTool(pattern) => ("call-tool", pattern),
        C::Env(name) => ("env", name),
        C::Conversation => ("conversation", String::new()),
        C::Model => ("model", String::new()),
        C::SessionControl => ("session-control", String::new()),
    };
    Asked { kind: kind.into(), value, credential, reason: request.reason }
}

fn listed_tool(tool: types::ToolDefinition) -> ListedTool {
    ListedTool { name: tool.name, description: tool.description, parameters: tool.parameters, aliases: tool.aliases }
}

fn listed_hook(hook: hooks::Hook) -> ListedHook {
    let before = match hook.moment {
        hooks::Moment::Before => true,
        hooks::Moment::After => false,
    };
    ListedHook { before, tool: hook.tool }
}

fn listed_provider(provider: providers::Provider) -> ListedProvider {
    ListedProvider { name: provider.name, description: provider.description, default_model: provider.default_model }
}

pub(crate) fn style(style: terminal::Style) -> Style {
    match style {
        terminal::Style::Plain => Style::Plain,
        terminal::Style::Markdown => Style::Markdown,
        terminal::Style::Error => Style::Error,
    }
}

pub(crate) fn definition_to_wit(definition: &ToolDefinition) -> types::ToolDefinition {
    types::ToolDefinition {
        name: definition.name.to_string(),
        description: definition.description.to_string(),
        parameters: definition.parameters.to_string(),
        aliases: definition.aliases.iter().map(ToString::to_string).collect(),
    }
}

/// The answer of `find` for a name that no tool has.
pub(crate) fn stand_in(name: &str) -> types::ToolDefinition {
    types::ToolDefinition {
        name: format!("{name}?"),
        description: String::new(),
        parameters: r#"{"type":"object"}"#.into(),
        aliases: Vec::new(),
    }
}

pub(crate) fn hook_to_wit(hook: HookListing) -> toolbox::Hook {
    let moment = if hook.before { toolbox::Moment::Before } else { toolbox::Moment::After };
    toolbox::Hook { moment, tool: hook.tool, plugin: hook.plugin.into() }
}

pub(crate) fn command_to_wit(command: CommandListing) -> types::Command {
    types::Command { name: command.name, description: command.description }
}

pub(crate) fn message_to_wit(message: &Message) -> types::Message {
    types::Message {
        role: match message.role {
            Role::System => types::Role::System,
            Role::User => types::Role::User,
            Role::Assistant => types::Role::Assistant,
            Role::Tool => types::Role::Tool,
        },
        content: message.content.clone(),
        tool_calls: message.tool_calls.iter().map(call_to_wit).collect(),
        tool_call_id: message.tool_call_id.clone(),
        replay: message.replay.as_ref().map(Value::to_string),
        extra: (!message.extra.is_empty()).then(|| Value::Object(message.extra.clone()).to_string()),
    }
}

/// A message from a plugin. `Err` is the sentence for the plugin.
pub(crate) fn message_from_wit(message: types::Message) -> Result<Message, String> {
    let role = match message.role {
        types::Role::System => Role::System,
        types::Role::User => Role::User,
        types::Role::Assistant => Role::Assistant,
        types::Role::Tool => Role::Tool,
    };
    let mut converted = Message::new(role, redact(&message.content).into_owned());
    converted.tool_calls = message.tool_calls.into_iter().map(call_from_wit).collect();
    converted.tool_call_id = message.tool_call_id;
    converted.replay = message.replay.map(|it| json("replay", &it)).transpose()?;
    converted.extra = match message.extra.map(|it| json("extra", &it)).transpose()? {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(extra)) => extra,
        Some(_) => return Err("`extra` is no JSON object".into()),
    };
    Ok(converted)
}

fn json(what: &str, text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("`{what}` is no JSON: {error}"))
}

fn call_to_wit(call: &ToolCall) -> types::ToolCall {
    types::ToolCall { id: call.id.clone(), name: call.name.clone(), arguments: call.arguments.clone() }
}

fn call_from_wit(call: types::ToolCall) -> ToolCall {
    ToolCall { id: call.id, name: call.name, arguments: call.arguments }
}

pub(crate) fn reply_event(event: reply::Event) -> ReplyEvent {
    match event {
        reply::Event::Thinking(text) => ReplyEvent::Thinking(redact(&text).into_owned()),
        reply::Event::Saying(text) => ReplyEvent::Saying(redact(&text).into_owned()),
        reply::Event::Doing(call) => ReplyEvent::Doing(call_from_wit(call)),
        reply::Event::Usage(usage) => ReplyEvent::Usage(Usage {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cached_input: usage.cached_input_tokens,
            cache_write: usage.cache_write_tokens,
            reasoning: usage.reasoning_tokens,
        }),
    }
}

pub(crate) fn request(provider: &str, request: &Request) -> providers::Request {
    providers::Request {
        provider: provider.into(),
        model: request.model.clone(),
        options: Value::Object(request.options.clone()).to_string(),
        messages: request.messages.iter().map(|it| message_for(provider, it)).collect(),
        tools: request.tools.iter().map(definition_to_wit).collect(),
        extra: None,
    }
}

/// A message as this provider gets it: with its own replay data, without that of others.
fn message_for(provider: &str, message: &Message) -> types::Message {
    let replay = message.replay.as_ref().and_then(|it| replay_for(provider, it));
    types::Message { replay: replay.map(Value::to_string), ..message_to_wit(message) }
}

pub(crate) fn completion(provider: &str, completion: providers::Completion) -> Completion {
    let reason = match completion.reason {
        providers::StopReason::End => StopReason::End,
        providers::StopReason::ToolCalls => StopReason::ToolCalls,
        providers::StopReason::Length => StopReason::Length,
        providers::StopReason::Refused => StopReason::Refused,
    };
    // Replay data that is no JSON could not be kept in a session file; the provider goes on without.
    let replay = completion.replay.and_then(|it| serde_json::from_str(&it).ok());
    let replay = replay.filter(|it: &Value| !it.is_null()).map(|mut it| {
        redact_json(&mut it);
        replay_of(provider, it)
    });
    Completion { reason, replay }
}

pub(crate) fn provider_error(error: providers::ProviderError) -> ProviderError {
    // Some servers say which key they refused.
    let clean = |text: String| redact(&text).into_owned();
    match error {
        providers::ProviderError::Unauthorized(text) => ProviderError::Unauthorized(clean(text)),
        providers::ProviderError::Busy((text, wait)) => {
            ProviderError::Busy(clean(text), wait.map(std::time::Duration::from_millis))
        }
        providers::ProviderError::ContextTooLong(text) => ProviderError::ContextTooLong(clean(text)),
        providers::ProviderError::Rejected(text) => ProviderError::Rejected(clean(text)),
        providers::ProviderError::Broken(text) => ProviderError::Broken(clean(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_as_it_went() {
        let mut message = Message::new(Role::Assistant, "text");
        message.tool_calls =
            vec![ToolCall { id: "1".into(), name: "wc".into(), arguments: r#"{"n":9007199254740993}"#.into() }];
        message.replay = Some(serde_json::json!({"signature": "x"}));
        message.extra.insert("n".into(), serde_json::from_str("18446744073709551617").unwrap());
        assert_eq!(message_from_wit(message_to_wit(&message)).unwrap(), message);
    }

    #[test]
    fn replay_and_extra_that_are_no_json_are_refused_in_words() {
        let broken = types::Message { replay: Some("{".into()), ..message_to_wit(&Message::new(Role::User, "x")) };
        assert!(message_from_wit(broken).unwrap_err().starts_with("`replay` is no JSON"));
        let list = types::Message { extra: Some("[]".into()), ..message_to_wit(&Message::new(Role::User, "x")) };
        assert_eq!(message_from_wit(list).unwrap_err(), "`extra` is no JSON object");
    }
}
