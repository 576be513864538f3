//! The responses API of OpenAI. Nothing is stored there: reasoning comes encrypted, is kept, and goes back in its place.

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
    provider: "openai-responses",
    secret: Some(KEY),
    too_long: &["context_length_exceeded", "maximum context length", "context window"],
};

/// Registers the provider.
pub fn setup(setup: &mut Setup) {
    setup
        .plugin("openai-responses", "The responses API of OpenAI")
        .asks(Capability::http(ORIGIN), "to ask the model")
        .asks(Capability::credential(KEY, ORIGIN, "authorization", "Bearer "), "to be let in");
    setup
        .provider("openai-responses", "OpenAI's responses API, with reasoning kept between calls", Responses)
        .default_model("gpt-5-mini")
        .secret(KEY);
}

bellglass_guest::export!(setup);

struct Responses;

impl Provider for Responses {
    fn list_models(&self, options: &Value) -> Result<Vec<Model>, ProviderError> {
        let mut options = Options::new(options);
        let request = Http::get(format!("{}/models", options.base_url(BASE)));
        let listed = API.get(options.add_headers(request))?;
        let models = listed["data"].as_array().into_iter().flatten();
        Ok(models.filter_map(|model| model["id"].as_str()).map(Model::new).collect())
    }

    fn fetch(&self, request: &Request) -> Result<Completion, ProviderError> {
        let names = WireNames::new(request);
        let response = send(request, &names)?;
        Reply::new(&API, request, &names).read(API.events(response), take)
    }
}

fn send(request: &Request, names: &WireNames) -> Result<Response, ProviderError> {
    let mut options = Options::new(&request.options);
    let base = options.base_url(BASE);
    let history = History::new(&request.messages);
    let mut body = json!({
        "model": request.model,
        "input": input(&history, names),
        "stream": true,
        "store": false,
    });
    if !history.system.is_empty() {
        body["instructions"] = json!(history.system);
    }
    // Models that do not reason refuse to say how they did.
    let reasons = request.model.as_ref().is_none_or(|model| !model.starts_with("gpt-4") && !model.starts_with("gpt-3"));
    if reasons {
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    let tools = tools(&API, request, names, Dialect::JSON_SCHEMA).into_iter().map(|tool| {
        json!({
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            // Strict schemas may leave nothing optional, which is not ours to decide.
            "strict": false,
        })
    });
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        body["tools"] = Value::Array(tools);
    }
    if let Some(most) = options.take("max_tokens") {
        body["max_output_tokens"] = most;
    }
    let request = options.add_headers(Http::post(format!("{base}/responses")));
    options.put_into(&mut body);
    API.send(request.header("accept", "text/event-stream").json(&body))
}

fn input(history: &History<'_>, names: &WireNames) -> Vec<Value> {
    let mut items = Vec::new();
    for turn in &history.turns {
        match turn {
            Turn::User(said) => items.extend(said.iter().map(|said| match said {
                Said::Text(text) => json!({"role": "user", "content": [{"type": "input_text", "text": text}]}),
                Said::Result(result) => {
                    json!({"type": "function_call_output", "call_id": result.id, "output": result.content})
                }
            })),
            Turn::Assistant(message) => items.extend(assistant(message, names)),
        }
    }
    items
}

fn assistant(message: &Message, names: &WireNames) -> Vec<Value> {
    let item = |part: Part<'_>| match part {
        Part::Kept(item) => item,
        Part::Text(text, _) => json!({"role": "assistant", "content": [{"type": "output_text", "text": text}]}),
        Part::Call(call, _) => json!({
            "type": "function_call",
            "call_id": call.id,
            "name": names.wire(&call.name),
            "arguments": arguments(call).to_string(),
        }),
    };
    parts(message).into_iter().map(item).collect()
}

fn take(reply: &mut Reply<'_>, event: &Value) -> Result<(), ProviderError> {
    let delta = event["delta"].as_str();
    let index = event["output_index"].as_u64();
    match event["type"].as_str().unwrap_or_default() {
        "response.output_text.delta" | "response.refusal.delta" => reply.saying(delta.unwrap_or_default()),
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            reply.thinking(delta.unwrap_or_default());
        }
        "response.reasoning_summary_part.added" if tokens(&event["summary_index"]) > 0 => reply.thinking("\n\n"),
        "response.function_call_arguments.delta" => {
            reply.piece(Piece { index, arguments: delta, ..Piece::default() });
        }
        "response.output_item.added" => {
            take_call(reply, index, &event["item"]);
        }
        "response.output_item.done" => match event["item"]["type"].as_str().unwrap_or_default() {
            "reasoning" => reply.keep(event["item"].clone()),
            "function_call" => {
                let call = take_call(reply, index, &event["item"]);
                if let (Some(call), Some(arguments)) = (call, event["item"]["arguments"].as_str()) {
                    reply.set_arguments(call, arguments);
                }
            }
            "message" => {}
            other => reply.unknown(other),
        },
        "response.completed" => ended(reply, &event["response"], StopReason::End),
        "response.incomplete" => {
            let is_full = event["response"]["incomplete_details"]["reason"] == "max_output_tokens";
            ended(reply, &event["response"], if is_full { StopReason::Length } else { StopReason::Refused });
        }
        "response.failed" => return Err(API.said(&event["response"]["error"])),
        "error" => return Err(API.said(event)),
        known if KNOWN.iter().any(|it| known.starts_with(it)) => {}
        other => reply.unknown(other),
    }
    Ok(())
}

/// What says nothing new.
const KNOWN: [&str; 8] = [
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.content_part.",
    "response.output_text.",
    "response.refusal.",
    "response.reasoning_",
    "response.function_call_arguments.done",
];

/// The call that an item begins or ends.
fn take_call(reply: &mut Reply<'_>, index: Option<u64>, item: &Value) -> Option<usize> {
    let is_call = item["type"] == "function_call";
    let piece = Piece { index, id: item["call_id"].as_str(), name: item["name"].as_str(), arguments: None };
    is_call.then(|| reply.piece(piece))
}

fn ended(reply: &mut Reply<'_>, response: &Value, reason: StopReason) {
    let usage = &response["usage"];
    reply.usage(Usage {
        input_tokens: tokens(&usage["input_tokens"]),
        output_tokens: tokens(&usage["output_tokens"]),
        cached_input_tokens: tokens(&usage["input_tokens_details"]["cached_tokens"]),
        cache_write_tokens: 0,
        reasoning_tokens: tokens(&usage["output_tokens_details"]["reasoning_tokens"]),
    });
    reply.stop(reason);
}

#[cfg(test)]
mod tests;
