//! From a TOML document to values, with the byte at which something is wrong.
//!
//! Apart, because places are bytes here, and lines and columns everywhere else.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Problem;
use crate::text::{first_chars, visible_line};

/// A problem and the byte it starts at.
pub(crate) type At = (usize, Problem);

pub(crate) fn string(key: &'static str, value: &Spanned<DeValue<'_>>) -> Result<String, At> {
    match value.get_ref() {
        DeValue::String(text) if !text.trim().is_empty() => Ok(text.to_string()),
        DeValue::String(_) => {
            let problem = Problem::Type { key: key.to_owned(), got: "empty", expected: "a name".to_owned() };
            Err((value.span().start, problem))
        }
        other => Err((value.span().start, wrong_type(key.to_owned(), other, "a string"))),
    }
}

pub(crate) fn table<'v, 'i>(path: &str, value: &'v Spanned<DeValue<'i>>) -> Result<&'v DeTable<'i>, At> {
    match value.get_ref() {
        DeValue::Table(table) => Ok(table),
        other => Err((value.span().start, wrong_type(path.to_owned(), other, format!("a table `[{path}]`")))),
    }
}

/// Returns the number where it is one of TOML, which has 64 bits.
pub(crate) fn integer(number: &toml::de::DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// The entries as they stand in the file, so that the first mistake is the one reported.
pub(crate) fn in_order<'t, 'i>(
    table: &'t DeTable<'i>,
) -> Vec<(&'t Spanned<std::borrow::Cow<'i, str>>, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

pub(crate) fn syntax(text: &str, error: &toml::de::Error) -> At {
    let span = error.span().unwrap_or(text.len()..text.len());
    let mut message = visible_line(error.message()).into_owned();
    // The parser says that a key is there twice, and not which.
    if let Some(key) = text.get(span.clone()).filter(|key| message == "duplicate key" && !key.is_empty()) {
        message = format!("duplicate key `{}`", shown(key));
    }
    (span.start, Problem::Syntax(message))
}

pub(crate) fn unknown_key(key: &str, table: &'static str, mut expected: Vec<&'static str>) -> Problem {
    expected.sort_unstable();
    Problem::UnknownKey { key: shown(key), table, expected }
}

pub(crate) fn wrong_type(key: String, value: &DeValue<'_>, expected: impl Into<String>) -> Problem {
    let got = match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    Problem::Type { key, got, expected: expected.into() }
}

pub(crate) fn shown(text: &str) -> String {
    visible_line(first_chars(text, 80)).into_owned()
}
