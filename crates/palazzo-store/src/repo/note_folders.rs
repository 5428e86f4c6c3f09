//! Where the folders of notes of a palace are in its repository.

use std::path::{Path, PathBuf};

use palazzo_core::model::{NoteFolder, NoteFolders};

/// The folders of notes of a palace, with their places in the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LocatedNoteFolders {
    pub(crate) folders: NoteFolders,
    /// The folders that are in the repository.
    pub(crate) located: Vec<LocatedNoteFolder>,
    /// The paths of those that are not, each with the reason.
    pub(crate) refused: Vec<(String, &'static str)>,
}

/// The notes of all palaces of a repository.
#[derive(Clone, Debug, Default)]
pub(crate) struct NotesOfRepository(Vec<LocatedNoteFolders>);

impl NotesOfRepository {
    /// Locates the folders of notes of palaces, each with its folder in the repository: empty, or ending
    /// in `/`.
    pub(crate) fn new(palaces: &[(String, NoteFolders)]) -> Self {
        let all = palaces.iter().map(|(prefix, folders)| LocatedNoteFolders::new(folders, prefix));
        Self(all.collect())
    }

    /// Returns whether the file at `path` in the repository is a note, unless it is a file of a palace.
    pub(crate) fn contains(&self, path: &str) -> bool {
        self.0.iter().any(|palace| {
            palace.located.iter().any(|folder| {
                let in_repository = folder.path_in_repository.as_str();
                let below = match in_repository {
                    "" => Some(path),
                    _ => path.strip_prefix(in_repository).and_then(|it| it.strip_prefix('/')),
                };
                below.is_some_and(|it| palace.is_note_of(folder, &folder.path_from_palace(it)))
            })
        })
    }
}

/// A folder of notes in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocatedNoteFolder {
    /// The path from the palace: `../notes`; empty: the palace itself.
    pub(crate) path: String,
    /// The path in the repository, without a slash at the end; empty: the whole repository.
    pub(crate) path_in_repository: String,
}

impl LocatedNoteFolders {
    /// Locates the folders of a palace whose folder in the repository is `prefix`: empty, or ending
    /// in `/`.
    pub(crate) fn new(folders: &NoteFolders, prefix: &str) -> Self {
        let mut all = Self { folders: folders.clone(), ..Self::default() };
        for folder in folders.iter() {
            match locate(folder, prefix) {
                Ok(path_in_repository) => {
                    let path = folder.path.clone();
                    all.located.push(LocatedNoteFolder { path, path_in_repository });
                }
                Err(why) => all.refused.push((folder.path.clone(), why)),
            }
        }
        all
    }

    /// Yields the folders outside the palace: its own tree has the others.
    pub(crate) fn outside_palace(&self) -> impl Iterator<Item = &LocatedNoteFolder> {
        self.located.iter().filter(|it| it.is_outside_palace())
    }

    /// Returns whether the file at `path`, from the palace, is a note of `folder`, and not of a folder in
    /// that.
    pub(crate) fn is_note_of(&self, folder: &LocatedNoteFolder, path: &str) -> bool {
        self.folders.folder_of_note(path).is_some_and(|it| it.path == folder.path)
    }

    /// Returns the text by which other folders, or the same with other patterns, are told from these.
    pub(crate) fn to_key(&self) -> String {
        if self.folders.is_empty() { String::new() } else { format!("{:?}", self.folders) }
    }
}

impl LocatedNoteFolder {
    /// Returns the path from the palace of a file or folder, given by its path below this folder.
    pub(crate) fn path_from_palace(&self, below: &str) -> String {
        match (self.path.as_str(), below) {
            ("", _) => below.to_owned(),
            (_, "") => self.path.clone(),
            (folder, _) => format!("{folder}/{below}"),
        }
    }

    /// Returns the path below this folder of a file or folder, given by its path from the palace.
    pub(crate) fn path_below<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.path.as_str() {
            "" => Some(path).filter(|it| !is_outside_palace(it)),
            folder if folder == path => Some(""),
            folder => path.strip_prefix(folder)?.strip_prefix('/'),
        }
    }

    /// Returns where the folder is on disk, in the working directory `work`.
    pub(crate) fn place(&self, work: &Path) -> PathBuf {
        if self.path_in_repository.is_empty() {
            return work.to_owned();
        }
        work.join(&self.path_in_repository)
    }

    pub(crate) fn is_outside_palace(&self) -> bool {
        is_outside_palace(&self.path)
    }
}

