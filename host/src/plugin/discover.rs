//! Which files are plugins: the folders in their order, and the files directly inside by name.
//!
//! Apart from loading, because nothing is read here but folders, and the order decides which plugin replaces which.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// Where a plugin comes from, from the most to the least trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Part of the program.
    Bundled,
    /// In `~/.agents/plugins`.
    User,
    /// Named on the command line with `--plugin` or `--plugins`.
    Flag,
    /// In `.agents/plugins` of the workspace, also when a flag names it.
    Project,
}

impl Origin {
    /// The word for it in paths and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::User => "user",
            Self::Flag => "flag",
            Self::Project => "project",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A file that may be a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Where it is; for a bundled plugin its name.
    pub path: PathBuf,
    /// Where it comes from.
    pub origin: Origin,
    /// The component itself, for a bundled plugin.
    pub bundled: Option<&'static [u8]>,
    /// Whether it is loaded only if the user trusted its content: a file of the project that no flag names.
    pub needs_trust: bool,
}

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// `~/.agents/plugins`.
    pub user: Option<PathBuf>,
    /// `.agents/plugins` of the workspace.
    pub project: Option<PathBuf>,
    /// `--plugins DIR`, in their order.
    pub folders: Vec<PathBuf>,
    /// `--plugin FILE`, in their order.
    pub files: Vec<PathBuf>,
    /// `--no-plugins`: only what is bundled and what is named by a flag.
    pub only_bundled: bool,
}

