//! Finds the commit in which a file first appeared.

use gix::ObjectId;
use gix::bstr::ByteSlice as _;

use palazzo_core::model::{CommitId, FileCreation};

use crate::history::commits::MERGE_RULES_TRAILER;
use crate::history::commits::{self, HistoryReader};
use crate::history::file_history_cache::FileHistoryCache;
use crate::{Error, Store};

/// The trailer with the tool or command that made a commit.
const TOOL_TRAILER: &str = "Palazzo-Tool";

impl Store {
    /// Returns the commit in which a file first appeared, as far as `cache` has counted. `None`: it
    /// is not committed, or the history before the boundary of a shallow clone is missing.
    pub fn file_creation(
        &self,
        cache: &FileHistoryCache,
        path: &str,
    ) -> Result<Option<FileCreation>, Error> {
        self.read_numbered_commit(cache, cache.history.get(path).map(|it| it.first_commit))
    }

    /// Returns the last few commits that changed a file, the newest first, without the one in which it
    /// first appeared.
    pub fn last_changes_of_file(
        &self,
        cache: &FileHistoryCache,
        path: &str,
    ) -> Result<Vec<FileCreation>, Error> {
        let Some(history) = cache.history.get(path) else { return Ok(Vec::new()) };
        let mut changes = Vec::new();
        for number in history.recent.numbers().filter(|it| *it != history.first_commit) {
            changes.extend(self.read_numbered_commit(cache, Some(number))?);
        }
        Ok(changes)
    }

    fn read_numbered_commit(
        &self,
        cache: &FileHistoryCache,
        number: Option<u32>,
    ) -> Result<Option<FileCreation>, Error> {
        let Some(commit) = number.and_then(|it| cache.commits.get(it as usize)) else {
            return Ok(None);
        };
        let Some(repository) = self.repository()? else { return Ok(None) };
        repository.read_history("read the history", |history| read_creation(history, *commit))
    }

    /// Lists the files of the palace that a commit changed.
    pub fn files_changed_by(&self, commit: &CommitId) -> Result<Vec<String>, Error> {
        let Some(repository) = self.repository()? else { return Ok(Vec::new()) };
        repository.read_history("read the history", |history| {
            let node = history.read_commit_node(commits::parse_commit_id(commit)?)?;
            Ok(history.paths_changed_by(node.id, &node.parents)?.into_iter().collect())
        })
    }
}

fn read_creation(
    history: &HistoryReader<'_>,
    commit: ObjectId,
) -> gix::Result<Option<FileCreation>> {
    // At the boundary of a shallow clone every file appears.
    let boundary = history.git.shallow_commits()?;
    if boundary.is_some_and(|it| it.contains(&commit)) {
        return Ok(None);
    }
    let found = history.git.find_commit(commit)?;
    let message = found.message()?;
    let trailer = |name: &str| {
        let mut trailers = message.body()?.trailers();
        let found = trailers.find(|it| it.token.eq_ignore_ascii_case(name.as_bytes()))?;
        Some(found.value.to_str_lossy().into_owned())
    };
    let is_merge_by_sync = found.parent_ids().count() > 1 && trailer(MERGE_RULES_TRAILER).is_some();
    let tool = trailer(TOOL_TRAILER);
    let by = found.author()?.name.to_str_lossy().into_owned();
    let commit = CommitId(commit.to_string());
    Ok(Some(FileCreation { commit, by, tool, is_merge_by_sync }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";

    fn creation(store: &Store, cache: &mut FileHistoryCache) -> Option<(String, Option<String>)> {
        store.update_file_history_cache(cache).unwrap();
        let found = store.file_creation(cache, HALL).unwrap()?;
        assert_eq!(store.files_changed_by(&found.commit).unwrap(), [HALL]);
        Some((found.by, found.tool))
    }

    #[test]
    fn a_file_keeps_the_first_commit_of_several_at_the_same_time() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let mut cache = FileHistoryCache::default();
        assert_eq!(creation(&store, &mut cache), None);
        let mut first = change_of_one_file(HALL, None, Some("1\n"));
        first.trailers = vec![(TOOL_TRAILER, "build_room".to_owned())];
        commit_ok(&mut store, &first);
        let expected = Some(("Claude Desktop".to_owned(), Some("build_room".to_owned())));
        assert_eq!(creation(&store, &mut cache), expected);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(creation(&store, &mut cache), expected);
        assert_eq!(creation(&store, &mut FileHistoryCache::default()), expected);
    }

    #[test]
    fn a_commit_that_is_dated_before_the_first_one_creates_nothing() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let mut counted_before = FileHistoryCache::default();
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let first = creation(&store, &mut counted_before);
        let script = format!(
            "commit refs/heads/main\ncommitter Eve <e@example.org> 1000000000 +0000\ndata 1\nx\n\
             from refs/heads/main^0\nM 100644 inline keep/{HALL}\ndata 2\n2\n"
        );
        scene.fast_import(&script);
        assert_eq!(creation(&store, &mut counted_before), first);
        assert_eq!(creation(&store, &mut FileHistoryCache::default()), first);
    }

    #[test]
    fn the_boundary_of_a_shallow_clone_creates_no_file() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let origin = format!("file://{}", scene.home.display());
        scene.git(&["clone", "-q", "--depth", "1", &origin, "../shallow"]);
        let shallow = scene.store(&scene.home.with_file_name("shallow").join("keep"));
        assert_eq!(creation(&shallow, &mut FileHistoryCache::default()), None);
    }
}
