//! [`Tool`]: a function that the model can call.

mod schema;

use crate::{bindings::bellglass::plugin::types::ToolDefinition, failure::Failure, handler::Answer};
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::{borrow::Cow, fmt};

/// For a tool that takes nothing: `|_: NoArguments| …`.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct NoArguments {}

/// A tool in [`Setup`](crate::Setup), to say more about it.
pub struct Tool {
    pub(crate) name: Cow<'static, str>,
    description: Cow<'static, str>,
    parameters: Parameters,
    pub(crate) aliases: Vec<Cow<'static, str>>,
    pub(crate) examples: Vec<Example>,
    run: Run,
}

type Run = Box<dyn Fn(&str) -> Result<String, String>>;

/// One call and its answer, both as JSON text: parsed only where they are shown or checked.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) arguments: Cow<'static, str>,
    // Only tests compare it; a listing has no place for it.
    #[cfg_attr(target_family = "wasm", allow(dead_code, reason = "only native tests compare results"))]
    pub(crate) result: Cow<'static, str>,
}

/// Where the schema comes from when tools are listed. A call never makes one.
enum Parameters {
    Derived(fn() -> Value),
    Text(Cow<'static, str>),
}

impl Tool {
    pub(crate) fn typed<A, R>(
        name: Cow<'static, str>,
        description: Cow<'static, str>,
        handler: impl Fn(A) -> R + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        R: Answer,
    {
        Self::new(name, description, Parameters::Derived(schema::of::<A>), handler)
    }

    pub(crate) fn raw<R: Answer>(
        name: Cow<'static, str>,
        description: Cow<'static, str>,
        schema: Cow<'static, str>,
        handler: impl Fn(Value) -> R + 'static,
    ) -> Self {
        Self::new(name, description, Parameters::Text(schema), handler)
    }

    fn new<A: DeserializeOwned, R: Answer>(
        name: Cow<'static, str>,
        description: Cow<'static, str>,
        parameters: Parameters,
        handler: impl Fn(A) -> R + 'static,
    ) -> Self {
        let run = move |arguments: &str| match serde_json::from_str(arguments) {
            Ok(arguments) => handler(arguments).into_answer(),
            // The host checked the schema, so the type asks for more than the schema says.
            Err(error) => Failure::new(format_args!("invalid arguments: {error}")).into_answer(),
        };
        Self { name, description, parameters, aliases: Vec::new(), examples: Vec::new(), run: Box::new(run) }
    }

    /// Another name that the host takes for this tool. The model is never told; it catches what models guess.
    pub fn alias(&mut self, alias: impl Into<Cow<'static, str>>) -> &mut Self {
        self.aliases.push(alias.into());
        self
    }

    /// A call and the answer to it without `ok`, both as JSON.
    ///
    /// The arguments are listed with the tool, under `examples` of its schema, where the model and a person see them; and
    /// [`test::check_examples`](crate::test::check_examples) makes the call and compares the answer.
    pub fn example(
        &mut self,
        arguments: impl Into<Cow<'static, str>>,
        result: impl Into<Cow<'static, str>>,
    ) -> &mut Self {
        self.examples.push(Example { arguments: arguments.into(), result: result.into() });
        self
    }

    pub(crate) fn definition(&self) -> ToolDefinition {
        let parameters = match &self.parameters {
            Parameters::Derived(of) => schema::with_examples(of(), &self.examples),
            Parameters::Text(text) => match serde_json::from_str(text) {
                Ok(schema) => schema::with_examples(schema, &self.examples),
                // As it came: the host says what is wrong with it, and loads the other tools.
                Err(_) => text.to_string(),
            },
        };
        ToolDefinition {
            name: self.name.to_string(),
            description: self.description.to_string(),
            parameters,
            aliases: self.aliases.iter().map(ToString::to_string).collect(),
        }
    }

    pub(crate) fn call(&self, arguments: &str) -> Result<String, String> {
        (self.run)(arguments)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}
