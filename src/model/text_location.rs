//! The places that contain a text: files, commits, and what git keeps besides.

use std::path::PathBuf;

use crate::model::CommitSummary;

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
    /// The lines, counted from one; empty if only its path contains the text.
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
