//! Lists the versions of the files in a folder, in the order in which they came into the palace, and
//! finds the commits in which a file first appeared and last changed.

use gix::ObjectId;
use gix::bstr::ByteSlice as _;

use palazzo_core::model::{CommitId, FileCommit, FileHistory, commit_trailers};

use crate::history::commits::{self, CommitNode, HistoryReader};
use crate::history::file_history_cache::FileHistoryCache;
use crate::history::past_files;
use crate::history::path_history::PathLookup;
use crate::repo::tree_diff;
use crate::{Error, Store};

impl Store {
    /// Returns the texts of the files that each commit added to `folder`, which ends with a slash, or
    /// changed there. The commits are `newest`, its first parent, the first parent of that and so on,
    /// the oldest first: what a merge brings came with the merge.
    ///
    /// With `known`, only the commits after that one; `None`: it is not among them.
    pub fn file_versions(
        &self,
        folder: &str,
        newest: &CommitId,
        known: Option<&CommitId>,
    ) -> Result<Option<Vec<Vec<String>>>, Error> {
        let repository = self.require_repository()?;
        repository.read_history("read the history", |history| {
            let newest = commits::parse_commit_id(newest)?;
            let known = known.map(commits::parse_commit_id).transpose()?;
            let after = commits_after(history, newest, known)?;
            after.map(|it| read_versions(history, folder, &it)).transpose()
        })
    }

    /// Returns the commit in which a file first appeared, as far as `cache` has counted. `None`: it
    /// is not committed, or the history before the boundary of a shallow clone is missing.
    pub fn file_creation(
        &self,
        cache: &FileHistoryCache,
        path: &str,
    ) -> Result<Option<FileCommit>, Error> {
        self.read_numbered_commit(cache, cache.history.get(path).map(|it| it.first_commit))
    }

    /// Returns the last few commits that changed a file, the newest first, without the one in which it
    /// first appeared.
    pub fn last_changes_of_file(
        &self,
        cache: &FileHistoryCache,
        path: &str,
    ) -> Result<Vec<FileCommit>, Error> {
        let Some(history) = cache.history.get(path) else { return Ok(Vec::new()) };
        let mut changes = Vec::new();
        for number in history.recent.numbers().filter(|it| *it != history.first_commit) {
            changes.extend(self.read_numbered_commit(cache, Some(number))?);
        }
        Ok(changes)
    }

    /// Returns the last commit of a palace file, as far as `cache` has counted.
    pub fn last_commit_of_file(&self, cache: &FileHistoryCache, path: &str) -> Option<CommitId> {
        let number = cache.history.get(path).map(|it: &FileHistory| it.last_commit as usize)?;
        cache.commits.get(number).map(|it| CommitId(it.to_string()))
    }

    fn read_numbered_commit(
        &self,
        cache: &FileHistoryCache,
        number: Option<u32>,
    ) -> Result<Option<FileCommit>, Error> {
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

/// Returns the commits after `known` along the first parents up to `newest`, the newest first;
/// `None`: `known` is not among them.
fn commits_after(
    history: &HistoryReader<'_>,
    newest: ObjectId,
    known: Option<ObjectId>,
) -> gix::Result<Option<Vec<CommitNode>>> {
    let mut commits = Vec::new();
    for commit in history.walk_first_parents(newest)? {
        let commit = commit?;
        if Some(commit.id) == known {
            return Ok(Some(commits));
        }
        commits.push(commit);
    }
    Ok(known.is_none().then_some(commits))
}

fn read_versions(
    history: &HistoryReader<'_>,
    folder: &str,
    commits: &[CommitNode],
) -> gix::Result<Vec<Vec<String>>> {
    let mut lookup = PathLookup::for_file(history, folder);
    let mut find = |commit| lookup.find_in_tree(history.root_tree(commit)?);
    let parent = commits.last().and_then(|it| it.parents.first().copied());
    let mut before = parent.map(&mut find).transpose()?.flatten();
    let mut versions = Vec::new();
    for commit in commits.iter().rev() {
        let after = find(commit.id)?;
        let mut texts = Vec::new();
        for change in tree_diff::compare(&history.git, before, after)? {
            let Some(now) = change.now else { continue };
            let text = past_files::read_text_blob(history, &change.path, now.mode, now.id)?;
            texts.extend(text.ok());
        }
        if !texts.is_empty() {
            versions.push(texts);
        }
        before = after;
    }
    Ok(versions)
}

fn read_creation(history: &HistoryReader<'_>, commit: ObjectId) -> gix::Result<Option<FileCommit>> {
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
    let is_merge_by_sync =
        found.parent_ids().count() > 1 && trailer(commit_trailers::MERGE_RULES).is_some();
    let tool = trailer(commit_trailers::TOOL);
    let by = found.author()?.name.to_str_lossy().into_owned();
    let commit = CommitId(commit.to_string());
    Ok(Some(FileCommit { commit, by, tool, is_merge_by_sync }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};
    use palazzo_core::model::CommitId;

    #[test]
    fn what_a_merge_brings_came_with_the_merge() {
        let scene = TestHome::with_repository();
        let commit = |name: &str| {
            scene.write_file(&format!("keep/rooms/{name}.yaml"), name);
            scene.git(&["add", "keep"]);
            scene.git(&["commit", "-qm", name]);
        };
        let head = || CommitId(scene.git(&["rev-parse", "HEAD"]).trim().to_owned());
        commit("zebra");
        let fork = head();
        scene.git(&["checkout", "-qb", "other"]);
        commit("older");
        scene.git(&["checkout", "-q", "-"]);
        commit("newer");
        let known = head();
        scene.git(&["merge", "-q", "--no-edit", "other"]);
        commit("last");
        let versions = |known: Option<&CommitId>| {
            let versions = scene.palace("keep").file_versions("rooms/", &head(), known).unwrap();
            versions.map(|it| it.concat())
        };
        assert_eq!(versions(None).unwrap(), ["zebra", "newer", "older", "last"]);
        assert_eq!(versions(Some(&known)).unwrap(), ["older", "last"]);
        assert_eq!(versions(Some(&head())).unwrap(), [""; 0]);
        assert_eq!(versions(Some(&fork)).unwrap(), ["newer", "older", "last"]);
        scene.git(&["checkout", "-q", "other"]);
        assert_eq!(versions(Some(&known)), None);
    }

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
        first.trailers = vec![(commit_trailers::TOOL, "build_room".to_owned())];
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
