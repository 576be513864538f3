//! The chat completions API, as OpenAI made it and many servers speak it: llama.cpp, vLLM, LM Studio, OpenRouter, Groq,
//! Mistral, DeepSeek. They differ in small things, which are taken as they come.

use bellglass_guest::{
    Capability, Completion, Message, Model, Provider, ProviderError, Request, Setup, StopReason, Value,
    http::{Request as Http, Response},
    json,
    provider::{
        Api, Dialect, History, Options, Part, Piece, Reply, Said, Turn, WireNames, arguments, parts, tokens, tools,
    },
    reply::Usage,
};

const ORIGIN: &str = "https://api.openai.com";
const BASE: &str = "https://api.openai.com/v1";
const KEY: &str = "OPENAI_API_KEY";

const API: Api = Api {
    provider: "openai",
    secret: Some(KEY),
    too_long: &[
        "context_length_exceeded",
        "exceed_context_size",
        "maximum context length",
        "context length",
        "context window",
        "context size",
        "prompt is too long",
        "reduce the length",
    ],
};

/// Registers the provider.
pub fn setup(setup: &mut Setup) {
    setup
        .plugin("openai", "The chat completions API of OpenAI and of all that speak it")
        .asks(Capability::http(ORIGIN), "to ask the model")
        .asks(Capability::credential(KEY, ORIGIN, "authorization", "Bearer "), "to be let in");
    setup
        .provider("openai", "Chat completions: OpenAI, or any server that speaks like it with `-o base_url=…`", OpenAi)
        .default_model("gpt-5-mini")
        .secret(KEY);
}

bellglass_guest::export!(setup);

struct OpenAi;

impl Provider for OpenAi {
    fn list_models(&self, options: &Value) -> Result<Vec<Model>, ProviderError> {
        let mut options = Options::new(options);
        let request = Http::get(format!("{}/models", options.base_url(BASE)));
        let listed = API.get(options.add_headers(request))?;
        let models = listed["data"].as_array().or_else(|| listed.as_array()).into_iter().flatten();
        let model = |it: &Value| {
            let limits = ["context_length", "context_window", "max_context_length", "max_model_len"];
            let context_tokens = limits.iter().find_map(|key| it[*key].as_u64());
            Some(Model { context_tokens, ..Model::new(it["id"].as_str()?) })
        };
        Ok(models.filter_map(model).collect())
    }

    fn fetch(&self, request: &Request) -> Result<Completion, ProviderError> {
        let names = WireNames::new(request);
        let response = send(request, &names)?;
        let mut thought = Thought::default();
        Reply::new(&API, request, &names).read(API.events(response), |reply, chunk| {
            let usage = if chunk["usage"].is_object() { &chunk["usage"] } else { &chunk["x_groq"]["usage"] };
            reply.usage(usage_of(usage));
            // Some servers send no choices with the usage, or with a comment of their own.
            let choice = &chunk["choices"][0];
            // A server that did not stream says it all at once.
            let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
            take(reply, delta, &mut thought);
            if let Some(reason) = choice["finish_reason"].as_str() {
                thought.keep(reply);
                reply.stop(stop_reason(reason));
            }
            Ok(())
        })
    }
}

