//! `conversation`: the session's messages, for plugins with a `conversation` grant.

use crate::bindings::bellglass::plugin::conversation::Host;
use crate::bindings::bellglass::plugin::types::Message;
use crate::bindings::convert;
use crate::capability::Kind;
use crate::host_request::Ask;
use crate::sandbox::imports::port::Port;

impl Port<'_> {
    fn may_converse(&self) -> Result<(), String> {
        self.needs(self.caller.grants.has_conversation(), Kind::Conversation)
    }
}

impl Host for Port<'_> {
    async fn messages(&mut self) -> wasmtime::Result<Result<Vec<Message>, String>> {
        if let Err(denied) = self.may_converse() {
            return Ok(Err(denied));
        }
        Ok(self.ask(Ask::Messages).await.map(|it| it.iter().map(convert::message_to_wit).collect()))
    }

    async fn context(&mut self) -> wasmtime::Result<Result<Vec<Message>, String>> {
        if let Err(denied) = self.may_converse() {
            return Ok(Err(denied));
        }
        Ok(self.ask(Ask::Context).await.map(|it| it.iter().map(convert::message_to_wit).collect()))
    }

    async fn add(&mut self, message: Message) -> wasmtime::Result<Result<(), String>> {
        if let Err(denied) = self.may_converse() {
            return Ok(Err(denied));
        }
        let message = match convert::message_from_wit(message) {
            Ok(message) => message,
            Err(error) => return Ok(Err(error)),
        };
        Ok(self.ask(|reply| Ask::Add(message, reply)).await.and_then(|it| it))
    }

    async fn clear(&mut self) -> wasmtime::Result<Result<(), String>> {
        if let Err(denied) = self.may_converse() {
            return Ok(Err(denied));
        }
        Ok(self.ask(Ask::Clear).await.and_then(|it| it))
    }
}
