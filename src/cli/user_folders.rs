//! The folders of the user: for the state of this program, for templates, and the home folder that `~`
//! stands for.

use std::path::{Path, PathBuf};

use crate::cli::home_fault::home_fault;

/// Returns the folder for the state of this program: the user's consents.
pub(super) fn state_dir() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", "LOCALAPPDATA", ".local/state").map(|it| it.join("palazzo"))
}

/// Returns the folder with the templates of the user.
pub(super) fn template_dir() -> Option<PathBuf> {
    let config = user_folder("XDG_CONFIG_HOME", "APPDATA", ".config");
    config.map(|it| it.join("palazzo/templates"))
}

/// Returns the folder for one purpose: as the XDG specification or Windows names it, or in the
/// user's home.
pub(super) fn user_folder(xdg: &str, windows: &str, in_home: &str) -> Option<PathBuf> {
    let folder = env_path(xdg).filter(|it| it.is_absolute());
    // Git's shell on Windows sets `HOME`, other shells do not; all must find the same folder.
    let folder = folder.or_else(|| env_path(windows).filter(|_| cfg!(windows)));
    let home = env_path("HOME").filter(|it| home_fault(it).is_none());
    folder.or_else(|| home.map(|it| it.join(in_home)))
}

/// Returns the path in an environment variable; `None` if it is unset or empty.
pub(super) fn env_path(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|it| !it.is_empty()).map(PathBuf::from)
}

/// Replaces a leading `~` with the user's home folder.
pub(super) fn expand_tilde(path: &Path) -> PathBuf {
    let user_home = || env_path("HOME").or_else(|| env_path("USERPROFILE"));
    match path.strip_prefix("~") {
        Ok(rest) => user_home().unwrap_or_default().join(rest),
        Err(_) => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_tilde_that_is_a_whole_folder_name_is_expanded() {
        let expanded = expand_tilde(Path::new("~/palaces"));
        assert!(expanded.ends_with("palaces") && !expanded.starts_with("~"), "{expanded:?}");
        for path in ["~ada/palaces", "/a/~/b", "palaces", ""] {
            assert_eq!(expand_tilde(Path::new(path)), Path::new(path));
        }
    }
}
