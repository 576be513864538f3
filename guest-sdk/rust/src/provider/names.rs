//! [`WireNames`]: names of tools that a model API takes, and the way back.
//!
//! A tool may be called `calendar.list` or `工具`; an API takes `[a-zA-Z0-9_-]{1,64}` and refuses the whole request for one
//! name that is different. A table made for each request translates both ways. Nothing is ever read out of a name.

use crate::Request;
use std::{borrow::Cow, collections::HashMap};

/// What every API takes: letters, digits, `_` and `-`, a letter or `_` first, 64 in all.
const LONGEST: usize = 64;

/// The names of one request: those of its tools and those in its history.
///
/// ```
/// use bellglass_guest::{Message, Request, ToolDefinition, provider::WireNames};
///
/// let mut request = Request::new(vec![Message::user("hello")]);
/// for name in ["calendar.list", "calendar_list"] {
///     let parameters = r#"{"type":"object"}"#.to_owned();
///     request.tools.push(ToolDefinition { name: name.into(), description: String::new(), parameters, aliases: vec![] });
/// }
/// let names = WireNames::new(&request);
/// assert_eq!(names.wire("calendar_list"), "calendar_list"); // a legal name stays
/// let wire = names.wire("calendar.list");
/// assert!(wire.starts_with("calendar_list_"));
/// assert_eq!(names.name(wire), "calendar.list");
/// assert_eq!(names.name("made_up"), "made_up"); // the host tells the model which tools there are
/// ```
#[derive(Clone, Debug, Default)]
pub struct WireNames {
    wire: HashMap<String, String>,
    names: HashMap<String, String>,
}

impl WireNames {
    /// The table for one request.
    #[must_use]
    pub fn new(request: &Request) -> Self {
        let tools = request.tools.iter().map(|tool| &tool.name);
        let called = request.messages.iter().flat_map(|message| &message.tool_calls).map(|call| &call.name);
        let names: Vec<&String> = tools.chain(called).collect();
        let mut table = Self::default();
        // Legal names first: they keep theirs, whatever comes before them.
        for name in names.iter().filter(|name| legal(name) == ***name) {
            table.add(name, (*name).clone());
        }
        for name in names {
            let legal = legal(name);
            let is_free = !table.names.contains_key(&legal) && legal.chars().any(char::is_alphanumeric);
            table.add(name, if is_free { legal } else { with_hash(&legal, name) });
        }
        table
    }

    fn add(&mut self, name: &str, wire: String) {
        if !self.wire.contains_key(name) {
            self.names.insert(wire.clone(), name.to_owned());
            self.wire.insert(name.to_owned(), wire);
        }
    }

    /// What the API is told for a name of the request.
    #[must_use]
    pub fn wire<'a>(&'a self, name: &'a str) -> &'a str {
        self.wire.get(name).map_or(name, |wire| wire)
    }

    /// The tool that the model means; what it made up stays as it is.
    #[must_use]
    pub fn name<'a>(&'a self, wire: &'a str) -> &'a str {
        self.names.get(wire).map_or(wire, |name| name)
    }
}

/// The id of a call as every API takes it: of letters, digits, `_` and `-`. One that another API wrote may be different.
#[must_use]
pub fn wire_id(id: &str) -> Cow<'_, str> {
    let is_legal = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if !id.is_empty() && id.len() <= LONGEST && id.chars().all(is_legal) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(with_hash(&legal(id), id))
}

/// The name with `_` for whatever an API does not take.
fn legal(name: &str) -> String {
    let keep = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let mut legal: String = name.chars().map(keep).collect();
    if !legal.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        legal.insert(0, '_');
    }
    legal.truncate(LONGEST);
    legal
}

/// A name that no other gets: FNV-1a of the true one, of which a fault would only be a call that the host refuses.
fn with_hash(legal: &str, name: &str) -> String {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{}_{:08x}", &legal[..legal.len().min(LONGEST - 9)], (hash ^ (hash >> 32)) & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::WireNames;
    use crate::{Message, Request, ToolCall, ToolDefinition};
    use std::collections::HashSet;

    fn request(tools: &[&str], called: &[&str]) -> Request {
        let mut reply = Message::assistant("");
        let call = |name: &&str| ToolCall { id: "1".to_owned(), name: (*name).to_owned(), arguments: String::new() };
        reply.tool_calls = called.iter().map(call).collect();
        let mut request = Request::new(vec![reply]);
        let tool = |name: &&str| ToolDefinition {
            name: (*name).to_owned(),
            description: String::new(),
            parameters: String::new(),
            aliases: Vec::new(),
        };
        request.tools = tools.iter().map(tool).collect();
        request
    }

    #[test]
    fn every_name_is_legal_its_own_and_found_again() {
        let long = "x".repeat(70);
        let longer = "x".repeat(71);
        let tools = ["calendar.list", "a/b", "a_b", "a.b", "工具", "道具", "7up", "x", &long, &longer, "", "-", "_"];
        let names = WireNames::new(&request(&tools, &["gone.tool", "a/b"]));
        let all = tools.iter().chain(&["gone.tool"]);
        let mut wires = HashSet::new();
        for name in all {
            let wire = names.wire(name);
            assert!(wire.len() <= 64 && wire.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_'), "{wire}");
            assert!(wire.chars().all(|it| it.is_ascii_alphanumeric() || "_-".contains(it)), "{wire}");
            assert!(wires.insert(wire.to_owned()), "{wire} twice");
            assert_eq!(names.name(wire), *name);
        }
        assert_eq!(
            (names.wire("calendar.list"), names.wire("a_b"), names.wire("7up")),
            ("calendar_list", "a_b", "_7up")
        );
    }

    #[test]
    fn the_same_request_gives_the_same_names() {
        let request = request(&["a/b", "a.b", "工具"], &[]);
        let (one, two) = (WireNames::new(&request), WireNames::new(&request));
        assert!(["a/b", "a.b", "工具"].iter().all(|name| one.wire(name) == two.wire(name)));
    }
}
