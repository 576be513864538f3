//! Whether a request may go out, decided on what is then sent.
//!
//! Apart from sending, because these are pure functions of the grants and the request.

use http::header::{HeaderMap, HeaderName};
use http::{Method, Request};
use reqwest::Url;
use wasmtime_wasi_http::{Error, WasiBody};

use crate::capability::{GrantSet, Host, Origin, Reach, Scheme, special};

/// Where a request goes: judged as `origin`, sent as `url`, which was made from it.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub origin: Origin,
    pub url: Url,
}

/// Which addresses a request may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    /// Those of the internet at large.
    Public,
    /// Those of this machine and its network as well: the grant names scheme, host and port.
    Named,
}

/// Why a request does not go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum No {
    /// No grant covers it.
    Denied,
    /// Only a grant for any host covers it: the person decides.
    Ask,
    /// The host is an address of this kind, which no grant names.
    Special(&'static str),
}

/// Top-level names that nobody can register, so that no stranger decides where they lead (RFC 6761, RFC 6762, RFC 8375,
/// and what ICANN keeps for private use or does not delegate). A name without a dot is one of these, too.
const LOCAL: [&str; 8] = ["localhost", "local", "internal", "home.arpa", "test", "lan", "home", "corp"];

/// About one connection, and not about the request.
const HOP_BY_HOP: [&str; 7] =
    ["connection", "http2-settings", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];

impl Target {
    /// Reads where a request goes. What is sent is written anew from what was read: two readers could disagree.
    pub(super) fn of(request: &Request<WasiBody>) -> Result<Target, Error> {
        // One opens a tunnel to anywhere, the other has a server show the headers that it got.
        if matches!(*request.method(), Method::CONNECT | Method::TRACE) {
            return Err(Error::HttpRequestMethodInvalid);
        }
        let uri = request.uri();
        let (scheme, authority) = uri.scheme_str().zip(uri.authority()).ok_or(Error::HttpRequestUriInvalid)?;
        let path = uri.path_and_query().map_or("/", |it| it.as_str());
        Target::parse(&format!("{scheme}://{authority}"), path).ok_or(Error::HttpRequestUriInvalid)
    }

    fn parse(origin: &str, path: &str) -> Option<Target> {
        let origin = Origin::parse(origin).ok().filter(|it| it.host().is_exact())?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let url = Url::parse(&format!("{origin}{slash}{path}")).ok()?;
        // The reader of the client agrees with ours.
        let read = Origin::parse(&format!("{}://{}", url.scheme(), url.authority())).ok();
        let is_same = read.as_ref() == Some(&origin) && url.username().is_empty() && url.password().is_none();
        is_same.then_some(Target { origin, url })
    }
}

/// Whether a request may go out, and to which addresses.
pub(super) fn judge(grants: &GrantSet, target: &Target) -> Result<Passage, No> {
    let reach = grants.may_reach(&target.origin);
    if reach == Reach::Never {
        return Err(No::Denied);
    }
    let is_named = grants.names(&target.origin);
    let address = match target.origin.host() {
        Host::V4(address) => Some((*address).into()),
        Host::V6(address) => Some((*address).into()),
        Host::Any | Host::Below(_) | Host::Name(_) => None,
    };
    if let Some(what) = address.and_then(special).filter(|_| !is_named) {
        return Err(No::Special(what));
    }
    if reach == Reach::Asking {
        return Err(No::Ask);
    }
    // The address that a name leads to is chosen by whoever owns the name. With TLS that gains nothing, as the server has to
    // prove the name. Without it, only an address or a name that nobody owns is as good as the grant that names it.
    let proves = address.is_some() || target.origin.scheme() == Scheme::Https || is_local(target.origin.host());
    Ok(if is_named && proves { Passage::Named } else { Passage::Public })
}

/// Whether a host is a name that no stranger can own.
pub(super) fn is_local(host: &Host) -> bool {
    let Host::Name(name) = host else { return false };
    !name.contains('.') || LOCAL.iter().any(|it| name.strip_suffix(it).is_some_and(|rest| rest.ends_with('.')))
}

/// Whether a host is this machine, whoever is asked.
pub(super) fn is_this_machine(host: &Host) -> bool {
    match host {
        Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::V4(address) => address.is_loopback(),
        Host::V6(address) => address.is_loopback(),
        Host::Any | Host::Below(_) => false,
    }
}

