//! Drops the last merge of a synchronization if it was not pushed.

use gix::ObjectId;

use crate::store::history::commits::HistoryReader;
use crate::store::repo::repository::Repository;
use crate::store::sync::commit_range::merge_rules_of_commit;
use crate::store::sync::error::SyncError;
use crate::store::sync::planned_move::PlannedMove;
use crate::store::sync::session::short_id;
use crate::store::write::head_move::{self, BEFORE_SYNC_REF, HeadMoveOutcome};
use crate::store::{Error, Store};

impl Store {
    /// Moves `HEAD` from the last merge back to the commit before it, with its files; returns the
    /// ids of both. The store is that of the whole repository.
    pub fn undo_last_sync(&mut self) -> Result<[String; 2], Error> {
        let repository = self.require_repository()?;
        let head = repository.head()?.ok_or(SyncError::NoCommit)?;
        let before = self.commit_before_merge(&repository, head)?;
        let history = HistoryReader::new(&repository);
        let planned = PlannedMove::to_existing(&history, head, before, "sync: undo")
            .map_err(|err| repository.git_error("compare two commits", err))?;
        match head_move::move_head(self, &planned.head_move)? {
            HeadMoveOutcome::Done(_) => Ok([head, before].map(short_id)),
            HeadMoveOutcome::HeadMoved => {
                Err(nothing_to_undo("another program has just committed"))
            }
            HeadMoveOutcome::UncommittedEdits(paths) => {
                Err(SyncError::UncommittedEdit { paths }.into())
            }
        }
    }

    /// Returns the commit that the last merge was made on; fails if there is no merge that can be
    /// dropped.
    fn commit_before_merge(
        &self,
        repository: &Repository,
        head: ObjectId,
    ) -> Result<ObjectId, Error> {
        let history = HistoryReader::new(repository);
        let read = || -> gix::Result<_> {
            let commit = history.git.find_commit(head)?;
            let parents: Vec<_> = commit.parent_ids().map(gix::Id::detach).collect();
            Ok((merge_rules_of_commit(&history, head)?.is_some(), parents))
        };
        let (is_merge, parents) =
            read().map_err(|err| repository.git_error("read the last commit", err))?;
        let before = head_move::find_ref(repository, BEFORE_SYNC_REF)?;
        let before = before.filter(|it| is_merge && parents.contains(it)).ok_or_else(|| {
            nothing_to_undo(
                "the newest commit is no merge made by `palazzo sync` here; `palazzo undo` and \
                 `palazzo restore` revert single changes",
            )
        })?;
        let upstream = self.upstream()?;
        let known = head_move::find_ref(repository, &upstream.tracking_ref())?;
        match known.is_some_and(|it| it == head || history.is_ancestor(head, it)) {
            true => Err(nothing_to_undo(&format!(
                "the last merge was pushed to {}, and others may have it; `palazzo undo` and \
                 `palazzo restore` revert single changes",
                upstream.description()
            ))),
            false => Ok(before),
        }
    }
}

fn nothing_to_undo(why: &str) -> Error {
    SyncError::NothingToUndo { why: why.to_owned() }.into()
}
