//! [`Dialect`]: JSON Schema as a model API takes it.
//!
//! APIs know less than JSON Schema, and refuse the whole request for one keyword. A dialect makes of a tool's schema one that
//! says as much as the API understands. It may say less: the host validates calls with the original.

mod references;

use serde_json::{Map, Value, json};

/// What an API understands.
///
/// ```
/// use bellglass_guest::{json, provider::Dialect};
///
/// let schema = json!({
///     "type": "object",
///     "properties": {"n": {"type": ["integer", "null"], "exclusiveMinimum": 0}, "to": {"$ref": "#/$defs/place"}},
///     "$defs": {"place": {"type": "string"}},
/// });
/// assert_eq!(
///     Dialect::JSON_SCHEMA.adapt(&schema).unwrap()["properties"],
///     json!({"n": {"type": ["integer", "null"], "exclusiveMinimum": 0}, "to": {"type": "string"}}),
/// );
/// assert_eq!(
///     Dialect::OPEN_API.adapt(&schema).unwrap()["properties"],
///     json!({"n": {"type": "integer", "nullable": true}, "to": {"type": "string"}}),
/// );
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The only keywords it takes; none for all.
    pub keywords: Option<&'static [&'static str]>,
    /// Whether each schema names one type, and may be `nullable` besides.
    pub one_type: bool,
}

impl Dialect {
    /// All of it, without references.
    pub const JSON_SCHEMA: Self = Self { keywords: None, one_type: false };

    /// The part of OpenAPI 3.0 that Gemini takes.
    pub const OPEN_API: Self = Self {
        keywords: Some(&[
            "type",
            "nullable",
            "description",
            "title",
            "enum",
            "format",
            "properties",
            "required",
            "items",
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
            "minimum",
            "maximum",
            "pattern",
            "anyOf",
        ]),
        one_type: true,
    };

    /// The schema of a tool's arguments in this dialect: an object at its root, without references. What refers to itself
    /// takes anything from the second time on.
    ///
    /// # Errors
    ///
    /// Its root is no object. Leave the tool out and say so; one bad tool must not hide the others.
    pub fn adapt(&self, schema: &Value) -> Result<Value, String> {
        let Value::Object(mut root) = references::inline(schema) else {
            return Err("its schema is no object".to_owned());
        };
        let says_more =
            ["anyOf", "oneOf", "allOf", "enum", "const", "not", "if"].iter().any(|it| root.contains_key(*it));
        match root.get("type") {
            Some(kind) if kind == "object" => {}
            None if !says_more => {}
            Some(Value::Array(kinds)) if kinds.contains(&json!("object")) => {}
            kind => return Err(format!("its arguments are not an object but {}", kind.unwrap_or(&json!("a choice")))),
        }
        // APIs refuse alternatives at the root; which properties there are is said beside them.
        root.retain(|key, _| {
            !["anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "then", "else"].contains(&&**key)
        });
        root.insert("type".to_owned(), json!("object"));
        if !root.get("properties").is_some_and(Value::is_object) {
            root.insert("properties".to_owned(), json!({}));
        }
        let mut root = Value::Object(root);
        self.adapt_inner(&mut root);
        Ok(root)
    }

    fn adapt_inner(&self, schema: &mut Value) {
        let keys = match schema {
            Value::Object(keys) => keys,
            // `true` and whatever is no schema take anything.
            _ => {
                *schema = if self.one_type { json!({"type": "string"}) } else { json!({}) };
                return;
            }
        };
        if self.one_type {
            one_type(keys);
        }
        if let Some(known) = self.keywords {
            keys.retain(|key, _| known.contains(&&**key));
        }
        let is_array = keys.get("type").is_some_and(|kind| kind == "array");
        if is_array && !keys.get("items").is_some_and(|items| items.is_object() || items.is_boolean()) {
            keys.insert("items".to_owned(), json!({}));
        }
        if let Some(Value::Object(properties)) = keys.get_mut("properties") {
            properties.values_mut().for_each(|property| self.adapt_inner(property));
            let names: Vec<Value> = properties.keys().map(|name| json!(name)).collect();
            if self.one_type
                && let Some(Value::Array(required)) = keys.get_mut("required")
            {
                required.retain(|name| names.contains(name));
            }
        }
        for key in ["items", "additionalProperties"] {
            if let Some(inner) = keys.get_mut(key).filter(|inner| inner.is_object()) {
                self.adapt_inner(inner);
            }
        }
        for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            if let Some(Value::Array(inner)) = keys.get_mut(key) {
                inner.iter_mut().for_each(|inner| self.adapt_inner(inner));
            }
        }
    }
}

