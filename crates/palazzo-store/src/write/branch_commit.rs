//! Commits a change on the branch of a proposal: writes objects, and moves the branch.
//!
//! No file is written, and neither the index nor `HEAD` is touched, so a commit that is interrupted
//! leaves only objects that nothing names.

use gix::ObjectId;
use gix::index::State;

use crate::Error;
use crate::repo::fsync;
use crate::repo::git_attributes::attributes_of_tree;
use crate::repo::line_endings::convert_to_git;
use crate::repo::proposal_branch::{ProposalBranch, find_checkout};
use crate::repo::tree_lookup::{self, find_blob_entry};
use crate::write::commit::CommitDraft;
use crate::write::commit_steps::{CommitSteps, write_blob_entry};
use crate::write::memory_secrets::reject_secrets_of_memory;
use crate::write::moved_files::find_moved_files;
use crate::write::objects::ObjectWriter;
use crate::write::refs::RefUpdateOutcome;
use palazzo_core::model::Changeset;

/// The outcome of one attempt to commit on a branch.
pub(crate) enum BranchCommitOutcome {
    /// The files at these paths do not have the expected contents.
    Stale(Vec<String>),
    /// Another program moved the branch meanwhile.
    Moved,
    /// The branch points to a new commit; `None`: nothing differs.
    Done(Option<ObjectId>),
}

impl CommitSteps<'_> {
    /// Commits `change` on top of `tip`, the newest commit of the branch.
    pub(crate) fn try_commit_on_branch(
        &self,
        writer: &mut ObjectWriter<'_>,
        change: &Changeset,
        branch: &ProposalBranch,
        tip: ObjectId,
    ) -> Result<BranchCommitOutcome, Error> {
        let failed = |err| self.repository.git_error("commit on the branch of a proposal", err);
        let tree = tree_lookup::tree_of_commit(self.git, Some(tip)).map_err(failed)?;
        let stale = self.list_stale_files(tree).map_err(failed)?;
        if !stale.is_empty() {
            return Ok(BranchCommitOutcome::Stale(stale));
        }
        for edit in self.edits.iter().filter(|it| it.was.is_none()) {
            let path = self.path_in_repository(edit);
            if self.is_obstructed(tree, &path).map_err(failed)? {
                let why = "on the branch, a folder or a link is in its place or that of its folder";
                return Err(Error::invalid_path(&edit.path, why));
            }
        }
        let paths = self.edits.iter().map(|it| self.path_in_repository(it));
        let attributes = attributes_of_tree(self.git, tree, paths).map_err(failed)?;
        self.reject_filtered(&attributes)?;
        reject_secrets_of_memory(self.repository, Some(tip), self.edits)?;
        let draft = self.draft_on_branch(writer, change, tree, &attributes).map_err(failed)?;
        let new = draft.write_trees_and_commit(writer, Some(self.signer), Some(tip));
        let Some(new) = new.map_err(failed)? else { return Ok(BranchCommitOutcome::Done(None)) };
        // The branch may only move when the objects are durable.
        writer.publish(&self.repository.common_dir, Vec::new())?;
        let log = draft.reflog_entry();
        match self.move_ref(&branch.full_name, (Some(tip), new), log.clone())? {
            RefUpdateOutcome::Conflict => Ok(BranchCommitOutcome::Moved),
            RefUpdateOutcome::Updated => {
                self.take_back_if_checked_out(branch, (tip, new), &log)?;
                Ok(BranchCommitOutcome::Done(Some(new)))
            }
        }
    }

    /// Takes the commit back and fails if git has checked out the branch meanwhile as it was before:
    /// the files there lack the commit, and the next commit there would revert it.
    fn take_back_if_checked_out(
        &self,
        branch: &ProposalBranch,
        (tip, new): (ObjectId, ObjectId),
        log: &str,
    ) -> Result<(), Error> {
        // The commit is made: if nobody can tell whether the branch is checked out, it stays.
        let found = find_checkout(self.repository, &branch.full_name).ok().flatten();
        let Some(checkout) = found.filter(|it| it.commit == Some(tip)) else { return Ok(()) };
        let who = log.split('\t').next().unwrap_or_default();
        let log = format!("{who}\tproposal: take back, the branch was checked out");
        match self.move_ref(&branch.full_name, (Some(new), tip), log) {
            Ok(RefUpdateOutcome::Updated) => Err(checkout.error(&branch.full_name)),
            // A commit of others is above it now, or the branch is locked.
            Ok(RefUpdateOutcome::Conflict) | Err(_) => Ok(()),
        }
    }

    /// Lists the files that do not have the expected content in a tree.
    fn list_stale_files(&self, tree: ObjectId) -> gix::Result<Vec<String>> {
        let mut stale = Vec::new();
        for edit in self.edits {
            let path = self.path_in_repository(edit);
            let was = match find_blob_entry(self.git, tree, &path)? {
                Some(entry) => Some(self.git.find_blob(entry.id)?.take_data()),
                None => None,
            };
            if was.as_deref() != edit.was.as_ref().map(String::as_bytes) {
                stale.push(edit.path.clone());
            }
        }
        Ok(stale)
    }

    /// Returns whether a folder is in place of a new file, or a file or link in place of one of its
    /// folders.
    fn is_obstructed(&self, tree: ObjectId, path: &str) -> gix::Result<bool> {
        let root = self.git.find_tree(tree)?;
        if root.lookup_entry(path.split('/'))?.is_some() {
            return Ok(true);
        }
        for (end, _) in path.match_indices('/') {
            let folder = root.lookup_entry(path[..end].split('/'))?;
            if folder.is_some_and(|it| !it.mode().is_tree()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn draft_on_branch(
        &self,
        writer: &mut ObjectWriter<'_>,
        change: &Changeset,
        tree: ObjectId,
        attributes: &State,
    ) -> gix::Result<CommitDraft> {
        let moved = find_moved_files(self.edits);
        let mut files = Vec::new();
        for edit in self.edits {
            let path = self.path_in_repository(edit);
            let committed = find_blob_entry(self.git, tree, &path)?;
            let kind = self.new_entry_kind(change, tree, edit, committed, &moved)?;
            let convert = |text| convert_to_git(self.git, attributes, &path, text);
            let now = edit.now.as_deref().map(convert).transpose()?;
            let entry = write_blob_entry(writer, now.as_deref(), kind)?;
            files.push((path, entry));
            self.progress.count_step();
        }
        Ok(self.new_draft(change, files))
    }

    /// Makes the moved branch and its reflog durable.
    pub(crate) fn sync_branch(&self, branch_ref: &str) -> Result<(), Error> {
        let common_dir = &self.repository.common_dir;
        let files = || vec![common_dir.join(branch_ref), common_dir.join("logs").join(branch_ref)];
        fsync::sync_file_systems_or_files(&[common_dir], files)
    }
}
