//! The messages API of Anthropic. Signed thinking is kept and goes back in its place; what stays the same from one request to
//! the next is marked for the API's cache.

use bellglass_guest::{
    Capability, Completion, Message, Model, Provider, ProviderError, Request, Setup, StopReason, Value,
    http::{Request as Http, Response},
    json,
    provider::{
        Api, Dialect, History, Options, Part, Piece, Reply, Said, Turn, WireNames, arguments, parts, tokens, tools,
        wire_id,
    },
    reply::Usage,
};
use std::collections::HashMap;

const ORIGIN: &str = "https://api.anthropic.com";
const BASE: &str = "https://api.anthropic.com/v1";
const KEY: &str = "ANTHROPIC_API_KEY";
const VERSION: &str = "2023-06-01";

const API: Api = Api {
    provider: "anthropic",
    secret: Some(KEY),
    too_long: &["prompt is too long", "exceed context limit", "request_too_large", "context window"],
};

/// Registers the provider.
pub fn setup(setup: &mut Setup) {
    setup
        .plugin("anthropic", "The messages API of Anthropic")
        .asks(Capability::http(ORIGIN), "to ask the model")
        .asks(Capability::credential(KEY, ORIGIN, "x-api-key", ""), "to be let in");
    setup
        .provider("anthropic", "Claude, with thinking kept between calls", Anthropic)
        .default_model("claude-sonnet-4-5")
        .secret(KEY);
}

bellglass_guest::export!(setup);

struct Anthropic;

impl Provider for Anthropic {
    fn list_models(&self, options: &Value) -> Result<Vec<Model>, ProviderError> {
        let mut options = Options::new(options);
        let request = Http::get(format!("{}/models?limit=1000", options.base_url(BASE)));
        let listed = API.get(options.add_headers(request.header("anthropic-version", VERSION)))?;
        let models = listed["data"].as_array().into_iter().flatten();
        let model = |it: &Value| {
            let (context_tokens, max_output_tokens) = (it["max_input_tokens"].as_u64(), it["max_tokens"].as_u64());
            Some(Model { context_tokens, max_output_tokens, ..Model::new(it["id"].as_str()?) })
        };
        Ok(models.filter_map(model).collect())
    }

    fn fetch(&self, request: &Request) -> Result<Completion, ProviderError> {
        let names = WireNames::new(request);
        let response = send(request, &names)?;
        let mut blocks = HashMap::new();
        Reply::new(&API, request, &names).read(API.events(response), |reply, event| take(reply, event, &mut blocks))
    }
}

fn send(request: &Request, names: &WireNames) -> Result<Response, ProviderError> {
    let mut options = Options::new(&request.options);
    let base = options.base_url(BASE);
    let history = History::new(&request.messages);
    let model = request.model.as_deref().unwrap_or_default();
    let mut body = json!({
        "model": model,
        "max_tokens": options.take("max_tokens").unwrap_or_else(|| json!(longest_reply(model))),
        "messages": messages(&history, names),
        "stream": true,
    });
    if !history.system.is_empty() {
        body["system"] = json!([{"type": "text", "text": history.system}]);
        mark(body["system"].as_array_mut());
    }
    let tools = tools(&API, request, names, Dialect::JSON_SCHEMA)
        .into_iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema}));
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        body["tools"] = Value::Array(tools);
        mark(body["tools"].as_array_mut());
    }
    let request = options.add_headers(Http::post(format!("{base}/messages")).header("anthropic-version", VERSION));
    options.put_into(&mut body);
    API.send(request.header("accept", "text/event-stream").json(&body))
}

/// The API wants a limit to be named: as much as the model can, since less cuts calls that write files.
fn longest_reply(model: &str) -> u32 {
    if model.contains("claude-3-opus") || model.contains("claude-3-haiku") {
        4096
    } else if model.contains("claude-3-5") {
        8192
    } else {
        32_000
    }
}

/// Marks the end of what the API may keep in its cache.
fn mark(list: Option<&mut Vec<Value>>) {
    if let Some(last) = list.and_then(|list| list.last_mut()) {
        last["cache_control"] = json!({"type": "ephemeral"});
    }
}

fn messages(history: &History<'_>, names: &WireNames) -> Vec<Value> {
    let turn = |turn: &Turn<'_>| match turn {
        Turn::User(said) => json!({"role": "user", "content": said.iter().map(user).collect::<Vec<_>>()}),
        Turn::Assistant(message) => json!({"role": "assistant", "content": assistant(message, names)}),
    };
    let mut messages: Vec<Value> = history.turns.iter().map(turn).collect();
    // The end of this request, and that of the one before, up to which the cache may reach already.
    for message in messages.iter_mut().rev().filter(|message| message["role"] == "user").take(2) {
        mark(message["content"].as_array_mut());
    }
    messages
}

