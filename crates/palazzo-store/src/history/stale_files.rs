//! Compares files of the whole repository with those of an earlier commit.

use gix::ObjectId;
use gix_imara_diff::{Algorithm, Diff, InternedInput};

use palazzo_core::model::{CommitId, StaleReason};

use crate::history::commits::{self, HistoryReader};
use crate::repo::paths;
use crate::{Error, Store};

/// The maximum size of a file whose lines are compared, in bytes.
const MAX_COMPARED_BYTES: u64 = 1 << 20;

impl Store {
    /// Returns those of `paths`, relative to the root of the repository, that were files in the
    /// commit `since` and are gone or much changed in the newest commit. Files of the palace itself
    /// are none of them. A file that is in no commit, but on disk, is not gone.
    pub fn stale_files_outside_palace(
        &self,
        since: &CommitId,
        paths: &[&str],
    ) -> Result<Vec<(String, StaleReason)>, Error> {
        let Some(repository) = self.repository()? else { return Ok(Vec::new()) };
        let Some(tip) = self.history_tip(&repository)? else { return Ok(Vec::new()) };
        let is_palace_file =
            |path: &str| !repository.prefix.is_empty() && path.starts_with(&repository.prefix);
        repository.read_history("compare two commits", |history| {
            let since = history.root_tree(commits::parse_commit_id(since)?)?;
            let now = history.root_tree(tip)?;
            let mut stale = Vec::new();
            for path in paths.iter().filter(|it| !is_palace_file(it)) {
                let Some(before) = find_file(history, since, path)? else { continue };
                let state = match find_file(history, now, path)? {
                    Some(after) => has_changed_much(history, before, after)?
                        .then_some(StaleReason::ChangedMuch),
                    None => (!self.is_on_disk(&repository.work, path)).then_some(StaleReason::Gone),
                };
                stale.extend(state.map(|it| ((*path).to_owned(), it)));
            }
            Ok(stale)
        })
    }

    /// Returns whether something is at a path of the working directory, without following links.
    fn is_on_disk(&self, work: &std::path::Path, path: &str) -> bool {
        let is_inside = self.reads_disk()
            && paths::check_path(path).is_ok()
            && paths::reject_symbolic_links(work, path).is_ok();
        is_inside && work.join(path).symlink_metadata().is_ok()
    }
}

/// Returns the content of a file in a tree; `None`: there is no file at the path.
fn find_file(
    history: &HistoryReader<'_>,
    root: ObjectId,
    path: &str,
) -> gix::Result<Option<ObjectId>> {
    let found = history.git.find_tree(root)?.lookup_entry(path.split('/'))?;
    Ok(found.filter(|it| it.mode().is_blob()).map(|it| it.object_id()))
}

/// Returns whether at least half of the lines of a file are gone or changed. A file that is large or
/// no text has not.
fn has_changed_much(
    history: &HistoryReader<'_>,
    before: ObjectId,
    after: ObjectId,
) -> gix::Result<bool> {
    if before == after {
        return Ok(false);
    }
    let mut texts = Vec::new();
    for id in [before, after] {
        if history.git.find_header(id)?.size() > MAX_COMPARED_BYTES {
            return Ok(false);
        }
        texts.push(history.git.find_object(id)?.data.clone());
    }
    if texts.iter().any(|it| it.contains(&0)) {
        return Ok(false);
    }
    let input = InternedInput::new(texts[0].as_slice(), texts[1].as_slice());
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let removed: usize = diff.hunks().map(|it| it.before.len()).sum();
    Ok(removed > 0 && removed * 2 >= input.before.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    #[test]
    fn a_file_is_stale_if_it_is_gone_or_half_of_its_lines_have_changed() {
        let scene = TestHome::with_repository();
        let put = |path: &str, text: &str| scene.write_file(path, text);
        put("a/gone.rs", "1\n");
        put("ignored.rs", "1\n");
        put("little.rs", "1\n2\n3\n4\n");
        put("much.rs", "1\n2\n3\n4\n");
        put("keep/rooms/hall.yaml", "1\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "before"]);
        let store = scene.palace("keep");
        let since = store.head().unwrap().unwrap();
        scene.git(&["rm", "-q", "a/gone.rs", "keep/rooms/hall.yaml"]);
        scene.git(&["rm", "-q", "--cached", "ignored.rs"]);
        put(".gitignore", "ignored.rs\n");
        put("little.rs", "1\n2\n3\n5\n6\n7\n");
        put("much.rs", "1\n2\n5\n6\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "after"]);
        let paths = [
            "a/gone.rs",
            "a",
            "ignored.rs",
            "little.rs",
            "much.rs",
            "never.rs",
            "keep/rooms/hall.yaml",
        ];
        let stale = store.stale_files_outside_palace(&since, &paths).unwrap();
        let expected = [("a/gone.rs", StaleReason::Gone), ("much.rs", StaleReason::ChangedMuch)];
        assert_eq!(stale, expected.map(|(path, it)| (path.to_owned(), it)));
        let head = store.head().unwrap().unwrap();
        assert_eq!(store.stale_files_outside_palace(&head, &paths).unwrap(), []);
    }
}
