//! Undoes the last change of a tool.

use crate::history::item_diffs::item_diffs_from_file_diffs;
use crate::history::revert::{
    RevertCommit, UndoneCommit, UndoneCommitSet, changes_file, creates_palace, describe_commit,
    is_change_of_tool, reverse_diffs,
};
use crate::history::revert_file::revert_diffs_of_file;
use crate::palace::OpenPalace;
use crate::palace::change_plan::ChangeMode;
use crate::{Refusal, Session};
use palazzo_core::model::{CommitDetails, FileContent, FileDiff};

/// Undoes the last tool call that is not undone yet: a new commit restores its files, and keeps what
/// others have changed since. Refuses if they have changed the same. In a dry run it changes
/// nothing.
pub fn undo_last_call(
    session: &mut Session<'_>,
    mode: ChangeMode,
) -> Result<UndoneCommit, Refusal> {
    let (palace, caller) = (&mut *session.palace, session.caller);
    let Some((commit, later)) = last_undoable_commit(palace)? else {
        let why = "no commit of a tool is left that is not undone".to_owned();
        return Err(Refusal::NothingToUndo { why });
    };
    let diffs = palace.store().diff_of_commit(&commit)?;
    let description = describe_commit(&commit.summary, caller);
    if creates_palace(&diffs) {
        return Err(Refusal::UndoOfCreation { title: description });
    }
    let diffs = keep_later_changes(palace, diffs)?;
    let changes = item_diffs_from_file_diffs(&reverse_diffs(&diffs));
    let undone = UndoneCommit {
        description,
        changes,
        kept: Vec::new(),
        broken_links: Vec::new(),
        undo_id: None,
    };
    let later_commit = |path: &str| later.iter().find(|it| changes_file(it, path));
    let revert = RevertCommit {
        diffs: &diffs,
        undone: vec![commit.summary.id.clone()],
        undone_in_part: Vec::new(),
        parents: commit.parent.iter().collect(),
        subject: commit.summary.subject.clone(),
        body: format!("Undid {}", commit.summary.short),
    };
    revert.make(palace, caller, undone, later_commit, mode)
}

/// Replaces the diff of each file that others have changed since by one that keeps their changes, if
/// these can be told apart.
fn keep_later_changes(palace: &OpenPalace, diffs: Vec<FileDiff>) -> Result<Vec<FileDiff>, Refusal> {
    let paths: Vec<_> = diffs.iter().map(|it| it.path.as_str()).collect();
    let contents = palace.store().contents_with_git_line_endings(&paths)?;
    let keep = |(diff, now): (FileDiff, FileContent)| match revert_diffs_of_file(
        &now,
        std::slice::from_ref(&diff),
    ) {
        Some(was) if was != now => FileDiff { was, now, ..diff },
        _ => diff,
    };
    Ok(diffs.into_iter().zip(contents).map(keep).collect())
}

/// Finds the last commit of a tool that is neither undone nor undoes another, and the commits
/// after it.
fn last_undoable_commit(
    palace: &OpenPalace,
) -> Result<Option<(CommitDetails, Vec<CommitDetails>)>, Refusal> {
    let (mut later, mut undone) = (Vec::new(), UndoneCommitSet::default());
    let mut last_call = None;
    palace.store().log(&[], |commit| {
        if !undone.add_commit(palace, &commit) && is_change_of_tool(&commit) {
            last_call = Some(commit);
            return false;
        }
        later.push(commit);
        true
    })?;
    Ok(last_call.map(|it| (it, later)))
}
