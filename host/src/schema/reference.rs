//! The parts of references and identifiers.
//!
//! Separate from the graph because none of it knows what a keyword is.

use serde_json::{Map, Value};

/// A schema and the resource (the closest value with an `$id`, or the root) that its references count from.
pub(super) type Place<'a> = (&'a Value, &'a Value);

/// The name a schema gives itself; one that starts with `#` is an anchor of older drafts.
pub(super) fn identifier(schema: &Map<String, Value>) -> Option<&str> {
    let id = schema.get("$id").or_else(|| schema.get("id"))?.as_str()?;
    (!id.starts_with('#')).then_some(id)
}

/// Identifiers are compared by this alone: whether a base changes the rest is left to `jsonschema`.
pub(super) fn last_segment(uri: &str) -> &str {
    let uri = uri.split('#').next().unwrap_or(uri);
    uri.rsplit('/').next().unwrap_or(uri)
}

/// What a JSON pointer leads to, and the resource it is in then.
pub(super) fn at_pointer<'a>(root: &'a Value, pointer: &str) -> Option<Place<'a>> {
    let mut place = (root, root);
    for segment in pointer.split('/').skip(1) {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        let value = match place.0 {
            Value::Object(map) => map.get(&segment)?,
            Value::Array(items) => items.get(segment.parse::<usize>().ok()?)?,
            _ => return None,
        };
        let names_itself = value.as_object().is_some_and(|map| identifier(map).is_some());
        place = (value, if names_itself { value } else { place.1 });
    }
    Some(place)
}

/// The fragment of a URI as a JSON pointer or an anchor.
pub(super) fn percent_decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