/// Returns whether a path from the palace leads out of it.
pub(crate) fn is_outside_palace(path: &str) -> bool {
    path == ".." || path.starts_with("../")
}

/// Returns the path in the repository of a path from the palace, whose folder in the repository is
/// `prefix`; `None`: it leads out of the repository.
pub fn path_in_repository(prefix: &str, path: &str) -> Option<String> {
    let mut names: Vec<_> = prefix.split('/').filter(|it| !it.is_empty()).collect();
    let mut rest = path;
    while is_outside_palace(rest) {
        names.pop()?;
        rest = rest[2..].trim_start_matches('/');
    }
    names.extend(Some(rest).filter(|it| !it.is_empty()));
    Some(names.join("/"))
}

/// Returns the path of a folder in the repository. The error says why it has no notes.
fn locate(folder: &NoteFolder, prefix: &str) -> Result<String, &'static str> {
    let outside = "this folder is outside the repository of the palace";
    let path = path_in_repository(prefix, &folder.path).ok_or(outside)?;
    let is_inside = !prefix.is_empty() && format!("{path}/").starts_with(prefix);
    if is_outside_palace(&folder.path) && is_inside {
        return Err("this folder is in the palace: write its path without `..`");
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use palazzo_core::model::NotePatterns;

    fn located(path: &str, prefix: &str) -> Result<String, &'static str> {
        let (wing, patterns) = ("notes".parse().unwrap(), NotePatterns::default());
        locate(&NoteFolder { path: path.to_owned(), wing, patterns }, prefix)
    }

    #[test]
    fn a_folder_is_located_from_the_palace() {
        for (path, prefix, expected) in [
            ("../notes", "palaces/keep/", Some("palaces/notes")),
            ("../../notes/log", "palaces/keep/", Some("notes/log")),
            ("..", "keep/", Some("")),
            ("../..", "keep/", None),
            ("..", "", None),
            ("docs", "keep/", Some("keep/docs")),
            ("", "keep/", Some("keep")),
            ("", "", Some("")),
            ("../keep/docs", "keep/", None),
            ("../keep2", "keep/", Some("keep2")),
        ] {
            assert_eq!(located(path, prefix).ok().as_deref(), expected, "{path} {prefix}");
        }
    }

    #[test]
    fn the_notes_of_a_repository_are_those_of_its_palaces() {
        let folder = |path: &str| NoteFolder {
            path: path.to_owned(),
            wing: "notes".parse().unwrap(),
            patterns: NotePatterns::default(),
        };
        let folders = |path: &str| NoteFolders::from_iter([folder(path)]);
        let palaces =
            [("keep/".to_owned(), folders("../notes")), ("a/b/".to_owned(), folders("c"))];
        let notes = NotesOfRepository::new(&palaces);
        for (path, expected) in [
            ("notes/x/a.md", true),
            ("a/b/c/a.md", true),
            ("notes/a.txt", false),
            ("notes/.x/a.md", false),
            ("other/a.md", false),
            ("keep/c/a.md", false),
        ] {
            assert_eq!(notes.contains(path), expected, "{path}");
        }
    }

    #[test]
    fn paths_below_a_folder_are_converted_both_ways() {
        let folder = |path: &str| LocatedNoteFolder {
            path: path.to_owned(),
            path_in_repository: String::new(),
        };
        for (path, below, whole) in
            [("..", "a.md", "../a.md"), ("../n", "b/a.md", "../n/b/a.md"), ("", "a.md", "a.md")]
        {
            assert_eq!(folder(path).path_from_palace(below), whole);
            assert_eq!(folder(path).path_below(whole), Some(below));
        }
        assert_eq!(folder("").path_below("../a.md"), None);
        assert_eq!(folder("../n").path_below("../nn/a.md"), None);
    }
}
