//! [`tools`]: the tools of a request as an API takes them.

use super::{Api, Dialect, WireNames};
use crate::{Request, log};
use serde_json::Value;

/// A tool under the name and with the schema that an API takes.
#[derive(Clone, Debug)]
pub struct WireTool<'a> {
    /// See [`WireNames`].
    pub name: &'a str,
    /// What the model reads.
    pub description: &'a str,
    /// Of its arguments; see [`Dialect`].
    pub schema: Value,
}

/// The tools of a request. One whose arguments are no object is left out, with a warning in the log that names it.
#[must_use]
pub fn tools<'a>(api: &Api, request: &'a Request, names: &'a WireNames, dialect: Dialect) -> Vec<WireTool<'a>> {
    let wire = |tool: &'a crate::ToolDefinition| match dialect.adapt(&tool.schema()) {
        Ok(schema) => Some(WireTool { name: names.wire(&tool.name), description: &tool.description, schema }),
        Err(reason) => {
            log::warn(&format!("{}: the model is not told of tool `{}`: {reason}", api.provider, tool.name));
            None
        }
    };
    request.tools.iter().filter_map(wire).collect()
}
