//! [`Calls`]: tool calls out of the pieces in which servers stream them.
//!
//! Servers differ in what they send with a piece: an index, an id, a name, any two, or none. So a piece finds its call by
//! what it has: first by index and id, then by index, then by id, then it is the last call's. A new id or a new name under
//! an index that was seen is another call. Arguments stay text, as the model wrote it: the host judges them.

use crate::ToolCall;
use std::collections::HashSet;

/// What one piece says of a call; an empty text is as good as none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Piece<'a> {
    /// The place of the call in the reply.
    pub index: Option<u64>,
    /// What ties the result to the call.
    pub id: Option<&'a str>,
    /// The name as the model wrote it.
    pub name: Option<&'a str>,
    /// The next piece of the arguments.
    pub arguments: Option<&'a str>,
}

/// The calls of one reply.
///
/// ```
/// use bellglass_guest::provider::{Calls, Piece};
///
/// let mut calls = Calls::new([]);
/// // Two calls under one index, as some servers send them:
/// calls.piece(Piece { index: Some(0), id: Some("a"), name: Some("read"), arguments: Some("{\"path\":") });
/// calls.piece(Piece { index: Some(0), arguments: Some("\"x\"}"), ..Piece::default() });
/// calls.piece(Piece { index: Some(0), id: Some("b"), name: Some("read"), arguments: Some("{}") });
///
/// let calls = calls.finish();
/// assert_eq!((&*calls[0].id, &*calls[0].arguments), ("a", r#"{"path":"x"}"#));
/// assert_eq!((&*calls[1].id, &*calls[1].arguments), ("b", "{}"));
/// ```
#[derive(Clone, Debug)]
pub struct Calls {
    calls: Vec<Open>,
    /// Ids that a call may not get any more.
    taken: HashSet<String>,
}

#[derive(Clone, Debug, Default)]
struct Open {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
}

