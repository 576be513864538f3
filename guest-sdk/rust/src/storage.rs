//! A small store of the plugin's own that lasts between sessions.
//!
//! ```
//! use bellglass_guest::{Result, Setup, storage, terminal, test};
//!
//! fn count(_: Option<&str>) -> Result {
//!     let runs = storage::load::<u32>("runs")?.unwrap_or(0) + 1;
//!     storage::save("runs", &runs)?;
//!     terminal::say(&format!("run {runs}"));
//!     Ok(())
//! }
//!
//! fn setup(setup: &mut Setup) {
//!     setup.command("count", "Counts its runs", count);
//! }
//!
//! let plugin = test::plugin(setup);
//! plugin.run_command("count", None);
//! assert_eq!(plugin.run_command("count", None).said(), "run 2\n");
//! ```

use crate::{host_error::HostError, imports::storage};
use serde::{Serialize, de::DeserializeOwned};

/// The bytes under a key.
#[must_use]
pub fn get(key: &str) -> Option<Vec<u8>> {
    storage::get(key)
}

/// Keeps bytes under a key.
///
/// # Errors
///
/// The store is full.
pub fn set(key: &str, value: &[u8]) -> Result<(), HostError> {
    storage::set(key, value).map_err(HostError::new)
}

/// The value that [`save`] kept under a key.
///
/// # Errors
///
/// What is there is no such value.
pub fn load<T: DeserializeOwned>(key: &str) -> Result<Option<T>, HostError> {
    let broken = |error| HostError::new(format!("cannot read `{key}` in the plugin's storage: {error}"));
    get(key).map(|bytes| serde_json::from_slice(&bytes).map_err(broken)).transpose()
}

/// Keeps a value as JSON under a key.
///
/// # Errors
///
/// The store is full, or no JSON can be made of the value.
pub fn save(key: &str, value: &impl Serialize) -> Result<(), HostError> {
    let bytes = serde_json::to_vec(value).map_err(|error| HostError::new(error.to_string()))?;
    set(key, &bytes)
}

/// Removes a key, if it is there.
pub fn delete(key: &str) {
    storage::delete(key);
}

/// The keys there are.
#[must_use]
pub fn keys() -> Vec<String> {
    storage::keys()
}
