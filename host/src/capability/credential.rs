//! What a credential is made of: the name of a secret, where it may go, and the header that carries it.
//! Separate because a wrong header or origin here sends a key to a stranger.

use std::fmt;

use super::{Host, Origin, OriginError, quoted};

/// Longest name of a variable, a secret or a header, in bytes.
const MOST_NAME: usize = 128;

/// Longest text before a secret's value, in bytes; `Bearer ` has seven.
const MOST_PREFIX: usize = 64;

/// Headers that are about the connection, not about who asks: a credential never fills these in.
const NEVER: [&str; 10] = [
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A header that the host fills in on the way out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Credential {
    secret: VariableName,
    origin: Origin,
    header: String,
    prefix: String,
}

/// The name of an environment variable or of a stored secret: `[A-Za-z_][A-Za-z0-9_]*`, at most 128 bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableName(String);

/// Why a credential or a name cannot be asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// Not the name of a variable.
    #[error("`{0}` is no name of a variable or secret, expected letters, digits and `_` such as `ANTHROPIC_API_KEY`")]
    Name(String),
    /// The origin does not parse.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// A secret is never sent to just any host.
    #[error("a credential cannot be for any host, expected an origin such as `https://api.example.com`")]
    AnyHost,
    /// Not a header, or one about the connection.
    #[error("`{0}` cannot carry a credential, expected a header such as `authorization`")]
    Header(String),
    /// Something that cannot stand in a header.
    #[error(
        "`{0}` cannot stand before a credential, expected at most {MOST_PREFIX} ASCII characters such as `Bearer `"
    )]
    Prefix(String),
}

