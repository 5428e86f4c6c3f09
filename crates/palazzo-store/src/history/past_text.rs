//! Finds an earlier text of one file.

use crate::Store;
use palazzo_core::model::{CommitDetails, CommitId};

/// Maximum number of commits of the file that are read.
const MAX_COMMITS: usize = 50;

impl Store {
    /// Returns the newest committed text of a file that `is_match` accepts, also of a file that was
    /// deleted or renamed since; `None`: there is none, or it cannot be read.
    pub fn find_past_text(&self, path: &str, is_match: impl Fn(&str) -> bool) -> Option<String> {
        if let Some(text) = self.read_file_at_head(path).filter(|it| is_match(it)) {
            return Some(text);
        }
        let (mut found, mut left) = (None, MAX_COMMITS);
        let text_at = |commit: &CommitId, path: &str| self.read_file_at(commit, path).ok()?.ok()?;
        let read = |commit: CommitDetails| {
            let path = commit.path_at_commit.as_deref().unwrap_or(path);
            // The commit may have deleted the file: then its parent has the text.
            let commits = [Some(&commit.summary.id), commit.parent.as_ref()].into_iter().flatten();
            found = commits.filter_map(|it| text_at(it, path)).find(|it| is_match(it));
            left -= 1;
            found.is_none() && left > 0
        };
        self.log(&[path], read).ok()?;
        found
    }
}

#[cfg(all(test, unix))]
mod tests {
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

    #[test]
    fn the_newest_matching_text_of_a_deleted_file_is_found() {
        const HALL: &str = "rooms/hall.yaml";
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let texts = [None, Some("1\n"), Some("2\n"), None];
        for step in texts.windows(2) {
            commit_ok(&mut store, &change_of_one_file(HALL, step[0], step[1]));
        }
        let find = |wanted: &str| store.find_past_text(HALL, |it| it.starts_with(wanted));
        assert_eq!(find("").as_deref(), Some("2\n"));
        assert_eq!(find("1").as_deref(), Some("1\n"));
        assert_eq!(find("3"), None);
        assert_eq!(store.find_past_text("rooms/none.yaml", |_| true), None);
    }
}
