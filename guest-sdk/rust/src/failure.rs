//! [`Failure`], the one error type of handlers. Apart, because who reads an error decides what it is here.

use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Display;

/// What a handler returns unless it says otherwise.
pub type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// Why a handler did not do what it was asked to.
///
/// Everything that can be printed becomes one by `?` or `into`: text, `std::io::Error`, an error type of your own.
/// A tool can fail in two ways, and they read differently:
///
/// | | made by | the model gets | besides |
/// |---|---|---|---|
/// | it failed at its task | `Err("…")`, `?`, [`Failure::new`] | `{"error": "…", "ok": false}` | nothing: this is an ordinary answer |
/// | it could not work at all | [`Failure::fault`] | `{"error": "…", "name": …, "args": …, "ok": false}` | a warning in the host's log, and no after hook runs |
///
/// A file that is not there is the first kind: the model will try another name. A broken installation is the second. In
/// hooks, commands and completions there is only one kind, and both constructors do the same.
///
/// ```
/// use bellglass_guest::{Failure, Result};
///
/// fn port(text: &str) -> Result<u16> {
///     let port: u16 = text.parse()?; // "invalid digit found in string"
///     if port < 1024 {
///         return Err(Failure::new("ports below 1024 are taken").with("lowest", 1024));
///     }
///     Ok(port)
/// }
/// assert_eq!(port("80").unwrap_err().message(), "ports below 1024 are taken");
/// ```
#[derive(Debug)]
pub struct Failure {
    message: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// The task failed; these keys go beside `error`.
    Failed(Map<String, Value>),
    Fault,
}

impl Failure {
    /// The task failed: the model reads the message and can act on it.
    pub fn new(message: impl Display) -> Self {
        Self { message: message.to_string(), kind: Kind::Failed(Map::new()) }
    }

    /// The handler could not work at all: as [`new`](Self::new), and logged as a fault of the plugin.
    pub fn fault(message: impl Display) -> Self {
        Self { message: message.to_string(), kind: Kind::Fault }
    }

    /// Puts another key beside `error` in what the model gets, such as an exit status. A fault carries none.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Serialize) -> Self {
        if let Kind::Failed(beside) = &mut self.kind {
            beside.insert(key.to_owned(), serde_json::to_value(value).unwrap_or_default());
        }
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where only the text can be passed on: hooks and commands.
    pub(crate) fn into_message(self) -> String {
        self.message
    }

    /// The answer of a tool that failed like this.
    pub(crate) fn into_answer(self) -> std::result::Result<String, String> {
        match self.kind {
            Kind::Fault => Err(self.message),
            Kind::Failed(beside) => {
                let mut answer = Map::new();
                answer.insert("error".to_owned(), Value::String(self.message));
                answer.extend(beside);
                Ok(Value::Object(answer).to_string())
            }
        }
    }
}

// `Failure` itself cannot be printed, or this would clash with `From<T> for T`.
impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error)
    }
}
