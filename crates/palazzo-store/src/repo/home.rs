//! A home: a folder whose subfolders are palaces, or that is itself a palace.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::repo::palace_files::SETTINGS_FILE;

/// The folder that Palazzo adds to a palace with its first change.
const PALAZZO_FOLDER: &str = ".palazzo";

/// The kind of an entry in a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeEntryKind {
    /// A folder with a `palace.toml`.
    Palace,
    /// A folder without one.
    Directory,
    /// A symbolic link, whatever it points to.
    Symlink,
    /// Anything else.
    File,
}

/// Lists the palaces of `home` by name; none if it does not exist. Links are not followed.
pub fn list_palaces(home: &Path) -> Result<Vec<PathBuf>, Error> {
    if is_palace(home) {
        return Ok(vec![home.to_owned()]);
    }
    let entries = list_home_entries(home)?.into_iter();
    Ok(entries
        .filter(|(_, it)| *it == HomeEntryKind::Palace)
        .map(|(name, _)| home.join(name))
        .collect())
}

/// Returns whether `folder` is a git repository without a working directory.
pub fn is_bare_repository(folder: &Path) -> bool {
    let is = |name: &str, is: fn(&fs::Metadata) -> bool| {
        fs::symlink_metadata(folder.join(name)).is_ok_and(|it| is(&it))
    };
    is("HEAD", fs::Metadata::is_file)
        && ["objects", "refs"].iter().all(|it| is(it, fs::Metadata::is_dir))
}

/// Lists the entries of `home` that do not begin with a dot, with their kinds, by name.
pub fn list_home_entries(home: &Path) -> Result<Vec<(String, HomeEntryKind)>, Error> {
    let entries = match fs::read_dir(home) {
        Ok(entries) => entries,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(err) => return Err(Error::for_file("list", home)(err)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::for_file("list", home))?;
        // A name that is not Unicode cannot be requested either.
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !name.starts_with('.') {
            names.push((name, home_entry_kind(&entry)));
        }
    }
    names.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(names)
}

/// Returns true if Palazzo has written to the palace.
pub(crate) fn has_palazzo_folder(palace: &Path) -> bool {
    palace.join(PALAZZO_FOLDER).is_dir()
}

/// Returns true if Palazzo has written to the palace, or to another palace in the home without a
/// repository of its own. Then there was a history, and a new one would hide the loss.
pub(crate) fn had_history(palace: &Path, home: &Path) -> Result<bool, Error> {
    if has_palazzo_folder(palace) {
        return Ok(true);
    }
    // The repository is created at the home, and would contain the others.
    let others = if palace.starts_with(home) { list_palaces(home)? } else { Vec::new() };
    Ok(others.iter().any(|it| has_palazzo_folder(it) && !it.join(".git").exists()))
}

fn home_entry_kind(entry: &DirEntry) -> HomeEntryKind {
    match entry.file_type() {
        Ok(kind) if kind.is_symlink() => HomeEntryKind::Symlink,
        Ok(kind) if kind.is_dir() && is_palace(&entry.path()) => HomeEntryKind::Palace,
        Ok(kind) if kind.is_dir() => HomeEntryKind::Directory,
        _ => HomeEntryKind::File,
    }
}

/// Returns whether `folder` is a palace: it has a `palace.toml`. Links are not followed.
pub fn is_palace(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(SETTINGS_FILE)).is_ok_and(|it| it.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    #[test]
    fn a_missing_home_has_no_palaces() {
        let scene = TestHome::new();
        assert_eq!(list_palaces(&scene.home).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(list_home_entries(&scene.home).unwrap(), []);
    }

    #[test]
    fn palaces_are_the_folders_with_a_palace_toml() {
        let scene = TestHome::new();
        for path in ["b/palace.toml", "a/palace.toml", "plain/x", ".hidden/palace.toml", "file"] {
            scene.write_file(path, "");
        }
        let expected = [
            ("a".to_owned(), HomeEntryKind::Palace),
            ("b".to_owned(), HomeEntryKind::Palace),
            ("file".to_owned(), HomeEntryKind::File),
            ("plain".to_owned(), HomeEntryKind::Directory),
        ];
        assert_eq!(list_home_entries(&scene.home).unwrap(), expected);
        let found = list_palaces(&scene.home).unwrap();
        assert_eq!(found, [scene.home.join("a"), scene.home.join("b")]);
        assert_eq!(list_palaces(&scene.home.join("a")).unwrap(), [scene.home.join("a")]);
    }

    #[cfg(unix)]
    #[test]
    fn links_to_palaces_are_not_followed() {
        let scene = TestHome::new();
        scene.write_file("a/palace.toml", "");
        std::os::unix::fs::symlink("a", scene.home.join("link")).unwrap();
        let expected =
            [("a".to_owned(), HomeEntryKind::Palace), ("link".to_owned(), HomeEntryKind::Symlink)];
        assert_eq!(list_home_entries(&scene.home).unwrap(), expected);
        assert_eq!(list_palaces(&scene.home).unwrap(), [scene.home.join("a")]);
    }
}
