//! A home: the directory whose sub-directories are palaces, or a palace itself.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use crate::store::Error;

/// The folder that Palazzo adds to a palace with the first room or entity that it writes.
const PALAZZO_FOLDER: &str = ".palazzo";

/// What stands under a name in a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeEntryKind {
    /// A directory with a `palace.toml`.
    Palace,
    /// A directory without one.
    Directory,
    /// A symbolic link, wherever it leads.
    Symlink,
    /// Anything else.
    File,
}

/// Lists the palaces of `home` by name; a missing home has none, and links are never followed.
pub fn list_palaces(home: &Path) -> Result<Vec<PathBuf>, Error> {
    if is_palace(home) {
        return Ok(vec![home.to_owned()]);
    }
    let taken = list_home_entries(home)?.into_iter();
    Ok(taken
        .filter(|(_, it)| *it == HomeEntryKind::Palace)
        .map(|(name, _)| home.join(name))
        .collect())
}

/// Lists every name in `home` that does not begin with a dot, and what stands there, by name.
pub fn list_home_entries(home: &Path) -> Result<Vec<(String, HomeEntryKind)>, Error> {
    let entries = match fs::read_dir(home) {
        Ok(entries) => entries,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(err) => return Err(Error::for_file("list", home)(err)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::for_file("list", home))?;
        // A name that is no Unicode cannot be asked for either.
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !name.starts_with('.') {
            names.push((name, home_entry_kind(&entry)));
        }
    }
    names.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(names)
}

/// Tells whether Palazzo has written to the palace.
pub(crate) fn has_palazzo_folder(palace: &Path) -> bool {
    palace.join(PALAZZO_FOLDER).is_dir()
}

/// Tells whether Palazzo has written to the palace, or to another in the home that has no
/// repository of its own: then there was a history, and a new one would hide that it is lost.
pub(crate) fn has_lost_history(palace: &Path, home: &Path) -> Result<bool, Error> {
    if has_palazzo_folder(palace) {
        return Ok(true);
    }
    // The repository is made at the home, and would take in the others.
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

fn is_palace(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join("palace.toml")).is_ok_and(|it| it.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::test_repository::TestHome;

    #[test]
    fn a_missing_home_has_no_palaces() {
        let scene = TestHome::new();
        assert_eq!(list_palaces(&scene.home).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(list_home_entries(&scene.home).unwrap(), []);
    }

    #[test]
    fn palaces_are_the_folders_with_a_palace_toml_and_links_are_not_followed() {
        let scene = TestHome::new();
        for path in ["b/palace.toml", "a/palace.toml", "plain/x", ".hidden/palace.toml", "file"] {
            scene.write_file(path, "");
        }
        let mut expected = vec![
            ("a".to_owned(), HomeEntryKind::Palace),
            ("b".to_owned(), HomeEntryKind::Palace),
            ("file".to_owned(), HomeEntryKind::File),
            ("plain".to_owned(), HomeEntryKind::Directory),
        ];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("a", scene.home.join("link")).unwrap();
            expected.insert(3, ("link".to_owned(), HomeEntryKind::Symlink));
        }
        assert_eq!(list_home_entries(&scene.home).unwrap(), expected);
        let found = list_palaces(&scene.home).unwrap();
        assert_eq!(found, [scene.home.join("a"), scene.home.join("b")]);
        assert_eq!(list_palaces(&scene.home.join("a")).unwrap(), [scene.home.join("a")]);
    }
}
