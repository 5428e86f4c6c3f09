//! Undoes the last change of a tool.

use std::collections::BTreeSet;

use crate::format::PalacePath;
use crate::keeper::history::item_diffs::item_diffs_from_file_diffs;
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::{Caller, Refusal, Session};
use crate::model::{
    CommitDetails, CommitId, CommitSummary, FileContent, FileDiff, FileEdit, ItemDiff,
};
use crate::render;

/// The trailer of an undoing commit that names the undone commit.
const UNDOES_TRAILER: &str = "Palazzo-Undoes";
/// The trailer of every commit of a tool.
const TOOL_TRAILER: &str = "Palazzo-Tool";
/// How the subject of an undoing commit begins.
const UNDO_SUBJECT_PREFIX: &str = "undo: ";

/// A commit that was undone, or would be.
#[derive(Clone, Debug)]
pub struct UndoneCommit {
    /// Its id, subject, author and age, in one line.
    pub description: String,
    /// What changes in the palace when it is undone.
    pub changes: Vec<ItemDiff>,
}

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
    let creates_palace =
        |it: &FileDiff| it.path == PalacePath::SETTINGS_FILE && it.was == FileContent::Missing;
    if diffs.iter().any(creates_palace) {
        let why = format!(
            "there is nothing more to undo: {description} created the palace; to remove it, \
             delete its directory"
        );
        return Err(Refusal::Invalid(why));
    }
    let undone =
        UndoneCommit { description, changes: item_diffs_from_file_diffs(&reverse_diffs(&diffs)) };
    if is_dry_run {
        plan_revert_edits(palace, caller, &commit, &diffs, &later)?;
        return Ok(undone);
    }
    let trailer = (UNDOES_TRAILER, commit.summary.id.0.clone());
    palace.change_files_with_trailer(caller, Some(&trailer), |palace| {
        Ok(ChangePlan {
            edits: plan_revert_edits(palace, caller, &commit, &diffs, &later)?,
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
        let is_call =
            commit.trailer(TOOL_TRAILER).is_some() && commit.trailer(UNDOES_TRAILER).is_none();
        if is_call && !commit.changed_files.is_empty() && !undone.take_if_undone(&commit) {
            last_call = Some(commit);
            return false;
        }
        undone.add_commit_undone_by(palace, &commit);
        later.push(commit);
        true
    })?;
    Ok(last_call.map(|it| (it, later)))
}

/// The commits that are undone already.
#[derive(Default)]
struct UndoneCommitSet {
    commits: BTreeSet<String>,
    /// The subjects and files of undone commits that are not in the history: a rebase gave them
    /// new ids.
    rebased: Vec<(String, Vec<String>)>,
}

impl UndoneCommitSet {
    /// Adds the commit that `commit` undoes, if it was made by `palazzo undo` or `git revert`.
    fn add_commit_undone_by(&mut self, palace: &OpenPalace, commit: &CommitDetails) {
        let CommitDetails { summary, body, changed_files, .. } = commit;
        let reverted = body.split("This reverts commit ").nth(1);
        let reverted = reverted.map(|it| it.split(|it: char| !it.is_ascii_hexdigit()));
        let reverted = reverted.and_then(|mut it| it.next());
        let Some(undone) = commit.trailer(UNDOES_TRAILER).or(reverted) else { return };
        if palace.store().is_in_history(&CommitId(undone.to_owned())).unwrap_or_default() {
            self.commits.insert(undone.to_owned());
            return;
        }
        let quoted = || summary.subject.strip_prefix("Revert \"")?.strip_suffix('"');
        if let Some(subject) = summary.subject.strip_prefix(UNDO_SUBJECT_PREFIX).or_else(quoted) {
            self.rebased.push((subject.to_owned(), changed_files.clone()));
        }
    }

    /// Returns true if a commit is undone. A match by subject and files is used once.
    fn take_if_undone(&mut self, commit: &CommitDetails) -> bool {
        let is_same = |it: &(String, Vec<String>)| {
            it.0 == commit.summary.subject && it.1 == commit.changed_files
        };
        if let Some(at) = self.rebased.iter().position(is_same) {
            self.rebased.remove(at);
            return true;
        }
        self.commits.contains(&commit.summary.id.0)
    }
}

/// Plans the edits that restore the files of a commit; refuses if one was changed after it.
fn plan_revert_edits(
    palace: &OpenPalace,
    caller: &Caller,
    commit: &CommitDetails,
    diffs: &[FileDiff],
    later: &[CommitDetails],
) -> Result<Vec<FileEdit>, Refusal> {
    let paths: Vec<_> = diffs.iter().map(|it| it.path.as_str()).collect();
    let contents = palace.store().contents_with_git_line_endings(&paths)?;
    let pairs = || diffs.iter().zip(&contents);
    let changed = pairs().filter(|(it, current)| it.now != **current);
    let changes: Vec<_> =
        changed.map(|(it, _)| describe_later_change(&it.path, caller, later)).collect();
    if !changes.is_empty() {
        let (title, changes) = (describe_commit(&commit.summary, caller), changes.join("; "));
        let why = format!("cannot undo {title}, because its files were changed later: {changes}");
        return Err(Refusal::Invalid(why));
    }
    let mut edits = Vec::new();
    for FileDiff { path, was, now } in diffs {
        if let (FileContent::Unreadable(why), _) | (_, FileContent::Unreadable(why)) = (was, now) {
            let why = format!("Palazzo cannot restore `{path}`, use git instead: {why}");
            return Err(Refusal::Invalid(why));
        }
        let current =
            palace.store().read_file(path).map_err(|it| Refusal::UnreadableFile(it.into()))?;
        let restored = was
            .text()
            .map(|it| palace.store().convert_to_disk_line_endings(path, it))
            .transpose()?;
        edits.push(FileEdit { path: path.clone(), was: current, now: restored });
    }
    Ok(edits)
}

/// Describes the change of a file after a commit.
fn describe_later_change(path: &str, caller: &Caller, later: &[CommitDetails]) -> String {
    match later.iter().find(|it| it.changed_files.iter().any(|it| it == path)) {
        Some(it) => format!("{path} by {}", describe_commit(&it.summary, caller)),
        None => format!("{path} by hand, not committed yet"),
    }
}

fn describe_commit(it: &CommitSummary, caller: &Caller) -> String {
    let (subject, name) =
        (render::truncate(&render::one_line(&it.subject), 80), render::one_line(&it.by));
    format!("{} \"{subject}\" ({name}, {})", it.short, render::ago(it.at, caller.now))
}

/// Swaps the old and the new content of diffs.
fn reverse_diffs(diffs: &[FileDiff]) -> Vec<FileDiff> {
    let reverse = |it: &FileDiff| FileDiff {
        path: it.path.clone(),
        was: it.now.clone(),
        now: it.was.clone(),
    };
    diffs.iter().map(reverse).collect()
}
