//! The places that contain a text: files, commits, and what git keeps besides.

use std::path::PathBuf;

use crate::model::{CommitSummary, Slug};

/// A text to search for.
///
/// A file that a tool has named after a title or an entity has the text as a slug in its name, which
/// may be cut.
#[derive(Clone, Debug)]
pub struct SoughtText {
    text: String,
    /// The text as a slug; `None`: it is too short to mean anything.
    slug: Option<String>,
}

/// The least characters of a slug that are searched in names, and how many of a longer one suffice.
const MIN_SLUG_CHARS: usize = 4;
const SUFFICIENT_SLUG_CHARS: usize = 20;

/// The places on this machine that contain a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextLocations {
    /// The repositories that contain it, each once.
    pub repositories: Vec<TextInRepository>,
    /// Palazzo's own files outside of the repositories.
    pub state_files: Vec<TextInFile>,
    /// How many files and objects could not be read.
    pub unread_count: usize,
}

/// The places in a repository, and in the palaces in it, that contain a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextInRepository {
    /// The working directory; the folder of the palace if there is no repository.
    pub work: PathBuf,
    /// The files of the palaces.
    pub files: Vec<TextInFile>,
    /// The commits that added it, newest first.
    pub commits: Vec<TextInCommit>,
    /// The tags that have it in their message.
    pub tags: Vec<String>,
    /// The objects that belong to no commit, by kind and id: `blob 3f2a…`.
    pub objects: Vec<String>,
    /// Files beside the objects: Palazzo's caches, the logs and the settings of git.
    pub git_files: Vec<TextInFile>,
    /// The names of its remotes.
    pub remotes: Vec<String>,
}

/// A file that contains a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextInFile {
    /// The file.
    pub path: PathBuf,
    /// The lines, counted from one; empty if only its path contains the text. A binary file counts as
    /// one line.
    pub lines: Vec<usize>,
}

/// A commit that added a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextInCommit {
    /// The commit.
    pub commit: CommitSummary,
    /// The files to which it added the text, relative to the root of the repository.
    pub paths: Vec<String>,
    /// Whether its message contains the text.
    pub is_in_message: bool,
    /// Whether a branch, a tag or another reference leads to it.
    pub is_referenced: bool,
    /// The open proposals that would bring it into the checked-out branch.
    pub proposals: Vec<String>,
}

impl SoughtText {
    /// Searches for `text` in files, and for it or its slug in names.
    pub fn new(text: &str) -> Self {
        let slug = Slug::from_text(text).map(|it| it.to_string());
        let slug = slug.filter(|it| it.len() >= MIN_SLUG_CHARS);
        Self { text: text.to_owned(), slug }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the part of its slug that suffices to recognize it in a name.
    pub fn slug_start(&self) -> Option<&str> {
        let slug = self.slug.as_deref()?;
        Some(slug.get(..SUFFICIENT_SLUG_CHARS).unwrap_or(slug))
    }

    /// Returns whether a path contains the text, or the start of its slug.
    pub fn is_in_path(&self, path: &str) -> bool {
        path.contains(&self.text) || self.is_slug_in_path(path)
    }

    fn is_slug_in_path(&self, path: &str) -> bool {
        self.slug_start().is_some_and(|it| path.to_ascii_lowercase().contains(it))
    }
}

impl TextInRepository {
    /// Returns whether no place contains the text.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.git_files.is_empty() && !self.is_in_history()
    }

    /// Returns whether the history contains the text.
    pub fn is_in_history(&self) -> bool {
        !self.commits.is_empty() || !self.tags.is_empty() || !self.objects.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_contains_a_text_also_as_a_slug_that_is_cut() {
        let token = "ghp_hGAkWvj7Fac9qEWjKy40Uvsw";
        let sought = SoughtText::new(token);
        assert!(!sought.is_in_path("rooms/hall.yaml"));
        assert!(!sought.is_in_path("scrolls/ghp_hgakwvj7.md"));
        assert!(sought.is_in_path("scrolls/hall/01-token-ghp_hgakwvj7fac9qewjky4.md"));
        assert!(sought.is_in_path(&format!("{token}/a.md")));
        assert!(SoughtText::new("Bug Crypt").is_in_path("rooms/bug-crypt.yaml"));
    }

    #[test]
    fn a_text_without_a_slug_is_only_found_word_for_word() {
        let sought = SoughtText::new("a.b");
        assert!(sought.is_in_path("x/a.b") && !sought.is_in_path("x/a-b"));
    }
}
