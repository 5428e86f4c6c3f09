//! Reverting commits: the edits that restore their files. What others have changed in a file since
//! is kept; the links that lead nowhere after it are reported.

use std::collections::BTreeMap;

use ulid::Ulid;

use crate::history::undone_commits::UNDO_SUBJECT_PREFIX;
use crate::merge_driver::merge_file_versions;
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeMode, ChangeOptions, ChangePlan};
use crate::palace::findings::{prepare_checks, resolve_positions_in_text};
use crate::{Caller, Refusal};
use palazzo_core::check::{CheckFinding, PalaceCheck};
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::{
    ChangeDetail, ChangeKind, Code, CommitDetails, CommitId, CommitSummary, Diagnostic,
    FileContent, FileDiff, FileEdit, ItemDiff, Palace, commit_trailers, quoted,
    quoted_unless_plain,
};
use palazzo_core::render;

/// The findings about links that lead nowhere.
const BROKEN_LINK_CODES: [Code; 5] = [
    Code::UnfinishedRoom,
    Code::UndefinedEntity,
    Code::UnresolvedLink,
    Code::LostScroll,
    Code::UnknownScroll,
];

/// A file that stays as it is when a commit is undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// The path in the palace.
    pub path: String,
    /// The later change of the file: a commit in one line, with its author, or a hand edit.
    pub changed_by: String,
    /// Why it stays.
    pub reason: KeepReason,
    /// Its path now, if others have renamed or moved the item.
    pub moved_to: Option<String>,
}

/// Why a file stays as it is when a commit is undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepReason {
    /// Others have changed the same fields or lines, or another file of the same item.
    SameChange,
    /// The undone commits created the file, and others have changed it.
    Creation,
    /// The undone commits created the room, and others have left scrolls in it.
    Scrolls,
    /// Others have renamed or moved the item.
    Moved,
    /// The undone commits named the entry of the palace, and that room stays.
    Entry,
}

impl KeptFile {
    /// Returns the reason as a sentence with the path.
    pub fn to_sentence(&self) -> String {
        let (path, by) = (quoted_unless_plain(&self.path), &self.changed_by);
        match self.reason {
            KeepReason::SameChange => format!("{path} was changed in the same place by {by}"),
            KeepReason::Creation => format!("{path} would be removed, and was changed by {by}"),
            KeepReason::Scrolls => format!("{path} would be removed, and has a scroll by {by}"),
            KeepReason::Moved => {
                let to = self.moved_to.as_deref().map(quoted_unless_plain);
                let to = to.map(|it| format!(" to {it}")).unwrap_or_default();
                format!("{path} was renamed or moved{to} by {by}")
            }
            KeepReason::Entry => format!("{path} names the entry, which stays because of {by}"),
        }
    }
}

/// Commits that were undone, or would be.
#[derive(Clone, Debug)]
pub struct UndoOutcome {
    /// The undone commit in one line (its id, subject, author and age), or the visit.
    pub description: String,
    /// What changes in the palace when it is undone.
    pub changes: Vec<ItemDiff>,
    /// The files that stay as they are, because others changed them since.
    pub kept: Vec<KeptFile>,
    /// The links that lead nowhere when it is undone.
    pub broken_links: Vec<Diagnostic>,
    /// The id by which the undo can be undone itself; `None` if nothing was changed.
    pub undo_id: Option<Ulid>,
}

/// A commit that reverts others.
pub(crate) struct RevertCommit<'a> {
    /// The diffs to revert.
    pub(crate) diffs: &'a [FileDiff],
    /// The commits that are undone by it, and those of which only some files are.
    pub(crate) undone: Vec<CommitId>,
    pub(crate) undone_in_part: Vec<CommitId>,
    /// The commits before those that are reverted, which have the modes of deleted files.
    pub(crate) parents: Vec<&'a CommitId>,
    pub(crate) subject: String,
    pub(crate) body: String,
}

