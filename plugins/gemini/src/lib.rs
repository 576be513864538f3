//! The Gemini API of Google. Its calls have no ids and come whole; signatures of thoughts stand on the parts that they belong
//! to, and go back there.

use bellglass_guest::{
    Capability, Completion, Message, Model, Provider, ProviderError, Request, Setup, StopReason, Value,
    http::{Request as Http, Response},
    json, log,
    provider::{Api, Dialect, History, Options, Part, Reply, Said, Turn, WireNames, arguments, parts, tokens, tools},
    reply::Usage,
};

const ORIGIN: &str = "https://generativelanguage.googleapis.com";
const BASE: &str = "https://generativelanguage.googleapis.com/v1beta";
const KEY: &str = "GEMINI_API_KEY";
/// What the API takes for the signature of a call that another model made.
const UNSIGNED: &str = "skip_thought_signature_validator";

const API: Api = Api {
    provider: "gemini",
    secret: Some(KEY),
    too_long: &["exceeds the maximum number of tokens", "input token count", "request payload size exceeds"],
};

/// Registers the provider.
pub fn setup(setup: &mut Setup) {
    setup
        .plugin("gemini", "The Gemini API of Google")
        .asks(Capability::http(ORIGIN), "to ask the model")
        .asks(Capability::credential(KEY, ORIGIN, "x-goog-api-key", ""), "to be let in");
    setup
        .provider("gemini", "Google's Gemini, with thought signatures kept between calls", Gemini)
        .default_model("gemini-2.5-flash")
        .secret(KEY);
}

bellglass_guest::export!(setup);

struct Gemini;

impl Provider for Gemini {
    fn list_models(&self, options: &Value) -> Result<Vec<Model>, ProviderError> {
        let mut options = Options::new(options);
        let request = Http::get(format!("{}/models?pageSize=1000", options.base_url(BASE)));
        let listed = API.get(options.add_headers(request))?;
        let can = |it: &&Value| match it["supportedGenerationMethods"].as_array() {
            Some(methods) => methods.iter().any(|method| method == "generateContent"),
            None => true,
        };
        let model = |it: &Value| {
            let name = it["name"].as_str()?;
            Some(Model {
                context_tokens: it["inputTokenLimit"].as_u64(),
                max_output_tokens: it["outputTokenLimit"].as_u64(),
                ..Model::new(name.strip_prefix("models/").unwrap_or(name))
            })
        };
        Ok(listed["models"].as_array().into_iter().flatten().filter(can).filter_map(model).collect())
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
    let model = request.model.as_deref().unwrap_or_default();
    let model = model.strip_prefix("models/").unwrap_or(model);
    let history = History::new(&request.messages);
    let mut body = json!({"contents": contents(&history, names, model)});
    if !history.system.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": history.system}]});
    }
    let tools = tools(&API, request, names, Dialect::OPEN_API).into_iter().map(|tool| {
        let mut declared = json!({"name": tool.name, "description": tool.description});
        // An object without properties is refused; to say nothing means the same.
        if tool.schema.get("properties").is_some() {
            declared["parameters"] = tool.schema;
        }
        declared
    });
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        body["tools"] = json!([{"functionDeclarations": tools}]);
    }
    // Older models refuse to be asked for their thoughts.
    if model.starts_with("gemini-") && !model.starts_with("gemini-1") && !model.starts_with("gemini-2.0") {
        body["generationConfig"]["thinkingConfig"] = json!({"includeThoughts": true});
    }
    for (option, key) in [("max_tokens", "maxOutputTokens"), ("temperature", "temperature")] {
        if let Some(value) = options.take(option) {
            body["generationConfig"][key] = value;
        }
    }
    let request = options.add_headers(Http::post(format!("{base}/models/{model}:streamGenerateContent?alt=sse")));
    options.put_into(&mut body);
    API.send(request.json(&body))
}

fn contents(history: &History<'_>, names: &WireNames, model: &str) -> Vec<Value> {
    let turn = |turn: &Turn<'_>| match turn {
        Turn::User(said) => {
            json!({"role": "user", "parts": said.iter().map(|said| user(said, names)).collect::<Vec<_>>()})
        }
        Turn::Assistant(message) => json!({"role": "model", "parts": assistant(message, names, model)}),
    };
    history.turns.iter().map(turn).collect()
}

