//! Tests of the user's decisions: what is kept, for what, and what is said of mistakes in the file.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn subject(hash: char, origin: &str) -> Subject {
    Subject {
        name: PluginName::try_from("web".to_owned()).unwrap(),
        origin: origin.into(),
        sha256: hash.to_string().repeat(64),
        file: (origin == "project").then(|| "/work/.agents/plugins/web.wasm".into()),
    }
}

fn grants(texts: &[&str]) -> Grants {
    let mut grants = Grants::default();
    texts.iter().for_each(|it| grants.add(Grant::parse(it).unwrap()));
    grants
}

fn about<'a>(version: &'a str, asked: &'a [Capability]) -> About<'a> {
    About { version, asked }
}

#[test]
fn what_is_granted_always_is_there_for_the_next_process_and_for_this_content_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/grants.toml");
    let book = GrantBook::open(Some(file.clone())).unwrap();
    let asked = [Capability::Model];
    book.grant(&subject('a', "user"), about("1.0.0", &asked), &grants(&["model"]), Keep::Always).unwrap();
    let next = GrantBook::open(Some(file.clone())).unwrap();
    assert_eq!(next.decision(&subject('a', "user")), Decision::Granted(grants(&["model"])));
    assert_eq!(next.decision(&subject('b', "user")), Decision::Open, "another content");
    assert_eq!(next.decision(&subject('a', "project")), Decision::Open, "another place");
    assert_eq!(next.earlier(&subject('b', "user")).unwrap().version, "1.0.0");
    expect![[r#"
        # What you trusted and granted. `bellglass plugin trust`, `grant` and `revoke` write this file.

        [[grant]]
        plugin = "web"
        origin = "user"
        sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        version = "1.0.0"
        asked = ["ask the model, run sub-agents and switch the provider"]
        grants = ["model"]
    "#]]
    .assert_eq(&std::fs::read_to_string(file).unwrap());
}

#[test]
fn a_session_grant_ends_with_the_session_and_a_no_is_undone_by_a_grant() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("grants.toml");
    let book = GrantBook::open(Some(file.clone())).unwrap();
    let it = subject('a', "user");
    book.refuse(&it);
    assert_eq!(book.decision(&it), Decision::Refused);
    book.grant(&it, about("1", &[]), &grants(&["read=."]), Keep::Session).unwrap();
    assert_eq!(book.decision(&it), Decision::Granted(grants(&["read=."])));
    assert!(!file.exists());
}

#[test]
fn a_new_version_replaces_what_was_kept_for_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let book = GrantBook::open(Some(folder.path().join("grants.toml"))).unwrap();
    let keep = |hash, text| {
        book.grant(&subject(hash, "user"), about("1", &[]), &grants(&[text]), Keep::Always).unwrap();
    };
    keep('a', "read=.");
    keep('a', "model");
    keep('b', "read=src");
    assert_eq!(book.stored().entries.len(), 1);
    assert_eq!(book.decision(&subject('a', "user")), Decision::Open);
    assert_eq!(book.decision(&subject('b', "user")), Decision::Granted(grants(&["read=src"])));
}

#[test]
fn trust_is_for_one_content_at_one_place() {
    let folder = tempfile::tempdir().unwrap();
    let book = GrantBook::open(Some(folder.path().join("grants.toml"))).unwrap();
    let (file, hash) = (Path::new("/work/.agents/plugins/x.wasm"), "a".repeat(64));
    book.refuse_trust(file, &hash);
    assert!(book.refuses(file, &hash) && !book.trusts(file, &hash));
    book.trust(file, &hash, Keep::Always).unwrap();
    assert!(book.trusts(file, &hash) && !book.refuses(file, &hash));
    assert!(!book.trusts(file, &"b".repeat(64)));
    assert!(!book.trusts(Path::new("/other/.agents/plugins/x.wasm"), &hash));
    assert_eq!(book.distrust(file).unwrap(), 1);
    assert!(!book.trusts(file, &hash));
}

#[test]
fn what_is_revoked_is_gone_from_the_session_and_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let book = GrantBook::open(Some(folder.path().join("grants.toml"))).unwrap();
    let (user, project) = (subject('a', "user"), subject('a', "project"));
    let name = user.name.clone();
    for it in [&user, &project] {
        book.grant(it, about("1", &[]), &grants(&["read=.", "model"]), Keep::Always).unwrap();
    }
    book.trust(project.file.as_deref().unwrap(), &project.sha256, Keep::Always).unwrap();
    assert_eq!(book.revoke(&name, &[Grant::parse("model").unwrap()]).unwrap(), 2);
    assert_eq!(book.decision(&user), Decision::Granted(grants(&["read=."])));
    assert_eq!(book.revoke(&name, &[]).unwrap(), 3, "two entries and the trust in a file");
    assert_eq!(book.decision(&user), Decision::Open);
    assert_eq!(book.stored(), Stored::default());
}