impl RevertCommit<'_> {
    /// Makes the commit that undoes `undone`, and adds the links that lead nowhere since. Refuses if
    /// a file was changed meanwhile; `later_commit` returns the commit that did. In a dry run it
    /// changes nothing.
    pub(crate) fn make<'c>(
        self,
        palace: &mut OpenPalace,
        caller: &Caller,
        undone: UndoOutcome,
        later_commit: impl Fn(&str) -> Option<&'c CommitDetails>,
        mode: ChangeMode,
    ) -> Result<UndoOutcome, Refusal> {
        let title = undone.description.clone();
        let plan_edits = |palace: &OpenPalace| {
            plan_revert_edits(palace, caller, &title, self.diffs, &later_commit)
        };
        let edits = plan_edits(palace)?;
        let undone = UndoOutcome {
            broken_links: find_new_broken_links(palace, &undone.changes, &edits),
            ..undone
        };
        if mode.is_dry_run() {
            return Ok(undone);
        }
        let wholly = self.undone.iter().map(|it| (commit_trailers::UNDOES, it.0.clone()));
        let in_part =
            self.undone_in_part.iter().map(|it| (commit_trailers::UNDOES_PART, it.0.clone()));
        let trailers: Vec<_> = wholly.chain(in_part).collect();
        let executable = modes_after_revert(palace, self.diffs, self.parents.into_iter())?;
        let options =
            ChangeOptions { more_trailers: &trailers, executable, ..ChangeOptions::default() };
        palace.change_files(caller, &options, |palace| {
            Ok(ChangePlan {
                edits: plan_edits(palace)?,
                subject: format!("{UNDO_SUBJECT_PREFIX}{}", self.subject),
                body: self.body.clone(),
            })
        })?;
        Ok(UndoOutcome { undo_id: Some(caller.visit_id), ..undone })
    }
}

/// Returns whether a commit changed a file.
pub(crate) fn changes_file(commit: &CommitDetails, path: &str) -> bool {
    commit.changed_files.iter().any(|it| it == path)
}

/// Returns whether the diffs of a commit create the palace.
pub(crate) fn creates_palace(diffs: &[FileDiff]) -> bool {
    let is_new_settings =
        |it: &FileDiff| it.path == PalacePath::SETTINGS_FILE && it.was == FileContent::Missing;
    diffs.iter().any(is_new_settings)
}

/// Plans the edits that revert diffs. Refuses if a file was changed later; `title` is what is
/// undone, and `later_commit` returns the commit that changed a file last.
fn plan_revert_edits<'a>(
    palace: &OpenPalace,
    caller: &Caller,
    title: &str,
    diffs: &[FileDiff],
    later_commit: impl Fn(&str) -> Option<&'a CommitDetails>,
) -> Result<Vec<FileEdit>, Refusal> {
    let paths: Vec<_> = diffs.iter().map(|it| it.path.as_str()).collect();
    let contents = palace.store().contents_with_git_line_endings(&paths)?;
    let changed = diffs.iter().zip(&contents).filter(|(it, current)| it.now != **current);
    let describe = |path: &str| match later_commit(path) {
        Some(it) => {
            format!("{} by {}", quoted_unless_plain(path), describe_commit(&it.summary, caller))
        }
        None => format!("{} by hand, not committed yet", quoted_unless_plain(path)),
    };
    let changes: Vec<_> = changed.map(|(it, _)| describe(&it.path)).collect();
    if !changes.is_empty() {
        let changes = changes.join("; ");
        let why = format!("cannot undo {title}, because its files were changed later: {changes}");
        return Err(Refusal::Invalid(why));
    }
    let mut edits = Vec::new();
    for FileDiff { path, was, now } in diffs {
        if let (FileContent::Unreadable(why), _) | (_, FileContent::Unreadable(why)) = (was, now) {
            let why = format!("Palazzo cannot restore {}, use git instead: {why}", quoted(path));
            return Err(Refusal::Invalid(why));
        }
        let current =
            palace.store().read_file(path).map_err(|it| Refusal::UnreadableFile(it.into()))?;
        // The change itself writes those of Palazzo's own files that are missing.
        if current.is_none() && format::is_schema_or_readme_path(path) {
            continue;
        }
        let restored = was
            .text()
            .map(|it| palace.store().convert_to_disk_line_endings(path, it))
            .transpose()?;
        edits.push(FileEdit { path: path.clone(), was: current, now: restored });
    }
    Ok(edits)
}

/// Returns whether the files that a revert creates again are executable, by path: as in the first of
/// `commits` that has them.
fn modes_after_revert<'c>(
    palace: &OpenPalace,
    diffs: &[FileDiff],
    commits: impl Iterator<Item = &'c CommitId>,
) -> Result<BTreeMap<String, bool>, Refusal> {
    let deleted = diffs.iter().filter(|it| it.now == FileContent::Missing);
    let deleted: Vec<_> = deleted.map(|it| it.path.as_str()).collect();
    Ok(palace.store().executable_bits(commits, &deleted)?)
}

