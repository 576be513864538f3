//! One entry: which plugin ran, what for, how it ended, what it did with rights, and where the time went.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::{shorten_middle, visible_line};
use crate::uses::{Times, Uses};

/// Bytes of the arguments that are kept.
const ARGUMENTS: usize = 1024;

/// What is kept instead of a value that may be a secret.
const REDACTED: &str = "[redacted]";

/// Which export ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A tool, with the hooks around it.
    Tool,
    /// A slash command.
    Command,
    /// A provider's request.
    Provider,
}

/// One call of a plugin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When it ended, in UTC, as RFC 3339 writes it.
    pub time: String,
    /// The plugin.
    pub plugin: String,
    /// Where the plugin comes from.
    pub origin: String,
    /// The SHA-256 of its file.
    pub sha256: String,
    /// Which export.
    pub kind: Kind,
    /// The tool, the command or the provider.
    pub name: String,
    /// The start and the end of its arguments, as text; what looks like a secret is left out.
    pub arguments: String,
    /// `ok`, `error`, `denied` or `limit`.
    pub ended: String,
    /// What was done with rights, and what was refused.
    pub uses: Vec<Used>,
    /// Where the time went, in microseconds.
    pub times: Times,
}

/// One use of a right, or one refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Who; another than the entry's plugin when it was a hook.
    pub plugin: String,
    /// The right, as `--grant` spells it.
    pub grant: String,
    /// Whether it was allowed.
    pub allowed: bool,
}

impl Entry {
    /// What was done with rights, as an entry keeps it.
    pub fn uses(uses: &Uses) -> Vec<Used> {
        let used = |it: crate::uses::Use| Used {
            plugin: it.plugin.to_string(),
            grant: it.grant.to_string(),
            allowed: it.allowed,
        };
        uses.list().into_iter().map(used).collect()
    }

    /// Arguments as an entry keeps them: short, and without what looks like a secret.
    pub fn arguments(text: &str) -> String {
        let mut value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(_) => Value::String(text.to_owned()),
        };
        redact(&mut value);
        let text = match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let text = crate::secrets::redact(&text);
        visible_line(&shorten_middle(&text, ARGUMENTS)).into_owned()
    }

    /// The entry as one line of JSON.
    pub fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("text and numbers are always JSON");
        line.push('\n');
        line
    }
}

/// Takes out the values of keys that name a secret, at any depth.
fn redact(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                if names_a_secret(key) && !value.is_null() {
                    *value = REDACTED.into();
                } else {
                    redact(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact),
        _ => {}
    }
}

/// Whether the value of a key is better not kept: `password`, `api_key`, `accessToken`, `Authorization`.
fn names_a_secret(key: &str) -> bool {
    let key: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    ["password", "passwd", "passphrase", "secret", "token", "apikey", "authorization", "credential", "privatekey"]
        .iter()
        .any(|it| key.contains(it))
}