impl Places {
    /// All folders and files in which a later run may find a plugin.
    pub fn all(&self) -> impl Iterator<Item = &Path> {
        let folders = self.user.iter().chain(&self.project).chain(&self.folders).map(PathBuf::as_path);
        folders.chain(self.files.iter().flat_map(|it| it.parent().into_iter().chain([it.as_path()])))
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Files to load, in the order in which a later one replaces an earlier one.
    pub candidates: Vec<Candidate>,
    /// Folders that exist and cannot be read, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Finds all plugin files.
pub fn discover(places: &Places, bundled: &[(&'static str, &'static [u8])]) -> Found {
    let mut found = Found::default();
    for (name, bytes) in bundled {
        let candidate =
            Candidate { path: PathBuf::from(name), origin: Origin::Bundled, bundled: Some(bytes), needs_trust: false };
        found.candidates.push(candidate);
    }
    if !places.only_bundled {
        if let Some(folder) = &places.user {
            found.folder(folder, Origin::User);
        }
        // A project folder that the user names on the command line is trusted for this run, so it does not wait.
        let named = |folder: &Path| places.folders.iter().any(|it| same_folder(it, folder));
        if let Some(folder) = places.project.as_deref().filter(|it| !named(it)) {
            let before = found.candidates.len();
            found.folder(folder, Origin::Project);
            found.candidates[before..].iter_mut().for_each(|it| it.needs_trust = true);
        }
    }
    // A flag is trust for this run; what a plugin of the project may replace or inherit stays that of a project's.
    let origin = |folder: &Path| {
        let is_project = places.project.as_deref().is_some_and(|it| same_folder(it, folder));
        if is_project { Origin::Project } else { Origin::Flag }
    };
    for folder in &places.folders {
        if folder.is_dir() {
            found.folder(folder, origin(folder));
        } else {
            found.unreadable.push((folder.clone(), "there is no such folder".into()));
        }
    }
    for file in &places.files {
        let origin = file.parent().map_or(Origin::Flag, origin);
        found.candidates.retain(|it| !it.needs_trust || !same_file(&it.path, file));
        found.candidates.push(Candidate { path: file.clone(), origin, bundled: None, needs_trust: false });
    }
    found
}

impl Found {
    /// Adds the plugin files directly inside a folder, by name. A missing folder is silent; folders below belong to others.
    fn folder(&mut self, folder: &Path, origin: Origin) {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => return self.unreadable.push((folder.to_owned(), error.to_string())),
        };
        let is_plugin = |path: &PathBuf| path.extension().is_some_and(|it| it == "wasm");
        let mut paths: Vec<PathBuf> = entries.flatten().map(|it| it.path()).filter(is_plugin).collect();
        paths.sort();
        let candidates = paths.into_iter().map(|path| Candidate { path, origin, bundled: None, needs_trust: false });
        self.candidates.extend(candidates);
    }
}

fn same_folder(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    let in_same_folder = match (a.parent(), b.parent()) {
        (Some(a), Some(b)) => same_folder(a, b),
        (a, b) => a == b,
    };
    in_same_folder && a.file_name() == b.file_name()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(folder: &Path, names: &[&str]) {
        std::fs::create_dir_all(folder).unwrap();
        for name in names {
            std::fs::write(folder.join(name), b"").unwrap();
        }
    }

    fn names(found: &Found) -> Vec<String> {
        let name = |it: &Candidate| format!("{}:{}", it.origin, it.path.file_name().unwrap().to_str().unwrap());
        found.candidates.iter().map(name).collect()
    }

    #[test]
    fn bundled_come_first_then_the_users_then_those_of_flags_each_by_file_name() {
        let home = tempfile::tempdir().unwrap();
        let extra = tempfile::tempdir().unwrap();
        touch(home.path(), &["b.wasm", "a.wasm", "readme.md", "c.wasm.bak"]);
        touch(extra.path(), &["z.wasm"]);
        let places = Places {
            user: Some(home.path().into()),
            folders: vec![extra.path().into()],
            files: vec!["one.wasm".into()],
            ..Places::default()
        };
        let found = discover(&places, &[("wc", b"")]);
        assert_eq!(names(&found), ["bundled:wc", "user:a.wasm", "user:b.wasm", "flag:z.wasm", "flag:one.wasm"]);
    }

    #[test]
    fn folders_below_a_plugin_folder_are_left_alone() {
        let home = tempfile::tempdir().unwrap();
        touch(&home.path().join("other"), &["x.wasm"]);
        let found = discover(&Places { user: Some(home.path().into()), ..Places::default() }, &[]);
        assert_eq!(found, Found::default());
    }

    #[test]
    fn a_missing_folder_is_silent_and_one_that_a_flag_names_is_not() {
        let places = Places { user: Some("/nowhere/at/all".into()), ..Places::default() };
        assert_eq!(discover(&places, &[]), Found::default());
        let places = Places { folders: vec!["/nowhere/at/all".into()], ..Places::default() };
        assert_eq!(discover(&places, &[]).unreadable.len(), 1);
    }

    #[test]
    fn plugins_of_the_project_wait_unless_a_flag_names_their_folder() {
        let project = tempfile::tempdir().unwrap();
        touch(project.path(), &["p.wasm"]);
        let places = Places { project: Some(project.path().into()), ..Places::default() };
        let found = discover(&places, &[]);
        assert_eq!((names(&found), found.candidates[0].needs_trust), (vec!["project:p.wasm".into()], true));
        let places = Places { folders: vec![project.path().join(".")], ..places };
        let found = discover(&places, &[]);
        assert_eq!((names(&found), found.candidates[0].needs_trust), (vec!["project:p.wasm".into()], false));
    }

    #[test]
    fn a_file_of_the_project_that_a_flag_names_waits_no_longer_and_stays_the_projects() {
        let project = tempfile::tempdir().unwrap();
        touch(project.path(), &["p.wasm", "q.wasm"]);
        let files = vec![project.path().join("./p.wasm")];
        let found = discover(&Places { project: Some(project.path().into()), files, ..Places::default() }, &[]);
        assert_eq!(names(&found), ["project:q.wasm", "project:p.wasm"]);
        assert_eq!(found.candidates.iter().map(|it| it.needs_trust).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn no_plugins_leaves_the_bundled_and_what_a_flag_names() {
        let home = tempfile::tempdir().unwrap();
        touch(home.path(), &["a.wasm"]);
        let places = Places {
            user: Some(home.path().into()),
            files: vec!["one.wasm".into()],
            only_bundled: true,
            ..Places::default()
        };
        assert_eq!(names(&discover(&places, &[("wc", b"")])), ["bundled:wc", "flag:one.wasm"]);
    }
}
