//! A folder of the workspace or of the user's home, as a plugin may ask for it.
//! Separate because its spelling decides what is opened: it is made canonical here, once.

use std::fmt;

use super::{MOST_BYTES, is_protected, quoted, same_name};

/// A folder and all below it, by its canonical spelling: `.`, `src/bin`, `~/notes`.
///
/// Folders are compared by name alone. Where the workspace lies inside the home folder, `.` and the same folder written
/// with `~/` are still two: the narrower right is the safe one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Folder {
    base: Base,
    /// Names from the base down; none is empty, `.` or `..`.
    names: Vec<String>,
}

/// Where a folder's path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// The folder the session works in.
    Workspace,
    /// The user's home folder.
    Home,
}

/// What may be done in a folder; each mode includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Files are read and listed.
    Read,
    /// Files are read, made, changed and removed.
    Write,
}

/// Why a text is no folder that can be asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    /// Nothing was written.
    #[error("the folder is empty, the workspace is `.`")]
    Empty,
    /// Longer than any path that is asked for in earnest.
    #[error("folder `{0}` is longer than {MOST_BYTES} bytes")]
    TooLong(String),
    /// A control or an invisible character, NUL among them.
    #[error("folder `{0}` holds an invisible character")]
    Invisible(String),
    /// Starts at the root.
    #[error("folder `{0}` is absolute, expected one below the workspace or `~/`")]
    Absolute(String),
    /// `..` anywhere.
    #[error("folder `{0}` holds `..`")]
    Parent(String),
    /// A separator on some systems and a letter on others.
    #[error("folder `{0}` holds a backslash, expected `/`")]
    Backslash(String),
    /// The whole home folder, which holds keys and our own configuration.
    #[error("`{0}` is the whole home folder, expected one below it such as `~/notes`")]
    WholeHome(String),
    /// The home folder of somebody else, or a name that looks like it.
    #[error("folder `{0}` starts with `~`, expected `~/`")]
    OtherHome(String),
    /// A folder covers all below it; a pattern would be taken for a name.
    #[error("folder `{0}` holds `*`, a folder covers all below it")]
    Wildcard(String),
}

impl Folder {
    /// Parses a folder as a manifest or `--grant` spells it.
    pub fn parse(text: &str) -> Result<Folder, FolderError> {
        if text.is_empty() {
            return Err(FolderError::Empty);
        }
        let refuse = |error: fn(String) -> FolderError| Err(error(quoted(text)));
        if text.len() > MOST_BYTES {
            return refuse(FolderError::TooLong);
        }
        if !crate::text::is_visible_line(text) {
            return refuse(FolderError::Invisible);
        }
        if text.contains('\\') {
            return refuse(FolderError::Backslash);
        }
        if text.starts_with('/') {
            return refuse(FolderError::Absolute);
        }
        if text.contains('*') {
            return refuse(FolderError::Wildcard);
        }
        let (base, path) = match text.strip_prefix("~/") {
            Some(path) => (Base::Home, path),
            None if text == "~" => (Base::Home, ""),
            None => (Base::Workspace, text),
        };
        let names: Vec<String> = path.split('/').filter(|name| !matches!(*name, "" | ".")).map(str::to_owned).collect();
        if names.iter().any(|name| name == "..") {
            return refuse(FolderError::Parent);
        }
        if names.first().is_some_and(|name| name.starts_with('~')) {
            return refuse(FolderError::OtherHome);
        }
        if base == Base::Home && names.is_empty() {
            return refuse(FolderError::WholeHome);
        }
        Ok(Folder { base, names })
    }

    /// Returns the workspace itself, `.`.
    pub fn workspace() -> Folder {
        Folder { base: Base::Workspace, names: Vec::new() }
    }

    /// Returns where the path starts.
    pub fn base(&self) -> Base {
        self.base
    }

    /// Returns the names from the base down; none for the workspace itself.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the other folder is this one or below it.
    pub fn contains(&self, other: &Folder) -> bool {
        self.base == other.base && other.names.starts_with(&self.names)
    }

    /// Returns the deeper of the two when one contains the other.
    pub fn narrow(&self, other: &Folder) -> Option<Folder> {
        let deeper = if self.contains(other) { other } else { self };
        other.contains(deeper).then(|| deeper.clone())
    }

    /// As [`Self::narrow`], for writing: a folder does not include one below it whose path goes through a protected name.
    pub fn narrow_to_write(&self, other: &Folder) -> Option<Folder> {
        let deeper = self.narrow(other)?;
        let above = self.names.len().min(other.names.len());
        // Plugins are files that are trusted more than what else is there: their folder is named by itself.
        let is_plugins = |n: usize| {
            deeper.names[n] == "plugins" && n.checked_sub(1).is_some_and(|n| same_name(&deeper.names[n], ".agents"))
        };
        let crosses = (above..deeper.names.len()).any(|n| is_protected(&deeper.names[n]) || is_plugins(n));
        (!crosses).then_some(deeper)
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.base, self.names.is_empty()) {
            (Base::Workspace, true) => f.write_str("."),
            (Base::Workspace, false) => f.write_str(&self.names.join("/")),
            (Base::Home, _) => write!(f, "~/{}", self.names.join("/")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&Folder::parse(text).map_or_else(|error| error.to_string(), |folder| folder.to_string()));
    }

