//! The library without the program: several calls on one host, as a session makes them.
//!
//! Apart from [`TestEnv`], because what happens between two calls is not seen from outside a process.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use bellglass::agent::prompt::SystemPrompt;
use bellglass::capability::{Grant, VariableName};
use bellglass::host_request::CallContext;
use bellglass::installed::{Host, HostOptions, Installed};
use bellglass::limits::Limits;
use bellglass::network::Lookup;
use bellglass::plugin::discover::Places;
use bellglass::plugin::rights::Surroundings;
use bellglass::question::{Answer, Question};
use bellglass::secrets::{Keyring, SecretValue, Secrets};
use bellglass::session::{Output, Session, SessionOptions};
use bellglass::tool::Outcome;
use bellglass::uses::Uses;
use serde_json::{Map, Value};

use super::TestEnv;

/// What a host is made of, in the environment of a test.
pub struct Bench {
    pub options: HostOptions,
    env: Arc<TestEnv>,
}

/// A host with what it loaded. Its calls run in a session where one was started, else with nobody to answer.
pub struct Running {
    pub host: Arc<Host>,
    pub installed: Arc<Installed>,
    context: CallContext,
    _session: Option<Session>,
    _env: Arc<TestEnv>,
    /// The questions that somebody answered.
    pub asked: Arc<Mutex<Vec<Question>>>,
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
        Self { options, env: Arc::new(env) }
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

    /// Names that lead to these addresses; all others lead nowhere.
    pub fn names(mut self, names: &[(&str, std::net::IpAddr)]) -> Self {
        let names: HashMap<String, std::net::IpAddr> = names.iter().map(|it| (it.0.to_owned(), it.1)).collect();
        let lookup = move |name: &str| Ok(names.get(name).copied().into_iter().collect());
        self.options.surroundings.network.lookup = Lookup::By(Arc::new(lookup));
        self
    }

    /// Trusts the certificates of an authority.
    pub fn trusts(mut self, authority: &super::server::Authority) -> Self {
        let file = self.env.home().join("ca.pem");
        std::fs::write(&file, &authority.pem).unwrap();
        self.options.surroundings.network.ca_file = Some(file);
        self
    }

    /// Secrets in a keyring of this process.
    pub fn secrets(mut self, secrets: &[(&str, &str)]) -> Self {
        let index = Some(self.env.home().join("state/secrets"));
        let stored = Secrets::new(BTreeMap::new(), &[], Keyring::Memory(Mutex::default()), index);
        for (name, value) in secrets {
            let value = SecretValue::parse((*value).to_owned()).unwrap();
            stored.set(&VariableName::parse(name).unwrap(), &value).unwrap();
        }
        self.options.surroundings.secrets = Arc::new(stored);
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
        Running {
            host,
            installed,
            context: CallContext::top(None),
            _session: None,
            _env: self.env.clone(),
            asked: Arc::default(),
        }
    }

    /// Loads and starts a session, which answers what plugins ask. No person is there.
    pub async fn start(&self) -> Running {
        self.start_with(None).await
    }

    /// The same with a person who gives this answer to every question.
    pub async fn start_answering(&self, key: char) -> Running {
        self.start_with(Some(key)).await
    }

    async fn start_with(&self, key: Option<char>) -> Running {
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
            interactive: key.is_some(),
            max_rounds: 8,
            results: None,
        };
        let (session, mut outputs) = Session::start(host.clone(), options);
        let asked: Arc<Mutex<Vec<Question>>> = Arc::default();
        let seen = asked.clone();
        tokio::spawn(async move {
            while let Some(output) = outputs.next().await {
                if let (Output::Choose(question, reply), Some(key)) = (output, key) {
                    seen.lock().unwrap().push(question);
                    let _ = reply.send(Some(Answer { key, reason: String::new() }));
                }
            }
        });
        let installed = session.installed().await.unwrap();
        Running { host, installed, context: session.context(), _session: Some(session), _env: self.env.clone(), asked }
    }
}

impl Running {
    /// What all calls so far did with rights.
    pub fn uses(&self) -> &Uses {
        &self.context.uses
    }

    /// The flags that would have granted what was refused.
    pub fn hints(&self) -> Vec<String> {
        let denied = self.uses().list().into_iter().filter(|it| !it.allowed);
        denied.map(|it| it.grant.flag(&it.plugin)).collect()
    }

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

/// Resident memory of this process, in bytes.
pub fn resident_memory() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
