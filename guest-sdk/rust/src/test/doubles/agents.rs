//! A model that says what it was prepared to say, behind `model`.

use super::conversation::{SYSTEM_PROMPT, may_add};
use crate::{Capability, Message, Role, bindings::bellglass::plugin::agents::AgentOptions, test::world};
use std::cell::RefCell;

fn granted() -> Result<(), String> {
    world::need("model", |capability| *capability == Capability::Model)
}

fn reply() -> Result<String, String> {
    let reply = world::with(|world| world.replies.pop_front());
    reply.ok_or_else(|| "the test prepared no further reply of the model".to_owned())
}

fn known(name: &str) -> Result<(), String> {
    world::with(|world| match world.providers.iter().any(|provider| provider == name) {
        true => Ok(()),
        false => Err(format!("unknown provider `{name}`, there is: {}", world.providers.join(", "))),
    })
}

/// A sub-agent.
#[derive(Debug)]
pub(crate) struct Agent {
    options: AgentOptions,
    messages: RefCell<Vec<Message>>,
}

impl Agent {
    pub(crate) fn create(options: &AgentOptions) -> Result<Self, String> {
        granted()?;
        options.provider.as_deref().map_or(Ok(()), known)?;
        Ok(Self { options: options.clone(), messages: RefCell::new(Vec::new()) })
    }

    pub(crate) fn turn(&self, prompt: &str) -> Result<String, String> {
        let reply = reply()?;
        self.messages.borrow_mut().extend([Message::user(prompt), Message::assistant(&reply)]);
        Ok(reply)
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        self.messages.borrow().clone()
    }

    pub(crate) fn context(&self) -> Vec<Message> {
        let template = self.options.template.as_deref().unwrap_or(SYSTEM_PROMPT);
        let system = match &self.options.system_prompt {
            Some(text) => format!("{text}\n\n{template}"),
            None => template.to_owned(),
        };
        [vec![Message::new(Role::System, system)], self.messages()].concat()
    }

    pub(crate) fn add(&self, message: &Message) -> Result<(), String> {
        may_add(message)?;
        self.messages.borrow_mut().push(message.clone());
        Ok(())
    }

    pub(crate) fn clear(&self) {
        self.messages.borrow_mut().clear();
    }
}

pub(crate) fn turn(prompt: &str) -> Result<String, String> {
    granted()?;
    let reply = reply()?;
    world::with(|world| world.conversation.extend([Message::user(prompt), Message::assistant(&reply)]));
    Ok(reply)
}

pub(crate) fn current_provider() -> Result<(String, Option<String>), String> {
    granted()?;
    Ok(world::with(|world| world.provider.clone()))
}

pub(crate) fn provider_names() -> Result<Vec<String>, String> {
    granted()?;
    Ok(world::with(|world| world.providers.clone()))
}

pub(crate) fn use_provider(name: &str, model: Option<&str>, _options: Option<&str>) -> Result<(), String> {
    granted()?;
    known(name)?;
    world::with(|world| world.provider = (name.to_owned(), model.map(str::to_owned)));
    Ok(())
}
