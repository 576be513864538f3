//! Tests of the spelling and the narrowing of origins.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&Origin::parse(text).map_or_else(|error| error.to_string(), |origin| origin.to_string()));
}

#[test]
fn every_spelling_of_an_origin_is_the_same_origin() {
    check("https://example.org", expect!["https://example.org"]);
    check("HTTPS://Example.ORG/", expect!["https://example.org"]);
    check("https://example.org:443", expect!["https://example.org"]);
    check("https://example.org.", expect!["https://example.org"]);
    check("https://example.org.:8443", expect!["https://example.org:8443"]);
    check("http://example.org:80", expect!["http://example.org"]);
    check("http://example.org:443", expect!["http://example.org:443"]);
    check("http://localhost:8080", expect!["http://localhost:8080"]);
    check("https://xn--bcher-kva.example", expect!["https://xn--bcher-kva.example"]);
    check("http://my_host", expect!["http://my_host"]);
}

#[test]
fn addresses_have_one_spelling() {
    check("http://127.0.0.1:8080", expect!["http://127.0.0.1:8080"]);
    check("http://[::1]", expect!["http://[::1]"]);
    check("http://[::1]:80", expect!["http://[::1]"]);
    check("https://[2001:DB8:0:0::1]:8443", expect!["https://[2001:db8::1]:8443"]);
    check("https://[::ffff:127.0.0.1]", expect!["https://[::ffff:127.0.0.1]"]);
    for text in [
        "http://127.1",
        "http://0x7f.0.0.1",
        "http://2130706433",
        "http://010.0.0.1",
        "http://1.2.3.4.5",
        "http://0x7f",
        "http://a.0x",
    ] {
        assert!(matches!(Origin::parse(text), Err(OriginError::V4(_))), "{text}");
    }
    check(
        "http://127.1",
        expect!["origin `http://127.1` has a wrong IPv4 address, expected four numbers such as `127.0.0.1`"],
    );
    for text in [
        "http://::1",
        "http://::1:80",
        "http://[::1",
        "http://[::g]",
        "http://[fe80::1%25eth0]",
        "http://[]",
        "http://[127.0.0.1]",
    ] {
        assert!(matches!(Origin::parse(text), Err(OriginError::V6(_))), "{text}");
    }
    check(
        "http://::1",
        expect!["origin `http://::1` has a wrong IPv6 address, expected one in brackets such as `[::1]`"],
    );
}

#[test]
fn wildcards_stand_alone_or_before_two_labels() {
    check("https://*", expect!["https://*"]);
    check("https://*:8443", expect!["https://*:8443"]);
    check("http://*", expect!["http://*"]);
    check("https://*.Example.org.", expect!["https://*.example.org"]);
    check("http://*.localhost:3000", expect!["http://*.localhost:3000"]);
    for text in [
        "https://*.com",
        "https://*.*.org",
        "https://a.*.org",
        "https://ex*.org",
        "https://**",
        "https://*.127.0.0.1",
        "https://*.org.",
    ] {
        assert!(matches!(Origin::parse(text), Err(OriginError::Wildcard(_))), "{text}");
    }
    check(
        "https://*.com",
        expect!["origin `https://*.com` has a wrong wildcard, expected `*.example.org`, or `*` alone for any host"],
    );
}

