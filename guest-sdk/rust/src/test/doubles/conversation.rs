//! A list of messages, behind `conversation`.

use crate::{Capability, Message, Role, test::world};

/// What stands first in every context of a test.
pub(super) const SYSTEM_PROMPT: &str = "You are a helpful assistant.";

fn granted() -> Result<(), String> {
    world::need("conversation", |capability| *capability == Capability::Conversation)
}

pub(crate) fn messages() -> Result<Vec<Message>, String> {
    granted()?;
    Ok(world::with(|world| world.conversation.clone()))
}

pub(crate) fn context() -> Result<Vec<Message>, String> {
    let mut messages = messages()?;
    messages.insert(0, Message::new(Role::System, SYSTEM_PROMPT));
    Ok(messages)
}

pub(crate) fn add(message: &Message) -> Result<(), String> {
    granted()?;
    may_add(message)?;
    world::with(|world| world.conversation.push(message.clone()));
    Ok(())
}

pub(super) fn may_add(message: &Message) -> Result<(), String> {
    match message.role {
        Role::System => Err("only `user`, `assistant` and `tool` messages can be added".to_owned()),
        Role::User | Role::Assistant | Role::Tool => Ok(()),
    }
}

pub(crate) fn clear() -> Result<(), String> {
    granted()?;
    world::with(|world| world.conversation.clear());
    Ok(())
}