fn user(said: &Said<'_>, names: &WireNames) -> Value {
    match said {
        Said::Text(text) => json!({"text": text}),
        Said::Result(result) => {
            let response = match bellglass_guest::serde_json::from_str(result.content) {
                Ok(Value::Object(object)) => Value::Object(object),
                _ => json!({"output": result.content}),
            };
            json!({"functionResponse": {"name": names.wire(result.name), "response": response}})
        }
    }
}

fn assistant(message: &Message, names: &WireNames, model: &str) -> Vec<Value> {
    let mut sent = Vec::new();
    let mut is_first_call = true;
    for part in parts(message) {
        let (mut part, mut signature) = match part {
            Part::Text(text, signature) => (json!({"text": text}), signature),
            Part::Call(call, signature) => {
                let call = json!({"name": names.wire(&call.name), "args": arguments(call)});
                (json!({"functionCall": call}), signature)
            }
            Part::Kept(_) => continue,
        };
        let is_call = part.get("functionCall").is_some();
        if is_call && std::mem::take(&mut is_first_call) && signature.is_none() && model.starts_with("gemini-3") {
            signature = Some(json!(UNSIGNED));
        }
        if let Some(signature) = signature {
            part["thoughtSignature"] = signature;
        }
        sent.push(part);
    }
    sent
}

fn take(reply: &mut Reply<'_>, chunk: &Value) -> Result<(), ProviderError> {
    let usage = &chunk["usageMetadata"];
    let thoughts = tokens(&usage["thoughtsTokenCount"]);
    reply.usage(Usage {
        input_tokens: tokens(&usage["promptTokenCount"]),
        output_tokens: tokens(&usage["candidatesTokenCount"]).saturating_add(thoughts),
        cached_input_tokens: tokens(&usage["cachedContentTokenCount"]),
        cache_write_tokens: 0,
        reasoning_tokens: thoughts,
    });
    if let Some(reason) = chunk["promptFeedback"]["blockReason"].as_str() {
        log::warn(&format!("gemini did not answer: {reason}"));
        reply.stop(StopReason::Refused);
    }
    let candidate = &chunk["candidates"][0];
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        take_part(reply, part);
    }
    match candidate["finishReason"].as_str() {
        None | Some("FINISH_REASON_UNSPECIFIED") => {}
        Some("STOP") => reply.stop(StopReason::End),
        Some("MAX_TOKENS") => reply.stop(StopReason::Length),
        Some(reason @ ("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS")) => {
            let said =
                candidate["finishMessage"].as_str().unwrap_or("the model wrote a call that the API could not read");
            return Err(ProviderError::Broken(format!("gemini: {said} ({reason}); try again")));
        }
        Some(reason) => {
            log::warn(&format!("gemini stopped answering: {reason}"));
            reply.stop(StopReason::Refused);
        }
    }
    Ok(())
}

fn take_part(reply: &mut Reply<'_>, part: &Value) {
    let signature = part.get("thoughtSignature").filter(|it| it.is_string()).cloned();
    if let Some(call) = part.get("functionCall").filter(|it| it.is_object()) {
        let arguments = call.get("args").filter(|it| !it.is_null()).map(Value::to_string).unwrap_or_default();
        let place = reply.whole_call(call["id"].as_str(), call["name"].as_str().unwrap_or_default(), &arguments);
        if let Some(signature) = signature {
            reply.keep_with_call(place, signature);
        }
        return;
    }
    match (part["text"].as_str(), part["thought"] == true) {
        (Some(text), true) => reply.thinking(text),
        (Some(text), false) => {
            reply.saying(text);
            if let Some(signature) = signature {
                reply.keep_with_text(signature);
            }
        }
        (None, _) => {
            let kind = part.as_object().and_then(|part| part.keys().next());
            reply.unknown(kind.map_or("empty part", String::as_str));
        }
    }
}

#[cfg(test)]
mod tests;