    #[test]
    fn every_spelling_of_a_folder_is_the_same_folder() {
        check(".", expect!["."]);
        check("./", expect!["."]);
        check("src", expect!["src"]);
        check("./src/", expect!["src"]);
        check("src//./bin", expect!["src/bin"]);
        check("~/notes/", expect!["~/notes"]);
        check("~//notes", expect!["~/notes"]);
        check("a b/é 你", expect!["a b/é 你"]);
        check("...", expect!["..."]);
        check(".git", expect![".git"]);
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        check("", expect!["the folder is empty, the workspace is `.`"]);
        check("/etc", expect!["folder `/etc` is absolute, expected one below the workspace or `~/`"]);
        check("//x", expect!["folder `//x` is absolute, expected one below the workspace or `~/`"]);
        check("..", expect!["folder `..` holds `..`"]);
        check("a/../..", expect!["folder `a/../..` holds `..`"]);
        check("~/..", expect!["folder `~/..` holds `..`"]);
        check("~", expect!["`~` is the whole home folder, expected one below it such as `~/notes`"]);
        check("~/./", expect!["`~/./` is the whole home folder, expected one below it such as `~/notes`"]);
        check("~root/x", expect!["folder `~root/x` starts with `~`, expected `~/`"]);
        check("./~/x", expect!["folder `./~/x` starts with `~`, expected `~/`"]);
        check("~/~/x", expect!["folder `~/~/x` starts with `~`, expected `~/`"]);
        check("a\\b", expect![r"folder `a\b` holds a backslash, expected `/`"]);
        check("src/*", expect!["folder `src/*` holds `*`, a folder covers all below it"]);
        check("a\0b", expect!["folder `a␀b` holds an invisible character"]);
        check("a\nb", expect!["folder `a␊b` holds an invisible character"]);
        check("a\u{202e}b", expect![r"folder `a\u{202e}b` holds an invisible character"]);
        assert!(matches!(Folder::parse(&"a/".repeat(600)), Err(FolderError::TooLong(_))));
    }

    #[test]
    fn the_deeper_of_two_is_what_both_allow() {
        let cases = [
            (".", ".", Some(".")),
            (".", "src", Some("src")),
            ("src/bin", "src", Some("src/bin")),
            ("src", "srcs", None),
            ("src", "tests", None),
            (".", "~/notes", None),
            ("~/a", "~/a/b", Some("~/a/b")),
            ("~/a", "a", None),
        ];
        for (one, two, expected) in cases {
            let [one, two] = [one, two].map(|text| Folder::parse(text).unwrap());
            assert_eq!(one.narrow(&two).map(|folder| folder.to_string()).as_deref(), expected, "{one} {two}");
            assert_eq!(two.narrow(&one), one.narrow(&two), "{one} {two}");
        }
    }

    #[test]
    fn what_is_protected_is_written_only_where_both_name_it() {
        let cases = [
            (".", ".git", None),
            (".", "sub/.git", None),
            (".", ".agents/plugins", None),
            (".git", ".git", Some(".git")),
            (".git", ".git/hooks", Some(".git/hooks")),
            ("sub", "sub/.GIT", None),
            (".agents", ".agents/plugins", None),
            (".agents", ".agents/notes", Some(".agents/notes")),
            (".agents/plugins", ".agents/plugins", Some(".agents/plugins")),
            (".", "plugins", Some("plugins")),
            (".", ".github", Some(".github")),
        ];
        for (one, two, expected) in cases {
            let [one, two] = [one, two].map(|text| Folder::parse(text).unwrap());
            assert_eq!(one.narrow_to_write(&two).map(|it| it.to_string()).as_deref(), expected, "{one} {two}");
            assert_eq!(two.narrow_to_write(&one), one.narrow_to_write(&two), "{one} {two}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

        #[test]
        fn a_folder_is_canonical_and_never_leads_out(text in prop_oneof!["[~./a*\\\\\u{0}\u{200b}]{0,12}", ".{0,20}"]) {
            if let Ok(folder) = Folder::parse(&text) {
                prop_assert!(folder.names().iter().all(|name| !matches!(name.as_str(), "" | "." | "..") && !name.contains(['/', '\\', '\0'])));
                prop_assert_eq!(Folder::parse(&folder.to_string()), Ok(folder));
            }
        }
    }
}
