//! Undoes the last change of a tool.

use crate::keeper::history::item_diffs::item_diffs_from_file_diffs;
use crate::keeper::history::revert::{
    UNDO_SUBJECT_PREFIX, UNDOES_TRAILER, UndoneCommit, UndoneCommitSet, changes_file,
    creates_palace, describe_commit, is_change_of_tool, modes_after_revert, plan_revert_edits,
    reverse_diffs,
};
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::keeper::{Refusal, Session};
use crate::model::CommitDetails;

/// Undoes the last tool call that is not undone yet: a new commit restores its files. Refuses if
/// one of them was changed since. With `is_dry_run` it changes nothing.
pub fn undo_last_call(
    session: &mut Session<'_>,
    is_dry_run: bool,
) -> Result<UndoneCommit, Refusal> {
    let (palace, caller) = (&mut *session.palace, session.caller);
    let Some((commit, later)) = last_undoable_commit(palace)? else {
        let why = "there is nothing to undo: no commit of a tool is left that is not undone";
        return Err(Refusal::Invalid(why.to_owned()));
    };
    let diffs = palace.store().diff_of_commit(&commit)?;
    let description = describe_commit(&commit.summary, caller);
    if creates_palace(&diffs) {
        let why = format!(
            "there is nothing more to undo: {description} created the palace; to remove it, \
             delete its directory"
        );
        return Err(Refusal::Invalid(why));
    }
    let changes = item_diffs_from_file_diffs(&reverse_diffs(&diffs));
    let undone = UndoneCommit { description, changes, kept: Vec::new() };
    let later_commit = |path: &str| later.iter().find(|it| changes_file(it, path));
    let plan_edits = |palace: &OpenPalace| {
        plan_revert_edits(palace, caller, &undone.description, &diffs, later_commit)
    };
    if is_dry_run {
        plan_edits(palace)?;
        return Ok(undone);
    }
    let trailers = [(UNDOES_TRAILER, commit.summary.id.0.clone())];
    let executable = modes_after_revert(palace, &diffs, commit.parent.iter())?;
    let options =
        ChangeOptions { more_trailers: &trailers, executable, ..ChangeOptions::default() };
    palace.change_files_with_options(caller, &options, |palace| {
        Ok(ChangePlan {
            edits: plan_edits(palace)?,
            subject: format!("{UNDO_SUBJECT_PREFIX}{}", commit.summary.subject),
            body: format!("Undid {}", commit.summary.short),
        })
    })?;
    Ok(undone)
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
