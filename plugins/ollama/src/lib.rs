//! Ollama's own API, on this machine unless `base_url` says otherwise. Its calls have no ids and come whole.

use bellglass_guest::{
    Capability, Completion, Message, Model, Provider, ProviderError, Request, Setup, StopReason, Value,
    http::{Request as Http, Response},
    json,
    provider::{Api, Dialect, History, Options, Part, Reply, Said, Turn, WireNames, arguments, parts, tokens, tools},
    reply::Usage,
};

const BASE: &str = "http://localhost:11434";

const API: Api = Api {
    provider: "ollama",
    secret: None,
    too_long: &["context length", "exceeds the available context", "input length exceeds"],
};

/// Registers the provider.
pub fn setup(setup: &mut Setup) {
    setup.plugin("ollama", "Models that Ollama runs on this machine").asks(Capability::http(BASE), "to ask the model");
    setup.provider("ollama", "Models that Ollama runs on this machine", Ollama);
}

bellglass_guest::export!(setup);

struct Ollama;

impl Provider for Ollama {
    fn list_models(&self, options: &Value) -> Result<Vec<Model>, ProviderError> {
        let mut options = Options::new(options);
        let request = Http::get(format!("{}/api/tags", options.base_url(BASE)));
        let listed = API.get(options.add_headers(request))?;
        let models = listed["models"].as_array().into_iter().flatten();
        Ok(models.filter_map(|model| model["name"].as_str()).map(Model::new).collect())
    }

    fn fetch(&self, request: &Request) -> Result<Completion, ProviderError> {
        let Some(model) = &request.model else { return Err(self.which_model(&request.options)) };
        let names = WireNames::new(request);
        let response = send(request, model, &names)?;
        let mut thought = String::new();
        Reply::new(&API, request, &names).read(API.lines(response), |reply, line| {
            take(reply, line, &mut thought);
            Ok(())
        })
    }
}

impl Ollama {
    /// There is no model that everybody has.
    fn which_model(&self, options: &Value) -> ProviderError {
        let models = match self.list_models(options) {
            Ok(models) => models,
            Err(error) => return error,
        };
        let names: Vec<String> = models.into_iter().map(|model| model.name).collect();
        let hint = if names.is_empty() { "none is there yet: `ollama pull NAME`".to_owned() } else { names.join(", ") };
        ProviderError::Rejected(format!("ollama: choose a model with -m; {hint}"))
    }
}

fn send(request: &Request, model: &str, names: &WireNames) -> Result<Response, ProviderError> {
    let mut options = Options::new(&request.options);
    let base = options.base_url(BASE);
    let mut body = json!({"model": model, "messages": messages(&request.messages, names), "stream": true});
    let tools = tools(&API, request, names, Dialect::JSON_SCHEMA).into_iter().map(|tool| {
        let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
        json!({"type": "function", "function": function})
    });
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        body["tools"] = Value::Array(tools);
    }
    for (option, key) in [("max_tokens", "num_predict"), ("temperature", "temperature"), ("num_ctx", "num_ctx")] {
        if let Some(value) = options.take(option) {
            body["options"][key] = value;
        }
    }
    let request = options.add_headers(Http::post(format!("{base}/api/chat")));
    options.put_into(&mut body);
    API.send(request.json(&body))
}

fn messages(messages: &[Message], names: &WireNames) -> Vec<Value> {
    let history = History::new(messages);
    let mut sent = Vec::new();
    if !history.system.is_empty() {
        sent.push(json!({"role": "system", "content": history.system}));
    }
    for turn in &history.turns {
        match turn {
            Turn::User(said) => sent.extend(said.iter().map(|said| match said {
                Said::Text(text) => json!({"role": "user", "content": text}),
                Said::Result(result) => {
                    json!({"role": "tool", "tool_name": names.wire(result.name), "content": result.content})
                }
            })),
            Turn::Assistant(message) => sent.push(assistant(message, names)),
        }
    }
    sent
}

fn assistant(message: &Message, names: &WireNames) -> Value {
    let mut sent = json!({"role": "assistant", "content": message.content.trim_end()});
    let mut calls = Vec::new();
    for part in parts(message) {
        match part {
            Part::Call(call, _) => {
                calls.push(json!({"function": {"name": names.wire(&call.name), "arguments": arguments(call)}}));
            }
            Part::Kept(thought) => sent["thinking"] = thought,
            Part::Text(..) => {}
        }
    }
    if !calls.is_empty() {
        sent["tool_calls"] = Value::Array(calls);
    }
    sent
}

fn take(reply: &mut Reply<'_>, line: &Value, thought: &mut String) {
    let message = &line["message"];
    let text = |key: &str| message[key].as_str().unwrap_or_default();
    reply.thinking(text("thinking"));
    thought.push_str(text("thinking"));
    reply.saying(text("content"));
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let arguments = match &function["arguments"] {
            Value::Null => String::new(),
            // As a few models write them.
            Value::String(text) => text.clone(),
            object => object.to_string(),
        };
        reply.whole_call(call["id"].as_str(), function["name"].as_str().unwrap_or_default(), &arguments);
    }
    if line["done"] == true {
        reply.usage(Usage {
            input_tokens: tokens(&line["prompt_eval_count"]),
            output_tokens: tokens(&line["eval_count"]),
            cached_input_tokens: 0,
            cache_write_tokens: 0,
            reasoning_tokens: 0,
        });
        // Models that think want to see it again with what came of their calls.
        if reply.has_calls() && !thought.is_empty() {
            reply.keep(json!(std::mem::take(thought)));
        }
        let is_full = line["done_reason"] == "length";
        reply.stop(if is_full { StopReason::Length } else { StopReason::End });
    }
}

#[cfg(test)]
mod tests;
