//! Secrets of the user: where each comes from, its value when it is needed, and text without any of them.
//! Separate because a value leaves here only towards one header of one request.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

use crate::capability::VariableName;

mod index;
mod keyring;
mod redact;
mod source;
mod value;

pub use keyring::{Keyring, KeyringError};
pub use redact::{redact, redact_json, redact_object, redact_tokens};
pub use source::{Source, SourceError};
pub use value::{SecretValue, ValueError};

/// All secrets that plugins can be granted. `Default` has none.
#[derive(Debug, Default)]
pub struct Secrets {
    sources: BTreeMap<VariableName, Source>,
    variables: HashMap<String, SecretValue>,
    keyring: Arc<Keyring>,
    /// Names of what is in the keyring, which cannot be asked for a list. No values.
    index: Option<PathBuf>,
    read: Mutex<HashMap<VariableName, Arc<OnceCell<Arc<SecretValue>>>>>,
}

/// Where a secret comes from. `Display` says it to a person, without any value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The operating system's keyring.
    Keyring,
    /// The environment variable of this name.
    Variable(String),
    /// A command of the configuration; its first word.
    Command(String),
}

/// Why there is no value. Never holds one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// It is nowhere.
    #[error("there is no secret `{0}`")]
    Missing(VariableName),
    /// The keyring failed.
    #[error("secret `{name}`: {error}")]
    Keyring {
        /// The secret.
        name: VariableName,
        /// Why.
        error: KeyringError,
    },
    /// The variable or the command of the configuration gave none.
    #[error("secret `{name}`: {error}")]
    Source {
        /// The secret.
        name: VariableName,
        /// Why.
        error: SourceError,
    },
    /// What was read is no value.
    #[error("secret `{name}`: {error}")]
    Value {
        /// The secret.
        name: VariableName,
        /// Why.
        error: ValueError,
    },
    /// The list of names cannot be read or written.
    #[error("cannot keep the names of secrets in `{file}`: {error}")]
    Index {
        /// The file.
        file: String,
        /// Why.
        error: std::io::ErrorKind,
    },
}

impl Secrets {
    /// The secrets of a user: what the configuration names, what is in the keyring, and this process's variables.
    ///
    /// `index` is a file with the names of what is in the keyring; without it nothing is stored.
    pub fn new(
        sources: BTreeMap<VariableName, Source>,
        variables: &[(String, String)],
        keyring: Keyring,
        index: Option<PathBuf>,
    ) -> Secrets {
        let value = |(name, value): &(String, String)| {
            VariableName::parse(name).ok()?;
            Some((name.clone(), SecretValue::parse(value.clone()).ok()?))
        };
        Secrets {
            sources,
            variables: variables.iter().filter_map(value).collect(),
            keyring: Arc::new(keyring),
            index,
            read: Mutex::default(),
        }
    }

    /// Returns where the secret comes from, without reading it. None when there is none.
    pub fn kept(&self, name: &VariableName) -> Option<Kept> {
        if let Some(kept) = self.source(name) {
            return Some(kept);
        }
        if self.names_in_keyring().contains(name) {
            return Some(Kept::Keyring);
        }
        self.variables.contains_key(name.as_str()).then(|| Kept::Variable(name.to_string()))
    }

    /// Returns where the configuration says that the secret comes from.
    pub fn source(&self, name: &VariableName) -> Option<Kept> {
        self.sources.get(name).map(|it| match it {
            Source::Variable(variable) => Kept::Variable(variable.clone()),
            Source::Command(words) => Kept::Command(words.first().cloned().unwrap_or_default()),
        })
    }

    /// Whether an environment variable holds a secret, or has the name of one: it is never handed to a plugin as it is.
    pub fn is_variable_of_secret(&self, variable: &VariableName) -> bool {
        let is_named = |it: &Source| matches!(it, Source::Variable(name) if name == variable.as_str());
        self.sources.contains_key(variable)
            || self.sources.values().any(is_named)
            || self.names_in_keyring().contains(variable)
    }