impl VariableName {
    /// Parses the name of a variable or a secret.
    pub fn parse(text: &str) -> Result<VariableName, CredentialError> {
        let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let rest = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if starts && rest && text.len() <= MOST_NAME {
            Ok(VariableName(text.to_owned()))
        } else {
            Err(CredentialError::Name(quoted(text)))
        }
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for VariableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Credential {
    /// Parses the four texts of a manifest.
    pub fn parse(secret: &str, origin: &str, header: &str, prefix: &str) -> Result<Credential, CredentialError> {
        let secret = VariableName::parse(secret)?;
        let origin = Origin::parse(origin)?;
        if *origin.host() == Host::Any {
            return Err(CredentialError::AnyHost);
        }
        let header_shown = quoted(header);
        let header = header.to_ascii_lowercase();
        // The `tchar` of RFC 9110, section 5.6.2.
        let is_token = !header.is_empty()
            && header.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
        if !is_token || header.len() > MOST_NAME || NEVER.contains(&&*header) || header.starts_with("proxy-") {
            return Err(CredentialError::Header(header_shown));
        }
        if prefix.len() > MOST_PREFIX || !prefix.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
            return Err(CredentialError::Prefix(quoted(prefix)));
        }
        Ok(Credential { secret, origin, header, prefix: prefix.to_owned() })
    }

    /// Returns the name under which the user stored the secret.
    pub fn secret(&self) -> &VariableName {
        &self.secret
    }

    /// Returns where requests go that get it.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the header, in lower case.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// Returns what stands before the secret's value.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the same credential for the narrower of its own origin and this one.
    pub fn at(&self, origin: &Origin) -> Option<Credential> {
        Some(Credential { origin: self.origin.narrow(origin)?, ..self.clone() })
    }

    /// Returns the same credential for another origin, which the user's own configuration names.
    ///
    /// None for a pattern of any host.
    pub fn moved_to(&self, origin: Origin) -> Option<Credential> {
        (*origin.host() != Host::Any).then(|| Credential { origin, ..self.clone() })
    }

    /// Returns what both allow: the same secret in the same header, at the narrower origin.
    pub fn narrow(&self, other: &Credential) -> Option<Credential> {
        let same = self.secret == other.secret && self.header == other.header && self.prefix == other.prefix;
        if same { self.at(&other.origin) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    #[track_caller]
    fn check(secret: &str, origin: &str, header: &str, prefix: &str, expected: Expect) {
        let shown = match Credential::parse(secret, origin, header, prefix) {
            Ok(it) => format!("{} {} {}: {}*", it.secret(), it.origin(), it.header(), it.prefix()),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_credential_has_a_secret_an_origin_and_a_header() {
        check("KEY", "https://a.org", "Authorization", "Bearer ", expect!["KEY https://a.org authorization: Bearer *"]);
        check("_k1", "http://127.0.0.1:8080", "x-api-key", "", expect!["_k1 http://127.0.0.1:8080 x-api-key: *"]);
        check("KEY", "https://*.a.org", "cookie", "s=", expect!["KEY https://*.a.org cookie: s=*"]);
    }

    #[test]
    fn what_could_go_to_a_stranger_is_refused() {
        check(
            "",
            "https://a.org",
            "a",
            "",
            expect![
                "`` is no name of a variable or secret, expected letters, digits and `_` such as `ANTHROPIC_API_KEY`"
            ],
        );
        check(
            "1K",
            "https://a.org",
            "a",
            "",
            expect![
                "`1K` is no name of a variable or secret, expected letters, digits and `_` such as `ANTHROPIC_API_KEY`"
            ],
        );
        check(
            "KEY",
            "https://*",
            "a",
            "",
            expect!["a credential cannot be for any host, expected an origin such as `https://api.example.com`"],
        );
        check("KEY", "a.org", "a", "", expect!["origin `a.org` has no known scheme, expected `https://` or `http://`"]);
        check(
            "KEY",
            "https://a.org",
            "Host",
            "",
            expect!["`Host` cannot carry a credential, expected a header such as `authorization`"],
        );
        check(
            "KEY",
            "https://a.org",
            "proxy-authorization",
            "",
            expect!["`proxy-authorization` cannot carry a credential, expected a header such as `authorization`"],
        );
        check(
            "KEY",
            "https://a.org",
            "",
            "",
            expect!["`` cannot carry a credential, expected a header such as `authorization`"],
        );
        check(
            "KEY",
            "https://a.org",
            "a b",
            "",
            expect!["`a b` cannot carry a credential, expected a header such as `authorization`"],
        );
        check(
            "KEY",
            "https://a.org",
            "x",
            "a\r\nb: ",
            expect![
                "`a␍␊b: ` cannot stand before a credential, expected at most 64 ASCII characters such as `Bearer `"
            ],
        );
        assert!(Credential::parse("KEY", "https://a.org", "x", &"b".repeat(64)).is_ok());
        assert!(Credential::parse("KEY", "https://a.org", "x", &"b".repeat(65)).is_err());
        for bad in ["a=b", "a b", "ä", "a\0", &"A".repeat(129)] {
            assert!(VariableName::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn only_the_same_secret_in_the_same_header_is_allowed_by_both() {
        let parse = |secret, origin, header, prefix| Credential::parse(secret, origin, header, prefix).unwrap();
        let wide = parse("KEY", "https://*.a.org", "authorization", "Bearer ");
        let one = parse("KEY", "https://b.a.org", "Authorization", "Bearer ");
        assert_eq!(wide.narrow(&one), Some(one.clone()));
        assert_eq!(one.narrow(&wide), Some(one.clone()));
        assert_eq!(one.narrow(&parse("OTHER", "https://b.a.org", "authorization", "Bearer ")), None);
        assert_eq!(one.narrow(&parse("KEY", "https://b.a.org", "x-key", "Bearer ")), None);
        assert_eq!(one.narrow(&parse("KEY", "https://b.a.org", "authorization", "")), None);
        assert_eq!(one.narrow(&parse("KEY", "http://b.a.org", "authorization", "Bearer ")), None);
        let elsewhere = Origin::parse("http://10.0.0.5:8000").unwrap();
        assert_eq!(one.moved_to(elsewhere.clone()).map(|it| it.origin().clone()), Some(elsewhere));
        assert_eq!(one.moved_to(Origin::parse("https://*").unwrap()), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

        #[test]
        fn a_credential_is_a_name_and_one_header_line(
            secret in "[A-Z_][A-Z0-9_-]{0,4}|.{0,4}",
            header in "[A-Za-z-]{1,8}|.{0,8}",
            prefix in "[A-Za-z =]{0,8}|.{0,8}",
        ) {
            if let Ok(it) = Credential::parse(&secret, "https://a.org", &header, &prefix) {
                let line = format!("{}: {}", it.header(), it.prefix());
                prop_assert!(line.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()), "{line:?}");
                prop_assert_eq!(VariableName::parse(it.secret().as_str()), Ok(it.secret().clone()));
                prop_assert_eq!(it.narrow(&it), Some(it.clone()));
            }
        }
    }
}