/// Describes a commit in one line: its id, subject, author and age.
pub(crate) fn describe_commit(it: &CommitSummary, caller: &Caller) -> String {
    let subject = render::in_quotes(&render::truncate(&it.subject, 80));
    let name = render::name_in_sentence(&render::truncate(&it.by, 40));
    format!("{} {subject} ({name}, {})", it.short, render::ago(it.at, caller.now))
}

/// Swaps the old and the new content of diffs.
pub(crate) fn reverse_diffs(diffs: &[FileDiff]) -> Vec<FileDiff> {
    let reverse = |it: &FileDiff| FileDiff {
        path: it.path.clone(),
        was: it.now.clone(),
        now: it.was.clone(),
    };
    diffs.iter().map(reverse).collect()
}

/// Lists the links that lead nowhere after edits and not before, each with its line; `changes` is what
/// the edits change.
fn find_new_broken_links(
    palace: &OpenPalace,
    changes: &[ItemDiff],
    edits: &[FileEdit],
) -> Vec<Diagnostic> {
    if !can_break_links(changes) {
        return Vec::new();
    }
    let before = find_broken_links(palace, &palace.palace);
    let after = palace_after_edits(&palace.palace, edits);
    let mut by_file = BTreeMap::<_, Vec<_>>::new();
    for it in find_broken_links(palace, &after).into_iter().filter(|it| !before.contains(it)) {
        let of_file = by_file.entry(it.diagnostic.file.clone()).or_default();
        of_file.push((it.diagnostic, Some(it.value_path)));
    }
    let edited = |file: &str| edits.iter().find(|it| it.path == file)?.now.clone();
    let text = |file: &str| edited(file).or_else(|| palace.store().read_file(file).ok().flatten());
    let findings = by_file.into_iter().flat_map(|(file, it)| {
        resolve_positions_in_text(&file, &text(&file).unwrap_or_default(), it)
    });
    findings.map(|it| it.diagnostic).collect()
}

/// Returns whether links can lead nowhere after these changes: an item is removed, renamed or moved.
fn can_break_links(changes: &[ItemDiff]) -> bool {
    let is_new_name =
        |it: &ChangeDetail| matches!(it, ChangeDetail::Renamed { .. } | ChangeDetail::Moved { .. });
    changes.iter().any(|it| match &it.change {
        ChangeKind::Removed(_) => true,
        ChangeKind::Changed(details) => details.iter().any(is_new_name),
        ChangeKind::Added(_) => false,
    })
}

/// Lists the links that lead nowhere in a state of a palace.
fn find_broken_links(open: &OpenPalace, state: &Palace) -> Vec<CheckFinding> {
    let silenced = &state.settings.silenced_codes;
    let check = PalaceCheck { palace: state, ..prepare_checks(open, &[], &[]) };
    let mut findings = check.findings();
    findings.retain(|it| {
        BROKEN_LINK_CODES.contains(&it.diagnostic.code) && !silenced.contains(&it.diagnostic.code)
    });
    findings
}

/// Returns a palace as it is after edits.
fn palace_after_edits(palace: &Palace, edits: &[FileEdit]) -> Palace {
    let mut after = palace.clone();
    // A name is free for one file when another has given it up.
    for it in edits {
        format::remove_item_of_file(&mut after, &it.path);
    }
    for FileEdit { path, now, .. } in edits {
        if let Some(text) = now {
            let parsed = format::parse_file(path, text);
            format::insert_parsed_file(&mut after, path, parsed, || text.clone());
        }
    }
    after
}

/// Reverts the diffs of a file, given newest first, in its current content. Returns `None` if others
/// have changed the same fields or lines since.
pub(crate) fn revert_diffs_of_file(
    current: &FileContent,
    diffs: &[FileDiff],
) -> Option<FileContent> {
    let mut content = current.clone();
    for diff in diffs {
        if content == diff.now {
            content = diff.was.clone();
        } else if content != diff.was {
            content = merge_with_earlier_content(&content, diff)?;
        }
    }
    Some(content)
}

