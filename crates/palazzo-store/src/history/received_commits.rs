//! Finds the commits that a synchronization has brought from other machines.
//!
//! The reflog of `HEAD` knows: a commit of this machine has an entry of its own, and commits of
//! others come with the entry of a fast-forward or a merge.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use gix::ObjectId;
use gix::bstr::ByteSlice as _;

use palazzo_core::model::CommitId;

use crate::history::commits::{self, HistoryReader};
use crate::repo::regular_file;
use crate::{Error, Store};

/// The beginnings of the reasons of entries that bring commits of others.
const REASONS: [&str; 3] = ["sync: ", "pull", "merge "];
/// The maximum size of a reflog that is read.
const MAX_BYTES: u64 = 64 << 20;

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
            let is_by_others = |reason: &str| REASONS.iter().any(|it| reason.starts_with(it));
            for (old, new) in head_moves(&repository.git_dir, Some(known), is_by_others) {
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

    /// Returns the ids of the commits that came from other machines since `HEAD` was `known`, by
    /// `palazzo sync` or by git's own `pull` and `merge`; at most `limit`. Commits of another branch
    /// of this machine are none of them. Without `known`: as far back as the reflog reaches.
    pub fn commits_from_remotes(
        &self,
        known: Option<&CommitId>,
        limit: usize,
    ) -> Result<HashSet<String>, Error> {
        // Nothing is received on the branch of a proposal.
        let repository = if self.branch().is_some() { None } else { self.repository()? };
        let Some(repository) = repository else { return Ok(HashSet::new()) };
        let history = HistoryReader::new(&repository);
        let known = known.and_then(|it| commits::parse_commit_id(it).ok());
        let remotes: Vec<String> =
            history.git.remote_names().iter().map(|it| it.to_str_lossy().into_owned()).collect();
        let is_wanted = |reason: &str| is_sync(reason, &remotes);
        let mut moves = head_moves(&repository.git_dir, known, is_wanted);
        // In another worktree, the commits came with a move of the main one.
        if repository.common_dir != repository.git_dir {
            moves.extend(head_moves(&repository.common_dir, known, is_wanted));
        }
        let read = || -> gix::Result<_> {
            let mut synced = HashSet::new();
            for (old, new) in moves {
                let left = limit.saturating_sub(synced.len());
                if left == 0 {
                    break;
                }
                if history.git.has_object(old) && history.git.has_object(new) {
                    let ids = history.walk_commits([new], [old])?.take(left);
                    for step in ids {
                        synced.insert(step?.id.to_string());
                    }
                }
            }
            Ok(synced)
        };
        read().map_err(|err| repository.git_error("read the history", err))
    }
}

/// Returns whether the reason of a reflog entry is that of a move that brought the commits of a
/// remote. The later steps of a rebase repeat the commits of this machine.
fn is_sync(reason: &str, remotes: &[String]) -> bool {
    let command = reason.split(": ").next().unwrap_or_default();
    let is_pull = command == "pull" || command.starts_with("pull ");
    let of_remote = command.strip_prefix("merge ").is_some_and(|branch| {
        let branch = branch.strip_prefix("refs/remotes/").unwrap_or(branch);
        remotes.iter().any(|it| branch.strip_prefix(it).is_some_and(|it| it.starts_with('/')))
    });
    let is_merge = ["sync: merge", "sync: fast-forward"].iter().any(|it| reason.starts_with(it));
    is_merge || of_remote || (is_pull && (!command.ends_with(')') || command.ends_with("(start)")))
}

/// Lists the moves of `HEAD` since it last was `known` whose reasons are wanted, newest first.
fn head_moves(
    git_dir: &Path,
    known: Option<ObjectId>,
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<(ObjectId, ObjectId)> {
    let path = git_dir.join("logs/HEAD");
    let bytes = regular_file::read_regular_file_at_most(&path, MAX_BYTES).ok().flatten();
    let text = bytes.map(|it| it.to_str_lossy().into_owned()).unwrap_or_default();
    let entries = text.lines().rev().map_while(|line| {
        // A plumbing command need not give a reason.
        let (who, reason) = line.split_once('\t').unwrap_or((line, ""));
        let mut ids = who.split(' ').map(|it| ObjectId::from_hex(it.as_bytes()).ok());
        Some((ids.next()??, ids.next()??, reason))
    });
    let since = entries.take_while(|(_, new, _)| Some(*new) != known);
    since.filter(|(.., reason)| is_wanted(reason)).map(|(old, new, _)| (old, new)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

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

    #[test]
    fn only_commits_of_a_remote_are_synced() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let commit = |name: &str| {
            scene.git(&["commit", "-q", "--allow-empty", "-m", name]);
            scene.git(&["rev-parse", "HEAD"]).trim().to_owned()
        };
        let origin = scene.home.display().to_string();
        scene.git(&["switch", "-qc", "local"]);
        let local = commit("local");
        scene.git(&["switch", "-qc", "other", "main"]);
        let theirs = commit("theirs");
        scene.git(&["switch", "-q", "main"]);
        let ours = commit("ours");
        assert_eq!(store.commits_from_remotes(None, 9).unwrap(), HashSet::new());
        scene.git(&["merge", "-q", "--no-edit", "local"]);
        scene.git(&["pull", "-q", "--no-rebase", "--no-edit", &origin, "other"]);
        let merge = store.head().unwrap().unwrap();
        let synced = store.commits_from_remotes(None, 9).unwrap();
        assert_eq!(synced, HashSet::from([theirs, merge.0.clone()]));
        assert!(!synced.contains(&local) && !synced.contains(&ours));
        // In a worktree of its own, and behind moves without a reason, they stay so.
        scene.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
        let side = scene.store(&scene.home.with_file_name("side").join("keep"));
        assert_eq!(side.commits_from_remotes(None, 9).unwrap(), synced);
        let newest = commit("newest");
        scene.git(&["update-ref", "HEAD", &merge.0]);
        scene.git(&["update-ref", "HEAD", &newest]);
        assert_eq!(store.commits_from_remotes(None, 9).unwrap(), synced);
        scene.git(&["update-ref", "HEAD", &merge.0]);
        commit_ok(&mut store, &change_of_one_file("rooms/hall.yaml", None, Some("1\n")));
        assert_eq!(store.commits_from_remotes(Some(&merge), 9).unwrap(), HashSet::new());
        assert_eq!(store.commits_from_remotes(None, 1).unwrap().len(), 1);
    }

    #[test]
    fn the_reasons_of_a_reflog_tell_a_sync_from_other_moves() {
        let remotes = ["origin".to_owned()];
        let synced = [
            "sync: merge, with 1 conflict",
            "sync: fast-forward",
            "pull: Fast-forward",
            "pull origin main: Merge made by the 'ort' strategy.",
            "pull --rebase (start): checkout abc",
            "merge origin/main: Fast-forward",
            "merge refs/remotes/origin/main: Fast-forward",
        ];
        let others = [
            "sync: undo",
            "sync: revert",
            "pull --rebase (pick): a (start): b",
            "merge proposals: Fast-forward",
            "merge originals/main: Fast-forward",
            "commit: pull",
            "commit (merge): Merge",
        ];
        assert!(synced.iter().all(|it| is_sync(it, &remotes)), "{synced:?}");
        assert!(!others.iter().any(|it| is_sync(it, &remotes)), "{others:?}");
    }
}
