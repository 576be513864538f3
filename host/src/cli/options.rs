//! The flags of every subcommand, and what they come to: folders, configuration, a host, a session.
//!
//! Apart from the subcommands, because each of them starts from here, and every failure of a flag or a file is found here.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{ArgAction, Args, ValueEnum};
use serde_json::{Map, Value};

use crate::agent::prompt::SystemPrompt;
use crate::audit::Audit;
use crate::capability::Grant;
use crate::cli::Usage;
use crate::config::{Config, LogLevel};
use crate::folders::Folders;
use crate::grants::GrantBook;
use crate::installed::{Host, HostOptions};
use crate::name::PluginName;
use crate::network::{Lookup, NetworkSettings};
use crate::plugin::discover::Places;
use crate::plugin::rights::Surroundings;
use crate::policy::{Allow, Policy};
use crate::provider::STUB;
use crate::secrets::{Keyring, Secrets};
use crate::session::{Conversation, SessionOptions};
use crate::sessions::Sessions;
use crate::toml_file::FileError;

/// The environment variable that sets how much is logged.
const LOG: &str = "BELLGLASS_LOG";

/// Flags that every subcommand takes.
#[derive(Debug, Args)]
pub struct Global {
    /// The model API to talk to; `stub` needs no network and no key
    #[arg(short, long, global = true, value_name = "NAME")]
    provider: Option<String>,
    /// The model; else the provider's own choice
    #[arg(short, long, global = true, value_name = "NAME")]
    model: Option<String>,
    /// An option for the provider; the value is JSON, or else text
    #[arg(short, long = "option", global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    options: Vec<(String, Value)>,
    /// Load the plugins of a folder too, as trusted in this run
    #[arg(long, global = true, value_name = "DIR")]
    plugins: Vec<PathBuf>,
    /// Load a plugin file too, as trusted in this run
    #[arg(long = "plugin", global = true, value_name = "FILE")]
    plugin_files: Vec<PathBuf>,
    /// Load only the bundled plugins and those that a flag names
    #[arg(long, global = true)]
    no_plugins: bool,
    /// Grant a right to a plugin for this run, such as `notes:read=.` or `web:http=https://example.org`
    #[arg(long = "grant", global = true, value_name = "PLUGIN:KIND=VALUE", value_parser = grant)]
    grants: Vec<(PluginName, Grant)>,
    /// Allow in this run what would be asked about: a tool, or command lines of it such as `shell.execute:cargo *`
    #[arg(long = "allow", global = true, value_name = "TOOL[:PATTERN]", value_parser = allow)]
    allowed: Vec<Allow>,
    /// Requests of one turn, at most
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_rounds: Option<u32>,
    /// A template that replaces the system prompt; `{{agents_md}}` in it are your instructions
    #[arg(long, global = true, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Text before the system prompt
    #[arg(long, global = true, value_name = "TEXT")]
    system_prompt: Option<String>,
    /// Go on with the newest session of this folder
    #[arg(long = "continue", global = true, conflicts_with_all = ["session", "ephemeral"])]
    go_on: bool,
    /// Go on with a session, by its id or the start of it
    #[arg(long, global = true, value_name = "ID", conflicts_with = "ephemeral")]
    session: Option<String>,
    /// Keep nothing of the conversation
    #[arg(long, global = true)]
    ephemeral: bool,
    /// Work in this folder
    #[arg(short = 'C', global = true, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// How much is logged to standard error: off, error, warn, info, debug or trace
    #[arg(long, global = true, value_name = "LEVEL", value_parser = log_level)]
    log: Option<LogLevel>,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", action = ArgAction::Set)]
    color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

fn key_value(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("expected `KEY=VALUE`")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Ok((key.to_owned(), value))
}

/// The environment of this process. What is not text is left out.
fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

fn grant(text: &str) -> Result<(PluginName, Grant), String> {
    Grant::parse_flag(text).map_err(|it| it.to_string())
}

fn allow(text: &str) -> Result<Allow, String> {
    Allow::parse(text).map_err(|it| it.to_string())
}

fn log_level(text: &str) -> Result<LogLevel, String> {
    let names = LogLevel::ALL.map(LogLevel::as_str).join(", ");
    LogLevel::parse(text).ok_or_else(|| format!("expected one of: {names}"))
}

impl Global {
    /// Starts the log on standard error: as the flag says, else the environment, else the configuration. An unknown level
    /// in the environment is a warning, not a reason to stop.
    pub(super) fn start_log(&self) {
        let wanted = std::env::var(LOG).ok().filter(|it| !it.is_empty());
        let from_environment = wanted.as_deref().and_then(LogLevel::parse);
        // A configuration that cannot be read is reported when it is needed, with the log on.
        let configured = || Self::config(&self.folders().ok()?).ok()?.log;
        let level = self.log.or(from_environment).or_else(configured).unwrap_or(LogLevel::Warn);
        let filter = match level {
            LogLevel::Off => tracing::level_filters::LevelFilter::OFF,
            LogLevel::Error => tracing::level_filters::LevelFilter::ERROR,
            LogLevel::Warn => tracing::level_filters::LevelFilter::WARN,
            LogLevel::Info => tracing::level_filters::LevelFilter::INFO,
            LogLevel::Debug => tracing::level_filters::LevelFilter::DEBUG,
            LogLevel::Trace => tracing::level_filters::LevelFilter::TRACE,
        };
        tracing_subscriber::fmt()
            .with_writer(crate::cli::log::Log)
            .with_ansi(self.color(std::io::stderr().is_terminal()))
            .with_target(false)
            .without_time()
            .with_max_level(filter)
            // It would say so with `eprintln!`, which panics where nobody reads standard error.
            .log_internal_errors(false)
            .init();
        if let (Some(wanted), None, None) = (&wanted, from_environment, self.log) {
            let names = LogLevel::ALL.map(LogLevel::as_str).join(", ");
            let wanted = crate::text::visible_line(wanted);
            tracing::warn!("{LOG} is `{wanted}`, expected one of: {names}; using `{}`", level.as_str());
        }
    }

