//! Finds the commits that a synchronization has brought from other machines.
//!
//! The reflog of `HEAD` knows: a commit of this machine has an entry of its own, and commits of
//! others come with the entry of a fast-forward or a merge.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::bstr::ByteSlice as _;

use crate::model::CommitId;

use crate::store::history::commits::{self, HistoryReader};
use crate::store::repo::regular_file;
use crate::store::repo::repository::Repository;
use crate::store::{Error, Store};

/// The beginnings of the reasons of entries that bring commits of others.
const REASONS: [&str; 3] = ["sync: ", "pull", "merge "];
/// The maximum size of a reflog that is read.
const MAX_BYTES: u64 = 4 << 20;

impl Store {
    /// Returns those of the newest `limit` commits since `known` that came from other machines, each
    /// with its committer. Without a reflog there are none.
    pub fn received_commits(
        &self,
        known: &CommitId,
        limit: usize,
    ) -> Result<BTreeMap<String, String>, Error> {
        let Some(repository) = self.repository()? else { return Ok(BTreeMap::new()) };
        let history = HistoryReader::new(&repository);
        let known = commits::parse_commit_id(known).ok().filter(|it| history.git.has_object(*it));
        let Some(known) = known else { return Ok(BTreeMap::new()) };
        let read = || -> gix::Result<_> {
            let mut received = BTreeMap::new();
            for (old, new) in moves_by_others(&repository, known) {
                let is_there = |it: ObjectId| history.git.has_object(it);
                if !is_there(old) || !is_there(new) {
                    continue;
                }
                let left = limit.saturating_sub(received.len());
                for step in history.walk_commits([new], [old, known])?.take(left) {
                    let id = step?.id;
                    let committer = history.git.find_commit(id)?;
                    let name = committer.committer()?.name.to_str_lossy().into_owned();
                    received.insert(id.to_string(), name);
                }
            }
            Ok(received)
        };
        read().map_err(|err| repository.git_error("read the history", err))
    }
}

/// Lists the moves of `HEAD` since it last was `known` that brought commits of others, newest first.
fn moves_by_others(repository: &Repository, known: ObjectId) -> Vec<(ObjectId, ObjectId)> {
    let path = repository.git_dir.join("logs/HEAD");
    let bytes = regular_file::read_regular_file_at_most(&path, MAX_BYTES).ok().flatten();
    let text = bytes.map(|it| it.to_str_lossy().into_owned()).unwrap_or_default();
    let entries = text.lines().rev().map_while(|line| {
        let (who, reason) = line.split_once('\t')?;
        let mut ids = who.split(' ').map(|it| ObjectId::from_hex(it.as_bytes()).ok());
        Some((ids.next()??, ids.next()??, reason))
    });
    let since = entries.take_while(|(_, new, _)| *new != known);
    let brought = since.filter(|(.., reason)| REASONS.iter().any(|it| reason.starts_with(it)));
    brought.map(|(old, new, _)| (old, new)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::test_repository::{TestHome, change_of_one_file, commit_ok};

    #[test]
    fn only_commits_that_a_merge_or_a_fast_forward_brought_are_received() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let begin = store.head().unwrap().unwrap();
        scene.git(&["switch", "-qc", "other"]);
        scene.git(&["-c", "user.name=Ben", "commit", "-q", "--allow-empty", "-m", "theirs"]);
        let theirs = store.head().unwrap().unwrap();
        scene.git(&["switch", "-q", "main"]);
        commit_ok(&mut store, &change_of_one_file("rooms/hall.yaml", None, Some("1\n")));
        let ours = store.head().unwrap().unwrap();
        assert_eq!(store.received_commits(&begin, 9).unwrap(), BTreeMap::new());
        scene.git(&["merge", "-q", "--no-edit", "other"]);
        let received = store.received_commits(&begin, 9).unwrap();
        assert_eq!(received.get(&theirs.0).map(String::as_str), Some("Ben"));
        assert!(!received.contains_key(&ours.0));
        let merge = store.head().unwrap().unwrap();
        assert_eq!(store.received_commits(&merge, 9).unwrap(), BTreeMap::new());
    }
}
