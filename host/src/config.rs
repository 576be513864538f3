//! The user's `config.toml` as checked values.
//! Separate because every mistake in it is reported here, with its place, before anything else starts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::capability::{Origin, VariableName};
use crate::limits::{LimitError, Limits};
use crate::name::{NameError, PluginName};
use crate::secrets::Source;
use crate::text::{first_chars, visible_line};

mod read;

/// The largest file that is read. A larger one is not a configuration.
const MOST_BYTES: u64 = 1 << 20;

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

/// Why a configuration cannot be used. `Display` is one line.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// Something in the file is wrong.
    #[error("`{place}`: {problem}")]
    Wrong {
        /// Where it is.
        place: Place,
        /// What it is.
        problem: Problem,
    },
    /// The path leads to a folder.
    #[error("cannot read `{0}`: it is a folder")]
    Folder(String),
    /// The path leads to a pipe, a device or the like, which may never end.
    #[error("cannot read `{0}`: it is not a regular file")]
    NoFile(String),
    /// The file is too large.
    #[error("cannot read `{0}`: it has more than 1 MiB")]
    TooLarge(String),
    /// The system refused.
    #[error("cannot read `{file}`: {kind}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        kind: io::ErrorKind,
    },
}

/// A place in a file, as editors count it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it, made safe to show.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1; a tab is one.
    pub column: usize,
}

/// What is wrong at a [`Place`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not TOML.
    #[error("{0}")]
    Syntax(String),
    /// Not text.
    #[error("not UTF-8")]
    Encoding,
    /// No such key.
    #[error("unknown key `{key}`{}, expected {}", in_table(.table), one_of(.expected))]
    UnknownKey {
        /// The key.
        key: String,
        /// The path of the table that it is in; empty at the top.
        table: &'static str,
        /// The keys there are.
        expected: Vec<&'static str>,
    },
    /// A value of the wrong type.
    #[error("`{key}` is {got}, expected {expected}")]
    Type {
        /// The path of the key.
        key: String,
        /// What it is.
        got: &'static str,
        /// What it should be.
        expected: String,
    },
    /// A value that is none of those there are.
    #[error("`{key}` is `{got}`, expected {}", one_of(.expected))]
    Choice {
        /// The path of the key.
        key: &'static str,
        /// What was written.
        got: String,
        /// What can be written.
        expected: Vec<&'static str>,
    },
    /// A limit that cannot be set to this.
    #[error("`limits.{name}`: {error}")]
    Limit {
        /// The limit.
        name: &'static str,
        /// Why.
        error: LimitError,
    },
    /// A table below `plugin` whose name is no plugin's.
    #[error("`plugin`: {0}")]
    Plugin(NameError),
    /// A value that is refused for a reason of its own.
    #[error("`{key}`: {error}")]
    Value {
        /// The path of the key.
        key: String,
        /// Why.
        error: String,
    },
    /// A value that JSON does not have.
    #[error("`{0}` is a number that JSON cannot hold")]
    Number(String),
}

impl Config {
    /// Reads the file. One that does not exist is as good as an empty one.
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        let file_name = visible_line(&path.to_string_lossy()).into_owned();
        let unreadable = |error: io::Error| ConfigError::Unreadable { file: file_name.clone(), kind: error.kind() };
        // The kind of file first: opening a pipe would wait for its writer.
        let metadata = match path.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Config::default()),
            result => result.map_err(unreadable)?,
        };
        if metadata.is_dir() {
            return Err(ConfigError::Folder(file_name));
        }
        if !metadata.is_file() {
            return Err(ConfigError::NoFile(file_name));
        }
        let mut bytes = Vec::new();
        File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(ConfigError::TooLarge(file_name));
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => Config::parse(text, &file_name),
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                Err(ConfigError::Wrong {
                    place: Place::at(&file_name, &valid, valid.len()),
                    problem: Problem::Encoding,
                })
            }
        }
    }

    /// Parses the text of a configuration; `file_name` is what errors call it.
    pub fn parse(text: &str, file_name: &str) -> Result<Config, ConfigError> {
        // Editors on Windows put a byte order mark before the text; it is no column.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        read::document(text).map_err(|(offset, problem)| {
            let place = Place::at(&visible_line(file_name), text, offset);
            ConfigError::Wrong { place, problem }
        })
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

impl ConfigError {
    /// Returns the next step, where one is near: the key or the value that was probably meant.
    pub fn hint(&self) -> Option<String> {
        let ConfigError::Wrong { problem, .. } = self else {
            return None;
        };
        let (written, expected) = match problem {
            Problem::UnknownKey { key, expected, .. } => (key, expected),
            Problem::Choice { got, expected, .. } => (got, expected),
            _ => return None,
        };
        nearest(written, expected).map(|nearest| format!("did you mean `{nearest}`?"))
    }
}

impl Place {
    fn at(file: &str, text: &str, offset: usize) -> Place {
        let before = &text[..text.floor_char_boundary(offset.min(text.len()))];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Place {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

fn in_table(table: &str) -> String {
    if table.is_empty() { String::new() } else { format!(" in `{table}`") }
}

fn one_of(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => format!("`{one}`"),
        [others @ .., last] => format!("`{}` or `{last}`", others.join("`, `")),
    }
}

/// Returns the name that differs in at most a third of its letters, the first of the nearest.
fn nearest<'n>(written: &str, names: &[&'n str]) -> Option<&'n str> {
    let written = first_chars(written, 40).to_lowercase().replace('-', "_");
    let near = names.iter().map(|name| (distance(&written, name), *name));
    let (distance, name) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= (name.len() / 3).max(1)).then_some(name)
}

/// Letters to insert, remove, replace or swap with their neighbour to get from one to the other.
fn distance(one: &str, two: &str) -> usize {
    let (one, two): (Vec<char>, Vec<char>) = (one.chars().collect(), two.chars().collect());
    let mut rows = vec![vec![0; two.len() + 1]; one.len() + 1];
    for i in 0..=one.len() {
        for j in 0..=two.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(one[i - 1] != two[j - 1]);
                let swapped = i > 1 && j > 1 && one[i - 1] == two[j - 2] && one[i - 2] == two[j - 1];
                let swapped = if swapped { rows[i - 2][j - 2] + 1 } else { usize::MAX };
                replaced.min(swapped).min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1)
            };
        }
    }
    rows[one.len()][two.len()]
}

#[cfg(test)]
mod tests;
