//! [`Api`]: what came back from a model API, if it is no reply, as a [`ProviderError`].
//!
//! The words are for the user: which provider, which status, what the server said, and what to do.

use super::retry_after;
use crate::{
    ProviderError,
    http::{Error, Failed, Request, Response},
};
use serde_json::Value;
use std::time::Duration;

/// The longest answer that is no stream, in bytes.
pub(super) const MOST: usize = 16 * 1024 * 1024;
/// How much of a server's own words is passed on, in characters.
const WORDS: usize = 500;

/// Who speaks, in the words of errors, and how this API says that a conversation is too long.
///
/// ```
/// use bellglass_guest::{ProviderError, http, provider::Api, test};
///
/// const API: Api = Api { provider: "acme", secret: Some("ACME_KEY"), too_long: &["too many tokens"] };
///
/// let plugin = test::plugin(|setup| drop(setup.plugin("acme", "").asks(
///     bellglass_guest::Capability::http("https://acme.example"), "to ask"))).with_answer_from(
///     "https://acme.example/chat",
///     test::Answer::new(401).body(r#"{"error":{"message":"bad key","type":"auth"}}"#),
/// );
/// let error = API.send(http::Request::post("https://acme.example/chat")).unwrap_err();
/// let ProviderError::Unauthorized(message) = error else { panic!() };
/// assert_eq!(message, "acme answered 401: bad key (auth); store the right key with `bellglass secret set ACME_KEY`");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Api {
    /// The provider's name.
    pub provider: &'static str,
    /// The secret that it needs, if it does.
    pub secret: Option<&'static str>,
    /// Codes and phrases, in small letters, of which one is in the error when the conversation does not fit the model.
    pub too_long: &'static [&'static str],
}

impl Api {
    /// Sends a request. An answer comes back only if its status is one of 200 to 299.
    ///
    /// # Errors
    ///
    /// Everything else.
    pub fn send(&self, request: Request) -> Result<Response, ProviderError> {
        let response = request.send().map_err(|error| self.failed(&error))?;
        if response.is_success() {
            return Ok(response);
        }
        let status = response.status;
        let wait = retry_after::of_headers(&response);
        // An error whose body breaks off is still that error.
        let body = response.bytes(MOST).unwrap_or_default();
        let body = String::from_utf8_lossy(&body);
        let value = serde_json::from_str(&body).unwrap_or_else(|_| Value::String(body.into_owned()));
        Err(self.refused(Some(status), &value, wait))
    }

    /// Sends a request that is answered by one JSON value.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send), and when the answer is something else.
    pub fn get(&self, request: Request) -> Result<Value, ProviderError> {
        let body = self.send(request)?.bytes(MOST).map_err(|error| self.failed(&error))?;
        self.parse(&String::from_utf8_lossy(&body))
    }

    /// What a request or the reading of its answer failed at.
    #[must_use]
    pub fn failed(&self, error: &Error) -> ProviderError {
        let message = format!("{}: {error}", self.provider);
        match error.failed {
            Failed::Denied | Failed::Request => ProviderError::Rejected(message),
            _ => ProviderError::Broken(message),
        }
    }

