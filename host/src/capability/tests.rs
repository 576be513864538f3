//! Tests of capabilities, grants, and of what is left of both.

use super::*;
use expect_test::expect;
use proptest::prelude::*;

/// Parses capabilities written as grants, and `credential=NAME@ORIGIN` with the header `authorization`.
fn capabilities(texts: &[&str]) -> Vec<Capability> {
    let parse = |text: &str| match Grant::parse(text).unwrap() {
        Grant::One(capability) => capability,
        Grant::Secret(secret, origin) => {
            let origin = origin.unwrap().to_string();
            Capability::Credential(Credential::parse(secret.as_str(), &origin, "authorization", "Bearer ").unwrap())
        }
        Grant::Every(kind) => panic!("{kind} needs a value"),
    };
    texts.iter().map(|text| parse(text)).collect()
}

fn grants(texts: &[&str]) -> Grants {
    let mut grants = Grants::default();
    texts.iter().for_each(|text| grants.add(Grant::parse(text).unwrap()));
    grants
}

#[track_caller]
fn check(asked: &[&str], granted: &[&str], expected: &[&str]) {
    let set = grants(granted).effective(&capabilities(asked));
    let spelled: Vec<String> = set.iter().map(|it| Grant::from(it).to_string()).collect();
    assert_eq!(spelled, expected);
}

#[test]
fn nothing_is_allowed_that_was_not_asked_and_granted() {
    check(&[], &["read=.", "model", "http"], &[]);
    check(&["read=.", "model", "call-tool=*"], &[], &[]);
    check(&["read=."], &["run=*", "http=https://*", "conversation"], &[]);
    check(&["model"], &["conversation", "session-control"], &[]);
    check(&["env=HOME"], &["env=PATH"], &[]);
}

#[test]
fn a_grant_narrows_what_was_asked_and_never_widens_it() {
    check(&["read=."], &["read=src"], &["read=src"]);
    check(&["read=src"], &["read=."], &["read=src"]);
    check(&["write=."], &["read=src"], &["read=src"]);
    check(&["read=src"], &["write=."], &["read=src"]);
    check(&["write=~/a/b"], &["write=~/a"], &["write=~/a/b"]);
    check(&["read=."], &["read=~/a"], &[]);
    check(&["http=https://*"], &["http=https://*.a.org"], &["http=https://*.a.org"]);
    check(&["http=https://a.org"], &["http=http://a.org"], &[]);
    check(&["run=cargo *"], &["run=cargo test *", "run=git *"], &["run=cargo test *"]);
    check(&["call-tool=*"], &["call-tool=read"], &["call-tool=read"]);
    check(&["call-tool=read", "call-tool=list"], &["call-tool=*"], &["call-tool=list", "call-tool=read"]);
}

#[test]
fn a_kind_alone_grants_what_was_asked_of_it() {
    check(
        &["http=https://a.org", "http=https://b.org", "read=."],
        &["http"],
        &["http=https://a.org", "http=https://b.org"],
    );
    check(&["write=src"], &["read"], &[]);
    check(&["write=src", "read=."], &["write", "read"], &["read=.", "write=src"]);
    check(&["conversation"], &["conversation"], &["conversation"]);
}

#[test]
fn a_secret_is_granted_by_name_and_for_an_origin() {
    let asked = ["credential=KEY@https://a.org", "credential=KEY@https://b.org", "credential=OTHER@https://a.org"];
    check(&asked, &["credential=KEY"], &["credential=KEY@https://a.org", "credential=KEY@https://b.org"]);
    check(&asked, &["credential=KEY@https://b.org"], &["credential=KEY@https://b.org"]);
    check(&asked, &["credential=KEY@https://c.org", "credential=NONE"], &[]);
    check(
        &["credential=KEY@https://*.a.org"],
        &["credential=KEY@https://x.a.org"],
        &["credential=KEY@https://x.a.org"],
    );
    check(&["http=https://a.org"], &["credential=KEY@https://a.org"], &[]);
}

#[test]
fn the_set_holds_nothing_twice() {
    check(&["read=.", "read=src", "write=src/bin"], &["write=."], &["read=.", "write=src/bin"]);
    check(&["write=.", "read=src", "read=~/a", "write=~/a"], &["read", "write"], &["write=.", "write=~/a"]);
    check(&["read=.", "read=./"], &["read"], &["read=."]);
    check(&["http=https://*", "http=https://a.org"], &["http"], &["http=https://*"]);
    check(&["run=*", "run=git *"], &["run"], &["run=*"]);
}

#[test]
fn the_set_answers_what_the_host_asks() {
    let asked = capabilities(&[
        "read=.",
        "write=src",
        "call-tool=read",
        "env=HOME",
        "model",
        "run=git *",
        "credential=KEY@https://a.org",
    ]);
    let set = effective(&asked, &asked);
    let folders: Vec<_> = set.folders().map(|(folder, mode)| (folder.to_string(), mode)).collect();
    assert_eq!(folders, [(".".to_owned(), Mode::Read), ("src".to_owned(), Mode::Write)]);
    assert!(set.may_call("read") && !set.may_call("open") && set.may_call_some());
    assert!(set.has_model() && !set.has_conversation() && !set.has_session_control());
    assert_eq!(set.env_names().collect::<Vec<_>>(), ["HOME"]);
    assert_eq!((set.commands().count(), set.credentials().count(), set.origins().count()), (1, 1, 0));
    assert!(set.can_act() && !set.is_empty());
    let empty = GrantSet::default();
    assert!(empty.is_empty() && !empty.can_act() && !empty.may_call("read") && !empty.may_call_some());
}

