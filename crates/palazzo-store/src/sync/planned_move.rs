//! Plans a move of `HEAD`: which files it writes, and the merge commit.

use std::collections::HashSet;

use gix::ObjectId;

use crate::history::commits::HistoryReader;
use crate::repo::tree_diff::{self, TreeChange};
use crate::repo::tree_lookup::BlobEntry;
use crate::sync::mass_deletion::{EmptiedPalace, find_lost_palace};
use crate::sync::tree_merge::MergedTree;
use crate::write::commit::GitIdentity;
use crate::write::head_move::{HeadMove, HeadMoveFile, NewCommit, NewHead};
use palazzo_core::model::commit_trailers;

/// A fast-forward or a merge that can be applied.
#[derive(Debug)]
pub struct PlannedMove {
    /// The number of files that are added.
    pub added: usize,
    /// The number of files that are changed.
    pub changed: usize,
    /// The number of files that are deleted, without those that are moved.
    pub deleted: usize,
    /// The number of files before.
    pub files_before: usize,
    /// The palace that loses more than half of its items, and three or more.
    pub emptied: Option<EmptiedPalace>,
    /// The number of conflicts that the merge records.
    pub conflicts: usize,
    pub(crate) head_move: HeadMove,
}

impl PlannedMove {
    /// Returns the paths of the files in the repository.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.head_move.files.iter().map(|it| it.path.as_str())
    }

    /// Returns the files that are written, by path in the repository, with their texts.
    pub fn new_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.head_move.files.iter();
        files.filter_map(|it| Some((it.path.as_str(), it.now.as_ref()?.1.as_str())))
    }

    /// Plans to move `HEAD` to the merge of two commits, of which the first is `HEAD`.
    pub(crate) fn for_merge(
        history: &HistoryReader<'_>,
        [ours, theirs]: [ObjectId; 2],
        merged: &MergedTree,
        rules_version: u32,
    ) -> gix::Result<Self> {
        let mut parents = [ours, theirs];
        parents.sort_unstable();
        let time = |id| -> gix::Result<i64> { Ok(history.git.find_commit(id)?.time()?.seconds) };
        let merge = NewCommit {
            parents: parents.to_vec(),
            tree: merged.tree,
            identity: GitIdentity::for_sync(),
            seconds: time(ours)?.max(time(theirs)?),
            message: merge_message(merged.conflicts, rules_version),
        };
        let planned = Self::new(history, ours, NewHead::Commit(merge), "sync: merge")?;
        Ok(Self { conflicts: merged.conflicts, ..planned })
    }

    /// Plans to move `HEAD` from `old` to `new`.
    pub(crate) fn new(
        history: &HistoryReader<'_>,
        old: ObjectId,
        new: NewHead,
        reason: &'static str,
    ) -> gix::Result<Self> {
        let before = history.root_tree(old)?;
        let tree = match &new {
            NewHead::Existing(commit) => history.root_tree(*commit)?,
            NewHead::Commit(commit) => commit.tree,
        };
        let changes = tree_diff::compare(&history.git, Some(before), Some(tree))?;
        let added: HashSet<_> = changes
            .iter()
            .filter(|it| it.was.is_none())
            .filter_map(|it| it.now)
            .map(|it| it.id)
            .collect();
        let is_deleted = |it: &&TreeChange| {
            it.now.is_none() && it.was.is_some_and(|was| !added.contains(&was.id))
        };
        let files_before = tree_diff::compare(&history.git, None, Some(before))?;
        let emptied = find_lost_palace(history, [before, tree], &files_before, &changes)?;
        let count = |is: &dyn Fn(&TreeChange) -> bool| changes.iter().filter(|it| is(it)).count();
        Ok(Self {
            added: count(&|it| it.was.is_none()),
            changed: count(&|it| it.was.is_some() && it.now.is_some()),
            deleted: changes.iter().filter(is_deleted).count(),
            files_before: files_before.len(),
            emptied,
            conflicts: 0,
            head_move: HeadMove {
                old,
                new,
                files: changes
                    .into_iter()
                    .map(|it| head_move_file(&history.git, it))
                    .collect::<gix::Result<_>>()?,
                reason,
            },
        })
    }
}

fn head_move_file(git: &gix::Repository, change: TreeChange) -> gix::Result<HeadMoveFile> {
    let now = change.now.map(|it| -> gix::Result<_> {
        let text = String::from_utf8(git.find_blob(it.id)?.take_data());
        Ok((it.into(), text.map_err(gix::Error::from_error)?))
    });
    let was = change.was.map(BlobEntry::from);
    Ok(HeadMoveFile { path: change.path, was, now: now.transpose()? })
}

/// Returns the message of a merge. It follows from the content, so that it is the same everywhere.
fn merge_message(conflicts: usize, rules_version: u32) -> String {
    let subject = match conflicts {
        0 => "sync: merge".to_owned(),
        1 => "sync: merge, with 1 conflict".to_owned(),
        count => format!("sync: merge, with {count} conflicts"),
    };
    format!("{subject}\n\n{}: {rules_version}\n", commit_trailers::MERGE_RULES)
}