fn user(said: &Said<'_>) -> Value {
    match said {
        Said::Text(text) => json!({"type": "text", "text": text}),
        Said::Result(result) => json!({
            "type": "tool_result",
            "tool_use_id": wire_id(result.id),
            "content": result.content,
            "is_error": result.failed,
        }),
    }
}

fn assistant(message: &Message, names: &WireNames) -> Vec<Value> {
    let block = |part: Part<'_>| match part {
        Part::Kept(block) => block,
        Part::Text(text, _) => json!({"type": "text", "text": text.trim_end()}),
        Part::Call(call, _) => json!({
            "type": "tool_use",
            "id": wire_id(&call.id),
            "name": names.wire(&call.name),
            "input": arguments(call),
        }),
    };
    parts(message).into_iter().map(block).collect()
}

/// A block that has begun.
enum Block {
    Text,
    Thinking { thinking: String, signature: String },
    Call,
    Unknown,
}

fn take(reply: &mut Reply<'_>, event: &Value, blocks: &mut HashMap<u64, Block>) -> Result<(), ProviderError> {
    let index = tokens(&event["index"]);
    match event["type"].as_str().unwrap_or_default() {
        "message_start" => reply.usage(usage_of(&event["message"]["usage"])),
        "content_block_start" => {
            let block = begin(reply, index, &event["content_block"]);
            blocks.insert(index, block);
        }
        "content_block_delta" => match (blocks.get_mut(&index), &event["delta"]) {
            (Some(block), delta) => go_on(reply, index, block, delta),
            (None, _) => reply.unknown("a piece of a block that has not begun"),
        },
        "content_block_stop" => {
            if let Some(Block::Thinking { thinking, signature }) = blocks.remove(&index) {
                reply.keep(json!({"type": "thinking", "thinking": thinking, "signature": signature}));
            }
        }
        "message_delta" => {
            reply.usage(usage_of(&event["usage"]));
            if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                reply.stop(stop_reason(reason));
            }
        }
        "message_stop" | "ping" => {}
        other => reply.unknown(other),
    }
    Ok(())
}

fn begin(reply: &mut Reply<'_>, index: u64, block: &Value) -> Block {
    match block["type"].as_str().unwrap_or_default() {
        "text" => {
            reply.saying(block["text"].as_str().unwrap_or_default());
            Block::Text
        }
        "thinking" => {
            let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
            reply.thinking(&text("thinking"));
            Block::Thinking { thinking: text("thinking"), signature: text("signature") }
        }
        "redacted_thinking" => {
            reply.keep(block.clone());
            Block::Unknown
        }
        "tool_use" => {
            // What comes whole comes here, what is streamed begins with an empty object.
            let whole =
                block["input"].as_object().filter(|input| !input.is_empty()).map(|_| block["input"].to_string());
            let (id, name) = (block["id"].as_str(), block["name"].as_str());
            reply.piece(Piece { index: Some(index), id, name, arguments: whole.as_deref() });
            Block::Call
        }
        other => {
            reply.unknown(other);
            Block::Unknown
        }
    }
}

fn go_on(reply: &mut Reply<'_>, index: u64, block: &mut Block, delta: &Value) {
    let text = |key: &str| delta[key].as_str().unwrap_or_default();
    match (delta["type"].as_str().unwrap_or_default(), block) {
        ("text_delta", _) => reply.saying(text("text")),
        ("thinking_delta", Block::Thinking { thinking, .. }) => {
            thinking.push_str(text("thinking"));
            reply.thinking(text("thinking"));
        }
        ("signature_delta", Block::Thinking { signature, .. }) => signature.push_str(text("signature")),
        ("input_json_delta", Block::Call) => {
            reply.piece(Piece { index: Some(index), arguments: Some(text("partial_json")), ..Piece::default() });
        }
        (_, Block::Unknown) => {}
        (other, _) => reply.unknown(other),
    }
}

fn usage_of(usage: &Value) -> Usage {
    let (read, written) = (tokens(&usage["cache_read_input_tokens"]), tokens(&usage["cache_creation_input_tokens"]));
    // The API counts what came from its cache apart.
    let input = tokens(&usage["input_tokens"]).saturating_add(read).saturating_add(written);
    Usage {
        input_tokens: input,
        output_tokens: tokens(&usage["output_tokens"]),
        cached_input_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: tokens(&usage["output_tokens_details"]["thinking_tokens"]),
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refused,
        "tool_use" => StopReason::ToolCalls,
        _ => StopReason::End,
    }
}

#[cfg(test)]
mod tests;