    /// Returns the secrets that were stored or configured, by name, with where each comes from.
    pub fn list(&self) -> Vec<(VariableName, Kept)> {
        let names: BTreeSet<VariableName> = self.sources.keys().cloned().chain(self.names_in_keyring()).collect();
        names.into_iter().filter_map(|name| self.kept(&name).map(|kept| (name, kept))).collect()
    }

    /// Returns the value. It is read when it is first needed, off the threads of the runtime, and kept in memory.
    ///
    /// From then on [`redact`] knows it.
    ///
    /// # Errors
    ///
    /// There is none, or it could not be read. The next call tries again.
    pub async fn value(&self, name: &VariableName) -> Result<Arc<SecretValue>, SecretError> {
        let cell = {
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            read.entry(name.clone()).or_default().clone()
        };
        let value = cell.get_or_try_init(|| async {
            let value = Arc::new(self.read(name).await?);
            redact::remember(&value);
            Ok(value)
        });
        value.await.cloned()
    }

    /// Stores a value in the keyring. Blocks, maybe until a person unlocks it.
    ///
    /// # Errors
    ///
    /// There is no keyring, or it refused.
    pub fn set(&self, name: &VariableName, value: &SecretValue) -> Result<(), SecretError> {
        redact::remember(value);
        let failed = |error| SecretError::Keyring { name: name.clone(), error };
        let Some(index) = &self.index else { return Err(failed(KeyringError::None)) };
        self.keyring.set(name, value).map_err(failed)?;
        let mut names = self.names_in_keyring();
        names.insert(name.clone());
        self.forget(name);
        index::write(index, &names)
    }

    /// Removes a value from the keyring; false when there was none. Blocks, maybe until a person unlocks it.
    ///
    /// # Errors
    ///
    /// The keyring refused.
    pub fn delete(&self, name: &VariableName) -> Result<bool, SecretError> {
        let mut names = self.names_in_keyring();
        let (true, Some(index)) = (names.remove(name), &self.index) else { return Ok(false) };
        let failed = |error| SecretError::Keyring { name: name.clone(), error };
        self.keyring.delete(name).map_err(failed)?;
        self.forget(name);
        index::write(index, &names).map(|()| true)
    }

    fn forget(&self, name: &VariableName) {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    async fn read(&self, name: &VariableName) -> Result<SecretValue, SecretError> {
        let of_variable = |variable: &str| self.variables.get(variable).map(SecretValue::again);
        let from_source = |error| SecretError::Source { name: name.clone(), error };
        match self.sources.get(name) {
            Some(Source::Variable(variable)) => {
                return of_variable(variable).ok_or_else(|| from_source(SourceError::Unset(variable.clone())));
            }
            Some(Source::Command(words)) => {
                let text = source::output(words).await.map_err(from_source)?;
                return SecretValue::parse(text).map_err(|error| SecretError::Value { name: name.clone(), error });
            }
            None => {}
        }
        if !self.names_in_keyring().contains(name) {
            return of_variable(name.as_str()).ok_or_else(|| SecretError::Missing(name.clone()));
        }
        let (keyring, wanted) = (self.keyring.clone(), name.clone());
        let got = tokio::task::spawn_blocking(move || keyring.get(&wanted)).await;
        let got = got.unwrap_or_else(|_| Err(KeyringError::Failed("it panicked".into())));
        got.map_err(|error| SecretError::Keyring { name: name.clone(), error })?
            .ok_or_else(|| SecretError::Missing(name.clone()))
    }

    fn names_in_keyring(&self) -> BTreeSet<VariableName> {
        self.index.as_ref().map(|it| index::read(it)).unwrap_or_default()
    }
}

impl std::fmt::Display for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kept::Keyring => f.write_str("keyring"),
            Kept::Variable(name) => write!(f, "environment variable `{name}`"),
            Kept::Command(program) => write!(f, "command `{program}`"),
        }
    }
}

#[cfg(test)]
mod tests;
