//! The library without the program: several calls on one host, as a session makes them.
//!
//! Apart from [`TestEnv`], because what happens between two calls is not seen from outside a process.

use std::path::Path;
use std::sync::Arc;

use bellglass::agent::prompt::SystemPrompt;
use bellglass::capability::Grant;
use bellglass::host_request::CallContext;
use bellglass::installed::{Host, HostOptions, Installed};
use bellglass::limits::Limits;
use bellglass::plugin::discover::Places;
use bellglass::plugin::rights::Surroundings;
use bellglass::session::{Session, SessionOptions};
use bellglass::tool::Outcome;
use serde_json::{Map, Value};

use super::TestEnv;

/// What a host is made of, in the environment of a test.
pub struct Bench {
    pub options: HostOptions,
    env: TestEnv,
}

/// A host with what it loaded. Its calls run in a session where one was started, else with nobody to answer.
pub struct Running {
    pub host: Arc<Host>,
    pub installed: Arc<Installed>,
    context: CallContext,
    _session: Option<Session>,
}

impl Bench {
    /// The guests of this name as the user's plugins.
    pub fn new(guests: &[&str]) -> Self {
        Self::of(guests.iter().fold(TestEnv::new(), |env, guest| env.guest(guest)))
    }

    /// The plugins that are in the home of this environment.
    pub fn of(env: TestEnv) -> Self {
        let options = HostOptions {
            places: Places { user: Some(env.home().join(".agents/plugins")), ..Places::default() },
            surroundings: Surroundings {
                workspace: env.work(),
                home: Some(env.home()),
                storage: Some(env.home().join("storage")),
                ..Surroundings::default()
            },
            cache: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache/bellglass")),
            ..HostOptions::default()
        };
        Self { options, env }
    }

    /// Changes the limits.
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.options.limits);
        self
    }

    /// Grants as `--grant` does.
    pub fn grant(mut self, flag: &str) -> Self {
        self.options.surroundings.grants.push(Grant::parse_flag(flag).unwrap());
        self
    }

    pub fn env(&self) -> &TestEnv {
        &self.env
    }

    /// Loads, without a session.
    pub async fn load(&self) -> Running {
        let host = Arc::new(Host::new(self.options.clone()).unwrap());
        let installed = Arc::new(host.load().await);
        assert!(installed.files.iter().all(|it| it.plugin.is_ok()), "{:?}", installed.warnings);
        Running { host, installed, context: CallContext::top(None), _session: None }
    }

    /// Loads and starts a session, which answers what plugins ask.
    pub async fn start(&self) -> Running {
        let host = Arc::new(Host::new(self.options.clone()).unwrap());
        let prompt = SystemPrompt {
            template: None,
            before: None,
            global: None,
            workspace: self.options.surroundings.workspace.clone(),
        };
        let options = SessionOptions {
            provider: "stub".into(),
            model: None,
            provider_options: Map::new(),
            prompt,
            interactive: false,
            max_rounds: 8,
            results: None,
        };
        let (session, mut outputs) = Session::start(host.clone(), options);
        tokio::spawn(async move { while outputs.next().await.is_some() {} });
        let installed = session.installed().await.unwrap();
        Running { host, installed, context: session.context(), _session: Some(session) }
    }
}

impl Running {
    /// Runs a tool.
    pub async fn call(&self, tool: &str, arguments: Value) -> Outcome {
        self.installed.toolbox.run(tool, &arguments.to_string(), &self.context).await
    }

    /// The grants that were missing so far, as `--grant` spells them behind the plugin's name.
    pub fn denied(&self) -> Vec<String> {
        self.context.uses.list().iter().filter(|it| !it.allowed).map(|it| it.grant.to_string()).collect()
    }

    /// Runs a tool that has to answer; its object without `ok`.
    #[track_caller]
    pub fn answer(&self, tool: &str, arguments: Value) -> impl Future<Output = Value> {
        let at = std::panic::Location::caller();
        async move {
            let outcome = self.call(tool, arguments).await;
            assert!(outcome.ok(), "{at}: {}", outcome.to_json());
            let mut object = outcome.object().clone();
            object.shift_remove("ok");
            Value::Object(object)
        }
    }
}