#[test]
fn what_is_more_or_less_than_an_origin_is_refused() {
    check("", expect!["origin `` has no known scheme, expected `https://` or `http://`"]);
    check("example.org", expect!["origin `example.org` has no known scheme, expected `https://` or `http://`"]);
    check(
        "ftp://example.org",
        expect!["origin `ftp://example.org` has no known scheme, expected `https://` or `http://`"],
    );
    check("*://example.org", expect!["origin `*://example.org` has no known scheme, expected `https://` or `http://`"]);
    check(
        "https://example.org/api",
        expect!["origin `https://example.org/api` has more than host and port, expected `scheme://host[:port]`"],
    );
    check(
        "https://example.org//",
        expect!["origin `https://example.org//` has more than host and port, expected `scheme://host[:port]`"],
    );
    check(
        "https://example.org?x",
        expect!["origin `https://example.org?x` has more than host and port, expected `scheme://host[:port]`"],
    );
    check(
        "https://a.org\\@b.org",
        expect![r"origin `https://a.org\@b.org` has more than host and port, expected `scheme://host[:port]`"],
    );
    check("https://me:pw@example.org", expect!["origin `https://me:pw@example.org` holds `@`, expected no user name"]);
    check(
        "https://example.org@evil.org",
        expect!["origin `https://example.org@evil.org` holds `@`, expected no user name"],
    );
    for text in [
        "https://",
        "https:///",
        "https://.",
        "https://a..b",
        "https://-a.org",
        "https://a-.org",
        "https://a b",
        "https:// a",
        "https://%65.org",
        "https://:443",
        "https://a\0.org",
    ] {
        assert!(matches!(Origin::parse(text), Err(OriginError::Name(_))), "{text:?}");
    }
    check("https://a\n.org", expect!["origin `https://a␊.org` has no valid host, expected one such as `example.org`"]);
    check(
        "https://bücher.example",
        expect!["origin `https://bücher.example` has a host beyond ASCII, expected its `xn--` form"],
    );
    for text in [
        "https://a.org:",
        "https://a.org:0",
        "https://a.org:65536",
        "https://a.org:+1",
        "https://a.org:0443",
        "https://a.org:*",
        "http://[::1]x",
        "http://[::1]:",
    ] {
        assert!(matches!(Origin::parse(text), Err(OriginError::Port(_))), "{text}");
    }
    check("https://a.org:0", expect!["origin `https://a.org:0` has a wrong port, expected a number from 1 to 65535"]);
    assert!(matches!(Origin::parse(&format!("https://{}", "a.".repeat(600))), Err(OriginError::TooLong(_))));
    assert!(matches!(Origin::parse(&format!("https://{}", "a.".repeat(130))), Err(OriginError::Name(_))));
    assert!(matches!(Origin::parse(&format!("https://{}.org", "a".repeat(64))), Err(OriginError::Name(_))));
}

#[test]
fn the_narrower_of_two_is_what_both_allow() {
    let cases = [
        ("https://a.org", "https://a.org", Some("https://a.org")),
        ("https://*", "https://a.org", Some("https://a.org")),
        ("https://*", "https://*.a.org", Some("https://*.a.org")),
        ("https://*", "https://[::1]", Some("https://[::1]")),
        ("https://*.a.org", "https://b.a.org", Some("https://b.a.org")),
        ("https://*.a.org", "https://*.b.a.org", Some("https://*.b.a.org")),
        ("https://*.a.org", "https://a.org", None),
        ("https://*.a.org", "https://ba.org", None),
        ("https://*.a.org", "https://*.ba.org", None),
        ("https://a.org", "http://a.org", None),
        ("https://*", "http://a.org", None),
        ("https://a.org:8080", "http://a.org:8080", None),
        ("https://*:8080", "http://a.org:8080", None),
        ("https://a.org", "https://a.org:8443", None),
        ("https://*", "https://a.org:8443", None),
        ("https://127.0.0.1", "https://[::ffff:127.0.0.1]", None),
    ];
    for (one, two, expected) in cases {
        let [one, two] = [one, two].map(|text| Origin::parse(text).unwrap());
        assert_eq!(one.narrow(&two).map(|origin| origin.to_string()).as_deref(), expected, "{one} {two}");
        assert_eq!(two.narrow(&one), one.narrow(&two), "{one} {two}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

    #[test]
    fn an_origin_reads_back_as_itself(text in prop_oneof![
        "(https?|HTTPS|ftp)://(\\*\\.)?[a-z0-9.*:@\\[\\]-]{0,14}(:[0-9]{0,6})?/?",
        ".{0,20}",
        "http://\\[[0-9a-f:.]{0,16}\\](:[0-9]{1,5})?",
    ]) {
        if let Ok(origin) = Origin::parse(&text) {
            prop_assert!(origin.contains(&origin));
            prop_assert_eq!(Origin::parse(&origin.to_string()), Ok(origin));
        }
    }
}
