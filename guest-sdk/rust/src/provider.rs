//! [`Provider`]: a model API. It maps requests to bytes and bytes to events; retries, back-off and repair of the history
//! are the host's.
//!
//! What APIs have in common is here, so that a provider says only what its own is like:
//!
//! | | |
//! |---|---|
//! | the user's options | [`Options`] |
//! | the conversation, with user and assistant in turn | [`History`], [`parts`], [`arguments`] |
//! | names and schemas that the API takes | [`tools`], [`WireNames`], [`wire_id`], [`Dialect`] |
//! | sending, and errors | [`Api`], [`http`](crate::http) |
//! | streams | [`sse`], [`ndjson`] |
//! | the reply while it comes | [`Reply`], [`Piece`] |
//!
//! The bundled providers are written with it; each is one file.

mod api;
mod calls;
mod history;
mod lines;
mod names;
pub mod ndjson;
mod options;
mod parts;
mod reply;
mod retry_after;
mod schema;
pub mod sse;
mod stream;
mod tools;

pub use api::Api;
pub use calls::{Calls, Piece};
pub use history::{History, Said, ToolResult, Turn, arguments};
pub use names::{WireNames, wire_id};
pub use options::Options;
pub use parts::{Part, parts};
pub use reply::{Reply, tokens};
pub use schema::Dialect;
pub use tools::{WireTool, tools};

use crate::bindings::{
    bellglass::plugin::types::{Message, ToolDefinition},
    exports::bellglass::plugin::providers as wit,
};
use serde_json::Value;
use std::{borrow::Cow, fmt, time::Duration};

pub use wit::{Completion, Model, ProviderError, StopReason};

/// A model API, as [`Setup::provider`](crate::Setup::provider) takes it. Every call gets a fresh instance of the plugin.
///
/// ```
/// use bellglass_guest::{
///     Completion, Message, Model, Provider, ProviderError, Request, Setup, StopReason, Value,
///     reply::{self, Event},
///     test,
/// };
///
/// /// Says what it was told.
/// struct Echo;
///
/// impl Provider for Echo {
///     fn list_models(&self, _options: &Value) -> Result<Vec<Model>, ProviderError> {
///         Ok(vec![Model::new("echo-1")])
///     }
///
///     fn fetch(&self, request: &Request) -> Result<Completion, ProviderError> {
///         let last = request.messages.last().ok_or(ProviderError::Rejected("no messages".to_owned()))?;
///         reply::saying(&*last.content);
///         Ok(Completion::new(StopReason::End))
///     }
/// }
///
/// fn setup(setup: &mut Setup) {
///     setup.provider("echo", "Says what it was told", Echo).default_model("echo-1");
/// }
///
/// let request = Request::new(vec![Message::user("hello")]);
/// let (events, completion) = test::plugin(setup).fetch("echo", &request);
/// assert!(matches!(&events[..], [Event::Saying(text)] if text == "hello"));
/// assert_eq!(completion.unwrap().reason, StopReason::End);
/// ```
pub trait Provider {
    /// Asks the API which models there are. `options` are the user's for this provider, a JSON object.
    ///
    /// # Errors
    ///
    /// Why there is no list. The host tries again where that is worth it.
    fn list_models(&self, options: &Value) -> Result<Vec<Model>, ProviderError>;

    /// Sends one request and passes on the reply, piece by piece, with [`reply`](crate::reply). A tool call is passed on
    /// once it is whole; one that the output limit cut is passed on as far as it came, with [`StopReason::Length`].
    ///
    /// # Errors
    ///
    /// Why no whole reply came. Never sleep and try again here: the host does, and cancels by dropping the instance.
    fn fetch(&self, request: &Request) -> Result<Completion, ProviderError>;
}

