//! Folders of Markdown files that are read in place as drawers of a wing: `[[folder]]` of
//! `palace.toml`.

use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

use crate::model::{PALACE_FOLDERS, RoomId, Slug, is_markdown_file};

/// A folder of Markdown files, called notes. Palazzo reads them and never changes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteFolder {
    /// The path of the folder, relative to the palace: `../notes`, `docs`; empty: the palace itself.
    pub path: String,
    /// The wing of its notes.
    pub wing: Slug,
    /// Which of its files are notes.
    pub patterns: NotePatterns,
}

/// All folders of notes of a palace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteFolders(Arc<[NoteFolder]>);

/// Patterns of paths below a folder, with the rules of `.gitignore` for slashes and folders: a pattern
/// without a slash is that of a name at any depth, and one that matches a folder matches what is in
/// it. Patterns that begin with `!` leave out. The last one that matches decides.
#[derive(Clone, Debug, Default)]
pub struct NotePatterns {
    patterns: Vec<NotePattern>,
}

#[derive(Clone, Debug)]
struct NotePattern {
    text: String,
    is_negative: bool,
    glob: GlobMatcher,
}

impl NoteFolder {
    /// Returns the path as the settings have it.
    pub fn path_in_settings(&self) -> &str {
        if self.path.is_empty() { "." } else { &self.path }
    }

    /// Returns the path of a file below this folder, if it may be a note of it: a Markdown file, in no
    /// hidden folder, and in no folder that belongs to the palace.
    fn path_of_note<'p>(&self, path: &'p str) -> Option<&'p str> {
        let below = self.path_below(path)?;
        let is_hidden = below.split('/').any(|it| it.starts_with('.'));
        (is_markdown_file(below) && !is_hidden && self.patterns.include(below)).then_some(below)
    }

    /// Returns the path of a file or folder below this folder.
    fn path_below<'p>(&self, path: &'p str) -> Option<&'p str> {
        let below = match self.path.as_str() {
            "" => path,
            folder => path.strip_prefix(folder)?.strip_prefix('/')?,
        };
        let first = below.split('/').next().unwrap_or_default();
        let is_palace_folder = self.path.is_empty() && PALACE_FOLDERS.contains(&first);
        (first != ".." && !is_palace_folder).then_some(below)
    }
}

impl NoteFolders {
    /// Yields the folders in the order of the settings.
    pub fn iter(&self) -> impl Iterator<Item = &NoteFolder> {
        self.0.iter()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the file at `path` is a note of one of the folders.
    pub fn contains(&self, path: &str) -> bool {
        self.find(path).is_some()
    }

    /// Returns the folder of a note, the innermost of several; `None`: the file is no note.
    pub fn folder_of_note(&self, path: &str) -> Option<&NoteFolder> {
        self.find(path).map(|(folder, _)| folder)
    }

    /// Returns whether there may be notes below a folder.
    pub fn may_contain(&self, folder: &str) -> bool {
        self.0.iter().any(|it| it.path_below(folder).is_some())
    }

    /// Returns the room of a note: the first folder below that of its wing, else the room that is
    /// called like the wing; `None`: the file is no note.
    pub fn room_of_note(&self, path: &str) -> Option<RoomId> {
        let (folder, below) = self.find(path)?;
        let slug = match below.split_once('/') {
            Some((name, _)) => {
                name.parse().unwrap_or_else(|_| Slug::from_text_or_kind(name, "room"))
            }
            None => folder.wing.clone(),
        };
        Some(RoomId { wing: Some(folder.wing.clone()), slug })
    }

    /// Returns the innermost folder that has the note, and the path of the note below it.
    fn find<'p>(&self, path: &'p str) -> Option<(&NoteFolder, &'p str)> {
        let found = self.0.iter().filter_map(|it| Some((it, it.path_of_note(path)?)));
        found.max_by_key(|(folder, _)| folder.path.len())
    }
}

impl FromIterator<NoteFolder> for NoteFolders {
    fn from_iter<T: IntoIterator<Item = NoteFolder>>(folders: T) -> Self {
        Self(folders.into_iter().collect())
    }
}

impl NotePatterns {
    /// Parses patterns; the error says what is wrong with the first that is none.
    pub fn parse(texts: &[String]) -> Result<Self, String> {
        let patterns = texts.iter().map(|it| NotePattern::parse(it));
        Ok(Self { patterns: patterns.collect::<Result<_, _>>()? })
    }

    /// Returns whether a file is a note, by its path below the folder. Where no pattern matches, it
    /// is, unless there are patterns that say what is.
    fn include(&self, path: &str) -> bool {
        let last = self.patterns.iter().rev().find(|it| it.matches(path));
        match last {
            Some(it) => !it.is_negative,
            None => self.patterns.iter().all(|it| it.is_negative),
        }
    }
}

