//! The pages beside the README: what they name is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_test_that_a_page_names_exists() {
    let tests = tests();
    let mut missing = Vec::new();
    let mut named = 0;
    for page in fs::read_dir(root().join("docs")).unwrap().map(|it| it.unwrap().path()) {
        let text = fs::read_to_string(&page).unwrap();
        for name in text.split('`').skip(1).step_by(2).filter(|it| it.contains("::") && !it.contains(' ')) {
            named += 1;
            if !tests.contains(name) {
                missing.push(format!("{}: {name}", page.display()));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    assert!(named > 20, "{named}");
}

/// All tests of this folder, with their modules.
fn tests() -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    let mut folders = vec![root().join("tests")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let module = path.strip_prefix(root().join("tests")).unwrap().with_extension("");
            let module = module.to_string_lossy().replace('/', "::");
            let text = fs::read_to_string(&path).unwrap_or_default();
            let functions = text.lines().filter_map(|it| it.split("fn ").nth(1)?.split('(').next());
            tests.extend(functions.map(|it| format!("{module}::{it}")));
        }
    }
    tests
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}
