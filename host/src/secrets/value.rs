//! The value of a secret: printed by nothing, and gone from memory with its last owner.
//! Separate because whoever holds one must not be able to show it by accident.

use std::fmt;

use zeroize::Zeroizing;

/// Longest value, in bytes; servers refuse longer headers.
const MOST: usize = 8 << 10;

/// A checked value: one line of visible ASCII, as a header can carry it.
pub struct SecretValue(Zeroizing<String>);

/// Why a text is no value. Never holds the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Nothing but blanks.
    #[error("the value is empty")]
    Empty,
    /// Longer than a header.
    #[error("the value is longer than 8 KiB")]
    TooLong,
    /// It cannot stand in a header.
    #[error("the value has a line break or other characters that no header can carry, expected visible ASCII")]
    Characters,
}

impl SecretValue {
    /// Checks a value. Blanks and line breaks around it, which pipes and editors add, are dropped.
    ///
    /// # Errors
    ///
    /// It is empty, too long, or cannot stand in a header.
    pub fn parse(text: String) -> Result<SecretValue, ValueError> {
        let text = Zeroizing::new(text);
        let value = text.trim();
        if value.is_empty() {
            return Err(ValueError::Empty);
        }
        if value.len() > MOST {
            return Err(ValueError::TooLong);
        }
        if !value.bytes().all(|it| it == b' ' || it.is_ascii_graphic()) {
            return Err(ValueError::Characters);
        }
        Ok(SecretValue(Zeroizing::new(value.to_owned())))
    }

    /// The value itself. Only for a header and for the keyring.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The same value once more. Not `Clone`: a copy is made on purpose.
    pub(super) fn again(&self) -> SecretValue {
        SecretValue(self.0.clone())
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_line_that_a_header_can_carry() {
        let parse = |text: &str| SecretValue::parse(text.to_owned());
        assert_eq!(parse(" k-1 \r\n").unwrap().expose(), "k-1");
        assert_eq!(parse("two words").unwrap().expose(), "two words");
        assert_eq!(parse(" \n").unwrap_err(), ValueError::Empty);
        for bad in ["a\nb", "a\r\nhost: b", "ä", "a\0", "a\tb", "\u{1b}[2J"] {
            assert_eq!(parse(bad).unwrap_err(), ValueError::Characters, "{bad:?}");
        }
        assert_eq!(parse(&"x".repeat(MOST + 1)).unwrap_err(), ValueError::TooLong);
    }

    #[test]
    fn no_way_to_print_a_value_shows_it() {
        let value = SecretValue::parse("hunter2-hunter2".into()).unwrap();
        assert_eq!(format!("{value:?} {:#?} {:?}", Some(&value), [&value]).matches("hunter2").count(), 0);
    }
}
