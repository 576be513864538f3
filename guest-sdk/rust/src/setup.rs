//! [`Setup`]: what a plugin's `setup` function fills in.

mod calls;

use crate::{
    capability::Capability,
    command::Command,
    handler::{Answer, Returns},
    hook::{Amendment, Decision, Hook},
    manifest::{Lifetime, Manifest},
    provider::{Provider, ProviderEntry},
    tool::Tool,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{borrow::Cow, fmt};

/// Everything a plugin gives its host. What is not said is empty.
///
/// The host runs every call in a fresh instance, so `setup` runs before each: register, and leave work to the handlers.
/// Registering a tool, command or provider under a name that is taken replaces the earlier one.
pub struct Setup {
    manifest: Manifest,
    tools: Vec<Tool>,
    hooks: Vec<Hook>,
    commands: Vec<Command>,
    providers: Vec<ProviderEntry>,
}

impl Setup {
    #[doc(hidden)]
    #[must_use]
    pub fn new(name: &'static str, version: &'static str, description: &'static str) -> Self {
        Self {
            manifest: Manifest {
                name: name.into(),
                version: version.into(),
                description: description.into(),
                asked: Vec::new(),
                lifetime: Lifetime::Call,
            },
            tools: Vec::new(),
            hooks: Vec::new(),
            commands: Vec::new(),
            providers: Vec::new(),
        }
    }

    /// Who the plugin is: a name as in `[a-z][a-z0-9-]{0,63}` and one line for people. Without this, both come from the
    /// package, as the version always does.
    pub fn plugin(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
    ) -> &mut Manifest {
        self.manifest.name = name.into();
        self.manifest.description = description.into();
        &mut self.manifest
    }

    /// Asks for a capability; short for [`plugin(…).asks(…)`](Manifest::asks).
    pub fn asks(&mut self, capability: Capability, reason: impl Into<Cow<'static, str>>) -> &mut Self {
        self.manifest.asks(capability, reason);
        self
    }

    /// Adds a tool whose arguments are a type: its fields are the parameters, their doc comments what the model reads.
    ///
    /// ```
    /// use bellglass_guest::{JsonSchema, Result, Setup, json, test};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Sides {
    ///     /// How many sides each die has
    ///     sides: u32,
    /// }
    ///
    /// #[derive(Serialize)]
    /// struct Chance {
    ///     percent: f64,
    /// }
    ///
    /// fn chance(dice: Sides) -> Result<Chance> {
    ///     if dice.sides == 0 {
    ///         return Err("a die has sides".into());
    ///     }
    ///     Ok(Chance { percent: 100.0 / f64::from(dice.sides) })
    /// }
    ///
    /// fn setup(setup: &mut Setup) {
    ///     setup
    ///         .tool("chance", "How likely each side of a die is", chance)
    ///         .alias("odds")
    ///         .example(r#"{"sides": 4}"#, r#"{"percent": 25.0}"#);
    /// }
    ///
    /// test::check_examples(setup);
    /// let answer = test::plugin(setup).call("odds", json!({"sides": 0}));
    /// assert_eq!(answer, json!({"error": "a die has sides", "ok": false}));
    /// ```
    pub fn tool<A, R>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        handler: impl Fn(A) -> R + 'static,
    ) -> &mut Tool
    where
        A: DeserializeOwned + JsonSchema,
        R: Answer,
    {
        self.put_tool(Tool::typed(name.into(), description.into(), handler))
    }

    /// Adds a tool whose parameters are a JSON Schema as text, and its arguments a [`Value`].
    ///
    /// ```
    /// use bellglass_guest::{Setup, Value, json, test};
    ///
    /// fn setup(setup: &mut Setup) {
    ///     let schema = r#"{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}"#;
    ///     setup.raw_tool("echo", "Gives the number back", schema, |arguments: Value| json!({"id": arguments["id"]}));
    /// }
    ///
    /// let id: Value = serde_json::from_str("9007199254740993000000").unwrap(); // numbers keep every digit
    /// assert_eq!(test::plugin(setup).call("echo", json!({"id": id}))["id"], id);
    /// ```
    pub fn raw_tool<R: Answer>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: impl Into<Cow<'static, str>>,
        handler: impl Fn(Value) -> R + 'static,
    ) -> &mut Tool {
        self.put_tool(Tool::raw(name.into(), description.into(), schema.into(), handler))
    }

    fn put_tool(&mut self, tool: Tool) -> &mut Tool {
        let place = self.tools.iter().position(|other| other.name == tool.name);
        put(&mut self.tools, place, tool)
    }

    /// Runs before each call of `tool`, the real name of one that may be another plugin's or not exist yet. An error
    /// stops the call, and the model reads it.
    ///
    /// ```
    /// use bellglass_guest::{Setup, Value, json, test};
    ///
    /// fn setup(setup: &mut Setup) {
    ///     setup.before("write", |arguments: &Value| match arguments["path"].as_str() {
    ///         Some("Cargo.lock") => Err("cargo writes that file"),
    ///         _ => Ok(()),
    ///     });
    /// }
    ///
    /// let plugin = test::plugin(setup).with_tool("write", |_| json!({"bytes": 1}));
    /// assert_eq!(plugin.call("write", json!({"path": "Cargo.lock"}))["error"], "cargo writes that file");
    /// ```
    pub fn before<R: Returns<Decision>>(
        &mut self,
        tool: impl Into<Cow<'static, str>>,
        hook: impl Fn(&Value) -> R + 'static,
    ) -> &mut Self {
        self.hooks.push(Hook::before(Some(tool.into()), move |_, arguments| hook(arguments)));
        self
    }

    /// Runs before each call of every tool, with the tool's real name.
    pub fn before_every<R: Returns<Decision>>(&mut self, hook: impl Fn(&str, &Value) -> R + 'static) -> &mut Self {
        self.hooks.push(Hook::before(None, hook));
        self
    }

    /// Runs after each call of `tool`, with its arguments and its own answer, which may hold `error`. Not when the tool
    /// could not work at all. An error makes the call a failure.
    ///
    /// ```
    /// use bellglass_guest::{Setup, Value, json, log, test};
    ///
    /// fn setup(setup: &mut Setup) {
    ///     setup.after("write", |arguments: &Value, outcome: &Value| {
    ///         if outcome.get("error").is_none() {
    ///             log::info(&format!("wrote {}", arguments["path"]));
    ///         }
    ///     });
    /// }
    ///
    /// let plugin = test::plugin(setup).with_tool("write", |_| json!({"bytes": 1}));
    /// plugin.call("write", json!({"path": "a.txt"}));
    /// assert_eq!(plugin.logged(), ["info: wrote \"a.txt\""]);
    /// ```
    pub fn after<R: Returns<Amendment>>(
        &mut self,
        tool: impl Into<Cow<'static, str>>,
        hook: impl Fn(&Value, &Value) -> R + 'static,
    ) -> &mut Self {
        let hook = move |_: &str, arguments: &Value, outcome: &Value| hook(arguments, outcome);
        self.hooks.push(Hook::after(Some(tool.into()), hook));
        self
    }

    /// Runs after each call of every tool, with the tool's real name.
    pub fn after_every<R: Returns<Amendment>>(
        &mut self,
        hook: impl Fn(&str, &Value, &Value) -> R + 'static,
    ) -> &mut Self {
        self.hooks.push(Hook::after(None, hook));
        self
    }

    /// Adds the slash command `/name`. It gets everything after the first space, or none; its error is shown to the user.
    ///
    /// ```
    /// use bellglass_guest::{Setup, terminal, test};
    ///
    /// fn setup(setup: &mut Setup) {
    ///     setup
    ///         .command("greet", "Says hello", |name: Option<&str>| {
    ///             terminal::say(&format!("Hello, {}!", name.unwrap_or("you")));
    ///         })
    ///         .choices(["Ada", "Grace"]);
    /// }
    ///
    /// let plugin = test::plugin(setup);
    /// assert_eq!(plugin.run_command("greet", Some("Ada")).said(), "Hello, Ada!\n");
    /// assert_eq!(plugin.complete("greet", "Gr"), ["Grace"]);
    /// ```
    pub fn command<R: Returns<()>>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        run: impl Fn(Option<&str>) -> R + 'static,
    ) -> &mut Command {
        let command = Command::new(name.into(), description.into(), run);
        let place = self.commands.iter().position(|other| other.name == command.name);
        put(&mut self.commands, place, command)
    }

    /// Adds a model API, to be chosen with `-p NAME`. [`Provider`] has an example.
    pub fn provider(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        provider: impl Provider + 'static,
    ) -> &mut ProviderEntry {
        let entry = ProviderEntry::new(name.into(), description.into(), Box::new(provider));
        let place = self.providers.iter().position(|other| other.name == entry.name);
        put(&mut self.providers, place, entry)
    }
}

/// Puts an entry in the place of the one it replaces, else at the end.
fn put<T>(entries: &mut Vec<T>, place: Option<usize>, entry: T) -> &mut T {
    let place = place.unwrap_or(entries.len());
    if place == entries.len() {
        entries.push(entry);
    } else {
        entries[place] = entry;
    }
    &mut entries[place]
}

impl fmt::Debug for Setup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Setup").field("manifest", &self.manifest).finish_non_exhaustive()
    }
}
