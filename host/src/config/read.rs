//! From a TOML document to [`Config`], with the byte at which something is wrong.
//! Separate because places are bytes here, and lines and columns everywhere else.

use super::*;
use crate::toml_file::read::{At, in_order, integer, shown, string, table, unknown_key, wrong_type};

pub(super) fn document(table: &DeTable<'_>) -> Result<Config, At> {
    let mut config = Config::default();
    for (key, value) in in_order(table) {
        match key.get_ref().as_ref() {
            "limits" => limits(&mut config, value)?,
            "plugin" => plugins(&mut config, value)?,
            "provider" => config.provider = Some(string("provider", value)?),
            "model" => config.model = Some(string("model", value)?),
            "log" => config.log = Some(log_level(value)?),
            "proxy" => config.proxy = Some(proxy(value)?),
            "ca_file" => config.ca_file = Some(ca_file(value)?),
            "secret" => secrets(&mut config, value)?,
            unknown => return Err((key.span().start, unknown_key(unknown, "", KEYS.to_vec()))),
        }
        config.set.insert(key.get_ref().to_string());
    }
    Ok(config)
}

fn limits(config: &mut Config, value: &Spanned<DeValue<'_>>) -> Result<(), At> {
    for (key, value) in in_order(table("limits", value)?) {
        let Some(name) = Limits::names().find(|name| *name == key.get_ref()) else {
            return Err((key.span().start, unknown_key(key.get_ref(), "limits", Limits::names().collect())));
        };
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            // A bare number is right for what is counted; elsewhere the error is that it has no unit.
            DeValue::Integer(number) => integer(number).map_or_else(|| number.to_string(), |number| number.to_string()),
            other => {
                let expected =
                    if Limits::is_count(name) { "a whole number" } else { "text such as `\"64KiB\"` or `\"10s\"`" };
                return Err((value.span().start, wrong_type(format!("limits.{name}"), other, expected)));
            }
        };
        let set = config.limits.set(name, &text);
        set.map_err(|error| (value.span().start, Problem::Limit { name, error }))?;
        config.set.insert(format!("limits.{name}"));
    }
    Ok(())
}

fn plugins(config: &mut Config, value: &Spanned<DeValue<'_>>) -> Result<(), At> {
    for (key, value) in in_order(table("plugin", value)?) {
        let name = PluginName::try_from(key.get_ref().to_string());
        let name = name.map_err(|error| (key.span().start, Problem::Plugin(error)))?;
        let path = format!("plugin.{name}");
        let settings = object(&path, table(&path, value)?)?;
        config.set.insert(path);
        config.plugins.insert(name, settings);
    }
    Ok(())
}

fn secrets(config: &mut Config, value: &Spanned<DeValue<'_>>) -> Result<(), At> {
    for (key, value) in in_order(table("secret", value)?) {
        let wrong = |error: String| (key.span().start, Problem::Value { key: "secret".to_owned(), error });
        let name = VariableName::parse(key.get_ref()).map_err(|error| wrong(error.to_string()))?;
        let path = format!("secret.{name}");
        let mut source = None;
        for (key, value) in in_order(table(&path, value)?) {
            if source.is_some() {
                let error = "expected one of `env` and `command`, not both".to_owned();
                return Err((key.span().start, Problem::Value { key: path, error }));
            }
            source = Some(match key.get_ref().as_ref() {
                "env" => Source::Variable(variable(&path, value)?),
                "command" => Source::Command(words(&path, value)?),
                unknown => return Err((key.span().start, unknown_key(unknown, "secret", vec!["env", "command"]))),
            });
        }
        let source = source.ok_or_else(|| {
            let error = "expected `env = \"VARIABLE\"` or `command = [\"program\", \"argument\"]`".to_owned();
            (key.span().start, Problem::Value { key: path.clone(), error })
        })?;
        config.set.insert(path);
        config.secrets.insert(name, source);
    }
    Ok(())
}

fn variable(path: &str, value: &Spanned<DeValue<'_>>) -> Result<String, At> {
    let DeValue::String(text) = value.get_ref() else {
        return Err((value.span().start, wrong_type(format!("{path}.env"), value.get_ref(), "a string")));
    };
    let name = VariableName::parse(text).map(|it| it.to_string());
    name.map_err(|error| (value.span().start, Problem::Value { key: format!("{path}.env"), error: error.to_string() }))
}

fn words(path: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, At> {
    let key = format!("{path}.command");
    let expected = "a list of strings such as `[\"pass\", \"show\", \"key\"]`";
    let DeValue::Array(items) = value.get_ref() else {
        return Err((value.span().start, wrong_type(key, value.get_ref(), expected)));
    };
    let word = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => Ok(text.to_string()),
        other => Err((item.span().start, wrong_type(key.clone(), other, expected))),
    };
    let words = items.iter().map(word).collect::<Result<Vec<_>, _>>()?;
    if words.first().is_none_or(|it| it.is_empty()) {
        let problem = Problem::Type { key, got: "empty", expected: expected.to_owned() };
        return Err((value.span().start, problem));
    }
    Ok(words)
}

fn proxy(value: &Spanned<DeValue<'_>>) -> Result<Origin, At> {
    let text = string("proxy", value)?;
    let wrong = |error: String| (value.span().start, Problem::Value { key: "proxy".to_owned(), error });
    let origin = Origin::parse(&text).map_err(|error| wrong(error.to_string()))?;
    if !origin.host().is_exact() {
        return Err(wrong(format!("`{}` is no single host", shown(&text))));
    }
    Ok(origin)
}

fn ca_file(value: &Spanned<DeValue<'_>>) -> Result<PathBuf, At> {
    let path = PathBuf::from(string("ca_file", value)?);
    if path.is_absolute() {
        return Ok(path);
    }
    let error = "expected an absolute path".to_owned();
    Err((value.span().start, Problem::Value { key: "ca_file".to_owned(), error }))
}

fn log_level(value: &Spanned<DeValue<'_>>) -> Result<LogLevel, At> {
    let text = string("log", value)?;
    LogLevel::parse(&text).ok_or_else(|| {
        let expected = LogLevel::ALL.map(LogLevel::as_str).to_vec();
        (value.span().start, Problem::Choice { key: "log", got: shown(&text), expected })
    })
}

/// The depth is bounded: the parser refuses documents that nest more than 80 deep.
fn object(path: &str, table: &DeTable<'_>) -> Result<Map<String, Value>, At> {
    let mut object = Map::new();
    for (key, value) in in_order(table) {
        let path = format!("{path}.{}", shown(key.get_ref()));
        object.insert(key.get_ref().to_string(), json(&path, value)?);
    }
    Ok(object)
}

fn json(path: &str, value: &Spanned<DeValue<'_>>) -> Result<Value, At> {
    let no_number = || (value.span().start, Problem::Number(path.to_owned()));
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => Value::from(integer(number).ok_or_else(no_number)?),
        DeValue::Float(number) => {
            let number = number.as_str().parse().ok().and_then(serde_json::Number::from_f64);
            Value::Number(number.ok_or_else(no_number)?)
        }
        DeValue::Boolean(it) => Value::Bool(*it),
        DeValue::Datetime(it) => Value::String(it.to_string()),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| json(path, item)).collect::<Result<_, _>>()?),
        DeValue::Table(table) => Value::Object(object(path, table)?),
    })
}
