//! Undoes the last merge of a synchronization: drops it if it was not pushed, else reverses it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use gix::ObjectId;

use crate::history::commits::{HistoryReader, short_id};
use crate::repo::references;
use crate::repo::repository::Repository;
use crate::sync::error::SyncError;
use crate::sync::planned_move::PlannedMove;
use crate::sync::side_commits::{SideCommits, merge_rules_of_commit};
use crate::sync::tree_merge::{MergePalace, TreeMerger};
use crate::write::commit::GitIdentity;
use crate::write::head_move::{self, BEFORE_SYNC_REF, HeadMoveOutcome, NewCommit, NewHead};
use crate::{Error, Store};
use palazzo_core::model::quoted_unless_plain;

/// The maximum number of authors that are named.
const MAX_NAMED_AUTHORS: usize = 4;

impl Store {
    /// Moves `HEAD` from the last merge back to the commit before it, with its files; returns the
    /// ids of both. Fails if it was pushed. The store is that of the whole repository.
    pub fn undo_last_sync(&mut self) -> Result<[String; 2], Error> {
        let repository = self.require_repository()?;
        let head = repository.head()?.ok_or(SyncError::NoCommit)?;
        let [merge, before] = find_last_merge(&repository, head)?;
        if self.is_pushed(&repository, merge)? {
            return Err(self.explain_pushed_merge(&repository, merge, before)?.into());
        }
        if merge != head {
            return Err(nothing_to_undo(
                "the newest commit is no merge made by `palazzo sync` here; `palazzo undo` and \
                 `palazzo restore` revert single changes",
            ));
        }
        let history = HistoryReader::new(&repository);
        let planned = PlannedMove::new(&history, head, NewHead::Existing(before), "sync: undo")
            .map_err(|err| repository.git_error("compare two commits", err))?;
        self.apply_undo(&planned)?;
        Ok([head, before].map(short_id))
    }

    /// Commits the reverse of the last merge: what it brought is taken back, and what was committed
    /// since stays. Returns the ids of the merge and of the new commit.
    pub fn revert_last_sync(
        &mut self,
        merge_palace: &MergePalace<'_>,
        now: DateTime<Utc>,
    ) -> Result<[String; 2], Error> {
        let repository = self.require_repository()?;
        let head = repository.head()?.ok_or(SyncError::NoCommit)?;
        let [merge, before] = find_last_merge(&repository, head)?;
        let history = HistoryReader::new(&repository);
        let failed = |err| repository.git_error("merge two commits", err);
        let [commits_since, _] =
            SideCommits::of_both_sides(&history, head, Some(merge)).map_err(failed)?;
        if let Some((commit, path)) = commits_since.other_file {
            let commit = short_id(commit);
            return Err(SyncError::OtherFiles { commit, path, is_ours: true }.into());
        }
        let merger = TreeMerger { history: &history, merge_palace };
        let tree = merger.reverse_commit(merge, before, head, &commits_since);
        let tree = tree.map_err(failed)?.without_note_conflict()?.tree;
        if tree == history.root_tree(head).map_err(failed)? {
            return Err(nothing_to_undo("what it brought is not there any more"));
        }
        let commit = NewHead::Commit(NewCommit {
            parents: vec![head],
            tree,
            identity: GitIdentity::for_committer(&history.git),
            seconds: now.timestamp(),
            message: format!("sync: revert the merge {}\n\nPalazzo-Tool: sync\n", short_id(merge)),
        });
        let planned = PlannedMove::new(&history, head, commit, "sync: revert").map_err(failed)?;
        self.apply_undo(&planned)?;
        let new = repository.head()?.ok_or(SyncError::NoCommit)?;
        Ok([merge, new].map(short_id))
    }

    fn apply_undo(&mut self, planned: &PlannedMove) -> Result<(), Error> {
        let Self { writer, repository, .. } = self;
        match head_move::move_head(writer, repository, &planned.head_move, &|_| None)? {
            HeadMoveOutcome::Done(_) => Ok(()),
            HeadMoveOutcome::HeadMoved => {
                Err(nothing_to_undo("another program has just committed"))
            }
            HeadMoveOutcome::UncommittedEdits(paths) => {
                Err(SyncError::UncommittedEdit { paths }.into())
            }
        }
    }

    fn is_pushed(&self, repository: &Repository, merge: ObjectId) -> Result<bool, Error> {
        let known = references::find_ref(repository, &self.upstream()?.tracking_ref())?;
        let history = HistoryReader::new(repository);
        Ok(known.is_some_and(|it| it == merge || history.is_ancestor(merge, it)))
    }

    /// Returns the refusal to drop a merge that others may have, with who made what it brought.
    fn explain_pushed_merge(
        &self,
        repository: &Repository,
        merge: ObjectId,
        before: ObjectId,
    ) -> Result<SyncError, Error> {
        let counts = repository.read_history("read the history", |history| {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for step in history.walk_commits([merge], [before])? {
                let id = step?.id;
                if merge_rules_of_commit(history, id)?.is_none() {
                    *counts.entry(history.read_commit_summary(id)?.by).or_default() += 1;
                }
            }
            Ok(counts)
        })?;
        let upstream = self.upstream()?.description();
        let brought = describe_authors(counts);
        Ok(SyncError::MergeWasPushed { merge: short_id(merge), upstream, brought })
    }
}

/// Returns the last merge that was made here, and the commit before it.
fn find_last_merge(repository: &Repository, head: ObjectId) -> Result<[ObjectId; 2], Error> {
    let history = HistoryReader::new(repository);
    let before = references::find_ref(repository, BEFORE_SYNC_REF)?;
    let find = |before: ObjectId| -> gix::Result<Option<[ObjectId; 2]>> {
        for step in history.walk_commits([head], [before])? {
            let step = step?;
            let is_on_it = step.parents.len() > 1 && step.parents.contains(&before);
            if is_on_it && merge_rules_of_commit(&history, step.id)?.is_some() {
                return Ok(Some([step.id, before]));
            }
        }
        Ok(None)
    };
    let found = before.map(find).transpose();
    let found = found.map_err(|err| repository.git_error("read the history", err))?.flatten();
    found.ok_or_else(|| {
        nothing_to_undo(
            "the last sync made no merge here; `palazzo undo` and `palazzo restore` revert \
             single changes",
        )
    })
}

/// Describes commits by their authors, those with most first: `3 by claude, 1 by Ada`.
fn describe_authors(counts: BTreeMap<String, usize>) -> String {
    let mut authors: Vec<_> = counts.into_iter().collect();
    authors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named = authors.iter().take(MAX_NAMED_AUTHORS);
    let named = named.map(|(author, count)| format!("{count} by {}", quoted_unless_plain(author)));
    let named: Vec<_> = named.collect();
    let left: usize = authors.iter().skip(MAX_NAMED_AUTHORS).map(|(_, count)| count).sum();
    let more = if left > 0 { format!(" and {left} by others") } else { String::new() };
    named.join(", ") + &more
}

fn nothing_to_undo(why: &str) -> Error {
    SyncError::NothingToUndo { why: why.to_owned() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authors_with_most_commits_are_named_first() {
        let counts = ["a", "b", "c", "d", "e", "f"].into_iter().zip([1, 5, 1, 1, 1, 2]);
        let counts = counts.map(|(author, count)| (author.to_owned(), count)).collect();
        assert_eq!(describe_authors(counts), "5 by b, 2 by f, 1 by a, 1 by c and 2 by others");
    }
}
