//! Text without secrets: those that this process has used, and what looks like one.
//! Separate, and the same for the whole process, because whoever shows or stores text must not need to know who used what.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{PoisonError, RwLock};

use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::value::SecretValue;

/// What stands in the place of a secret.
const MASK: &str = "[secret]";

/// A shorter value is part of too many words to be hidden wherever it stands, in bytes.
const SHORTEST: usize = 4;

/// Every value that was used, in each spelling, the longest first.
static USED: RwLock<Vec<Zeroizing<String>>> = RwLock::new(Vec::new());

/// Whether there is any: most runs have none, and pay nothing.
static ANY: AtomicBool = AtomicBool::new(false);

/// From now on the value is left out of text.
pub(super) fn remember(value: &SecretValue) {
    let value = value.expose();
    if value.len() < SHORTEST {
        return;
    }
    let mut used = USED.write().unwrap_or_else(PoisonError::into_inner);
    let json = Value::from(value).to_string();
    for spelling in [value.to_owned(), json[1..json.len() - 1].to_owned(), percent(value)] {
        if !used.iter().any(|it| **it == spelling) {
            used.push(Zeroizing::new(spelling));
        }
    }
    // A secret that is the start of another must not leave the rest of that one.
    used.sort_by_key(|it| std::cmp::Reverse(it.len()));
    ANY.store(true, SeqCst);
}

/// Returns the text without any secret that this process has used so far.
pub fn redact(text: &str) -> Cow<'_, str> {
    if !ANY.load(SeqCst) {
        return Cow::Borrowed(text);
    }
    let mut text = Cow::Borrowed(text);
    for secret in USED.read().unwrap_or_else(PoisonError::into_inner).iter() {
        if text.contains(secret.as_str()) {
            text = Cow::Owned(text.replace(secret.as_str(), MASK));
        }
    }
    text
}

/// Leaves secrets out of all texts and keys of a JSON value.
pub fn redact_json(value: &mut Value) {
    if !ANY.load(SeqCst) {
        return;
    }
    match value {
        Value::String(text) => {
            if let Cow::Owned(redacted) = redact(text) {
                *text = redacted;
            }
        }
        Value::Number(number) => {
            if let Cow::Owned(redacted) = redact(&number.to_string()) {
                *value = Value::String(redacted);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact_json),
        Value::Object(object) => *object = redact_object(std::mem::take(object)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Leaves secrets out of all texts and keys of a JSON object.
pub fn redact_object(mut object: Map<String, Value>) -> Map<String, Value> {
    if !ANY.load(SeqCst) {
        return object;
    }
    object.values_mut().for_each(redact_json);
    if object.keys().all(|key| matches!(redact(key), Cow::Borrowed(_))) {
        return object;
    }
    object.into_iter().map(|(key, value)| (redact(&key).into_owned(), value)).collect()
}

/// Returns the text without secrets, and without what looks like a token of a well-known service: for text of which nobody
/// knows where it comes from, such as the last words of a guest that trapped.
pub fn redact_tokens(text: &str) -> Cow<'_, str> {
    let known = redact(text);
    let mut out = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = known[at..].find(|c: char| c.is_ascii_alphanumeric()) {
        let start = at + found;
        let word = known[start..].bytes().take_while(|it| is_of_token(*it) || *it == b'.').count();
        let token = token(&known[start..start + word]);
        if token > 0 {
            out.push_str(&known[from..start]);
            out.push_str(MASK);
            from = start + token;
        }
        at = start + token.max(known[start..].bytes().take_while(u8::is_ascii_alphanumeric).count()).max(1);
    }
    if out.is_empty() {
        return known;
    }
    out.push_str(&known[from..]);
    Cow::Owned(out)
}

/// Prefixes of tokens, and how many characters follow at least.
const TOKENS: [(&str, usize); 19] = [
    ("ghp_", 8),
    ("gho_", 8),
    ("ghu_", 8),
    ("ghs_", 8),
    ("ghr_", 8),
    ("github_pat_", 8),
    ("glpat-", 8),
    ("sk-", 16),
    ("sk_live_", 8),
    ("rk_live_", 8),
    ("xoxa-", 8),
    ("xoxb-", 8),
    ("xoxp-", 8),
    ("xoxr-", 8),
    ("xoxs-", 8),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 16),
];

/// Returns how many bytes of the word are a token, from its start.
fn token(word: &str) -> usize {
    let whole = word.bytes().take_while(|it| is_of_token(*it)).count();
    if TOKENS.iter().any(|(prefix, least)| word.starts_with(prefix) && whole >= prefix.len() + least) {
        return whole;
    }
    // A JSON Web Token: three parts, of which the first begins with `{"`.
    let parts: Vec<&str> = word.split('.').take(3).collect();
    match parts[..] {
        [head, body, signature] if head.starts_with("eyJ") && head.len() > 10 && body.len() > 4 => {
            head.len() + body.len() + signature.len() + 2
        }
        _ => 0,
    }
}

fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// As the query of a URL spells it.
fn percent(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_secret_that_was_used_is_in_no_text_in_none_of_its_spellings() {
        remember(&SecretValue::parse(r#"redact/me "twice""#.into()).unwrap());
        remember(&SecretValue::parse("redact/me".into()).unwrap());
        for (text, expected) in [
            (r#"a redact/me "twice" b"#, "a [secret] b"),
            (r#"{"a":"redact/me \"twice\""}"#, r#"{"a":"[secret]"}"#),
            ("?key=redact%2Fme%20%22twice%22&x", "?key=[secret]&x"),
            ("redact/meredact/me.", "[secret][secret]."),
            ("redact me", "redact me"),
        ] {
            assert_eq!(redact(text), expected);
        }
        let mut value = json!({"redact/me": ["x", "a redact/me"], "n": 1});
        redact_json(&mut value);
        assert_eq!(value, json!({"[secret]": ["x", "a [secret]"], "n": 1}));
    }

    #[test]
    fn a_number_that_is_a_secret_stays_valid_json() {
        remember(&SecretValue::parse("918273645546372819".into()).unwrap());
        let mut value: Value = serde_json::from_str(r#"{"n":918273645546372819,"m":2}"#).unwrap();
        redact_json(&mut value);
        assert_eq!(value.to_string(), r#"{"n":"[secret]","m":2}"#);
    }

    #[test]
    fn a_short_value_is_not_hidden_in_every_word() {
        remember(&SecretValue::parse("abc".into()).unwrap());
        assert_eq!(redact("the abc of it"), "the abc of it");
    }

    #[test]
    fn what_looks_like_a_token_is_left_out_where_nobody_knows_better() {
        let jwt = format!("ey{}.{}.{}", "JhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxIn0", "c2ln");
        let text = format!(
            "panicked: ghp_{}, key=sk-{}; AKIA{} {jwt}! and github_pat_{}",
            "a1".repeat(18),
            "proj-Ab_".repeat(3),
            "ABCD".repeat(4),
            "x".repeat(30)
        );
        assert_eq!(redact_tokens(&text), "panicked: [secret], key=[secret]; [secret] [secret]! and [secret]");
        for plain in ["task-oriented programming", "sk-learn", "src/ghp_x.rs:1:2", "eyJ.a.b", "é ghp_", "AKIA"] {
            assert_eq!(redact_tokens(plain), plain);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

        #[test]
        fn a_text_of_any_kind_is_read_to_its_end(text in "(ghp_|sk-|eyJ|[a-z0-9]{1,20}|[._ -]|\\PC){0,12}") {
            let redacted = redact_tokens(&text);
            prop_assert_eq!(redact_tokens(&redacted), redacted.clone());
        }
    }
}