fn send(request: &Request, names: &WireNames) -> Result<Response, ProviderError> {
    let mut options = Options::new(&request.options);
    let base = options.base_url(BASE);
    let mut body = json!({
        "model": request.model,
        "messages": messages(&request.messages, names),
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    let tools = tools(&API, request, names, Dialect::JSON_SCHEMA).into_iter().map(|tool| {
        let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
        json!({"type": "function", "function": function})
    });
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        body["tools"] = Value::Array(tools);
    }
    if let Some(most) = options.take("max_tokens") {
        // OpenAI refuses the old name for its new models; other servers know no other.
        let name = if base == BASE { "max_completion_tokens" } else { "max_tokens" };
        body[name] = most;
    }
    let request = options.add_headers(Http::post(format!("{base}/chat/completions")));
    options.put_into(&mut body);
    API.send(request.header("accept", "text/event-stream").json(&body))
}

fn messages(messages: &[Message], names: &WireNames) -> Vec<Value> {
    let history = History::new(messages);
    let mut sent = Vec::new();
    if !history.system.is_empty() {
        sent.push(json!({"role": "system", "content": history.system}));
    }
    let is_prompt =
        |turn: &Turn<'_>| matches!(turn, Turn::User(said) if said.iter().any(|it| matches!(it, Said::Text(_))));
    let last_prompt = history.turns.iter().rposition(is_prompt).unwrap_or_default();
    for (place, turn) in history.turns.iter().enumerate() {
        match turn {
            Turn::User(said) => sent.extend(said.iter().map(|said| match said {
                Said::Text(text) => json!({"role": "user", "content": text}),
                Said::Result(result) => json!({"role": "tool", "tool_call_id": result.id, "content": result.content}),
            })),
            Turn::Assistant(message) => sent.push(assistant(message, names, place > last_prompt)),
        }
    }
    sent
}

/// A reply as it goes back. Thinking goes with it in the round it belongs to: some servers refuse the results of calls
/// without it, and others refuse it in later rounds.
fn assistant(message: &Message, names: &WireNames, is_current: bool) -> Value {
    let mut sent =
        json!({"role": "assistant", "content": Some(&message.content).filter(|text| !text.trim().is_empty())});
    let mut calls = Vec::new();
    for part in parts(message) {
        match part {
            Part::Call(call, _) => {
                let function = json!({"name": names.wire(&call.name), "arguments": arguments(call).to_string()});
                calls.push(json!({"id": call.id, "type": "function", "function": function}));
            }
            Part::Kept(Value::Object(thought)) if is_current && !message.tool_calls.is_empty() => {
                for (key, value) in thought {
                    sent[key] = value;
                }
            }
            Part::Kept(_) | Part::Text(..) => {}
        }
    }
    if !calls.is_empty() {
        sent["tool_calls"] = Value::Array(calls);
    }
    sent
}

/// Passes on what a piece of a reply says.
fn take(reply: &mut Reply<'_>, delta: &Value, thought: &mut Thought) {
    for key in ["reasoning_content", "reasoning"] {
        if let Some(text) = delta[key].as_str().filter(|text| !text.is_empty()) {
            reply.thinking(text);
            thought.add(key, text);
            break;
        }
    }
    thought.details.extend(delta["reasoning_details"].as_array().into_iter().flatten().cloned());
    match &delta["content"] {
        Value::String(text) => reply.saying(text),
        Value::Array(blocks) => blocks.iter().for_each(|block| take_block(reply, block)),
        _ => {}
    }
    if let Some(text) = delta["refusal"].as_str() {
        reply.saying(text);
    }
    for call in delta["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let whole = if function["arguments"].is_object() { function["arguments"].to_string() } else { String::new() };
        reply.piece(Piece {
            index: call["index"].as_u64(),
            id: call["id"].as_str(),
            name: function["name"].as_str(),
            arguments: function["arguments"].as_str().or(Some(&whole)),
        });
    }
}

/// A block of content, as Mistral sends it.
fn take_block(reply: &mut Reply<'_>, block: &Value) {
    match block["type"].as_str() {
        Some("text") => reply.saying(block["text"].as_str().unwrap_or_default()),
        Some("thinking") => {
            for piece in block["thinking"].as_array().into_iter().flatten() {
                reply.thinking(piece["text"].as_str().unwrap_or_default());
            }
        }
        kind => reply.unknown(kind.unwrap_or("block without type")),
    }
}

/// The thinking of one reply, under the names by which the server called it.
#[derive(Default)]
struct Thought {
    text: Option<(&'static str, String)>,
    details: Vec<Value>,
}

impl Thought {
    fn add(&mut self, key: &'static str, text: &str) {
        self.text.get_or_insert_with(|| (key, String::new())).1.push_str(text);
    }

    /// Keeps it where calls follow, of which the results may need it.
    fn keep(&mut self, reply: &mut Reply<'_>) {
        let Self { text, details } = std::mem::take(self);
        if !reply.has_calls() {
            return;
        }
        if let Some((key, text)) = text {
            reply.keep(json!({key: text}));
        }
        if !details.is_empty() {
            reply.keep(json!({"reasoning_details": details}));
        }
    }
}

fn usage_of(usage: &Value) -> Usage {
    let cached = &usage["prompt_tokens_details"]["cached_tokens"];
    Usage {
        input_tokens: tokens(&usage["prompt_tokens"]),
        output_tokens: tokens(&usage["completion_tokens"]),
        cached_input_tokens: tokens(cached).max(tokens(&usage["prompt_cache_hit_tokens"])),
        cache_write_tokens: 0,
        reasoning_tokens: tokens(&usage["completion_tokens_details"]["reasoning_tokens"]),
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "length" => StopReason::Length,
        "content_filter" => StopReason::Refused,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        _ => StopReason::End,
    }
}

#[cfg(test)]
mod tests;