/// One request to a model.
#[derive(Clone, Debug)]
pub struct Request {
    /// The name under which the provider was set up, where one type serves several.
    pub provider: String,
    /// The model the user chose; none for the default.
    pub model: Option<String>,
    /// The user's options for this provider, a JSON object (`base_url`, `temperature`, …).
    pub options: Value,
    /// The whole conversation, system prompt first.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<ToolDefinition>,
    /// What later hosts add, a JSON object.
    pub extra: Option<Value>,
}

impl Request {
    /// A request with nothing but these messages, to start from in tests.
    #[must_use]
    pub fn new(messages: Vec<Message>) -> Self {
        Self {
            provider: String::new(),
            model: None,
            options: Value::Object(serde_json::Map::new()),
            messages,
            tools: Vec::new(),
            extra: None,
        }
    }

    fn from_wit(request: wit::Request) -> Result<Self, ProviderError> {
        Ok(Self {
            provider: request.provider,
            model: request.model,
            options: parse(&request.options)?,
            messages: request.messages,
            tools: request.tools,
            extra: request.extra.map(|extra| parse(&extra)).transpose()?,
        })
    }
}

impl Completion {
    /// The reply is whole, and ended for this reason.
    #[must_use]
    pub fn new(reason: StopReason) -> Self {
        Self { reason, replay: None, extra: None }
    }

    /// What this provider must be given back with the message, such as signed thinking.
    #[must_use]
    pub fn replay(mut self, replay: &Value) -> Self {
        self.replay = Some(replay.to_string());
        self
    }
}

impl Model {
    /// A model of which no more is known than its name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), context_tokens: None, max_output_tokens: None, price: None, extra: None }
    }
}

impl ProviderError {
    /// The server is overloaded or this user sent too much; `retry_after` where it said when to come again.
    #[must_use]
    pub fn busy(message: impl Into<String>, retry_after: Option<Duration>) -> Self {
        let milliseconds = |wait: Duration| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Self::Busy((message.into(), retry_after.map(milliseconds)))
    }
}

/// A provider in [`Setup`](crate::Setup), to say more about it.
pub struct ProviderEntry {
    pub(crate) name: Cow<'static, str>,
    description: Cow<'static, str>,
    default_model: Option<Cow<'static, str>>,
    secret: Option<Cow<'static, str>>,
    provider: Box<dyn Provider>,
}

impl ProviderEntry {
    pub(crate) fn new(name: Cow<'static, str>, description: Cow<'static, str>, provider: Box<dyn Provider>) -> Self {
        Self { name, description, default_model: None, secret: None, provider }
    }

    /// The model to use when the user names none.
    pub fn default_model(&mut self, model: impl Into<Cow<'static, str>>) -> &mut Self {
        self.default_model = Some(model.into());
        self
    }

    /// The secret without which it cannot work, as named in its [`Capability::credential`](crate::Capability::credential).
    pub fn secret(&mut self, name: impl Into<Cow<'static, str>>) -> &mut Self {
        self.secret = Some(name.into());
        self
    }

    pub(crate) fn to_wit(&self) -> wit::Provider {
        wit::Provider {
            name: self.name.to_string(),
            description: self.description.to_string(),
            default_model: self.default_model.as_ref().map(ToString::to_string),
            secret: self.secret.as_ref().map(ToString::to_string),
            extra: None,
        }
    }

    pub(crate) fn list_models(&self, options: &str) -> Result<Vec<Model>, ProviderError> {
        self.provider.list_models(&parse(options)?)
    }

    pub(crate) fn fetch(&self, request: wit::Request) -> Result<Completion, ProviderError> {
        self.provider.fetch(&Request::from_wit(request)?)
    }

    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn provider(&self) -> &dyn Provider {
        &*self.provider
    }
}

impl fmt::Debug for ProviderEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ProviderEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

fn parse(json: &str) -> Result<Value, ProviderError> {
    serde_json::from_str(json).map_err(|error| ProviderError::Rejected(format!("the host sent broken JSON: {error}")))
}
