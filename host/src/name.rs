//! Names that strangers choose, checked once.
//!
//! Apart, because a name goes into messages, paths of the store and addresses such as `plugin.tool`: after this file nobody
//! has to ask again what may be in it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest name of a plugin, in bytes: `[a-z][a-z0-9-]{0,63}` in `wit/exports.wit`.
const PLUGIN_MAX: usize = 64;

/// Longest name of a tool, a command or a provider, in bytes. Model APIs accept 64; longer ones get a shorter name on the wire.
const ITEM_MAX: usize = 128;

/// The name of a plugin: `[a-z][a-z0-9-]{0,63}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PluginName(String);

/// The name of a tool, a command or a provider: not empty, at most 128 bytes, without blanks, slashes and control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ItemName(String);

/// Why a name was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not `[a-z][a-z0-9-]{0,63}`.
    #[error(
        "`{0}` is no name of a plugin: expected a lower-case letter, then up to 63 lower-case letters, digits or `-`"
    )]
    Plugin(String),
    /// Empty, too long, or holding what cannot be typed or shown.
    #[error("`{0}` is no name: expected 1 to {ITEM_MAX} bytes without blanks, `/` and control characters")]
    Item(String),
}

impl PluginName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ItemName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PluginName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        let first = text.bytes().next().is_some_and(|it| it.is_ascii_lowercase());
        let rest = text.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-');
        if first && rest && text.len() <= PLUGIN_MAX { Ok(Self(text)) } else { Err(NameError::Plugin(shown(&text))) }
    }
}

impl TryFrom<String> for ItemName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        let typed = |it: char| {
            !it.is_whitespace() && it != '/' && crate::text::visible_line(it.encode_utf8(&mut [0; 4])).chars().eq([it])
        };
        if !text.is_empty() && text.len() <= ITEM_MAX && text.chars().all(typed) {
            Ok(Self(text))
        } else {
            Err(NameError::Item(shown(&text)))
        }
    }
}

/// What of a refused name goes into the message.
fn shown(text: &str) -> String {
    crate::text::visible_line(crate::text::first_chars(text, ITEM_MAX)).into_owned()
}

macro_rules! text_of {
    ($name:ident) => {
        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

text_of!(PluginName);
text_of!(ItemName);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_named_in_lower_case_letters_digits_and_dashes() {
        for good in ["a", "no-rm", "x2", &"a".repeat(64)] {
            assert!(PluginName::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for bad in ["", "A", "2x", "-a", "a_b", "a.b", "ä", "a b", "../a", "a\u{1b}", &"a".repeat(65)] {
            assert!(PluginName::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_tool_may_be_named_in_any_script_but_not_with_blanks_slashes_or_invisible_characters() {
        for good in ["wc", "calendar.list", "工具", "1st", &"n".repeat(128)] {
            assert!(ItemName::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for bad in ["", "a b", "a/b", "a\n", "a\u{1b}[2J", "a\u{200b}", "a\u{202e}", &"n".repeat(129)] {
            assert!(ItemName::try_from(bad.to_owned()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_refused_name_is_shown_without_its_control_characters() {
        let error = PluginName::try_from("a\u{1b}[2J".to_owned()).unwrap_err().to_string();
        assert!(!error.contains('\u{1b}'), "{error}");
    }
}