/// Drops what is about the guest's connection, which there is not. The client writes `host` from the address.
pub(super) fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let is_dropped = |name: &HeaderName| {
        name == http::header::HOST || name.as_str().starts_with("proxy-") || HOP_BY_HOP.contains(&name.as_str())
    };
    let dropped: Vec<HeaderName> = headers.keys().filter(|it| is_dropped(it)).cloned().collect();
    for name in dropped {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::{Capability, effective};
    use proptest::prelude::*;

    fn target(url: &str) -> Option<Target> {
        let rest = url.split_once("://").unwrap().1;
        let end = url.len() - rest.len() + rest.find('/').unwrap_or(rest.len());
        Target::parse(&url[..end], &url[end..])
    }

    #[track_caller]
    fn check(granted: &[&str], url: &str, expected: Result<Passage, No>) {
        let granted: Vec<_> = granted.iter().map(|it| Capability::Http(Origin::parse(it).unwrap())).collect();
        let target = target(url).unwrap_or_else(|| panic!("{url} is read"));
        assert_eq!(judge(&effective(&granted, &granted), &target), expected, "{granted:?} {url}");
    }

    #[test]
    fn scheme_host_and_port_count_each() {
        let granted = ["https://api.example.com", "http://127.0.0.1:8080", "https://*.example.org:8443"];
        check(&granted, "https://api.example.com/v1?x=1", Ok(Passage::Named));
        check(&granted, "https://API.example.com.:443/", Ok(Passage::Named));
        check(&granted, "http://127.0.0.1:8080/", Ok(Passage::Named));
        check(&granted, "https://a.example.org:8443/", Ok(Passage::Public));
        for denied in [
            "http://api.example.com/",
            "https://api.example.com:444/",
            "https://example.com/",
            "https://api.example.com.evil.org/",
            "http://127.0.0.1:8081/",
            "https://127.0.0.1:8080/",
            "http://[::1]:8080/",
            "http://[::ffff:127.0.0.1]:8080/",
            "https://example.org:8443/",
            "https://a.example.org/",
        ] {
            check(&granted, denied, Err(No::Denied));
        }
    }

    #[test]
    fn what_the_plugin_names_is_not_named_by_a_grant_for_any_host() {
        let origin = |text: &str| Capability::Http(Origin::parse(text).unwrap());
        let asked = [origin("http://*"), origin("http://127.0.0.1"), origin("http://a.org")];
        let grants = effective(&asked, &[origin("http://*")]);
        assert_eq!(judge(&grants, &target("http://127.0.0.1/").unwrap()), Err(No::Special("loopback")));
        assert_eq!(judge(&grants, &target("http://a.org/").unwrap()), Err(No::Ask));
    }

    #[test]
    fn an_address_of_this_machine_or_network_needs_a_grant_of_its_own() {
        let any = ["https://*", "http://*", "http://*:8080"];
        check(&any, "http://127.0.0.1/", Err(No::Special("loopback")));
        check(&any, "http://[::1]/", Err(No::Special("loopback")));
        check(&any, "http://[::ffff:10.0.0.1]:8080/", Err(No::Special("private")));
        check(&any, "http://169.254.169.254/", Err(No::Special("cloud metadata")));
        check(&any, "https://example.com/", Err(No::Ask));
        check(&any, "http://1.1.1.1/", Err(No::Ask));
        check(&["http://*", "http://[::1]"], "http://[::1]/", Ok(Passage::Named));
        check(&["http://*", "http://*.example.org"], "http://a.example.org/", Ok(Passage::Public));
        check(&["http://*:8080", "http://127.0.0.1"], "http://127.0.0.1:8080/", Err(No::Special("loopback")));
    }

    #[test]
    fn a_name_of_a_stranger_leads_to_no_private_address_without_tls() {
        check(&["http://api.example.com"], "http://api.example.com/", Ok(Passage::Public));
        check(&["https://api.example.com"], "https://api.example.com/", Ok(Passage::Named));
        for local in ["localhost:3000", "intranet", "printer.local", "db.corp:9200", "a.b.internal", "x.home.arpa"] {
            let origin = format!("http://{local}");
            check(&[&origin], &origin, Ok(Passage::Named));
        }
        check(&["http://notlocalhost.com"], "http://notlocalhost.com/", Ok(Passage::Public));
        check(&["http://evil-local.org"], "http://evil-local.org/", Ok(Passage::Public));
    }

    #[test]
    fn what_is_sent_is_what_was_judged() {
        for (url, sent) in [
            ("https://EXAMPLE.com.:443/a b", None),
            ("https://EXAMPLE.com.:443/a%20b?q=%2e", Some("https://example.com/a%20b?q=%2e")),
            ("http://[0:0:0:0:0:0:0:1]:80/", Some("http://[::1]/")),
            ("http://2130706433/", None),
            ("http://0x7f.1/", None),
            ("http://127.1/", None),
            ("http://user@example.com/", None),
            ("http://example.com%00.evil.org/", None),
            ("http://*.example.com/", None),
            ("http://exämple.com/", None),
            ("ftp://example.com/", None),
        ] {
            let uri = url.parse::<http::Uri>();
            let read = uri.ok().and_then(|_| target(url)).map(|it| it.url.to_string());
            assert_eq!(read.as_deref(), sent, "{url}");
        }
    }

    #[test]
    fn headers_about_a_connection_are_dropped() {
        let mut headers = HeaderMap::new();
        for name in ["host", "te", "connection", "proxy-authorization", "proxy-x", "accept", "x-a"] {
            headers.append(HeaderName::from_static(name), http::HeaderValue::from_static("v"));
        }
        drop_hop_by_hop(&mut headers);
        let mut left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["accept", "x-a"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

        #[test]
        fn whatever_is_read_is_sent_to_what_was_judged(
            host in "(\\[|a|1|0x|%|\\.|:|::|\\]|@|localhost|127|ffff|-|\\*|\\PC){1,8}",
            path in "(/|\\.\\.|\\?|#|@|\\\\|:|a|%2f|\\PC){0,8}",
        ) {
            if let Some(target) = Target::parse(&format!("http://{host}"), &path) {
                prop_assert!(target.origin.host().is_exact());
                let sent = format!("{}://{}", target.url.scheme(), target.url.authority());
                prop_assert_eq!(Origin::parse(&sent).unwrap(), target.origin);
            }
        }
    }
}
