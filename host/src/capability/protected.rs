//! Names that a right to write a folder does not include, at any depth below it.
//! Separate because rights are compared by it before anything is opened, and the sandbox looks again when it is.

/// Folders in which a file is run, or trusted, outside of any sandbox: hooks of git, and plugins.
pub const PROTECTED: [&str; 2] = [".git", ".agents"];

/// What Windows may call the two in its short form.
const SHORT: [&str; 2] = ["git~1", "agents~1"];

/// Whether some file system takes this name for one of [`PROTECTED`].
pub fn is_protected(name: &str) -> bool {
    let name = folded(name);
    PROTECTED.contains(&name.as_str()) || SHORT.contains(&name.as_str())
}

/// Whether some file system takes the two for the same name.
pub fn same_name(one: &str, other: &str) -> bool {
    one == other || folded(one) == folded(other)
}

/// A name as the most forgiving file systems compare it: without case, without characters that macOS skips, without the end
/// and the stream that Windows cuts off.
fn folded(name: &str) -> String {
    let start = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    let skipped = |it: &char| matches!(it, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    // Up and down again: some letters have a capital, and are not what that capital becomes in lower case.
    start.chars().filter(|it| !skipped(it)).flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_that_some_file_system_takes_for_the_same_name_is_protected() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            ".agents",
            ".AGENTS",
            ".git.",
            ".git ",
            ".git . .",
            ".git::$INDEX_ALLOCATION",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".agent\u{17f}",
            "git~1",
            "GIT~1",
            "AGENTS~1",
        ] {
            assert!(is_protected(name), "{name:?}");
        }
    }

    #[test]
    fn names_that_only_begin_or_end_alike_are_not() {
        for name in ["", ".", "..", "git", ".gitignore", ".github", "x.git", ".agents.md", "agents", "git~2", ". git"] {
            assert!(!is_protected(name), "{name:?}");
        }
    }

    #[test]
    fn a_name_is_the_same_without_its_case() {
        assert!(same_name("Plugins", "plugins") && same_name("a", "a") && !same_name("a", "b"));
    }
}
