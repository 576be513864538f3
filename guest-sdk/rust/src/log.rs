//! The host's log, under the plugin's name. The only import that works while the host lists what a plugin has.

use crate::imports::log;

pub use crate::bindings::bellglass::plugin::log::Level;

/// Writes one message.
pub fn log(level: Level, message: &str) {
    log::log(level, message);
}

/// For following each step.
pub fn trace(message: &str) {
    log(Level::Trace, message);
}

/// For finding a fault.
pub fn debug(message: &str) {
    log(Level::Debug, message);
}

/// For knowing what happened.
pub fn info(message: &str) {
    log(Level::Info, message);
}

/// Something is wrong, and the plugin goes on. Shown unless the user chose otherwise.
pub fn warn(message: &str) {
    log(Level::Warn, message);
}

/// Something failed.
pub fn error(message: &str) {
    log(Level::Error, message);
}
