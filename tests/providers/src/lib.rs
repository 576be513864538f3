//! The bundled providers side by side, and the scripts of their servers in `tests/servers`.
//!
//! Apart from the plugins, because what is the same for all of them is said once.

pub mod random;

use bellglass_guest::{
    Message, ProviderError, Request, Setup, StopReason, ToolCall, ToolDefinition, json,
    reply::Event,
    test::{self, Script, TestPlugin},
};

/// One provider and where its script files are.
#[derive(Clone, Copy)]
pub struct Provider {
    /// Its name, which is that of the plugin and of the folder as well.
    pub name: &'static str,
    /// Its plugin.
    pub setup: fn(&mut Setup),
}

/// All that are bundled.
pub const PROVIDERS: [Provider; 5] = [
    Provider { name: "anthropic", setup: anthropic::setup },
    Provider { name: "gemini", setup: gemini::setup },
    Provider { name: "ollama", setup: ollama::setup },
    Provider { name: "openai", setup: openai::setup },
    Provider { name: "openai-responses", setup: openai_responses::setup },
];

/// What came of one request, in the words of tests: pieces of one kind in a row are one, ids are numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Came {
    /// `thinking …`, `saying …`, `doing name(arguments)`.
    pub said: Vec<String>,
    /// Input and output, as it was said last.
    pub tokens: (u64, u64),
    /// The kind of end or of error, with the message of an error.
    pub end: String,
    /// The reply as the host would keep it.
    pub text: String,
    /// The calls as the host would keep them.
    pub calls: Vec<(String, String, String)>,
    /// What is given back with the reply.
    pub replay: Option<String>,
}

impl Provider {
    /// A script of its server.
    ///
    /// # Panics
    ///
    /// When there is none of this name, or it cannot be read.
    #[must_use]
    pub fn script(&self, name: &str) -> Script {
        let path = format!("{}/../servers/{}/{name}.http", env!("CARGO_MANIFEST_DIR"), self.name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        Script::parse(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The plugin, and the server it speaks to.
    #[must_use]
    pub fn plugin(&self, script: Script) -> TestPlugin {
        test::plugin(self.setup).with_script(script)
    }

    /// Sends one request and tells what came.
    #[must_use]
    pub fn fetch(&self, plugin: &TestPlugin, request: &Request) -> Came {
        let (events, end) = plugin.fetch(self.name, request);
        let mut came = Came::default();
        for event in events {
            came.add(event);
        }
        let (end, replay) = match end {
            Ok(completion) => (reason(completion.reason).to_owned(), completion.replay),
            Err(error) => (error_line(error), None),
        };
        Came { end, replay, ..came }
    }
}

impl Default for Came {
    fn default() -> Self {
        let (said, calls) = (Vec::new(), Vec::new());
        Self { said, tokens: (0, 0), end: String::new(), text: String::new(), calls, replay: None }
    }
}

impl Came {
    fn add(&mut self, event: Event) {
        match event {
            Event::Thinking(text) => self.go_on("thinking ", &text),
            Event::Saying(text) => {
                self.text += &text;
                self.go_on("saying ", &text);
            }
            Event::Doing(call) => {
                self.said.push(format!("doing {}({})", call.name, call.arguments));
                self.calls.push((call.id, call.name, call.arguments));
            }
            Event::Usage(usage) => self.tokens = (usage.input_tokens, usage.output_tokens),
        }
    }

    fn go_on(&mut self, kind: &str, text: &str) {
        match self.said.last_mut() {
            Some(last) if last.starts_with(kind) => last.push_str(text),
            _ => self.said.push(format!("{kind}{text}")),
        }
    }

    /// The reply as a message of the transcript.
    #[must_use]
    pub fn message(&self) -> Message {
        let call = |(id, name, arguments): &(String, String, String)| ToolCall {
            id: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
        };
        let mut message = Message::assistant(&*self.text);
        message.tool_calls = self.calls.iter().map(call).collect();
        message.replay.clone_from(&self.replay);
        message
    }
}

fn reason(reason: StopReason) -> &'static str {
    match reason {
        StopReason::End => "end",
        StopReason::ToolCalls => "tool calls",
        StopReason::Length => "length",
        StopReason::Refused => "refused",
    }
}

fn error_line(error: ProviderError) -> String {
    match error {
        ProviderError::Unauthorized(message) => format!("unauthorized: {message}"),
        ProviderError::Busy((message, None)) => format!("busy: {message}"),
        ProviderError::Busy((message, Some(wait))) => format!("busy for {wait} ms: {message}"),
        ProviderError::ContextTooLong(message) => format!("too long: {message}"),
        ProviderError::Rejected(message) => format!("rejected: {message}"),
        ProviderError::Broken(message) => format!("broken: {message}"),
    }
}

/// The first request of the conversation that every provider has.
#[must_use]
pub fn first_request() -> Request {
    let tool = |name: &str, parameters: &str| ToolDefinition {
        name: name.to_owned(),
        description: "For tests".to_owned(),
        parameters: parameters.to_owned(),
        aliases: Vec::new(),
    };
    let system = Message::new(bellglass_guest::Role::System, "Be brief.");
    let mut request = Request::new(vec![system, Message::user("Look.")]);
    request.model = Some("m".to_owned());
    request.options = json!({});
    request.tools = vec![
        tool(
            "read",
            r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}"#,
        ),
        tool("calendar.list", r#"{"type":"object","properties":{"id":{"type":["integer","null"]}}}"#),
    ];
    request
}

/// The second request: what came, and a result of 400 KB.
#[must_use]
pub fn second_request(came: &Came) -> Request {
    let mut request = first_request();
    request.messages.push(came.message());
    for ((id, ..), result) in came.calls.iter().zip([format!(r#"{{"text":"{}"}}"#, "x".repeat(400_000)), String::new()])
    {
        request.messages.push(Message::tool(&**id, result));
    }
    request
}
