//! What a session shows while the reply or the result goes to standard output: all of it on standard error.
//!
//! Apart, because `ask` and `call` must not let a single other byte onto standard output.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::host_request::{ReplyEvent, Usage};
use crate::repl::screen::Screen;
use crate::session::{Output, Outputs};

/// What happened besides the reply.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The tools that were called.
    pub calls: Vec<Value>,
    /// Tokens of all requests.
    pub usage: Usage,
}

/// Shows everything until the session ends.
pub(super) async fn show(mut outputs: Outputs, color: bool) -> Seen {
    let mut screen = Screen::beside_a_reply(color);
    let mut seen = Seen::default();
    while let Some(output) = outputs.next().await {
        match &output {
            Output::Called(name, error) => {
                seen.calls.push(json!({"name": name, "error": error, "ok": error.is_none()}))
            }
            Output::Piece(ReplyEvent::Usage(usage)) => {
                seen.usage.input += usage.input;
                seen.usage.output += usage.output;
            }
            _ => {}
        }
        for (_, text) in screen.show(&output) {
            // Nobody reads standard error: nothing is lost that could be told.
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
        }
    }
    seen
}