#[test]
fn only_what_writes_runs_spends_or_sends_asks_for_approval() {
    for (texts, acts) in [
        (&["read=."][..], false),
        (&["call-tool=*", "env=HOME", "conversation"], false),
        (&["write=src"], true),
        (&["http=https://a.org"], true),
        (&["run=ls"], true),
        (&["model"], true),
        (&["session-control"], true),
    ] {
        let asked = capabilities(texts);
        assert_eq!(effective(&asked, &asked).can_act(), acts, "{texts:?}");
    }
}

#[test]
fn a_right_for_any_host_asks_and_one_for_a_named_host_does_not() {
    let set = |texts| effective(&capabilities(texts), &capabilities(texts));
    let reach = |set: &GrantSet, target| set.may_reach(&Origin::parse(target).unwrap());
    let any = set(&["http=https://*"]);
    assert_eq!(reach(&any, "https://a.org"), Reach::Asking);
    assert_eq!(reach(&any, "http://a.org"), Reach::Never);
    assert_eq!(reach(&any, "https://a.org:8443"), Reach::Never);
    assert_eq!(reach(&any, "https://*.a.org"), Reach::Never);
    let named = set(&["http=https://*.a.org", "http=http://[::1]:80"]);
    assert_eq!(reach(&named, "https://b.a.org."), Reach::Freely);
    assert_eq!(reach(&named, "https://a.org"), Reach::Never);
    assert_eq!(reach(&named, "http://[0:0::1]"), Reach::Freely);
    assert_eq!(reach(&GrantSet::default(), "https://a.org"), Reach::Never);
}

#[test]
fn a_capability_is_said_in_plain_words() {
    let said = |text| capabilities(&[text])[0].to_string();
    let all = [
        "read=.",
        "read=src",
        "write=~/notes",
        "http=https://example.org",
        "http=https://*.example.org",
        "http=https://*",
        "credential=KEY@https://a.org",
        "run=cargo *",
        "run=*",
        "call-tool=read",
        "call-tool=*",
        "env=HOME",
        "conversation",
        "model",
        "session-control",
    ];
    expect![[r#"
        read files in the workspace
        read files in `src` of the workspace
        read and write files in `~/notes`
        send requests to https://example.org
        send requests to all hosts below example.org (https://*.example.org)
        send requests to any host (https://*), after a question for each
        have `KEY` added to requests to https://a.org as `authorization`
        run `cargo *`
        run any program
        call the tool `read`
        call all other tools
        read the environment variable `HOME`
        read and change the conversation
        ask the model, run sub-agents and switch the provider
        end or reload the session and run slash commands"#]]
    .assert_eq(&all.map(said).join("\n"));
}

#[test]
fn what_a_manifest_says_is_checked_by_kind() {
    assert_eq!(Capability::parse(Kind::Model, ""), Ok(Capability::Model));
    assert_eq!(Capability::parse(Kind::Read, "./"), Ok(Capability::Read(Folder::workspace())));
    assert_eq!(Capability::parse(Kind::Credential, "KEY"), Err(CapabilityError::Parts));
    for kind in Kind::ALL {
        assert!(Capability::parse(kind, "a\0b").is_err(), "{kind}");
        assert!(Capability::parse(kind, &"a".repeat(5000)).is_err(), "{kind}");
    }
}

/// A capability of few enough values that two often meet.
fn any_capability() -> impl Strategy<Value = Capability> {
    let spelled = prop::sample::select(vec![
        "read=.",
        "read=a",
        "read=a/b",
        "read=~/a",
        "write=.",
        "write=a",
        "write=a/b",
        "write=c",
        "http=https://*",
        "http=https://*.a.org",
        "http=https://b.a.org",
        "http=https://*.b.a.org",
        "http=http://b.a.org",
        "run=*",
        "run=a *",
        "run=a b",
        "run=a b *",
        "run=a",
        "call-tool=*",
        "call-tool=a",
        "env=A",
        "model",
        "conversation",
        "credential=A@https://*.a.org",
        "credential=A@https://b.a.org",
        "credential=B@https://b.a.org",
    ]);
    spelled.prop_map(|text| capabilities(&[text]).remove(0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

    #[test]
    fn an_effective_right_is_one_that_both_sides_hold(
        asked in prop::collection::vec(any_capability(), 0..6),
        granted in prop::collection::vec(any_capability(), 0..6),
        probe in any_capability(),
    ) {
        let set = effective(&asked, &granted);
        let held = |list: &[Capability]| list.iter().any(|it| it.covers(&probe));
        prop_assert_eq!(set.allows(&probe), held(&asked) && held(&granted));
            prop_assert!(set.iter().eq(effective(&granted, &asked).iter()));
        for (place, one) in set.iter().enumerate() {
            prop_assert!(set.iter().enumerate().all(|(other, it)| other == place || !it.covers(one)), "{one} is there twice");
        }
    }
}
