//! The session's conversation. Needs [`Capability::Conversation`](crate::Capability::Conversation).
//!
//! ```
//! use bellglass_guest::{Capability, Message, Result, Setup, conversation, terminal, test};
//!
//! fn note(text: Option<&str>) -> Result {
//!     conversation::add(&Message::user(text.ok_or("type `/note TEXT`")?))?;
//!     terminal::say(&format!("{} messages", conversation::messages()?.len()));
//!     Ok(())
//! }
//!
//! fn setup(setup: &mut Setup) {
//!     setup.asks(Capability::Conversation, "to add your notes");
//!     setup.command("note", "Tells the model something without asking it", note);
//! }
//!
//! let plugin = test::plugin(setup);
//! assert_eq!(plugin.run_command("note", Some("the build is red")).said(), "1 messages\n");
//! assert_eq!(plugin.run_command("note", None).error(), Some("type `/note TEXT`"));
//! ```

use crate::{bindings::bellglass::plugin::types::Message, host_error::HostError, imports::conversation};

/// The messages, without the system prompt.
///
/// # Errors
///
/// Denied.
pub fn messages() -> Result<Vec<Message>, HostError> {
    conversation::messages().map_err(HostError::new)
}

/// What the provider would get now, system prompt first.
///
/// # Errors
///
/// Denied.
pub fn context() -> Result<Vec<Message>, HostError> {
    conversation::context().map_err(HostError::new)
}

/// Adds a message of the user, the assistant or a tool. Only from a command while no turn runs.
///
/// # Errors
///
/// Denied, a turn runs, or the message is of the system.
pub fn add(message: &Message) -> Result<(), HostError> {
    conversation::add(message).map_err(HostError::new)
}

/// Removes every message; the system prompt stays. Only from a command while no turn runs.
///
/// # Errors
///
/// Denied, or a turn runs.
pub fn clear() -> Result<(), HostError> {
    conversation::clear().map_err(HostError::new)
}
