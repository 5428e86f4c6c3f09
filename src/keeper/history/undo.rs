//! Taking back what a tool did.

use std::collections::BTreeSet;

use crate::format::PalacePath;
use crate::keeper::history::palace_diff::palace_diff;
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{CommitDetails, CommitId, CommitSummary, Edit, FileContent, FileDiff};
use crate::render;

/// The trailer that names the commit an undoing commit takes back.
const UNDOES_TRAILER: &str = "Palazzo-Undoes";
/// The trailer by which a tool's commit is known.
const TOOL_TRAILER: &str = "Palazzo-Tool";
/// How the subject of an undoing commit begins.
const UNDO_SUBJECT_PREFIX: &str = "undo: ";

impl Keeper {
    /// Takes back the last tool call that is not taken back yet, in a new
    /// commit that makes its files what they were. Refuses if somebody has
    /// changed one of them since. `dry_run`: only tells what would be done.
    pub fn undo(&mut self, by: &Caller, dry_run: bool) -> Result<String, Refusal> {
        let held = self.current_open_palace(by)?;
        let Some((record, later)) = last_undoable_commit(held)? else {
            let why = "there is nothing to undo: no tool has committed anything that still stands";
            return Err(Refusal::Invalid(why.to_owned()));
        };
        let changes = held.store().changed_by(&record)?;
        if changes
            .iter()
            .any(|it| it.path == PalacePath::SETTINGS_FILE && it.was == FileContent::Missing)
        {
            let title = describe_commit(&record.summary, by);
            let why = format!(
                "there is nothing more to undo: before {title} there was no palace; to be rid of \
                 it, delete its directory"
            );
            return Err(Refusal::Invalid(why));
        }
        let told = render::palace_diff(&palace_diff(&reverse_changes(&changes)));
        if dry_run {
            reverting_edits(held, by, &record, &changes, &later)?;
            return Ok(format!("Would undo {}:\n{told}", describe_commit(&record.summary, by)));
        }
        let note = (UNDOES_TRAILER, record.summary.id.0.clone());
        held.change_with_trailer(by, Some(&note), |held| {
            Ok(ChangePlan {
                edits: reverting_edits(held, by, &record, &changes, &later)?,
                subject: format!("{UNDO_SUBJECT_PREFIX}{}", record.summary.subject),
                body: format!("Took back {}", record.summary.short),
            })
        })?;
        Ok(format!("Undid {}:\n{told}", describe_commit(&record.summary, by)))
    }
}

/// Finds the last commit of a tool that is neither taken back nor takes anything back, and the
/// commits after it.
fn last_undoable_commit(
    held: &OpenPalace,
) -> Result<Option<(CommitDetails, Vec<CommitDetails>)>, Refusal> {
    let (mut later, mut undone) = (Vec::new(), UndoneCommits::default());
    let mut found = None;
    held.store().log(&[], |record| {
        let is_call =
            record.trailer(TOOL_TRAILER).is_some() && record.trailer(UNDOES_TRAILER).is_none();
        if is_call && !record.changed_files.is_empty() && !undone.take_if_undone(&record) {
            found = Some(record);
            return false;
        }
        undone.record(held, &record);
        later.push(record);
        true
    })?;
    Ok(found.map(|it| (it, later)))
}

/// Commits that are taken back already.
#[derive(Default)]
struct UndoneCommits {
    commits: BTreeSet<String>,
    /// Subjects and files of commits that have another name by now: a rebase gives new ones.
    renamed: Vec<(String, Vec<String>)>,
}

impl UndoneCommits {
    /// Notes what a commit takes back, be it by `palazzo undo` or by `git revert`.
    fn record(&mut self, held: &OpenPalace, record: &CommitDetails) {
        let CommitDetails { summary: moment, body, changed_files: touched, .. } = record;
        let reverted = body.split("This reverts commit ").nth(1);
        let reverted = reverted.map(|it| it.split(|it: char| !it.is_ascii_hexdigit()));
        let reverted = reverted.and_then(|mut it| it.next());
        let Some(commit) = record.trailer(UNDOES_TRAILER).or(reverted) else { return };
        if held.store().is_in_history(&CommitId(commit.to_owned())).unwrap_or_default() {
            self.commits.insert(commit.to_owned());
            return;
        }
        let quoted = || moment.subject.strip_prefix("Revert \"")?.strip_suffix('"');
        if let Some(subject) = moment.subject.strip_prefix(UNDO_SUBJECT_PREFIX).or_else(quoted) {
            self.renamed.push((subject.to_owned(), touched.clone()));
        }
    }

    /// Tells whether a commit is among them.
    fn take_if_undone(&mut self, record: &CommitDetails) -> bool {
        let is_it = |it: &(String, Vec<String>)| {
            it.0 == record.summary.subject && it.1 == record.changed_files
        };
        if let Some(at) = self.renamed.iter().position(is_it) {
            self.renamed.remove(at);
            return true;
        }
        self.commits.contains(&record.summary.id.0)
    }
}

/// Makes the files what they were before a commit, if they are what it made them.
fn reverting_edits(
    held: &OpenPalace,
    by: &Caller,
    record: &CommitDetails,
    changes: &[FileDiff],
    later: &[CommitDetails],
) -> Result<Vec<Edit>, Refusal> {
    let paths: Vec<_> = changes.iter().map(|it| it.path.as_str()).collect();
    let contents = held.store().current_contents(&paths)?;
    let pairs = || changes.iter().zip(&contents);
    let since = pairs().filter(|(it, here)| it.now != **here);
    let since: Vec<_> = since.map(|(it, _)| describe_later_change(&it.path, by, later)).collect();
    if !since.is_empty() {
        let (title, since) = (describe_commit(&record.summary, by), since.join("; "));
        let why = format!("cannot undo {title}, for there were changes since: {since}");
        return Err(Refusal::Invalid(why));
    }
    let mut edits = Vec::new();
    for FileDiff { path, was, now } in changes {
        if let (FileContent::Unreadable(why), _) | (_, FileContent::Unreadable(why)) = (was, now) {
            let why = format!("`{path}` cannot be taken back here, only by git: {why}");
            return Err(Refusal::Invalid(why));
        }
        let here = held.store().read_file(path).map_err(|it| Refusal::UnreadableFile(it.into()))?;
        let back = was.text().map(|it| held.store().checkout_text(path, it)).transpose()?;
        edits.push(Edit { path: path.clone(), was: here, now: back });
    }
    Ok(edits)
}

/// Says by whom a file was changed after a commit.
fn describe_later_change(path: &str, by: &Caller, later: &[CommitDetails]) -> String {
    match later.iter().find(|it| it.changed_files.iter().any(|it| it == path)) {
        Some(it) => format!("{path} by {}", describe_commit(&it.summary, by)),
        None => format!("{path} by hand, not committed yet"),
    }
}

fn describe_commit(it: &CommitSummary, by: &Caller) -> String {
    let (subject, name) =
        (render::truncate(&render::one_line(&it.subject), 80), render::one_line(&it.by));
    format!("{} \"{subject}\" ({name}, {})", it.short, render::ago(it.at, by.now))
}

/// Turns differences round.
fn reverse_changes(changes: &[FileDiff]) -> Vec<FileDiff> {
    let turn = |it: &FileDiff| FileDiff {
        path: it.path.clone(),
        was: it.now.clone(),
        now: it.was.clone(),
    };
    changes.iter().map(turn).collect()
}
