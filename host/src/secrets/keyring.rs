//! The keyring of the operating system, or what stands for it.
//! Separate because it may be missing, locked or slow, and each call blocks.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::value::SecretValue;
use crate::capability::VariableName;

/// Under which name the entries stand in the keyring.
const SERVICE: &str = "bellglass";

/// Where values are stored.
#[derive(Debug, Default)]
pub enum Keyring {
    /// Nowhere.
    #[default]
    None,
    /// The operating system's own: Secret Service, Keychain or Credential Manager.
    System,
    /// This process, and nothing after it.
    Memory(Mutex<BTreeMap<VariableName, SecretValue>>),
}

/// Why the keyring did not serve. Never holds a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// There is none.
    #[error("there is no keyring on this system")]
    None,
    /// It is there, and did not open.
    #[error("the keyring is locked, or access was refused")]
    Locked,
    /// Anything else.
    #[error("the keyring failed: {0}")]
    Failed(String),
}

impl Keyring {
    pub(super) fn get(&self, name: &VariableName) -> Result<Option<SecretValue>, KeyringError> {
        match self {
            Keyring::None => Err(KeyringError::None),
            Keyring::Memory(values) => Ok(lock(values).get(name).map(SecretValue::again)),
            Keyring::System => match entry(name)?.get_password().map_err(|it| sorted(&it)) {
                Ok(text) => SecretValue::parse(text).map(Some).map_err(|it| KeyringError::Failed(it.to_string())),
                Err(None) => Ok(None),
                Err(Some(error)) => Err(error),
            },
        }
    }

    pub(super) fn set(&self, name: &VariableName, value: &SecretValue) -> Result<(), KeyringError> {
        match self {
            Keyring::None => Err(KeyringError::None),
            Keyring::Memory(values) => {
                lock(values).insert(name.clone(), value.again());
                Ok(())
            }
            Keyring::System => {
                let set = entry(name)?.set_password(value.expose());
                set.map_err(|it| sorted(&it).unwrap_or(KeyringError::None))
            }
        }
    }

    pub(super) fn delete(&self, name: &VariableName) -> Result<(), KeyringError> {
        match self {
            Keyring::None => Err(KeyringError::None),
            Keyring::Memory(values) => {
                lock(values).remove(name);
                Ok(())
            }
            Keyring::System => match entry(name)?.delete_credential().map_err(|it| sorted(&it)) {
                Ok(()) | Err(None) => Ok(()),
                Err(Some(error)) => Err(error),
            },
        }
    }
}

fn lock<T>(values: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    values.lock().unwrap_or_else(PoisonError::into_inner)
}

fn entry(name: &VariableName) -> Result<keyring::Entry, KeyringError> {
    keyring::Entry::new(SERVICE, name.as_str()).map_err(|it| sorted(&it).unwrap_or(KeyringError::None))
}

/// Sorts an error of the library; none for an entry that is not there. Some of its errors hold what was read, and so its
/// own words are not used.
fn sorted(error: &keyring::Error) -> Option<KeyringError> {
    Some(match error {
        keyring::Error::NoEntry => return None,
        keyring::Error::NoDefaultStore => KeyringError::None,
        keyring::Error::NoStorageAccess(_) => KeyringError::Locked,
        keyring::Error::BadEncoding(_) => KeyringError::Failed("the entry is no text".into()),
        keyring::Error::TooLong(..) => KeyringError::Failed("the value is too long for it".into()),
        keyring::Error::Ambiguous(_) => KeyringError::Failed("there are several entries of this name".into()),
        keyring::Error::PlatformFailure(_) => KeyringError::Failed("the system reported an error".into()),
        _ => KeyringError::Failed("it reported an error".into()),
    })
}