#[test]
fn two_processes_do_not_lose_each_others_grants() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("grants.toml");
    let writers: Vec<_> = (0..8_u8)
        .map(|n| {
            let file = file.clone();
            std::thread::spawn(move || {
                let book = GrantBook::open(Some(file)).unwrap();
                let path = format!("/work/{n}.wasm");
                book.trust(Path::new(&path), &"a".repeat(64), Keep::Always).unwrap();
            })
        })
        .collect();
    writers.into_iter().for_each(|it| it.join().unwrap());
    assert_eq!(GrantBook::open(Some(file)).unwrap().stored().trusted.len(), 8);
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&Stored::parse(text, "grants.toml").unwrap_err().to_string());
}

#[test]
fn each_mistake_is_told_with_its_place() {
    check("[[grant]", expect!["`grants.toml:1:9`: unclosed array table, expected `]`"]);
    check("[[grants]]", expect!["`grants.toml:1:3`: unknown key `grants`, expected `grant` or `trust`"]);
    check("grant = 1", expect!["`grants.toml:1:9`: `grant` is a whole number, expected a list of tables `[[grant]]`"]);
    check("[[trust]]\nfile = \"x\"", expect!["`grants.toml:2:8`: `trust.file`: expected an absolute path"]);
    check("[[trust]]\nfile = \"/x\"", expect!["`grants.toml:1:1`: `trust.sha256`: it is missing"]);
    check(
        "[[trust]]\nsha256 = \"ABC\"",
        expect!["`grants.toml:2:10`: `trust.sha256`: expected 64 hexadecimal digits, as `sha256sum` prints them"],
    );
    check(
        "[[grant]]\nplugin = \"Web\"",
        expect![
            "`grants.toml:2:10`: `grant.plugin`: `Web` is no name of a plugin: expected a lower-case letter, then up to 63 lower-case letters, digits or `-`"
        ],
    );
    check(
        "[[grant]]\norigin = \"moon\"",
        expect!["`grants.toml:2:10`: `grant.origin` is `moon`, expected `flag`, `project` or `user`"],
    );
    check(
        "[[grant]]\ngrants = [\"rad=.\"]",
        expect![
            "`grants.toml:2:11`: `grant.grants`: unknown kind of grant `rad`, expected `read`, `write`, `http`, `credential`, `run`, `call-tool`, `env`, `conversation`, `model` or `session-control`"
        ],
    );
    check(
        "[[grant]]\ngrants = [\"read=/etc\"]",
        expect![
            "`grants.toml:2:11`: `grant.grants`: folder `/etc` is absolute, expected one below the workspace or `~/`"
        ],
    );
    check(
        "[[grant]]\nhash = 1",
        expect![
            "`grants.toml:2:1`: unknown key `hash` in `grant`, expected `asked`, `file`, `grants`, `origin`, `plugin`, `sha256` or `version`"
        ],
    );
}

#[test]
fn a_broken_file_is_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("grants.toml");
    let book = GrantBook::open(Some(file.clone())).unwrap();
    std::fs::write(&file, "[[grant]]\nplugin = 5\n").unwrap();
    assert!(book.refresh().is_err());
    assert!(book.trust(Path::new("/x"), &"a".repeat(64), Keep::Always).is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[[grant]]\nplugin = 5\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

    #[test]
    fn what_is_written_reads_back(version in ".{0,12}", path in "/.{0,12}", asked in prop::collection::vec(".{0,8}", 0..3)) {
        let mut it = subject('c', "project");
        it.file = Some(PathBuf::from(&path));
        let entry = Entry { subject: it, version, asked, grants: grants(&["run=cargo *", "credential=KEY@https://a.org"]) };
        let trust = Trust { file: path.into(), sha256: "d".repeat(64) };
        let stored = Stored { trusted: vec![trust], entries: vec![entry] };
        prop_assert_eq!(Stored::parse(&stored.to_toml(), "grants.toml").unwrap(), stored);
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_place(
        text in prop::collection::vec(prop::sample::select(vec![
            "[[grant]]", "[[trust]]", "\n", "plugin", "origin", "sha256", "file", "grants", "asked", "=", "\"", "web", "[", "]",
            "user", "{", "}", ",", "#", "'", "\\u0000", "1", "é", "\u{feff}", "read=.",
        ]), 0..24).prop_map(|it| it.concat()),
    ) {
        if let Err(error) = Stored::parse(&text, "grants.toml") {
            prop_assert!(error.to_string().starts_with("`grants.toml:"), "{}", error);
        }
    }
}