    /// One JSON value, such as the data of an event.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn parse(&self, text: &str) -> Result<Value, ProviderError> {
        serde_json::from_str(text).map_err(|error| {
            ProviderError::Broken(format!("{} sent what is no JSON ({error}): {}", self.provider, cut(text)))
        })
    }

    /// The error that came in the midst of a reply, after a status of 200: the object below `error`.
    #[must_use]
    pub fn said(&self, error: &Value) -> ProviderError {
        let number =
            error["code"].as_u64().or_else(|| error["status"].as_u64()).or_else(|| error["status_code"].as_u64());
        let status = number.and_then(|number| u16::try_from(number).ok()).filter(|number| (400..600).contains(number));
        self.refused(status, error, None)
    }

    fn refused(&self, status: Option<u16>, body: &Value, wait: Option<Duration>) -> ProviderError {
        let (words, code) = (words(body), code(body));
        let shown = match (&*words, &*code) {
            ("", "") => "nothing more".to_owned(),
            ("", code) => code.to_owned(),
            (words, "") => words.to_owned(),
            (words, code) => format!("{words} ({code})"),
        };
        let number = status.map_or_else(|| "with an error".to_owned(), |status| status.to_string());
        let say = |advice: &str| format!("{} answered {number}: {shown}; {advice}", self.provider);
        let text = format!("{code} {words}").to_lowercase();
        let has = |any: &[&str]| any.iter().any(|word| text.contains(word));
        let is = |any: &[u16]| status.is_some_and(|status| any.contains(&status));

        let is_keyless = has(&["api_key_invalid", "invalid_api_key", "authentication_error", "api key not valid"]);
        let is_spent = has(&["insufficient_quota", "credit balance", "billing_error", "insufficient_balance"]);
        let is_busy =
            has(&["overloaded", "rate_limit", "rate limit", "resource_exhausted", "unavailable", "too_many_requests"]);
        if is(&[401, 403]) || is_keyless {
            let advice = match self.secret {
                Some(secret) => format!("store the right key with `bellglass secret set {secret}`"),
                None => "it wants a key: see the option `headers`".to_owned(),
            };
            ProviderError::Unauthorized(say(&advice))
        } else if is(&[402]) || is_spent {
            ProviderError::Rejected(say(
                "the account has nothing left to spend: top it up, or choose another provider with -p",
            ))
        } else if is(&[413]) || (has(self.too_long) && !is(&[429]) && status.is_none_or(|status| status < 500)) {
            ProviderError::ContextTooLong(say(
                "make the conversation shorter with /compact, or choose a model that takes more",
            ))
        } else if is(&[408, 409, 425, 429, 529])
            || status.is_some_and(|status| status >= 500 && status != 501)
            || is_busy
        {
            ProviderError::busy(
                say("wait, or choose another model with -m"),
                wait.or_else(|| retry_after::of_body(body)),
            )
        } else if is(&[404]) || has(&["model_not_found", "not_found_error"]) {
            ProviderError::Rejected(say("choose a model that it has with -m, or look at the option `base_url`"))
        } else if status.is_none() {
            ProviderError::Broken(say("try again"))
        } else {
            ProviderError::Rejected(say("change the model with -m or its options with -o"))
        }
    }

    /// The reply ended before the server said that it was whole.
    #[must_use]
    pub fn ended_early(&self) -> ProviderError {
        ProviderError::Broken(format!(
            "{}: the reply ended early, before the server said that it was whole; try again",
            self.provider
        ))
    }
}

/// What a server says in words, wherever it puts them.
fn words(body: &Value) -> String {
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let inner = match &body["error"] {
        Value::Null => body,
        error => error,
    };
    let places = [&inner["message"], &inner["detail"], &body["message"], &body["detail"], inner];
    let words = places.into_iter().find_map(Value::as_str);
    cut(words.unwrap_or_default())
}

/// Its code or kind of error.
fn code(body: &Value) -> String {
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let error = if body["error"].is_object() { &body["error"] } else { body };
    let reasons = error["details"].as_array().into_iter().flatten().map(|detail| &detail["reason"]);
    let mut codes: Vec<&str> = [&error["code"], &error["type"], &error["status"]]
        .into_iter()
        .chain(reasons)
        .filter_map(Value::as_str)
        .collect();
    codes.dedup();
    codes.join(", ")
}

/// One line of text that is not too long. A page of HTML says nothing that helps.
fn cut(text: &str) -> String {
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.starts_with('<') {
        return "a page of HTML, so perhaps something between here and the API".to_owned();
    }
    if let Some((end, _)) = words.char_indices().nth(WORDS) {
        words.truncate(end);
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests;
