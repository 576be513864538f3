//! Where secrets come from, in which order, and what is never said of them.

use super::*;

fn name(text: &str) -> VariableName {
    VariableName::parse(text).unwrap()
}

fn value(text: &str) -> SecretValue {
    SecretValue::parse(text.into()).unwrap()
}

fn secrets(index: Option<PathBuf>, keyring: Keyring) -> Secrets {
    let command = |words: &[&str]| Source::Command(words.iter().map(|it| (*it).to_owned()).collect());
    let sources = [
        (name("CONFIGURED"), Source::Variable("ELSEWHERE".into())),
        (name("UNSET"), Source::Variable("NOT_THERE".into())),
        (name("PRINTED"), command(&["printf", "printed-value\\n"])),
        (name("FAILING"), command(&["sh", "-c", "echo half-a-value; exit 3"])),
        (name("NO_PROGRAM"), command(&["/nowhere/at/all"])),
        (name("TWO_LINES"), command(&["printf", "one-value\\ntwo-value"])),
        (name("BINARY"), command(&["printf", "\\377\\376"])),
    ];
    let variables = [("ELSEWHERE".to_owned(), "value-elsewhere".to_owned()), ("PLAIN".into(), "value-plain".into())];
    Secrets::new(sources.into(), &variables, keyring, index)
}

#[tokio::test]
async fn a_secret_comes_from_what_the_configuration_names_else_the_keyring_else_the_variable() {
    let folder = tempfile::tempdir().unwrap();
    let it = secrets(Some(folder.path().join("state/secrets")), Keyring::Memory(Mutex::default()));
    let expose = async |text: &str| it.value(&name(text)).await.map(|it| it.expose().to_owned());
    assert_eq!(expose("CONFIGURED").await.unwrap(), "value-elsewhere");
    assert_eq!(expose("PRINTED").await.unwrap(), "printed-value");
    assert_eq!(expose("PLAIN").await.unwrap(), "value-plain");
    it.set(&name("PLAIN"), &value("value-stored")).unwrap();
    assert_eq!(expose("PLAIN").await.unwrap(), "value-stored", "a new value counts at once");
    assert_eq!(it.kept(&name("PLAIN")), Some(Kept::Keyring));
    assert!(it.delete(&name("PLAIN")).unwrap());
    assert!(!it.delete(&name("PLAIN")).unwrap());
    assert_eq!(it.kept(&name("PLAIN")), Some(Kept::Variable("PLAIN".into())));
}

#[tokio::test]
async fn a_source_that_fails_says_why_and_never_what_it_printed() {
    let it = secrets(None, Keyring::None);
    for (text, expected) in [
        ("UNSET", "secret `UNSET`: environment variable `NOT_THERE` is not set"),
        ("FAILING", "secret `FAILING`: `sh` failed (exit status: 3)"),
        ("NO_PROGRAM", "secret `NO_PROGRAM`: cannot run `/nowhere/at/all`: entity not found"),
        (
            "TWO_LINES",
            "secret `TWO_LINES`: the value has a line break or other characters that no header can carry, expected \
             visible ASCII",
        ),
        ("BINARY", "secret `BINARY`: `printf` printed no text of at most 16 KiB"),
        ("NOWHERE", "there is no secret `NOWHERE`"),
    ] {
        assert_eq!(it.value(&name(text)).await.unwrap_err().to_string(), expected);
    }
}

#[test]
fn without_a_keyring_nothing_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("secrets");
    let it = secrets(Some(index.clone()), Keyring::None);
    let error = it.set(&name("KEY"), &value("hunter2hunter2")).unwrap_err();
    assert_eq!(error.to_string(), "secret `KEY`: there is no keyring on this system");
    assert!(!index.exists());
}

#[test]
fn the_list_has_names_and_places_and_no_value() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("secrets");
    let it = secrets(Some(index.clone()), Keyring::Memory(Mutex::default()));
    it.set(&name("STORED"), &value("hunter2hunter2")).unwrap();
    let listed: Vec<String> = it.list().iter().map(|(name, kept)| format!("{name}: {kept}")).collect();
    assert_eq!(listed[1], "CONFIGURED: environment variable `ELSEWHERE`");
    assert_eq!(listed[5], "STORED: keyring");
    assert_eq!(std::fs::read_to_string(index).unwrap(), "STORED\n");
    assert!(!format!("{it:?}").contains("hunter2") && !format!("{it:?}").contains("value-"), "{it:?}");
}

#[test]
fn a_variable_that_holds_a_secret_is_known_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let it = secrets(Some(folder.path().join("secrets")), Keyring::Memory(Mutex::default()));
    it.set(&name("STORED"), &value("hunter2hunter2")).unwrap();
    for (text, expected) in [("CONFIGURED", true), ("ELSEWHERE", true), ("STORED", true), ("PLAIN", false)] {
        assert_eq!(it.is_variable_of_secret(&name(text)), expected, "{text}");
    }
}

#[tokio::test]
async fn many_at_once_read_a_secret_once() {
    let folder = tempfile::tempdir().unwrap();
    let counted = folder.path().join("count");
    let script = format!("echo x >> '{}'; echo once-value", counted.display());
    let source = Source::Command(vec!["sh".into(), "-c".into(), script]);
    let it = Secrets::new([(name("ONCE"), source)].into(), &[], Keyring::None, None);
    let once = name("ONCE");
    let read = futures_util::future::join_all((0..20).map(|_| it.value(&once))).await;
    assert!(read.iter().all(|it| it.as_ref().unwrap().expose() == "once-value"));
    assert_eq!(std::fs::read_to_string(counted).unwrap().lines().count(), 1);
}