/// Compares the texts.
impl PartialEq for NotePatterns {
    fn eq(&self, other: &Self) -> bool {
        let [one, other] = [self, other].map(|it| it.patterns.iter().map(|it| &it.text));
        one.eq(other)
    }
}

impl Eq for NotePatterns {}

impl NotePattern {
    fn parse(text: &str) -> Result<Self, String> {
        let (is_negative, pattern) = match text.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, text),
        };
        let pattern = pattern.trim_end_matches('/');
        if pattern.is_empty() {
            return Err("the pattern is empty".to_owned());
        }
        let pattern = match pattern.split_once('/') {
            None => format!("**/{pattern}"),
            Some(("", anchored)) => anchored.to_owned(),
            Some(_) => pattern.to_owned(),
        };
        let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
        let glob = glob.map_err(|it| it.kind().to_string())?.compile_matcher();
        Ok(Self { text: text.to_owned(), is_negative, glob })
    }

    fn matches(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.map(|end| &path[..end]).any(|it| self.glob.is_match(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(path: &str, wing: &str, patterns: &[&str]) -> NoteFolder {
        let patterns: Vec<_> = patterns.iter().map(|it| (*it).to_owned()).collect();
        NoteFolder {
            path: path.to_owned(),
            wing: wing.parse().unwrap(),
            patterns: NotePatterns::parse(&patterns).unwrap(),
        }
    }

    fn room(folders: &NoteFolders, path: &str) -> Option<String> {
        folders.room_of_note(path).map(|it| it.to_string())
    }

    #[test]
    fn the_room_of_a_note_is_its_first_folder_or_its_wing() {
        let folders: NoteFolders = [folder("../notes", "vault", &[])].into_iter().collect();
        for (path, expected) in [
            ("../notes/a.md", Some("vault/vault")),
            ("../notes/Daily Notes/2026/a.markdown", Some("vault/daily-notes")),
            ("../notes/old_log/a.md", Some("vault/old_log")),
            ("../notes/日記/a.md", Some("vault/ri-ji")),
            ("../notes/a.txt", None),
            ("../notes/.trash/a.md", None),
            ("../notes/../a.md", None),
            ("../notesx/a.md", None),
            ("notes/a.md", None),
            ("drawers/notes/a.md", None),
        ] {
            assert_eq!(room(&folders, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn a_folder_may_contain_the_palace_or_be_it() {
        let above: NoteFolders = [folder("..", "vault", &[])].into_iter().collect();
        assert_eq!(room(&above, "../ideas/a.md").as_deref(), Some("vault/ideas"));
        assert_eq!(room(&above, "../../a.md"), None);
        let here: NoteFolders = [folder("", "vault", &[])].into_iter().collect();
        assert_eq!(room(&here, "README.md").as_deref(), Some("vault/vault"));
        assert_eq!(room(&here, "scrolls/hall/a.md"), None);
        assert_eq!(room(&here, ".palazzo/README.md"), None);
        assert_eq!(room(&here, "../a.md"), None);
    }

    #[test]
    fn the_innermost_folder_has_the_note() {
        let folders = [folder("..", "vault", &[]), folder("../people", "people", &[])];
        let folders: NoteFolders = folders.into_iter().collect();
        assert_eq!(room(&folders, "../people/ada.md").as_deref(), Some("people/people"));
        assert_eq!(room(&folders, "../log/a.md").as_deref(), Some("vault/log"));
    }

    #[test]
    fn patterns_choose_as_those_of_gitignore_do() {
        let includes = |patterns: &[&str], path: &str| {
            folder("n", "n", patterns).path_of_note(&format!("n/{path}")).is_some()
        };
        assert!(includes(&["!Templates"], "a/b.md"));
        assert!(!includes(&["!Templates"], "a/Templates/b.md"));
        assert!(includes(&["!/Templates/"], "a/Templates/b.md"));
        assert!(!includes(&["!/Templates/"], "Templates/x/b.md"));
        assert!(includes(&["journal/*.md"], "journal/a.md"));
        assert!(!includes(&["journal/*.md"], "journal/2026/a.md"));
        assert!(!includes(&["journal/*.md"], "b.md"));
        assert!(includes(&["journal/**"], "journal/2026/a.md"));
        assert!(includes(&["!*.md", "keep.md"], "a/keep.md"));
        assert!(!includes(&["keep.md", "!*.md"], "a/keep.md"));
        assert!(NotePatterns::parse(&["a[".to_owned()]).is_err());
        assert!(NotePatterns::parse(&["!".to_owned()]).is_err());
    }
}