/// Merges the content before a diff with what others have changed since: the content after the diff
/// is the base. Returns `None` if the merge has conflicts.
fn merge_with_earlier_content(content: &FileContent, diff: &FileDiff) -> Option<FileContent> {
    // The merge prefers what is done, and the further step: an earlier state would be lost.
    if matches!(PalacePath::parse(&diff.path), Ok(PalacePath::Task | PalacePath::Process)) {
        return None;
    }
    // An empty file counts as a missing one.
    let base = diff.now.text().filter(|it| !it.is_empty())?;
    let sides = [content.text()?.as_bytes(), diff.was.text()?.as_bytes()];
    let merged = merge_file_versions(&diff.path, base.as_bytes(), sides)?;
    let text = String::from_utf8(merged.bytes).ok().filter(|_| merged.conflicts.is_empty())?;
    (!format::parse_file(&diff.path, &text).has_errors()).then_some(FileContent::Text(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTITY: &str = "entities/claim/stasis.yaml";
    const BEFORE: &str = "name: Stasis\ngenus: Claim\nstatus: open\nobservations:\n- One.\n";

    /// Reverts the change from `was` to `now` in a file that has another content since.
    fn revert(path: &str, [was, now, current]: [&str; 3]) -> Option<String> {
        let content = |it: &str| match it {
            "" => FileContent::Missing,
            text => FileContent::Text(text.to_owned()),
        };
        let diff = FileDiff { path: path.to_owned(), was: content(was), now: content(now) };
        let reverted = revert_diffs_of_file(&content(current), &[diff])?;
        Some(reverted.text().unwrap_or_default().to_owned())
    }

    #[test]
    fn an_observation_that_another_has_added_stays() {
        let now = format!("{BEFORE}- Two.\n");
        let reverted = revert(ENTITY, [BEFORE, &now, &format!("{now}- Three.\n")]);
        assert_eq!(reverted, Some(format!("{BEFORE}- Three.\n")));
    }

    #[test]
    fn another_field_that_a_person_has_edited_stays_with_its_comment() {
        let now = BEFORE.replace("open", "done");
        let current = now.replace("genus: Claim", "genus: Thesis # mine");
        let expected = BEFORE.replace("genus: Claim", "genus: Thesis # mine");
        assert_eq!(revert(ENTITY, [BEFORE, &now, &current]), Some(expected));
        let lines = ["one\ntwo\nthree\nfour\n", "one\n2\nthree\nfour\n", "one\n2\nthree\n4\n"];
        assert_eq!(revert("notes.txt", lines).as_deref(), Some("one\ntwo\nthree\n4\n"));
    }

    #[test]
    fn a_field_that_both_have_changed_is_a_conflict() {
        let now = BEFORE.replace("open", "done");
        assert_eq!(revert(ENTITY, [BEFORE, &now, &BEFORE.replace("open", "new")]), None);
        let added = format!("{BEFORE}- There are two stones in the old hall today.\n");
        assert_eq!(revert(ENTITY, [BEFORE, &added, &added.replace("two", "ten")]), None);
        // The file was created by the change, or others have deleted it.
        assert_eq!(revert(ENTITY, ["", BEFORE, &added]), None);
        assert_eq!(revert(ENTITY, [BEFORE, &added, ""]), None);
    }

    #[test]
    fn the_status_of_a_task_is_never_merged() {
        let task = |status: &str| format!("title: Sweep\nstatus: {status}\n");
        let [open, done] = ["open", "done"].map(task);
        let titled = done.replace("Sweep", "Sweep it");
        assert_eq!(revert("tasks/sweep.yaml", [&open, &done, &titled]), None);
        assert_eq!(revert("tasks/sweep.yaml", [&open, &done, &done]), Some(open));
    }

    #[test]
    fn what_was_reverted_already_stays_so() {
        let now = BEFORE.replace("open", "done");
        assert_eq!(revert(ENTITY, [BEFORE, &now, BEFORE]).as_deref(), Some(BEFORE));
        let diff = |was: &str, now: &str| {
            let [was, now] = [was, now].map(|it| FileContent::Text(it.to_owned()));
            FileDiff { path: ENTITY.to_owned(), was, now }
        };
        // Others changed the file between two changes.
        let [two, three] = [format!("{BEFORE}- Two.\n"), format!("{BEFORE}- Two.\n- Three.\n")];
        let four = format!("{three}- Four.\n");
        let diffs = [diff(&three, &four), diff(BEFORE, &two)];
        let reverted = revert_diffs_of_file(&FileContent::Text(four), &diffs);
        assert_eq!(reverted, Some(FileContent::Text(format!("{BEFORE}- Three.\n"))));
    }
}