    /// Whether to colour a stream that is a terminal or not.
    pub(super) fn color(&self, is_terminal: bool) -> bool {
        let set = |name: &str| std::env::var_os(name).is_some_and(|it| !it.is_empty());
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|it| it != "dumb"),
        }
    }

    /// Whether to colour standard error.
    pub(super) fn color_of_errors(&self) -> bool {
        self.color(std::io::stderr().is_terminal())
    }

    pub(super) fn folders(&self) -> anyhow::Result<Folders> {
        let current = std::env::current_dir().context("cannot find the current folder")?;
        let workspace = match &self.directory {
            None => current,
            Some(directory) => {
                let path = current.join(directory);
                let is_folder = path.is_dir();
                if !is_folder {
                    return Err(Usage(format!("`-C {}`: there is no such folder", directory.display())).into());
                }
                path.canonicalize().context("cannot find the folder of `-C`")?
            }
        };
        Ok(Folders::find(&workspace, |name| std::env::var_os(name)))
    }

    /// Reads the user's configuration. A broken one stops the start: it never falls back to other limits.
    fn config(folders: &Folders) -> anyhow::Result<Config> {
        let Some(folder) = &folders.config else { return Ok(Config::default()) };
        Config::load(&folder.join("config.toml")).map_err(with_hint)
    }

    /// The secrets of the user, with the configuration that names some of them.
    pub(super) fn secrets(folders: &Folders) -> anyhow::Result<Secrets> {
        Ok(Self::secrets_of(folders, &Self::config(folders)?))
    }

    fn secrets_of(folders: &Folders, config: &Config) -> Secrets {
        let index = folders.state.as_ref().map(|it| it.join("secrets"));
        Secrets::new(config.secrets.clone(), &variables(), Keyring::System, index)
    }

    /// Makes the host. `single` leaves out the pool of instances, for a run of one or a few calls.
    pub(super) fn host(&self, folders: &Folders, single: bool) -> anyhow::Result<(Arc<Host>, Config)> {
        let config = Self::config(folders)?;
        let absolute = |path: &PathBuf| folders.workspace.join(path);
        let options = HostOptions {
            places: Places {
                user: folders.user_plugins(),
                project: folders.project_plugins(),
                folders: self.plugins.iter().map(absolute).collect(),
                files: self.plugin_files.iter().map(absolute).collect(),
                only_bundled: self.no_plugins,
            },
            surroundings: Surroundings {
                workspace: folders.workspace.clone(),
                home: folders.home.clone(),
                storage: folders.state.as_ref().map(|it| it.join("storage")),
                private: folders.cache.iter().cloned().collect(),
                own: [&folders.config, &folders.state].into_iter().flatten().cloned().collect(),
                plugin_places: Vec::new(),
                grants: self.grants.clone(),
                book: Arc::new(book(folders)?),
                policy: Arc::new(self.policy(folders)?),
                audit: folders.audit().map(|it| Arc::new(Audit::start(it))),
                settings: config.plugins.clone().into_iter().collect(),
                variables: variables(),
                network: NetworkSettings {
                    proxy: config.proxy.clone(),
                    ca_file: config.ca_file.clone(),
                    lookup: Lookup::System,
                },
                secrets: Arc::new(Self::secrets_of(folders, &config)),
            },
            limits: config.limits.clone(),
            cache: folders.cache.clone(),
            single,
        };
        Ok((Arc::new(Host::new(options)?), config))
    }

    /// Reads the rules about calls. Broken ones stop the start: they never mean fewer rules.
    fn policy(&self, folders: &Folders) -> anyhow::Result<Policy> {
        let file = folders.config.as_ref().map(|it| it.join("policy.toml"));
        let project = folders.workspace.join(".agents/bellglass.toml");
        Policy::open(file, Some(&project), &self.allowed).map_err(with_hint)
    }

    /// Goes on with this session, whatever the flags say.
    pub(super) fn resume(&mut self, id: String) {
        (self.session, self.go_on, self.ephemeral) = (Some(id), false, false);
    }

    /// The conversation of this run, and what the person should know of it.
    pub(super) fn conversation(&self, folders: &Folders) -> anyhow::Result<(Conversation, Vec<String>)> {
        let mut notes = Vec::new();
        let Some(sessions) = folders.sessions().filter(|_| !self.ephemeral).map(Sessions::new) else {
            return Ok((Conversation::default(), notes));
        };
        let path = match (&self.session, self.go_on) {
            (Some(id), _) => sessions.find(id)?,
            (None, true) => sessions.last(&folders.workspace)?,
            (None, false) => return Ok((Conversation::begun(sessions.begin(&folders.workspace)), notes)),
        };
        let (file, read, is_copy) = sessions.open(&path)?;
        let messages = read.transcript.messages().len();
        notes.push(format!("session {} goes on, with {messages} messages", read.header.id));
        if is_copy {
            notes.push(format!("it is open in another process: this is a copy, {}", file.header().id));
        }
        notes.extend(read.left_out.iter().map(|it| format!("warning: left out of the session: {it}")));
        Ok((Conversation::resumed(file, read), notes))
    }

    /// What a session of this run is set up with.
    pub(super) fn session(
        &self,
        folders: &Folders,
        config: &Config,
        interactive: bool,
    ) -> anyhow::Result<SessionOptions> {
        let template = match &self.template {
            None => None,
            Some(path) => {
                let read = std::fs::read_to_string(folders.workspace.join(path));
                Some(read.with_context(|| format!("cannot read the template `{}`", path.display()))?)
            }
        };
        let prompt = SystemPrompt {
            template,
            before: self.system_prompt.clone(),
            global: folders.user_instructions(),
            workspace: folders.workspace.clone(),
        };
        // A template that cannot be rendered would fail every request: it fails the start instead.
        prompt.render().with_context(|| match &self.template {
            Some(path) => format!("cannot use the template `{}`", path.display()),
            None => "cannot make the system prompt".into(),
        })?;
        Ok(SessionOptions {
            provider: self.provider.clone().or_else(|| config.provider.clone()).unwrap_or_else(|| STUB.into()),
            model: self.model.clone().or_else(|| config.model.clone()),
            provider_options: self.options.iter().cloned().collect::<Map<_, _>>(),
            prompt,
            interactive,
            max_rounds: self.max_rounds.unwrap_or(crate::agent::ROUNDS),
            results: folders.state.as_ref().map(|it| it.join("results")),
        })
    }
}

/// Reads what the user granted. A broken file stops the start: it never means fewer checks.
pub(super) fn book(folders: &Folders) -> anyhow::Result<GrantBook> {
    let file = folders.config.as_ref().map(|it| it.join("grants.toml"));
    GrantBook::open(file).map_err(with_hint)
}

/// An error of a file of settings, with the next step beside it.
fn with_hint(error: FileError) -> anyhow::Error {
    let hint = error.hint();
    let error = anyhow::Error::from(error);
    match hint {
        Some(hint) => error.context(crate::cli::Hint(hint)),
        None => error,
    }
}
