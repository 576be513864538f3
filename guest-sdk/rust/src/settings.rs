//! The user's settings for this plugin: the table `[plugin.NAME]` of the configuration.
//!
//! ```
//! use bellglass_guest::{Result, Setup, json, settings, terminal, test};
//!
//! #[derive(Default, serde::Deserialize)]
//! #[serde(default)]
//! struct Settings {
//!     loud: bool,
//! }
//!
//! fn hello(_: Option<&str>) -> Result {
//!     let settings: Settings = settings::read()?;
//!     terminal::say(if settings.loud { "HELLO" } else { "hello" });
//!     Ok(())
//! }
//!
//! fn setup(setup: &mut Setup) {
//!     setup.command("hello", "Says hello", hello);
//! }
//!
//! let plugin = test::plugin(setup).with_settings(json!({"loud": true}));
//! assert_eq!(plugin.run_command("hello", None).said(), "HELLO\n");
//! ```

use crate::{host_error::HostError, imports::settings};
use serde::de::DeserializeOwned;

/// The settings as a type of your own; give it `#[serde(default)]`, for users who set nothing.
///
/// # Errors
///
/// They do not fit the type.
pub fn read<T: DeserializeOwned>() -> Result<T, HostError> {
    serde_json::from_str(&settings::get())
        .map_err(|error| HostError::new(format!("the settings of this plugin are wrong: {error}")))
}

/// Whether the user stored a secret of this name and granted it. Its value is never given.
#[must_use]
pub fn has_secret(name: &str) -> bool {
    settings::has_secret(name)
}
