//! Explains why a path cannot be the home.

use std::path::{Component, Path};

/// The fault of a path with a `~`, which no shell has expanded.
pub(super) const UNEXPANDED: &str = "has a `~` that no shell has expanded";

/// Returns why a path cannot be a home; `None`: it can be.
pub(super) fn home_fault(home: &Path) -> Option<&'static str> {
    let is_name = |it: Component<'_>| matches!(it, Component::Normal(_));
    let first = home.components().next().map(|it| it.as_os_str().to_string_lossy());
    match home {
        _ if home.as_os_str().is_empty() => Some("is empty"),
        _ if home.is_absolute() && !home.components().any(is_name) => {
            Some("is the root of the file system")
        }
        // `~` alone is expanded.
        _ if first.is_some_and(|it| it.len() > 1 && it.starts_with('~')) => Some(UNEXPANDED),
        _ => unfilled_variable(home),
    }
}

/// Returns a fault if a name in the path is a variable of a shell, of Windows or of an editor.
pub(super) fn unfilled_variable(path: &Path) -> Option<&'static str> {
    let is_variable = |name: &str| {
        let shell = name.strip_prefix('$').and_then(|it| it.chars().next());
        let is_windows = name.len() > 2 && name.starts_with('%') && name.ends_with('%');
        name.contains("${")
            || is_windows
            || shell.is_some_and(|it| it.is_ascii_alphabetic() || "_({".contains(it))
    };
    let text = path.to_string_lossy();
    // A path of Windows may stand in a configuration that is used elsewhere.
    let mut names = text.split(['/', '\\']);
    names.any(is_variable).then_some("has a variable that was not filled in")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_that_cannot_be_one_is_known() {
        for (home, fault) in [
            ("", "is empty"),
            ("/", "is the root of the file system"),
            ("/../.", "is the root of the file system"),
            ("$HOME", "has a variable that was not filled in"),
            ("$HOME/palaces", "has a variable that was not filled in"),
            ("/srv/$USER", "has a variable that was not filled in"),
            ("${workspaceFolder}", "has a variable that was not filled in"),
            ("${env:HOME}/palaces", "has a variable that was not filled in"),
            ("/a/b-${userHome}", "has a variable that was not filled in"),
            ("$(pwd)", "has a variable that was not filled in"),
            ("%USERPROFILE%", "has a variable that was not filled in"),
            (r"%APPDATA%\palaces", "has a variable that was not filled in"),
            ("~ada/palaces", "has a `~` that no shell has expanded"),
        ] {
            assert_eq!(home_fault(Path::new(home)), Some(fault), "{home}");
        }
        for home in ["/a", "a", "~", "~/palaces", ".", "/a$", "/100%", "/$1", "/a/~b", "/50%-off"] {
            assert_eq!(home_fault(Path::new(home)), None, "{home}");
        }
    }
}
