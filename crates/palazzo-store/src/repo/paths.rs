//! Validates the paths of palace files. No valid path points outside the palace.

use std::fs;
use std::io;
use std::path::Path;
use std::path::PathBuf;

use crate::Error;

/// Checks that `path` is relative and normalised, and that it contains no `..` and no git name.
pub fn check_path(path: &str) -> Result<(), Error> {
    if path.contains('\\') || path.chars().any(char::is_control) {
        return Err(Error::invalid_path(path, "it holds a backslash or a control character"));
    }
    for name in path.split('/') {
        check_name(path, name)?;
    }
    Ok(())
}

/// Checks that no part of `path` that exists below `root` is a symbolic link.
pub(crate) fn reject_symbolic_links(root: &Path, path: &str) -> Result<(), Error> {
    let mut place = root.to_owned();
    for name in path.split('/') {
        place.push(name);
        match fs::symlink_metadata(&place) {
            Ok(it) if it.is_symlink() => {
                return Err(Error::invalid_path(path, "part of the path is a symbolic link"));
            }
            Ok(_) => {}
            // A missing entry is no link; an inaccessible one fails when it is opened.
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

fn check_name(path: &str, name: &str) -> Result<(), Error> {
    if matches!(name, "" | "." | "..") {
        return Err(Error::invalid_path(
            path,
            "it must be relative, without empty parts, `.` or `..`",
        ));
    }
    if is_alias_of_dot_git(name) {
        return Err(Error::invalid_path(path, "git reserves this name"));
    }
    if cfg!(windows) && name.contains(':') {
        return Err(Error::invalid_path(path, "it holds a colon"));
    }
    Ok(())
}

/// Returns true if some file system treats `name` as `.git`: Windows ignores trailing dots and
/// spaces and has short names, macOS ignores zero-width characters.
fn is_alias_of_dot_git(name: &str) -> bool {
    let seen: String = name.chars().filter(|c| !is_invisible_char(*c)).collect();
    let seen = seen.split(':').next().unwrap_or_default().trim_end_matches([' ', '.']);
    seen.eq_ignore_ascii_case(".git") || seen.eq_ignore_ascii_case("git~1")
}

fn is_invisible_char(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Resolves the symbolic links in `path`, as far as it exists.
pub(crate) fn resolve_links(path: &Path) -> Result<PathBuf, Error> {
    let path = std::path::absolute(path).map_err(Error::for_file("find", path))?;
    for there in path.ancestors() {
        match dunce::canonicalize(there) {
            Ok(real) => {
                let rest = path.strip_prefix(there).unwrap_or(Path::new(""));
                return Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) });
            }
            Err(err) if err.kind() == io::ErrorKind::NotFound => {}
            Err(err) => return Err(Error::for_file("find", there)(err)),
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_paths_are_refused() {
        for path in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../x",
            "rooms/../../x",
            "rooms//x",
            "rooms/",
            "./x",
            "a\\b",
            "a\0b",
            "a\nb",
            ".git",
            ".GIT/config",
            "rooms/.Git/hooks/post-commit",
            ".git /config",
            ".git./x",
            "git~1/config",
            ".g\u{200c}it/config",
            ".git::$INDEX_ALLOCATION/x",
        ] {
            assert!(check_path(path).is_err(), "{path:?} was accepted");
        }
    }

    #[test]
    fn ordinary_paths_are_accepted() {
        for path in
            ["palace.toml", "rooms/great-hall.yaml", "scrolls/a/01K-étude.md", "rooms/.gitkeep"]
        {
            assert!(check_path(path).is_ok(), "{path:?} was refused");
        }
    }
}
