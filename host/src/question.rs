//! A question of the program itself to the person, with the answers there are and what each does.
//!
//! Apart from the lines that plugins ask for: what a plugin shows stands under its name, so that it cannot pass for this.

use crate::text::visible_line;

/// A question. `lines` and `subject` may hold text of strangers: whoever shows them makes it visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// One sentence: who wants what.
    pub subject: String,
    /// The exact thing that is decided, one line each.
    pub lines: Vec<String>,
    /// The answers, in order. The last is the one that changes nothing: blank input means it.
    pub choices: Vec<Choice>,
}

/// One of the answers to a [`Question`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The key, a lower-case letter that no other choice of the question has.
    pub key: char,
    /// What the answer does, such as `yes, this once`.
    pub effect: String,
    /// Whether words may follow the key: the reason of a no.
    pub takes_reason: bool,
}

/// What the person answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The key of the choice.
    pub key: char,
    /// The words behind it; empty without any.
    pub reason: String,
}

impl Choice {
    /// A choice without reason.
    pub fn new(key: char, effect: impl Into<String>) -> Self {
        Self { key, effect: effect.into(), takes_reason: false }
    }

    /// The same choice, with words behind the key.
    #[must_use]
    pub fn with_reason(self) -> Self {
        Self { takes_reason: true, ..self }
    }
}

impl Question {
    /// Reads a typed line as an answer. None when it is none of the choices: the question stands.
    pub fn answer(&self, typed: &str) -> Option<Answer> {
        let typed = typed.trim();
        let Some(first) = typed.chars().next() else {
            return self.choices.last().map(|it| Answer { key: it.key, reason: String::new() });
        };
        let (word, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let key = first.to_ascii_lowercase();
        let choice = self.choices.iter().find(|it| it.key == key)?;
        // The key, or the first word of what it does: `y`, `Y`, `yes`.
        let first_word = choice.effect.split([' ', ',', ':']).next().unwrap_or_default();
        let is_meant = word.chars().count() == 1 || word.eq_ignore_ascii_case(first_word);
        let rest = rest.trim();
        if !is_meant || (!rest.is_empty() && !choice.takes_reason) {
            return None;
        }
        Some(Answer { key, reason: visible_line(rest).into_owned() })
    }

    /// The keys, as a prompt shows them: `[y/s/a/n] `.
    pub fn prompt(&self) -> String {
        let keys: Vec<String> = self.choices.iter().map(|it| it.key.to_string()).collect();
        format!("[{}] ", keys.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        let choices = vec![
            Choice::new('y', "yes, this once"),
            Choice::new('s', "session: yes, until it ends"),
            Choice::new('n', "no").with_reason(),
        ];
        Question { subject: "may it?".into(), lines: Vec::new(), choices }
    }

    #[track_caller]
    fn check(typed: &str, expected: Option<(char, &str)>) {
        let expected = expected.map(|(key, reason)| Answer { key, reason: reason.into() });
        assert_eq!(question().answer(typed), expected, "{typed:?}");
    }

    #[test]
    fn a_key_or_its_word_is_an_answer() {
        for typed in ["y", " Y ", "yes", "YES"] {
            check(typed, Some(('y', "")));
        }
        check("session", Some(('s', "")));
    }

    #[test]
    fn a_blank_line_is_the_last_choice_and_a_reason_goes_with_it() {
        check("", Some(('n', "")));
        check("n use cargo instead", Some(('n', "use cargo instead")));
        check("no \u{1b}[2J", Some(('n', "␛[2J")));
    }

    #[test]
    fn anything_else_is_no_answer() {
        for typed in ["x", "yeah", "y now", "never", "/exit", "\u{1b}y"] {
            check(typed, None);
        }
    }

    #[test]
    fn the_prompt_names_the_keys() {
        assert_eq!(question().prompt(), "[y/s/n] ");
    }
}