/// Says with one type, `nullable` and `anyOf` what several types, `const`, `oneOf` and `allOf` said.
fn one_type(keys: &mut Map<String, Value>) {
    if let Some(Value::Array(all)) = keys.shift_remove("allOf") {
        for part in all {
            for (key, value) in part.as_object().into_iter().flatten() {
                match keys.get_mut(key) {
                    Some(Value::Object(old)) if key == "properties" => {
                        old.extend(value.as_object().cloned().unwrap_or_default())
                    }
                    Some(_) => {}
                    None => drop(keys.insert(key.clone(), value.clone())),
                }
            }
        }
    }
    if let Some(value) = keys.shift_remove("const") {
        keys.entry("enum").or_insert(json!([value]));
    }
    if let Some(choices) = keys.shift_remove("oneOf") {
        keys.entry("anyOf").or_insert(choices);
    }
    if let Some(Value::Array(kinds)) = keys.get("type").cloned() {
        let (null, mut kinds): (Vec<_>, Vec<_>) = kinds.into_iter().partition(|kind| kind == "null");
        if !null.is_empty() {
            keys.insert("nullable".to_owned(), json!(true));
        }
        keys.shift_remove("type");
        match kinds.len() {
            0 => {}
            1 => drop(keys.insert("type".to_owned(), kinds.remove(0))),
            _ => {
                let choices: Vec<Value> = kinds.into_iter().map(|kind| json!({"type": kind})).collect();
                keys.entry("anyOf").or_insert(Value::Array(choices));
            }
        }
    }
    if let Some(Value::Array(choices)) = keys.get_mut("anyOf") {
        let before = choices.len();
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        let had_null = choices.len() < before;
        match choices.len() {
            0 => drop(keys.shift_remove("anyOf")),
            1 => {
                let only = choices.remove(0);
                keys.shift_remove("anyOf");
                for (key, value) in only.as_object().into_iter().flatten() {
                    keys.entry(key.clone()).or_insert(value.clone());
                }
                // It may have alternatives of its own.
                one_type(keys);
            }
            // Beside alternatives nothing but words may stand.
            _ => keys.retain(|key, _| ["anyOf", "nullable", "description", "title"].contains(&&**key)),
        }
        if had_null {
            keys.insert("nullable".to_owned(), json!(true));
        }
    }
    // Only texts can be listed, and only some formats are known.
    match keys.get("enum") {
        Some(Value::Array(choices)) if choices.iter().all(Value::is_string) => {
            keys.insert("type".to_owned(), json!("string"));
        }
        Some(_) => drop(keys.shift_remove("enum")),
        None => {}
    }
    if keys
        .get("format")
        .is_some_and(|format| !["date-time", "int32", "int64", "float", "double"].iter().any(|it| format == it))
    {
        keys.shift_remove("format");
    }
    if !keys.contains_key("type") && !keys.contains_key("anyOf") {
        let kind = ["properties", "items"].iter().find(|key| keys.contains_key(**key));
        let kind = kind.map_or("string", |key| if *key == "items" { "array" } else { "object" });
        keys.insert("type".to_owned(), json!(kind));
    }
    // An object whose properties are not known cannot be said; that it is one can.
    if keys.get("properties").is_some_and(|it| it.as_object().is_none_or(Map::is_empty)) && keys.len() > 1 {
        keys.shift_remove("properties");
    }
}

#[cfg(test)]
mod tests;
