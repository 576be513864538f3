//! Puts what a `$ref` stands for in its place. Apart, because it has to end, whatever a schema says: references go in circles,
//! and a few lines can stand for more than fits anywhere.

use serde_json::{Map, Value};

/// How many values an inlined schema has at most; what is beyond takes anything.
const MOST: usize = 20_000;
/// How many references and levels lie around each other at most.
const DEEPEST: usize = 64;

/// The schema without references, and without what only they used.
pub(super) fn inline(schema: &Value) -> Value {
    let mut inliner = Inliner { root: schema, left: MOST, open: Vec::new() };
    let mut inlined = inliner.copy(schema, 0);
    if let Value::Object(keys) = &mut inlined {
        for key in ["$defs", "definitions", "$schema", "$id", "$comment"] {
            keys.shift_remove(key);
        }
    }
    inlined
}

struct Inliner<'a> {
    root: &'a Value,
    left: usize,
    /// The references that are being followed.
    open: Vec<&'a str>,
}

impl<'a> Inliner<'a> {
    fn copy(&mut self, value: &'a Value, depth: usize) -> Value {
        if self.left == 0 || depth > DEEPEST {
            return Value::Object(Map::new());
        }
        self.left -= 1;
        match value {
            Value::Object(keys) => match keys.get("$ref").and_then(Value::as_str) {
                Some(reference) => self.follow(reference, keys, depth),
                None => Value::Object(self.copy_keys(keys, depth)),
            },
            Value::Array(items) => Value::Array(items.iter().map(|item| self.copy(item, depth + 1)).collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }

    fn copy_keys(&mut self, keys: &'a Map<String, Value>, depth: usize) -> Map<String, Value> {
        // Definitions are copied to where they are used, and only there.
        let keys = keys.iter().filter(|(key, _)| depth > 0 || !matches!(&***key, "$defs" | "definitions"));
        keys.map(|(key, value)| (key.clone(), self.copy(value, depth + 1))).collect()
    }

    /// What is referred to, with what stands beside the reference laid over it.
    fn follow(&mut self, reference: &'a str, beside: &'a Map<String, Value>, depth: usize) -> Value {
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let mut found = match target {
            Some(target) if !self.open.contains(&reference) => {
                self.open.push(reference);
                let copy = self.copy(target, depth + 1);
                self.open.pop();
                match copy {
                    Value::Object(keys) => keys,
                    _ => Map::new(),
                }
            }
            _ => Map::new(),
        };
        for (key, value) in beside.iter().filter(|(key, _)| *key != "$ref") {
            let value = self.copy(value, depth + 1);
            found.insert(key.clone(), value);
        }
        Value::Object(found)
    }
}
