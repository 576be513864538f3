//! Where things are: the workspace, the user's home, and the folders of the XDG base directory specification.
//!
//! Apart, because only here and in `main` is the environment read; everything else is told.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folders of this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// Where the program works; plugins know it as `.`.
    pub workspace: PathBuf,
    /// The user's home; none where `HOME` is not set.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME/bellglass`: what the user sets.
    pub config: Option<PathBuf>,
    /// `$XDG_CACHE_HOME/bellglass`: what can be made again.
    pub cache: Option<PathBuf>,
    /// `$XDG_STATE_HOME/bellglass`: what lasts between runs.
    pub state: Option<PathBuf>,
}

impl Folders {
    /// Finds the folders. `variable` looks up the environment.
    pub fn find(workspace: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        // The specification: a path that is not absolute counts as not set.
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|it| it.is_absolute());
        let home = absolute("HOME");
        let folder = |name: &str, default: &str| {
            let base = absolute(name).or_else(|| home.as_ref().map(|it| it.join(default)))?;
            Some(base.join("bellglass"))
        };
        Self {
            workspace: workspace.to_owned(),
            config: folder("XDG_CONFIG_HOME", ".config"),
            cache: folder("XDG_CACHE_HOME", ".cache"),
            state: folder("XDG_STATE_HOME", ".local/state"),
            home,
        }
    }

    /// The user's plugins.
    pub fn user_plugins(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|it| it.join(".agents/plugins"))
    }

    /// The project's plugins. None where they are the user's: in the home folder itself.
    pub fn project_plugins(&self) -> Option<PathBuf> {
        (self.home.as_ref() != Some(&self.workspace)).then(|| self.workspace.join(".agents/plugins"))
    }

    /// Where conversations are kept.
    pub fn sessions(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|it| it.join("sessions"))
    }

    /// Where it is kept what plugins did.
    pub fn audit(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|it| it.join("audit"))
    }

    /// The user's instructions for the model.
    pub fn user_instructions(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|it| it.join(".agents/AGENTS.md"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Folders {
        let variable = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.into());
        Folders::find(Path::new("/work"), variable)
    }

    #[test]
    fn folders_follow_the_xdg_variables_and_else_the_home() {
        let folders = find(&[("HOME", "/home/ada"), ("XDG_CACHE_HOME", "/fast")]);
        assert_eq!(folders.config, Some("/home/ada/.config/bellglass".into()));
        assert_eq!(folders.cache, Some("/fast/bellglass".into()));
        assert_eq!(folders.state, Some("/home/ada/.local/state/bellglass".into()));
        assert_eq!(folders.user_plugins(), Some("/home/ada/.agents/plugins".into()));
    }

    #[test]
    fn a_relative_path_counts_as_not_set() {
        assert_eq!(find(&[("HOME", "ada"), ("XDG_STATE_HOME", "x")]), find(&[]));
        assert_eq!(find(&[]).cache, None);
    }

    #[test]
    fn in_the_home_folder_the_users_plugins_are_no_projects() {
        assert_eq!(find(&[("HOME", "/work")]).project_plugins(), None);
        assert_eq!(find(&[("HOME", "/home/ada")]).project_plugins(), Some("/work/.agents/plugins".into()));
    }
}
