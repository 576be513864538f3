//! Tests of how grants are spelled and stored.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

#[track_caller]
fn check_flag(text: &str, expected: Expect) {
    let shown = Grant::parse_flag(text).map_or_else(|error| error.to_string(), |(plugin, grant)| grant.flag(&plugin));
    expected.assert_eq(&shown);
}

#[test]
fn a_flag_names_plugin_kind_and_value() {
    check_flag("web:http=https://Example.org:443/", expect!["--grant web:http=https://example.org"]);
    check_flag("web:http=https://[::1]:8080", expect!["--grant 'web:http=https://[::1]:8080'"]);
    check_flag("shell:run=cargo *", expect!["--grant 'shell:run=cargo *'"]);
    check_flag("shell:run=env --a=b", expect!["--grant 'shell:run=env --a=b'"]);
    check_flag("files:read=it's", expect![r"--grant 'files:read=it'\''s'"]);
    check_flag("files:read=~/a", expect!["--grant 'files:read=~/a'"]);
    check_flag("session:conversation", expect!["--grant session:conversation"]);
    check_flag("files:read", expect!["--grant files:read"]);
    check_flag("ai:credential=KEY", expect!["--grant ai:credential=KEY"]);
    check_flag("ai:credential=KEY@https://a.org", expect!["--grant ai:credential=KEY@https://a.org"]);
}

#[test]
fn a_wrong_flag_says_what_was_expected() {
    check_flag("", expect!["`` names no plugin, expected `PLUGIN:KIND=VALUE` such as `web:http=https://example.org`"]);
    check_flag(
        "http=https://a.org",
        expect![
            "`http=https://a.org` names no plugin, expected `PLUGIN:KIND=VALUE` such as `web:http=https://example.org`"
        ],
    );
    check_flag(
        "Web:read",
        expect![
            "`Web` is no name of a plugin: expected a lower-case letter, then up to 63 lower-case letters, digits or `-`"
        ],
    );
    check_flag(
        "web:net=x",
        expect![
            "unknown kind of grant `net`, expected `read`, `write`, `http`, `credential`, `run`, `call-tool`, `env`, `conversation`, `model` or `session-control`"
        ],
    );
    check_flag(
        "web:\x1b[2J",
        expect![
            "unknown kind of grant `␛[2J`, expected `read`, `write`, `http`, `credential`, `run`, `call-tool`, `env`, `conversation`, `model` or `session-control`"
        ],
    );
    check_flag("web:model=x", expect!["`model` takes no value, got `x`"]);
    check_flag("web:read=", expect!["the folder is empty, the workspace is `.`"]);
    check_flag("web:http=", expect!["origin `` has no known scheme, expected `https://` or `http://`"]);
    check_flag(
        "web:credential=KEY@https://*",
        expect!["a credential cannot be for any host, expected an origin such as `https://api.example.com`"],
    );
}

#[test]
fn grants_are_stored_as_they_are_spelled() {
    let mut grants = Grants::default();
    for text in ["http=https://a.org", "read", "read", "credential=KEY@https://a.org"] {
        grants.add(Grant::parse(text).unwrap());
    }
    let json = serde_json::to_string(&grants).unwrap();
    assert_eq!(json, r#"["http=https://a.org","read","credential=KEY@https://a.org"]"#);
    assert_eq!(serde_json::from_str::<Grants>(&json).unwrap(), grants);
    assert!(serde_json::from_str::<Grants>(r#"["net"]"#).is_err());
    assert!(grants.remove(&Grant::Every(Kind::Read)) && !grants.remove(&Grant::Every(Kind::Read)));
    assert_eq!(grants.iter().count(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

    #[test]
    fn a_grant_reads_back_as_itself(text in prop_oneof![
        "(read|write|http|credential|run|call-tool|env|conversation|model|session-control)(=[a-zA-Z0-9 ~./:@*'-]{0,16})?",
        ".{0,20}",
    ]) {
        if let Ok(grant) = Grant::parse(&text) {
            let again = Grant::parse(&grant.to_string());
            prop_assert_eq!(again.as_ref(), Ok(&grant));
            let plugin = PluginName::try_from("p".to_owned()).unwrap();
            prop_assert!(grant.flag(&plugin).starts_with("--grant "));
            prop_assert_eq!(Grant::parse_flag(&format!("p:{grant}")), Ok((plugin, grant)));
        }
        let _ = Grant::parse_flag(&text);
    }
}
