//! Undoes the last change of a tool.

use std::collections::BTreeSet;

use crate::format::PalacePath;
use crate::keeper::history::palace_diff::palace_diff;
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::{Caller, Refusal, Session};
use crate::model::{CommitDetails, CommitId, CommitSummary, Edit, FileContent, FileDiff, ItemDiff};
use crate::render;

/// The trailer that names the commit an undoing commit takes back.
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
        let why = "there is nothing to undo: no tool has committed anything that still stands";
        return Err(Refusal::Invalid(why.to_owned()));
    };
    let diffs = palace.store().changed_by(&commit)?;
    let description = describe_commit(&commit.summary, caller);
    let creates_palace =
        |it: &FileDiff| it.path == PalacePath::SETTINGS_FILE && it.was == FileContent::Missing;
    if diffs.iter().any(creates_palace) {
        let why = format!(
            "there is nothing more to undo: before {description} there was no palace; to be rid \
             of it, delete its directory"
        );
        return Err(Refusal::Invalid(why));
    }
    let undone = UndoneCommit { description, changes: palace_diff(&reverse_diffs(&diffs)) };
    if is_dry_run {
        reverting_edits(palace, caller, &commit, &diffs, &later)?;
        return Ok(undone);
    }
    let trailer = (UNDOES_TRAILER, commit.summary.id.0.clone());
    palace.change_with_trailer(caller, Some(&trailer), |palace| {
        Ok(ChangePlan {
            edits: reverting_edits(palace, caller, &commit, &diffs, &later)?,
            subject: format!("{UNDO_SUBJECT_PREFIX}{}", commit.summary.subject),
            body: format!("Took back {}", commit.summary.short),
        })
    })?;
    Ok(undone)
}

/// Finds the last commit of a tool that is neither undone nor undoes another, and the commits
/// after it.
fn last_undoable_commit(
    palace: &OpenPalace,
) -> Result<Option<(CommitDetails, Vec<CommitDetails>)>, Refusal> {
    let (mut later, mut undone) = (Vec::new(), UndoneCommits::default());
    let mut found = None;
    palace.store().log(&[], |commit| {
        let is_call =
            commit.trailer(TOOL_TRAILER).is_some() && commit.trailer(UNDOES_TRAILER).is_none();
        if is_call && !commit.changed_files.is_empty() && !undone.take(&commit) {
            found = Some(commit);
            return false;
        }
        undone.add(palace, &commit);
        later.push(commit);
        true
    })?;
    Ok(found.map(|it| (it, later)))
}

/// The commits that are undone already.
#[derive(Default)]
struct UndoneCommits {
    commits: BTreeSet<String>,
    /// The subjects and files of undone commits that are not in the history: a rebase gave them
    /// new ids.
    rebased: Vec<(String, Vec<String>)>,
}

impl UndoneCommits {
    /// Adds the commit that `commit` undoes, if it is of `palazzo undo` or `git revert`.
    fn add(&mut self, palace: &OpenPalace, commit: &CommitDetails) {
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

    /// Returns whether a commit is undone. A commit that is found by subject counts once.
    fn take(&mut self, commit: &CommitDetails) -> bool {
        let is_it = |it: &(String, Vec<String>)| {
            it.0 == commit.summary.subject && it.1 == commit.changed_files
        };
        if let Some(at) = self.rebased.iter().position(is_it) {
            self.rebased.remove(at);
            return true;
        }
        self.commits.contains(&commit.summary.id.0)
    }
}

/// Plans the edits that restore the files of a commit; refuses if one was changed after it.
fn reverting_edits(
    palace: &OpenPalace,
    caller: &Caller,
    commit: &CommitDetails,
    diffs: &[FileDiff],
    later: &[CommitDetails],
) -> Result<Vec<Edit>, Refusal> {
    let paths: Vec<_> = diffs.iter().map(|it| it.path.as_str()).collect();
    let contents = palace.store().current_contents(&paths)?;
    let pairs = || diffs.iter().zip(&contents);
    let since = pairs().filter(|(it, here)| it.now != **here);
    let since: Vec<_> =
        since.map(|(it, _)| describe_later_change(&it.path, caller, later)).collect();
    if !since.is_empty() {
        let (title, since) = (describe_commit(&commit.summary, caller), since.join("; "));
        let why = format!("cannot undo {title}, for there were changes since: {since}");
        return Err(Refusal::Invalid(why));
    }
    let mut edits = Vec::new();
    for FileDiff { path, was, now } in diffs {
        if let (FileContent::Unreadable(why), _) | (_, FileContent::Unreadable(why)) = (was, now) {
            let why = format!("`{path}` cannot be taken back here, only by git: {why}");
            return Err(Refusal::Invalid(why));
        }
        let here =
            palace.store().read_file(path).map_err(|it| Refusal::UnreadableFile(it.into()))?;
        let back = was.text().map(|it| palace.store().checkout_text(path, it)).transpose()?;
        edits.push(Edit { path: path.clone(), was: here, now: back });
    }
    Ok(edits)
}

/// Describes who changed a file after a commit.
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

/// Swaps old and new.
fn reverse_diffs(diffs: &[FileDiff]) -> Vec<FileDiff> {
    let reverse = |it: &FileDiff| FileDiff {
        path: it.path.clone(),
        was: it.now.clone(),
        now: it.was.clone(),
    };
    diffs.iter().map(reverse).collect()
}
