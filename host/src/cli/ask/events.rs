//! `--stream-json`: one object a line for each thing that happens.
//!
//! Apart from what a person sees, because these keys are a promise to scripts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use serde_json::{Value, json};

use crate::cli::stdout;
use crate::host_request::{ReplyEvent, Show};
use crate::session::Output;

/// The stream; its last line is written once.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Events {
    ended: Arc<AtomicBool>,
}

impl Events {
    /// The first line: which session it is.
    pub(super) fn begin(&self, session: Option<&str>) -> anyhow::Result<()> {
        stdout::json_line(&json!({"type": "session", "session": session}).to_string())
    }

    /// The last line, as the object that `--json` prints, with its type.
    pub(super) fn last(&self, result: Value) -> String {
        self.ended.store(true, SeqCst);
        let mut object = serde_json::Map::from_iter([("type".to_owned(), Value::from("result"))]);
        if let Value::Object(result) = result {
            object.extend(result);
        }
        Value::Object(object).to_string()
    }

    /// Whether the last line is written.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(SeqCst)
    }

    /// Writes one line for what is shown. Nobody who stopped reading is told.
    pub(in crate::cli) fn show(&self, output: &Output) {
        if let Some(event) = event(output) {
            let _ = stdout::json_line(&event.to_string());
        }
    }
}

fn event(output: &Output) -> Option<Value> {
    Some(match output {
        Output::Piece(ReplyEvent::Saying(text)) => json!({"type": "text", "text": text}),
        Output::Piece(ReplyEvent::Thinking(text)) => json!({"type": "thinking", "text": text}),
        Output::Piece(ReplyEvent::Usage(usage)) => json!({
            "type": "usage",
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "cached_input_tokens": usage.cached_input,
            "cache_write_tokens": usage.cache_write,
            "reasoning_tokens": usage.reasoning,
        }),
        Output::Calling(name, arguments) => json!({"type": "tool_call", "name": name, "arguments": arguments}),
        Output::Called(name, error) => {
            json!({"type": "tool_result", "name": name, "error": error, "ok": error.is_none()})
        }
        Output::Retry { reason, wait, attempt, attempts } => json!({
            "type": "retry",
            "reason": reason,
            "wait_ms": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            "attempt": attempt,
            "attempts": attempts,
        }),
        Output::Show(plugin, Show::Say(text, _) | Show::Print(text)) => {
            json!({"type": "shown", "plugin": plugin.as_str(), "text": text})
        }
        Output::Warning(text) => json!({"type": "warning", "text": text}),
        Output::Error(text) => json!({"type": "error", "text": text}),
        Output::Note(text) => json!({"type": "note", "text": text}),
        Output::Piece(ReplyEvent::Doing(_))
        | Output::Show(..)
        | Output::TurnOver
        | Output::Question(..)
        | Output::Choose(..) => return None,
    })
}
