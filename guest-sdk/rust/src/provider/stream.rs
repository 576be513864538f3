//! The values of a streamed answer. Apart from [`Api`], because streams are read in two formats, with the same faults.

use super::{Api, ndjson, sse};
use crate::{
    ProviderError,
    http::{Error, Response},
};
use serde_json::Value;

/// What OpenAI, and who speaks like it, says at the end of a stream.
pub(super) const DONE: &str = "[DONE]";

impl Api {
    /// The data of each event as it comes, `[DONE]` as that text. A server that did not stream, though it was asked to, gives
    /// its whole answer as one value. An event with an `error` ends the stream with it.
    pub fn events(&self, response: Response) -> Box<dyn Iterator<Item = Result<Value, ProviderError>> + '_> {
        let is_json = response.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
        if is_json {
            return self.values(ndjson::whole(response));
        }
        self.values(sse::events(response).map(|event| event.map(|event| event.data)))
    }

    /// Each line as it comes. A line with an `error` ends the stream with it.
    pub fn lines(&self, response: Response) -> Box<dyn Iterator<Item = Result<Value, ProviderError>> + '_> {
        self.values(ndjson::lines(response))
    }

    fn values<'a>(
        &'a self,
        texts: impl Iterator<Item = Result<String, Error>> + 'a,
    ) -> Box<dyn Iterator<Item = Result<Value, ProviderError>> + 'a> {
        Box::new(texts.map(|text| {
            let text = text.map_err(|error| self.failed(&error))?;
            if text == DONE {
                return Ok(Value::String(text));
            }
            let value = self.parse(&text)?;
            match value.get("error") {
                None | Some(Value::Null) => Ok(value),
                Some(error) => Err(self.said(error)),
            }
        }))
    }
}
