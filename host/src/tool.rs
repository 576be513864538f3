//! A tool as the model is told of it, and the result of a call.
//!
//! Apart from the toolbox, because providers, hooks and the command line speak of tools without running one.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::capability::{Grant, VariableName};
use crate::name::{ItemName, PluginName};
use crate::secrets::redact_object;
use crate::uses::Uses;

/// What the model is told about one tool.
#[derive(Clone, Debug)]
pub struct ToolDefinition {
    /// Unique in the toolbox.
    pub name: ItemName,
    /// Read by the model to decide when to call the tool.
    pub description: Arc<str>,
    /// JSON Schema of the arguments, as the plugin wrote it.
    pub parameters: Arc<Value>,
    /// Other names that resolve to this tool. Never sent to the model.
    pub aliases: Vec<ItemName>,
}

impl ToolDefinition {
    /// Returns the definition in the shape that model APIs share: `{type: "function", function: {…}}`, without aliases.
    pub fn to_json(&self) -> Value {
        json!({
            "type": "function",
            "function": {
                "name": self.name.as_str(),
                "description": &*self.description,
                "parameters": &*self.parameters,
            }
        })
    }
}

/// The result of a tool call: one JSON object with `ok`.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    object: Map<String, Value>,
    ok: bool,
    /// The plugin ran into a limit of the sandbox.
    limited: bool,
    /// Nobody was there to say yes, or the person said no.
    denied: bool,
    /// Rights for want of which it may have failed.
    missing: Vec<(PluginName, Grant)>,
    /// Secrets for want of whose value it may have failed.
    lacking: Vec<VariableName>,
}

impl Outcome {
    /// Makes the result of a tool that answered with `object`. An `error` in it other than null and false is a failure.
    pub fn of_tool(mut object: Map<String, Value>) -> Self {
        let ok = matches!(object.get("error"), None | Some(Value::Null | Value::Bool(false)));
        object.insert("ok".into(), Value::Bool(ok));
        // Results are shown and stored. A server may have sent a secret back.
        let object = redact_object(object);
        Self { object, ok, limited: false, denied: false, missing: Vec::new(), lacking: Vec::new() }
    }

    /// Makes a failure that never reached the tool: `{error, ok: false}`.
    pub fn refused(error: impl Into<String>) -> Self {
        let object = Map::from_iter([("error".into(), Value::String(error.into()))]);
        Self::of_tool(object)
    }

    /// Makes the failure of a tool or a hook that could not do its work: `{error, name, args, ok: false}`.
    pub fn raised(error: impl Into<String>, name: &str, arguments: Value) -> Self {
        let object = Map::from_iter([
            ("error".into(), Value::String(error.into())),
            ("name".into(), Value::String(name.into())),
            ("args".into(), arguments),
        ]);
        Self::of_tool(object)
    }

    /// Marks the failure as one of a limit: the command line exits 4.
    #[must_use]
    pub fn at_a_limit(mut self) -> Self {
        self.limited = true;
        self
    }

    /// Marks the failure as a denial: the command line exits 3.
    #[must_use]
    pub fn by_denial(mut self) -> Self {
        self.denied = true;
        self
    }

    /// Adds what a failed call was refused, and the secrets that it lacked.
    #[must_use]
    pub fn for_want_of(self, uses: &Uses) -> Self {
        Self { missing: uses.denials(), lacking: uses.lacking(), ..self }
    }

    /// One line for each right and each secret for want of which the call may have failed, with the way to have it.
    pub fn hints(&self) -> impl Iterator<Item = String> {
        let rights = self.missing.iter().map(|(plugin, grant)| grant.hint(plugin));
        let secrets = self.lacking.iter();
        rights.chain(secrets.map(|it| format!("secret `{it}` has no value: `bellglass secret set {it}` keeps one")))
    }

    /// Whether the call succeeded.
    pub fn ok(&self) -> bool {
        self.ok
    }

    /// Whether a limit of the sandbox ended the call.
    pub fn hit_a_limit(&self) -> bool {
        self.limited
    }

    /// Whether the call was denied.
    pub fn was_denied(&self) -> bool {
        self.denied || !self.missing.is_empty()
    }

    /// Whether it may have failed for want of a secret's value.
    pub fn lacks_secret(&self) -> bool {
        !self.lacking.is_empty()
    }

    /// How it ended, in one word: `ok`, `denied`, `limit` or `error`.
    pub fn ended(&self) -> &'static str {
        match self.ok {
            true => "ok",
            false if self.was_denied() => "denied",
            false if self.limited => "limit",
            false => "error",
        }
    }

    /// The text of `error`, for a failure.
    pub fn error(&self) -> Option<String> {
        match self.object.get("error") {
            None | Some(Value::Null | Value::Bool(false)) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => Some(other.to_string()),
        }
    }

    /// The object, with `ok`.
    pub fn object(&self) -> &Map<String, Value> {
        &self.object
    }

    /// Returns the object as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.object).expect("a map of JSON values is always JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(object: Value, expected: &str) {
        let Value::Object(object) = object else { panic!("an object") };
        assert_eq!(Outcome::of_tool(object).to_json(), expected);
    }

    #[test]
    fn a_result_without_error_is_a_success_and_gains_ok() {
        check(json!({"lines": 2}), r#"{"lines":2,"ok":true}"#);
        check(json!({}), r#"{"ok":true}"#);
    }

    #[test]
    fn a_result_with_an_error_key_is_a_failure() {
        check(json!({"error": "not found: x"}), r#"{"error":"not found: x","ok":false}"#);
        check(json!({"error": {"code": 1}}), r#"{"error":{"code":1},"ok":false}"#);
        check(json!({"error": ""}), r#"{"error":"","ok":false}"#);
    }

    #[test]
    fn a_null_or_false_error_counts_as_none() {
        check(json!({"error": null, "a": 1}), r#"{"error":null,"a":1,"ok":true}"#);
        check(json!({"error": false}), r#"{"error":false,"ok":true}"#);
    }

    #[test]
    fn a_tool_cannot_claim_its_own_ok() {
        check(json!({"ok": true, "error": "x"}), r#"{"ok":false,"error":"x"}"#);
    }

    #[test]
    fn a_definition_never_holds_aliases() {
        let definition = ToolDefinition {
            name: ItemName::try_from("wc".to_owned()).unwrap(),
            description: "counts".into(),
            parameters: Arc::new(json!({"type": "object"})),
            aliases: vec![ItemName::try_from("count".to_owned()).unwrap()],
        };
        let expected =
            r#"{"type":"function","function":{"name":"wc","description":"counts","parameters":{"type":"object"}}}"#;
        assert_eq!(definition.to_json().to_string(), expected);
    }

    #[test]
    fn what_raised_carries_name_and_arguments() {
        let outcome = Outcome::raised("boom", "wc", json!({"path": "a"}));
        assert_eq!(outcome.to_json(), r#"{"error":"boom","name":"wc","args":{"path":"a"},"ok":false}"#);
    }
}
