//! From a TOML document to [`Stored`], with the byte at which something is wrong. Anything unknown is an error: a misspelt key
//! of a file about rights must not be passed over.

use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::capability::{Grant, Grants};
use crate::grants::{Entry, Stored, Subject, Trust};
use crate::name::PluginName;
use crate::toml_file::Problem;
use crate::toml_file::read::{At, in_order, shown, table, unknown_key, wrong_type};

type Value<'i> = Spanned<DeValue<'i>>;

pub(super) fn document(document: &DeTable<'_>) -> Result<Stored, At> {
    let mut stored = Stored::default();
    for (key, value) in in_order(document) {
        match key.get_ref().as_ref() {
            "trust" => {
                for item in list("trust", value, "a list of tables `[[trust]]`")? {
                    stored.trusted.push(trust(item)?);
                }
            }
            "grant" => {
                for item in list("grant", value, "a list of tables `[[grant]]`")? {
                    stored.entries.push(entry(item)?);
                }
            }
            unknown => return Err((key.span().start, unknown_key(unknown, "", vec!["grant", "trust"]))),
        }
    }
    Ok(stored)
}

fn trust(item: &Value<'_>) -> Result<Trust, At> {
    let (mut file, mut hash) = (None, None);
    for (key, value) in in_order(table("trust", item)?) {
        match key.get_ref().as_ref() {
            "file" => file = Some(path("trust.file", value)?),
            "sha256" => hash = Some(sha256("trust.sha256", value)?),
            unknown => return Err((key.span().start, unknown_key(unknown, "trust", vec!["file", "sha256"]))),
        }
    }
    Ok(Trust { file: needed("trust.file", item, file)?, sha256: needed("trust.sha256", item, hash)? })
}

fn entry(item: &Value<'_>) -> Result<Entry, At> {
    let (mut name, mut origin, mut hash, mut file, mut grants) = (None, None, None, None, None);
    let (mut version, mut asked) = (String::new(), Vec::new());
    for (key, value) in in_order(table("grant", item)?) {
        match key.get_ref().as_ref() {
            "plugin" => name = Some(parsed("grant.plugin", value, |it| PluginName::try_from(it.to_owned()))?),
            "origin" => origin = Some(one_of("grant.origin", value, &["flag", "project", "user"])?),
            "sha256" => hash = Some(sha256("grant.sha256", value)?),
            "file" => file = Some(path("grant.file", value)?),
            "version" => version = text("grant.version", value)?.to_owned(),
            "asked" => asked = texts("grant.asked", value)?,
            "grants" => grants = Some(all_grants(value)?),
            unknown => {
                let known = vec!["asked", "file", "grants", "origin", "plugin", "sha256", "version"];
                return Err((key.span().start, unknown_key(unknown, "grant", known)));
            }
        }
    }
    let origin: String = needed("grant.origin", item, origin)?;
    if origin == "project" {
        file = Some(needed("grant.file", item, file)?);
    }
    let subject = Subject {
        name: needed("grant.plugin", item, name)?,
        sha256: needed("grant.sha256", item, hash)?,
        origin,
        file,
    };
    Ok(Entry { subject, version, asked, grants: needed("grant.grants", item, grants)? })
}

fn all_grants(value: &Value<'_>) -> Result<Grants, At> {
    let mut grants = Grants::default();
    for item in list("grant.grants", value, "a list of texts")? {
        grants.add(parsed("grant.grants", item, Grant::parse)?);
    }
    Ok(grants)
}

fn needed<T>(key: &str, item: &Value<'_>, value: Option<T>) -> Result<T, At> {
    value.ok_or_else(|| (item.span().start, Problem::Value { key: key.to_owned(), error: "it is missing".to_owned() }))
}

fn list<'v, 'i>(key: &str, value: &'v Value<'i>, expected: &str) -> Result<Vec<&'v Value<'i>>, At> {
    match value.get_ref() {
        DeValue::Array(items) => Ok(items.iter().collect()),
        other => Err((value.span().start, wrong_type(key.to_owned(), other, expected))),
    }
}

fn text<'v>(key: &str, value: &'v Value<'_>) -> Result<&'v str, At> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text),
        other => Err((value.span().start, wrong_type(key.to_owned(), other, "a string"))),
    }
}

fn texts(key: &str, value: &Value<'_>) -> Result<Vec<String>, At> {
    let items = list(key, value, "a list of texts")?;
    items.into_iter().map(|it| text(key, it).map(str::to_owned)).collect()
}

fn parsed<T, E: ToString>(key: &str, value: &Value<'_>, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<T, At> {
    let problem = |error: E| Problem::Value { key: key.to_owned(), error: error.to_string() };
    parse(text(key, value)?).map_err(|error| (value.span().start, problem(error)))
}

fn one_of(key: &'static str, value: &Value<'_>, expected: &[&'static str]) -> Result<String, At> {
    let got = text(key, value)?;
    if expected.contains(&got) {
        return Ok(got.to_owned());
    }
    Err((value.span().start, Problem::Choice { key, got: shown(got), expected: expected.to_vec() }))
}

fn path(key: &str, value: &Value<'_>) -> Result<PathBuf, At> {
    parsed(key, value, |it| {
        let path = PathBuf::from(it);
        if path.is_absolute() { Ok(path) } else { Err("expected an absolute path") }
    })
}

fn sha256(key: &str, value: &Value<'_>) -> Result<String, At> {
    parsed(key, value, |it| {
        let is_hex = it.len() == 64 && it.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if is_hex { Ok(it.to_owned()) } else { Err("expected 64 hexadecimal digits, as `sha256sum` prints them") }
    })
}
