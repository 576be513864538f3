//! What a program may write, held by the kernel where it can: Landlock on Linux.
//!
//! Apart, because this is the only place that knows how a system confines, and whether this one does.

use std::path::{Path, PathBuf};

/// Whether programs are held to the folders they may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confinement {
    /// They are.
    Full,
    /// Only in part: the kernel is older than what is asked of it.
    Part,
    /// They are not: the kernel has nothing for it.
    None,
}

impl Confinement {
    /// One sentence for a person who decides.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::Full => "programs write below the workspace and temporary folders alone",
            Self::Part => "this kernel holds programs to the workspace only in part",
            Self::None => "this kernel does not hold programs to the workspace: they write wherever you can",
        }
    }
}

/// What this system can do; found out once.
pub(crate) fn confinement() -> Confinement {
    static FOUND: std::sync::OnceLock<Confinement> = std::sync::OnceLock::new();
    // On a thread that ends with it.
    *FOUND.get_or_init(|| std::thread::spawn(|| this_thread(&[])).join().unwrap_or(Confinement::None))
}

/// Folders for temporary files and devices that any program writes to.
#[cfg(target_os = "linux")]
const EVERYWHERE: [&str; 9] =
    ["/tmp", "/var/tmp", "/dev/shm", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Takes from this thread, and from what it starts, the right to write anywhere else, and to signal other processes.
#[cfg(target_os = "linux")]
pub(super) fn this_thread(writable: &[PathBuf]) -> Confinement {
    use landlock::{
        ABI, AccessFs, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
    };
    let access = AccessFs::from_write(ABI::V5);
    let paths = writable.iter().map(PathBuf::as_path).chain(EVERYWHERE.map(Path::new));
    let paths: Vec<&Path> = paths.filter(|it| it.exists()).collect();
    let restricted = Ruleset::default()
        .handle_access(access)
        .and_then(|it| it.scope(Scope::Signal))
        .and_then(Ruleset::create)
        .and_then(|it| it.add_rules(path_beneath_rules(&paths, access)))
        .and_then(|it| it.restrict_self());
    match restricted.map(|it| it.ruleset) {
        Ok(RulesetStatus::FullyEnforced) => Confinement::Full,
        Ok(RulesetStatus::PartiallyEnforced) => Confinement::Part,
        Ok(RulesetStatus::NotEnforced) => Confinement::None,
        Err(error) => {
            tracing::warn!("programs are not confined: {error}");
            Confinement::None
        }
    }
}

/// Nothing to confine with.
#[cfg(not(target_os = "linux"))]
pub(super) fn this_thread(_writable: &[PathBuf]) -> Confinement {
    Confinement::None
}

/// The folders that together are `folder` without those that are private. Where one lies inside, what is beside it is named one
/// by one.
pub(crate) fn without(folder: &Path, private: &[PathBuf]) -> Vec<PathBuf> {
    if private.iter().any(|it| folder.starts_with(it)) {
        return Vec::new();
    }
    if !private.iter().any(|it| it.starts_with(folder)) {
        return vec![folder.to_owned()];
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    // A link is not followed: what it leads to is allowed or not by its own name.
    let inside = entries.flatten().filter(|it| !it.path().is_symlink()).map(|it| it.path());
    inside.flat_map(|it| without(&it, private)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_folders_are_left_out_of_the_folder_that_holds_them() {
        let home = tempfile::tempdir().unwrap();
        let path = |it: &str| home.path().join(it);
        for folder in [".config/bellglass", ".config/other", "work"] {
            std::fs::create_dir_all(path(folder)).unwrap();
        }
        let mut folders = without(home.path(), &[path(".config/bellglass")]);
        folders.sort();
        assert_eq!(folders, [path(".config/other"), path("work")]);
        assert_eq!(without(&path("work"), &[path(".config/bellglass")]), [path("work")]);
        assert_eq!(without(&path(".config/bellglass/x"), &[path(".config/bellglass")]), Vec::<PathBuf>::new());
    }
}
