//! What a session shows while the reply or the result goes to standard output: all of it on standard error.
//!
//! Apart, because `ask` and `call` must not let a single other byte onto standard output.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::cli::ask::Events;
use crate::host_request::{ReplyEvent, Usage};
use crate::repl::screen::Screen;
use crate::session::{Output, Outputs};

/// What happened besides the reply.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The tools that were called, in the order in which they ended.
    pub calls: Vec<Value>,
    /// Tokens of all requests.
    pub usage: Usage,
}

/// Shows everything until the session ends; as events on standard output too, where they are wanted.
pub(super) async fn show(mut outputs: Outputs, color: bool, events: Option<Events>) -> Seen {
    let mut screen = Screen::beside_a_reply(color);
    let mut seen = Seen::default();
    // Calls that have begun. Those of one name end in any order; which is which matters to nobody but their arguments.
    let mut open: Vec<(String, Value)> = Vec::new();
    while let Some(output) = outputs.next().await {
        match &output {
            Output::Calling(name, arguments) => {
                let parsed = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments.as_str()));
                open.push((name.clone(), parsed));
            }
            Output::Called(name, error) => {
                let begun = open.iter().position(|it| it.0 == *name).map(|it| open.remove(it).1);
                let arguments = begun.unwrap_or_default();
                seen.calls.push(json!({"name": name, "arguments": arguments, "error": error, "ok": error.is_none()}));
            }
            Output::Piece(ReplyEvent::Usage(usage)) => {
                seen.usage.input += usage.input;
                seen.usage.output += usage.output;
            }
            _ => {}
        }
        if let Some(events) = &events {
            events.show(&output);
        }
        for (_, text) in screen.show(&output) {
            // Nobody reads standard error: nothing is lost that could be told.
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
        }
    }
    seen
}
