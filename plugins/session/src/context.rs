//! `/context`: the messages that the provider would get now.

use bellglass_guest::{Message, Result, Value, conversation, json, serde_json, terminal};

/// Enough to recognise a message by.
const SHOWN_CHARS: usize = 100;

pub(crate) fn show(argument: Option<&str>) -> Result {
    let messages = conversation::context()?;
    let shown = match argument.map(str::trim) {
        None => &messages[..],
        Some("json") => {
            let messages: Vec<Value> = messages.iter().map(to_json).collect();
            terminal::say(&serde_json::to_string_pretty(&messages)?);
            return Ok(());
        }
        Some(count) => match count.parse::<usize>() {
            Ok(count) if count > 0 => &messages[messages.len().saturating_sub(count)..],
            _ => return Err("type /context, /context 3 for the last three messages, or /context json".into()),
        },
    };
    shown.iter().for_each(|message| terminal::say(&line(message)));
    Ok(())
}

/// `user: What is…`, on one line; the calls of an assistant behind its text.
fn line(message: &Message) -> String {
    let calls = message.tool_calls.iter().map(|call| format!("{}({})", call.name, call.arguments));
    let text: Vec<String> = [message.content.clone()].into_iter().chain(calls).collect();
    let text = text.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = text.chars().take(SHOWN_CHARS).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{}: {short}{more}", message.role.name())
}

/// In the form that model APIs share; what is empty is left out.
fn to_json(message: &Message) -> Value {
    let mut json = json!({"role": message.role.name(), "content": message.content});
    if !message.tool_calls.is_empty() {
        let calls = message.tool_calls.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": call.id, "type": "function", "function": function})
        });
        json["tool_calls"] = calls.collect();
    }
    if let Some(id) = &message.tool_call_id {
        json["tool_call_id"] = id.as_str().into();
    }
    json
}