impl Calls {
    /// No calls yet. `taken` are the ids of the conversation so far, so that one that has to be made up is a new one.
    pub fn new<'a>(taken: impl IntoIterator<Item = &'a str>) -> Self {
        Self { calls: Vec::new(), taken: taken.into_iter().map(str::to_owned).collect() }
    }

    /// Adds a piece, and says which call it is of, counted from 0.
    pub fn piece(&mut self, piece: Piece<'_>) -> usize {
        let some = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        let (id, name) = (some(piece.id), some(piece.name));
        let place = match self.find(piece.index, id.as_deref(), name.as_deref()) {
            Some(place) => place,
            None => {
                self.calls.push(Open { index: piece.index, ..Open::default() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[place];
        call.id = call.id.take().or(id);
        if call.name.is_empty() {
            call.name = name.unwrap_or_default();
        }
        call.arguments.push_str(piece.arguments.unwrap_or_default());
        place
    }

    /// Adds a call that came whole, and says which it is, counted from 0.
    pub fn whole(&mut self, id: Option<&str>, name: &str, arguments: &str) -> usize {
        let id = id.filter(|id| !id.is_empty()).map(str::to_owned);
        self.calls.push(Open { index: None, id, name: name.to_owned(), arguments: arguments.to_owned() });
        self.calls.len() - 1
    }

    /// Replaces the arguments of a call, where a server sends them once more when they are whole.
    pub fn set_arguments(&mut self, call: usize, arguments: &str) {
        if let Some(call) = self.calls.get_mut(call) {
            arguments.clone_into(&mut call.arguments);
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// All calls in the order in which they began, each with an id of its own.
    #[must_use]
    pub fn finish(mut self) -> Vec<ToolCall> {
        let mut number = 0;
        let mut calls = Vec::new();
        for open in self.calls {
            let mut id = open.id.unwrap_or_default();
            while id.is_empty() || !self.taken.insert(id.clone()) {
                number += 1;
                id = format!("call_{number}");
            }
            calls.push(ToolCall { id, name: open.name, arguments: open.arguments });
        }
        calls
    }

    /// The call that a piece continues; none for a new one.
    fn find(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let last_of = |fits: &dyn Fn(&Open) -> bool| self.calls.iter().rposition(fits);
        match (index, id) {
            (Some(index), id) => {
                let place = last_of(&|call| call.index == Some(index))?;
                let call = &self.calls[place];
                match (id, call.id.as_deref()) {
                    (Some(id), Some(known)) if id != known => {
                        last_of(&|call| call.index == Some(index) && call.id.as_deref() == Some(id))
                    }
                    (Some(_), Some(_)) => Some(place),
                    _ => Some(place).filter(|_| !call.is_another(name)),
                }
            }
            (None, Some(id)) => {
                // The id may come with the second piece only.
                let unnamed = || last_of(&|call| call.id.is_none()).filter(|_| name.is_none());
                last_of(&|call| call.id.as_deref() == Some(id)).or_else(unnamed)
            }
            (None, None) => {
                let place = self.calls.len().checked_sub(1)?;
                Some(place).filter(|place| !self.calls[*place].is_another(name))
            }
        }
    }
}

impl Open {
    /// Whether a piece with this name, and without an id, begins another call: it is another name, or the same once more
    /// after the arguments were whole.
    fn is_another(&self, name: Option<&str>) -> bool {
        let Some(name) = name.filter(|_| !self.name.is_empty()) else { return false };
        name != self.name || serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{Calls, Piece};

    type Parts<'a> = (Option<u64>, &'a str, &'a str, &'a str);

    /// `id name(arguments)` of each call.
    fn assembled(pieces: &[Parts<'_>]) -> Vec<String> {
        let mut calls = Calls::new(["call_1"]);
        for (index, id, name, arguments) in pieces {
            calls.piece(Piece { index: *index, id: Some(id), name: Some(name), arguments: Some(arguments) });
        }
        calls.finish().iter().map(|call| format!("{} {}({})", call.id, call.name, call.arguments)).collect()
    }

    #[test]
    fn pieces_find_their_call() {
        const I: Option<u64> = Some(0);
        const J: Option<u64> = Some(1);
        let cases: [(&str, &[Parts<'_>], &[&str]); 13] = [
            ("one by one", &[(I, "a", "f", ""), (I, "", "", "{}"), (J, "b", "g", "{}")], &["a f({})", "b g({})"]),
            (
                "interleaved",
                &[(I, "a", "f", ""), (J, "b", "g", ""), (I, "", "", "{\"x\""), (J, "", "", "{}"), (I, "", "", ":1}")],
                &["a f({\"x\":1})", "b g({})"],
            ),
            (
                "one index, two ids",
                &[(I, "a", "f", "{"), (I, "b", "f", "{}"), (I, "a", "", "}")],
                &["a f({})", "b f({})"],
            ),
            (
                "one index, no ids, two names",
                &[(I, "", "f", "{}"), (I, "", "g", "{}")],
                &["call_2 f({})", "call_3 g({})"],
            ),
            (
                "one index, no ids, one name twice",
                &[(I, "", "f", "{}"), (I, "", "f", "{}")],
                &["call_2 f({})", "call_3 f({})"],
            ),
            ("id and name in each piece", &[(I, "a", "f", "{"), (I, "a", "f", "}")], &["a f({})"]),
            ("the name in each piece", &[(I, "", "f", "{"), (I, "", "f", "}")], &["call_2 f({})"]),
            ("no index", &[(None, "a", "f", "{"), (None, "", "", "}"), (None, "b", "g", "")], &["a f({})", "b g()"]),
            (
                "no index, ids in each piece",
                &[(None, "a", "f", "{"), (None, "b", "g", "{"), (None, "a", "", "}")],
                &["a f({})", "b g({)"],
            ),
            ("the id comes late", &[(I, "", "f", ""), (I, "a", "", "{}")], &["a f({})"]),
            ("an id that the conversation has", &[(I, "call_1", "f", "{}")], &["call_2 f({})"]),
            ("two calls of one id", &[(I, "a", "f", "{}"), (J, "a", "g", "{}")], &["a f({})", "call_2 g({})"]),
            ("arguments without a call", &[(I, "", "", "{}")], &["call_2 ({})"]),
        ];
        for (what, pieces, expected) in cases {
            assert_eq!(assembled(pieces), expected, "{what}");
        }
    }

    #[test]
    fn whole_calls_and_arguments_said_twice() {
        let mut calls = Calls::new([]);
        assert_eq!(calls.whole(None, "f", "{}"), 0);
        let place =
            calls.piece(Piece { index: Some(3), name: Some("g"), arguments: Some("{\"a\""), ..Piece::default() });
        calls.set_arguments(place, "{\"a\":9007199254740993}");
        let calls = calls.finish();
        assert_eq!((&*calls[1].id, &*calls[1].arguments), ("call_2", "{\"a\":9007199254740993}"));
    }
}
