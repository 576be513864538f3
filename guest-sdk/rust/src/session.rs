//! The other slash commands, and the session itself. Listing is free; the rest needs
//! [`Capability::SessionControl`](crate::Capability::SessionControl).

use crate::{host_error::HostError, imports::session};

pub use crate::bindings::bellglass::plugin::types::Command;

/// All slash commands.
#[must_use]
pub fn commands() -> Vec<Command> {
    session::commands()
}

/// Candidates for the argument of `/name partial`.
#[must_use]
pub fn completions(name: &str, partial: &str) -> Vec<String> {
    session::completions(name, partial)
}

/// Runs another command. False when there is none of that name.
///
/// # Errors
///
/// Denied, or the command failed.
pub fn run_command(name: &str, argument: Option<&str>) -> Result<bool, HostError> {
    session::run_command(name, argument).map_err(HostError::new)
}

/// Loads all plugins again once the caller has returned; the conversation stays.
///
/// # Errors
///
/// Denied.
pub fn reload() -> Result<(), HostError> {
    session::reload().map_err(HostError::new)
}

/// Ends the session once the caller has returned.
///
/// # Errors
///
/// Denied.
pub fn exit() -> Result<(), HostError> {
    session::exit().map_err(HostError::new)
}
