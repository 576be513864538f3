//! What a test prepares before it calls the plugin.

use super::{
    plugin::TestPlugin,
    script::{Answer, Exchange, Script},
    world::World,
};
use crate::{Capability, Message, process::Output};
use serde_json::Value;
use std::rc::Rc;

impl TestPlugin {
    /// Another plugin's tool. Its answer is an object without `ok`; one with `error` is a failure.
    #[must_use]
    pub fn with_tool(self, name: &str, tool: impl Fn(&Value) -> Value + 'static) -> Self {
        self.prepare(|world| world.tools.push((name.to_owned(), Rc::new(tool))))
    }

    /// A line that the person types when asked. With none left, nobody is there.
    #[must_use]
    pub fn with_answer(self, line: &str) -> Self {
        self.prepare(|world| world.answers.push_back(line.to_owned()))
    }

    /// A message of the conversation.
    #[must_use]
    pub fn with_message(self, message: Message) -> Self {
        self.prepare(|world| world.conversation.push(message))
    }

    /// What the model replies to the next turn, of the session or of a sub-agent.
    #[must_use]
    pub fn with_reply(self, text: &str) -> Self {
        self.prepare(|world| world.replies.push_back(text.to_owned()))
    }

    /// Another provider than `stub`, which is there and in use.
    #[must_use]
    pub fn with_provider(self, name: &str) -> Self {
        self.prepare(|world| world.providers.push(name.to_owned()))
    }

    /// What a program prints and how it ends. The command line is compared whole; arguments are joined by blanks.
    #[must_use]
    pub fn with_program(self, command_line: &str, exit_code: i32, stdout: &str) -> Self {
        let output = Output {
            exit_code: Some(exit_code),
            stdout: stdout.to_owned(),
            stderr: String::new(),
            truncated: false,
            timed_out: false,
        };
        self.with_output(command_line, output)
    }

    /// As [`with_program`](Self::with_program), for what is said on standard error, signals and limits.
    #[must_use]
    pub fn with_output(self, command_line: &str, output: Output) -> Self {
        self.prepare(|world| world.programs.push((command_line.to_owned(), output)))
    }

    /// What a server answers to the next request, which has to go to this address. The requests are in
    /// [`requests`](Self::requests).
    #[must_use]
    pub fn with_answer_from(self, url: &str, answer: Answer) -> Self {
        self.prepare(|world| world.exchanges.push_back(Exchange::new("", url, answer)))
    }

    /// What servers are asked next, and answer.
    #[must_use]
    pub fn with_script(self, script: Script) -> Self {
        self.prepare(|world| world.exchanges.extend(script.exchanges))
    }

    /// The user's settings for the plugin, an object.
    #[must_use]
    pub fn with_settings(self, settings: Value) -> Self {
        self.prepare(|world| world.settings = settings)
    }

    /// A secret that the user stored and granted.
    #[must_use]
    pub fn with_secret(self, name: &str) -> Self {
        self.prepare(|world| world.secrets.push(name.to_owned()))
    }

    /// What the plugin stored in an earlier session.
    #[must_use]
    pub fn with_stored(self, key: &str, value: &[u8]) -> Self {
        self.prepare(|world| drop(world.stored.insert(key.to_owned(), value.to_owned())))
    }

    /// The user granted none of what the plugin asked for.
    #[must_use]
    pub fn without_grants(self) -> Self {
        self.prepare(|world| world.granted = Some(Vec::new()))
    }

    /// The user granted this alone, and what other calls of this name. It must be asked for as well.
    #[must_use]
    pub fn with_grant(self, capability: Capability) -> Self {
        self.prepare(|world| world.granted.get_or_insert_default().push(capability))
    }

    fn prepare(self, change: impl FnOnce(&mut World)) -> Self {
        change(&mut self.world.borrow_mut());
        self
    }
}
