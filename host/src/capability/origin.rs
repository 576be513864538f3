//! Where requests may go: scheme, host and port, with `*.` for the hosts below one and `*` for any.
//! Separate because the text of an address is read in one place, and judged afterwards by its parts.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{MOST_BYTES, quoted};

/// A canonical `scheme://host[:port]`: host in lower case without a final dot, the port always known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    scheme: Scheme,
    host: Host,
    port: u16,
}

/// The protocols that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// In clear text; port 80.
    Http,
    /// Encrypted; port 443.
    Https,
}

/// The host of an [`Origin`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// `*`: any host. The user is asked for each.
    Any,
    /// `*.example.org`: the hosts below a name, without the name itself.
    Below(String),
    /// One name.
    Name(String),
    /// One IPv4 address.
    V4(Ipv4Addr),
    /// One IPv6 address, written in brackets.
    V6(Ipv6Addr),
}

/// Why a text is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OriginError {
    /// Longer than any origin.
    #[error("origin `{0}` is longer than {MOST_BYTES} bytes")]
    TooLong(String),
    /// No scheme, or another than these two.
    #[error("origin `{0}` has no known scheme, expected `https://` or `http://`")]
    Scheme(String),
    /// A user name or a password.
    #[error("origin `{0}` holds `@`, expected no user name")]
    User(String),
    /// Something after host and port.
    #[error("origin `{0}` has more than host and port, expected `scheme://host[:port]`")]
    Path(String),
    /// A port that is none.
    #[error("origin `{0}` has a wrong port, expected a number from 1 to 65535")]
    Port(String),
    /// `*` anywhere but alone or as the first label of a name with two more.
    #[error("origin `{0}` has a wrong wildcard, expected `*.example.org`, or `*` alone for any host")]
    Wildcard(String),
    /// A number that some resolvers take for an address.
    #[error("origin `{0}` has a wrong IPv4 address, expected four numbers such as `127.0.0.1`")]
    V4(String),
    /// Not an address, or without its brackets.
    #[error("origin `{0}` has a wrong IPv6 address, expected one in brackets such as `[::1]`")]
    V6(String),
    /// Letters beyond ASCII, which have more than one spelling.
    #[error("origin `{0}` has a host beyond ASCII, expected its `xn--` form")]
    Ascii(String),
    /// Not a host name.
    #[error("origin `{0}` has no valid host, expected one such as `example.org`")]
    Name(String),
}

impl Origin {
    /// Parses an origin as a manifest or `--grant` spells it. A single `/` at the end is dropped.
    pub fn parse(text: &str) -> Result<Origin, OriginError> {
        let refuse = |error: fn(String) -> OriginError| error(quoted(text));
        if text.len() > MOST_BYTES {
            return Err(refuse(OriginError::TooLong));
        }
        let (scheme, rest) = text.split_once("://").ok_or_else(|| refuse(OriginError::Scheme))?;
        let scheme = if scheme.eq_ignore_ascii_case("https") {
            Scheme::Https
        } else if scheme.eq_ignore_ascii_case("http") {
            Scheme::Http
        } else {
            return Err(refuse(OriginError::Scheme));
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['/', '?', '#', '\\']) {
            return Err(refuse(OriginError::Path));
        }
        if authority.contains('@') {
            return Err(refuse(OriginError::User));
        }
        let (host, port) = split_port(authority).map_err(refuse)?;
        let port = match port {
            Some(port) => parse_port(port).ok_or_else(|| refuse(OriginError::Port))?,
            None => scheme.default_port(),
        };
        let host = parse_host(host).map_err(refuse)?;
        Ok(Origin { scheme, host, port })
    }

    /// Returns the protocol.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the host or the pattern of hosts.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the same scheme and port at an address.
    pub fn at_address(&self, address: IpAddr) -> Origin {
        let host = match address {
            IpAddr::V4(address) => Host::V4(address),
            IpAddr::V6(address) => Host::V6(address),
        };
        Origin { host, ..self.clone() }
    }

