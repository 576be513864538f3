//! The user's `config.toml` as checked values.
//! Separate because every mistake in it is reported here, with its place, before anything else starts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::capability::{Origin, VariableName};
use crate::limits::Limits;
use crate::name::PluginName;
use crate::secrets::Source;
pub use crate::toml_file::{FileError as ConfigError, Place, Problem};

mod read;

/// What may stand at the top of the file.
const KEYS: [&str; 8] = ["ca_file", "limits", "log", "model", "plugin", "provider", "proxy", "secret"];

/// What the user's configuration file says. `Default` is what holds without one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// `[limits]`: keys are the fields of [`Limits`], values are text with a unit, or whole numbers of what is counted.
    pub limits: Limits,
    /// `[plugin.NAME]`: what the plugin gets from `settings.get`.
    pub plugins: BTreeMap<PluginName, Map<String, Value>>,
    /// `provider`: the one to use without `-p`.
    pub provider: Option<String>,
    /// `model`: the one to use without `-m`.
    pub model: Option<String>,
    /// `log`: how much goes to the log.
    pub log: Option<LogLevel>,
    /// `proxy`: what requests of plugins go through; none of the environment's is used.
    pub proxy: Option<Origin>,
    /// `ca_file`: certificates that are trusted beside those of the machine.
    pub ca_file: Option<PathBuf>,
    /// `[secret.NAME]`: where a secret comes from that is not in the keyring.
    pub secrets: BTreeMap<VariableName, Source>,
    set: BTreeSet<String>,
}

/// How much goes to the log, from nothing to everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What failed.
    Error,
    /// And what may be wrong.
    Warn,
    /// And what happens.
    Info,
    /// And why.
    Debug,
    /// And everything else.
    Trace,
}

impl Config {
    /// Reads the file. One that does not exist is as good as an empty one.
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        match crate::toml_file::load(path)? {
            Some(text) => Config::parse(&text, &path.to_string_lossy()),
            None => Ok(Config::default()),
        }
    }

    /// Parses the text of a configuration; `file_name` is what errors call it.
    pub fn parse(text: &str, file_name: &str) -> Result<Config, ConfigError> {
        crate::toml_file::parse(text, file_name, read::document)
    }

    /// Whether the file itself sets this key, given with its table: `provider`, `limits.memory`, `plugin.weather`.
    pub fn sets(&self, key: &str) -> bool {
        self.set.contains(key)
    }
}

impl LogLevel {
    /// All levels, from nothing to everything.
    pub const ALL: [LogLevel; 6] =
        [LogLevel::Off, LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug, LogLevel::Trace];

    /// Parses a level as the configuration, `--log` and `BELLGLASS_LOG` spell it; none when there is no such level.
    pub fn parse(text: &str) -> Option<LogLevel> {
        LogLevel::ALL.into_iter().find(|level| level.as_str().eq_ignore_ascii_case(text))
    }

    /// Returns the level as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            LogLevel::Off => "off",
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
            LogLevel::Trace => "trace",
        }
    }
}

#[cfg(test)]
mod tests;
