//! [`Options`]: what the user set for a provider, and the way of the rest into the request.

use crate::http;
use serde_json::{Map, Value};

/// The user's options. What a provider does not [`take`](Self::take) goes into the body of its request as it is, so that a
/// user can reach whatever the API offers.
///
/// ```
/// use bellglass_guest::{json, provider::Options};
///
/// let mut options = Options::new(&json!({"base_url": "http://localhost:8080/v1/", "max_tokens": 100, "top_k": 5}));
/// assert_eq!(options.base_url("https://api.example/v1"), "http://localhost:8080/v1");
/// let mut body = json!({"model": "m"});
/// if let Some(most) = options.take("max_tokens") {
///     body["max_completion_tokens"] = most;
/// }
/// options.put_into(&mut body);
/// assert_eq!(body, json!({"model": "m", "max_completion_tokens": 100, "top_k": 5}));
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    left: Map<String, Value>,
}

impl Options {
    /// All options; what is no object has none.
    #[must_use]
    pub fn new(options: &Value) -> Self {
        Self { left: options.as_object().cloned().unwrap_or_default() }
    }

    /// Takes one out; null is as good as none.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.left.shift_remove(name).filter(|value| !value.is_null())
    }

    /// Takes `base_url`, without a slash at its end.
    pub fn base_url(&mut self, default: &str) -> String {
        let set = self.take("base_url").and_then(|url| url.as_str().map(str::to_owned));
        set.unwrap_or_else(|| default.to_owned()).trim_end_matches('/').to_owned()
    }

    /// Takes `headers`, an object of texts, and adds them to a request.
    #[must_use]
    pub fn add_headers(&mut self, mut request: http::Request) -> http::Request {
        let headers = self.take("headers");
        for (name, value) in headers.iter().filter_map(Value::as_object).flatten() {
            request = request.header(name, value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        request
    }

    /// Puts what is left into a body; what is in the object `extra_body` as well. An object goes into one of the same name,
    /// anything else replaces.
    pub fn put_into(mut self, body: &mut Value) {
        let extra = self.take("extra_body");
        merge(body, Value::Object(self.left));
        if let Some(extra) = extra.filter(Value::is_object) {
            merge(body, extra);
        }
    }
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                match into.get_mut(&key) {
                    Some(old) => merge(old, value),
                    None => drop(into.insert(key, value)),
                }
            }
        }
        (into, from) => *into = from,
    }
}

#[cfg(test)]
mod tests {
    use super::Options;
    use crate::http::Request;
    use serde_json::json;

    #[test]
    fn objects_go_into_each_other_and_the_user_wins() {
        let set =
            json!({"a": {"b": 1}, "c": 2, "extra_body": {"a": {"d": 3}, "n": null}, "headers": {"x": "1", "y": 2}});
        let mut options = Options::new(&set);
        let request = options.add_headers(Request::get("http://a"));
        assert_eq!(request.headers, [("x".to_owned(), "1".to_owned()), ("y".to_owned(), "2".to_owned())]);
        let mut body = json!({"a": {"b": 0, "e": 4}, "c": {"f": 5}});
        options.put_into(&mut body);
        assert_eq!(body, json!({"a": {"b": 1, "e": 4, "d": 3}, "c": 2, "n": null}));
        assert_eq!(Options::new(&json!(7)).base_url("http://a/"), "http://a");
    }
}