    /// Whether every request that the other origin allows is allowed by this one.
    pub fn contains(&self, other: &Origin) -> bool {
        self.scheme == other.scheme && self.port == other.port && self.host.contains(&other.host)
    }

    /// Returns the narrower of the two when one contains the other.
    pub fn narrow(&self, other: &Origin) -> Option<Origin> {
        let narrower = if self.contains(other) { other } else { self };
        other.contains(narrower).then(|| narrower.clone())
    }
}

impl Scheme {
    /// Returns the port that goes without saying.
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }

    /// Returns the scheme as it is written before `://`.
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

impl Host {
    /// Whether this is one host, not a pattern.
    pub fn is_exact(&self) -> bool {
        match self {
            Host::Any | Host::Below(_) => false,
            Host::Name(_) | Host::V4(_) | Host::V6(_) => true,
        }
    }

    fn contains(&self, other: &Host) -> bool {
        match self {
            Host::Any => true,
            Host::Below(name) => match other {
                Host::Below(other) => other == name || is_below(other, name),
                Host::Name(other) => is_below(other, name),
                Host::Any | Host::V4(_) | Host::V6(_) => false,
            },
            Host::Name(_) | Host::V4(_) | Host::V6(_) => self == other,
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Any => f.write_str("*"),
            Host::Below(name) => write!(f, "*.{name}"),
            Host::Name(name) => f.write_str(name),
            Host::V4(address) => address.fmt(f),
            Host::V6(address) => write!(f, "[{address}]"),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host)?;
        if self.port != self.scheme.default_port() {
            write!(f, ":{}", self.port)?;
        }
        Ok(())
    }
}

type Refused = fn(String) -> OriginError;

fn is_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
}

/// Splits `host:port` and `[v6]:port`; the brackets stay on the host.
fn split_port(authority: &str) -> Result<(&str, Option<&str>), Refused> {
    let host_end = match authority.strip_prefix('[') {
        Some(inner) => inner.find(']').ok_or(OriginError::V6 as Refused)? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, rest) = authority.split_at(host_end);
    match rest.strip_prefix(':') {
        // `::1` without brackets.
        Some(port) if port.contains(':') => Err(OriginError::V6),
        Some(port) => Ok((host, Some(port))),
        None if rest.is_empty() => Ok((host, None)),
        None => Err(OriginError::Port),
    }
}

/// Digits only and without zeros before them: one port has one spelling.
fn parse_port(text: &str) -> Option<u16> {
    let canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    canonical.then(|| text.parse().ok()).flatten()
}

fn parse_host(text: &str) -> Result<Host, Refused> {
    if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inner.parse().map(Host::V6).map_err(|_| OriginError::V6 as Refused);
    }
    if !text.is_ascii() {
        return Err(OriginError::Ascii);
    }
    if text == "*" {
        return Ok(Host::Any);
    }
    let (below, name) = match text.strip_prefix("*.") {
        Some(name) => (true, name),
        None => (false, text),
    };
    if name.contains('*') {
        return Err(OriginError::Wildcard);
    }
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let last_label = name.rsplit('.').next().unwrap_or(&name);
    // As browsers do (WHATWG URL, "ends in a number"): `127.1`, `0x7f.1` and `2130706433` are addresses to some resolvers.
    let is_number = last_label.bytes().all(|byte| byte.is_ascii_digit())
        || last_label.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if is_number && !last_label.is_empty() {
        return match name.parse() {
            Ok(address) if !below => Ok(Host::V4(address)),
            Ok(_) => Err(OriginError::Wildcard),
            Err(_) => Err(OriginError::V4),
        };
    }
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Err(OriginError::Name);
    }
    // `*.com` would be any host without the question for each; `*.localhost` stays on this machine.
    if below && !name.contains('.') && name != "localhost" {
        return Err(OriginError::Wildcard);
    }
    Ok(if below { Host::Below(name) } else { Host::Name(name) })
}

/// Letters, digits, `-` and, as many names in use, `_`.
fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests;
