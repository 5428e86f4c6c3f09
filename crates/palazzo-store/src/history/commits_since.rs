//! Lists the commits made after a given commit.

use palazzo_core::model::{CommitDetails, CommitId};

use crate::history::commits;
use crate::history::commits::HistoryReader;
use crate::{Error, Store};

impl Store {
    /// Lists the commits that changed the palace and are not ancestors of `known`, newest first.
    /// Examines at most the newest `limit` commits, and returns whether there are more. `None`:
    /// `known` does not exist any more.
    pub fn commits_since(
        &self,
        known: &CommitId,
        limit: usize,
    ) -> Result<Option<(Vec<CommitDetails>, bool)>, Error> {
        let Some(repository) = self.repository()? else { return Ok(None) };
        let past = HistoryReader::new(&repository);
        let known = commits::parse_commit_id(known).ok().filter(|it| past.git.has_object(*it));
        let (Some(known), Some(tip)) = (known, self.history_tip(&repository)?) else {
            return Ok(None);
        };
        let records = || -> gix::Result<_> {
            let mut records = Vec::new();
            let mut steps = past.walk_commits([tip], Some(known))?;
            for step in steps.by_ref().take(limit) {
                let record = past.read_commit_details(&step?)?;
                if !record.changed_files.is_empty() {
                    records.push(record);
                }
            }
            Ok((records, steps.next().is_some()))
        };
        records().map(Some).map_err(|err| repository.git_error("read the history", err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";

    fn format_commits_since(store: &Store, known: &CommitId, limit: usize) -> String {
        let Some((records, are_more)) = store.commits_since(known, limit).unwrap() else {
            return "?".to_owned();
        };
        let line = |it: CommitDetails| format!("{}: {}", it.summary.by, it.changed_files.join(" "));
        let lines: Vec<_> = records.into_iter().map(line).collect();
        lines.join("; ") + if are_more { "; …" } else { "" }
    }

    #[test]
    fn commits_since_a_commit_are_listed_with_author_and_files() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let begin = store.head().unwrap().unwrap();
        assert_eq!(format_commits_since(&store, &begin, 9), "");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let first = store.head().unwrap().unwrap();
        scene.git(&["commit", "-q", "--allow-empty", "-m", "elsewhere"]);
        scene.write_file("keep/scrolls/hall/one.md", "one\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "by hand"]);
        assert_eq!(format_commits_since(&store, &first, 9), "Ada: scrolls/hall/one.md");
        assert_eq!(
            format_commits_since(&store, &begin, 9),
            "Ada: scrolls/hall/one.md; Claude Desktop: rooms/hall.yaml"
        );
        assert_eq!(format_commits_since(&store, &begin, 2), "Ada: scrolls/hall/one.md; …");
    }

    #[test]
    fn merged_commits_are_listed_even_if_they_are_older() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        scene.git(&["switch", "-qc", "side"]);
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        scene.git(&["switch", "-q", "main"]);
        scene.write_file("notes.md", "more\n");
        scene.git(&["commit", "-qam", "main"]);
        let known = store.head().unwrap().unwrap();
        scene.git(&["merge", "-q", "--no-edit", "side"]);
        assert_eq!(format_commits_since(&store, &known, 9), "Claude Desktop: rooms/hall.yaml");
    }

    #[test]
    fn an_unknown_commit_returns_nothing() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let gone = CommitId("0123456789012345678901234567890123456789".to_owned());
        assert_eq!(format_commits_since(&store, &gone, 9), "?");
        assert_eq!(format_commits_since(&store, &CommitId("no commit".to_owned()), 9), "?");
    }
}
