//! The other tools, of all plugins. Needs [`Capability::CallTool`](crate::Capability::CallTool), also for looking.
//!
//! ```
//! use bellglass_guest::{Capability, NoArguments, Setup, Value, json, test, toolbox};
//!
//! fn setup(setup: &mut Setup) {
//!     setup.asks(Capability::call_tool("execute"), "to ask git which branch this is");
//!     setup.tool("branch", "The current branch", |_: NoArguments| -> Result<Value, String> {
//!         let result = toolbox::run("execute", json!({"command": "git branch --show-current"}));
//!         match result.error() {
//!             Some(error) => Err(error.to_string()),
//!             None => Ok(json!({"branch": result["stdout"]})),
//!         }
//!     });
//! }
//!
//! let plugin = test::plugin(setup).with_tool("execute", |_| json!({"stdout": "main"}));
//! assert_eq!(plugin.call("branch", json!({})), json!({"branch": "main", "ok": true}));
//! ```

use crate::{bindings::bellglass::plugin::types::ToolDefinition, host_error::HostError, imports::toolbox};
use serde::Serialize;
use serde_json::{Value, json};
use std::{fmt, ops::Deref};

pub use crate::bindings::bellglass::plugin::toolbox::{Hook, Moment};

/// What running a tool came to: its object, with `ok`. Reads like a [`Value`], prints as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult(Value);

impl ToolResult {
    /// Whether it did its task.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.0["ok"] == true
    }

    /// Why not, mostly text.
    #[must_use]
    pub fn error(&self) -> Option<&Value> {
        self.0.get("error").filter(|error| !matches!(error, Value::Null | Value::Bool(false)))
    }

    /// The object itself.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.0
    }
}

impl Deref for ToolResult {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl fmt::Display for ToolResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Runs a tool like any other call, with validation, hooks and approval. Being denied is a result as well, with `error`.
pub fn run(name: &str, arguments: impl Serialize) -> ToolResult {
    let result = match serde_json::to_string(&arguments) {
        Ok(arguments) => serde_json::from_str(&toolbox::run(name, &arguments)),
        Err(error) => Err(error),
    };
    ToolResult(result.unwrap_or_else(|error| json!({"error": error.to_string(), "ok": false})))
}

/// All tools, in the order in which the model is told of them.
///
/// # Errors
///
/// Denied.
pub fn definitions() -> Result<Vec<ToolDefinition>, HostError> {
    toolbox::definitions().map_err(HostError::new)
}

/// One tool, by name or alias. An unknown name gives a definition whose name ends in `?`.
///
/// # Errors
///
/// Denied.
pub fn find(name: &str) -> Result<ToolDefinition, HostError> {
    toolbox::find(name).map_err(HostError::new)
}

/// What validation says of these arguments; empty when they are valid. Runs nothing.
///
/// # Errors
///
/// Denied, or no JSON can be made of the arguments.
pub fn validate(name: &str, arguments: impl Serialize) -> Result<Vec<String>, HostError> {
    let arguments = serde_json::to_string(&arguments).map_err(|error| HostError::new(error.to_string()))?;
    toolbox::validate(name, &arguments).map_err(HostError::new)
}

/// All hooks, in the order in which they run.
///
/// # Errors
///
/// Denied.
pub fn hooks() -> Result<Vec<Hook>, HostError> {
    toolbox::hooks().map_err(HostError::new)
}
