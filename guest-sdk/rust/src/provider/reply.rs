//! [`Reply`]: a reply while it comes.

use super::{Api, Calls, Piece, WireNames, parts::Order, stream::DONE};
use crate::{
    Completion, ProviderError, Request, StopReason, ToolCall, log,
    reply::{self, Usage},
};
use serde_json::Value;

/// Takes the pieces of a reply as an API sends them, and passes them on as a host takes them: text at once, calls when the
/// server has said that the reply is whole. Half a call never runs.
///
/// ```
/// use bellglass_guest::{Completion, ProviderError, Request, StopReason, provider::{Api, Piece, Reply, WireNames}};
///
/// const API: Api = Api { provider: "acme", secret: None, too_long: &[] };
///
/// let request = Request::new(vec![]);
/// let names = WireNames::new(&request);
/// let mut reply = Reply::new(&API, &request, &names);
/// reply.saying("Let me ");
/// reply.saying("see.");
/// reply.piece(Piece { index: Some(0), name: Some("read"), arguments: Some("{}"), ..Piece::default() });
/// reply.stop(StopReason::End); // as some say, though there are calls
/// assert_eq!(reply.finish().unwrap().reason, StopReason::ToolCalls);
///
/// let mut reply = Reply::new(&API, &request, &names);
/// reply.saying("Let me");
/// assert!(matches!(reply.finish(), Err(ProviderError::Broken(_))));
/// ```
#[derive(Debug)]
pub struct Reply<'a> {
    api: &'a Api,
    names: &'a WireNames,
    calls: Calls,
    order: Order,
    usage: [u64; 5],
    reason: Option<StopReason>,
    silenced: bool,
}

impl<'a> Reply<'a> {
    /// Nothing has come yet.
    #[must_use]
    pub fn new(api: &'a Api, request: &'a Request, names: &'a WireNames) -> Self {
        let ids = request.messages.iter().flat_map(|message| &message.tool_calls).map(|call| &*call.id);
        let calls = Calls::new(ids);
        Self { api, names, calls, order: Order::default(), usage: [0; 5], reason: None, silenced: false }
    }

    /// A piece of thinking; an empty one is nothing.
    pub fn thinking(&mut self, text: &str) {
        if !text.is_empty() {
            reply::thinking(text);
        }
    }

    /// A piece of the answer; an empty one is nothing.
    pub fn saying(&mut self, text: &str) {
        if !text.is_empty() {
            self.order.text(text.len());
            reply::saying(text);
        }
    }

    /// A piece of a call. Says which call it is of, counted from 0.
    pub fn piece(&mut self, piece: Piece<'_>) -> usize {
        let call = self.calls.piece(piece);
        self.order.call(call);
        call
    }

    /// A call that came whole. Says which it is, counted from 0.
    pub fn whole_call(&mut self, id: Option<&str>, name: &str, arguments: &str) -> usize {
        let call = self.calls.whole(id, name, arguments);
        self.order.call(call);
        call
    }

    /// The arguments of a call once more, and whole.
    pub fn set_arguments(&mut self, call: usize, arguments: &str) {
        self.calls.set_arguments(call, arguments);
    }

    /// Something that has to be given back at this place; see [`parts`](super::parts).
    pub fn keep(&mut self, value: Value) {
        self.order.keep(value);
    }

    /// Something that has to be given back with the text before.
    pub fn keep_with_text(&mut self, value: Value) {
        self.order.mark_text(value);
    }

    /// Something that has to be given back with a call.
    pub fn keep_with_call(&mut self, call: usize, value: Value) {
        self.order.mark_call(call, value);
    }

    /// Tokens so far. What an API does not say again stays as it was said before: zeros change nothing.
    pub fn usage(&mut self, usage: Usage) {
        let said = [
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_input_tokens,
            usage.cache_write_tokens,
            usage.reasoning_tokens,
        ];
        let before = self.usage;
        for (known, said) in self.usage.iter_mut().zip(said).filter(|(_, said)| *said > 0) {
            *known = said;
        }
        if self.usage != before {
            let [input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens] = self.usage;
            reply::usage(Usage {
                input_tokens,
                output_tokens,
                cached_input_tokens,
                cache_write_tokens,
                reasoning_tokens,
            });
        }
    }

    /// The server said that the reply is whole, or why it is not.
    pub fn stop(&mut self, reason: StopReason) {
        self.reason = Some(reason);
    }

    /// The server said that nothing more comes, but not why: enough for a text, not for calls, of which the last may be cut.
    pub fn done(&mut self) {
        if self.calls.is_empty() {
            self.reason = self.reason.or(Some(StopReason::End));
        }
    }

    /// A kind of event or block that this provider does not know. It is left out, with a line in the log for the first.
    pub fn unknown(&mut self, what: &str) {
        if !self.silenced {
            self.silenced = true;
            log::debug(&format!("{}: `{what}` is not known and is left out", self.api.provider));
        }
    }

    /// Takes all values of a stream, such as [`Api::events`] gives, and [finishes](Self::finish). A connection that breaks
    /// after the server said that the reply is whole has done its work.
    ///
    /// # Errors
    ///
    /// Those of the stream, of `each` and of the end.
    pub fn read(
        mut self,
        values: impl Iterator<Item = Result<Value, ProviderError>>,
        mut each: impl FnMut(&mut Self, &Value) -> Result<(), ProviderError>,
    ) -> Result<Completion, ProviderError> {
        for value in values {
            match value {
                Ok(value) if value == DONE => self.done(),
                Ok(value) => each(&mut self, &value)?,
                Err(ProviderError::Broken(_)) if self.reason.is_some() => break,
                Err(error) => return Err(error),
            }
        }
        self.finish()
    }

    /// Whether there are calls so far.
    #[must_use]
    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// The stream has ended: passes on the calls.
    ///
    /// # Errors
    ///
    /// It ended before the server said so. No call is passed on then.
    pub fn finish(self) -> Result<Completion, ProviderError> {
        let reason = match self.reason.ok_or_else(|| self.api.ended_early())? {
            StopReason::End | StopReason::ToolCalls if self.calls.is_empty() => StopReason::End,
            StopReason::End | StopReason::ToolCalls => StopReason::ToolCalls,
            other => other,
        };
        for call in self.calls.finish() {
            let name = self.names.name(&call.name).to_owned();
            reply::doing(ToolCall { name, ..call });
        }
        let completion = Completion::new(reason);
        Ok(match self.order.into_replay() {
            Some(replay) => completion.replay(&replay),
            None => completion,
        })
    }
}

/// A number of tokens; what is none counts as 0.
#[must_use]
pub fn tokens(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}
