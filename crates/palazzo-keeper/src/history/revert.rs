//! Reverting commits: which are undone already, and the edits that restore their files. What others
//! have changed in a file since is kept; the links that lead nowhere after it are reported.

use std::collections::{BTreeMap, BTreeSet};

use ulid::Ulid;

use crate::merge_driver::merge_file_versions;
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeMode, ChangeOptions, ChangePlan};
use crate::palace::findings::{prepare_checks, resolve_positions_in_text};
use crate::{Caller, Refusal};
use palazzo_core::check::{CheckFinding, PalaceCheck};
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::{
    ChangeDetail, ChangeKind, Code, CommitDetails, CommitId, CommitSummary, Diagnostic,
    FileContent, FileDiff, FileEdit, ItemDiff, Palace, quoted, quoted_unless_plain,
};
use palazzo_core::render;

/// The trailer of an undoing commit that names an undone commit.
const UNDOES_TRAILER: &str = "Palazzo-Undoes";
/// The trailer of an undoing commit that names a commit of which it undoes only some files: those that
/// it changes itself.
const UNDOES_PART_TRAILER: &str = "Palazzo-Undoes-Part";
/// The name of the command that undoes, in the trailer of its commits.
const UNDO_COMMAND: &str = "undo";
/// How the subject of an undoing commit begins.
const UNDO_SUBJECT_PREFIX: &str = "undo: ";
/// How the body of an undoing commit begins, and how it names a visit.
const UNDONE_PREFIX: &str = "Undid ";
const OF_VISIT: &str = " of visit ";
/// The words in that body before the number of files that it kept.
const BUT_FOR: &str = ", but for ";

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
        let wholly = self.undone.iter().map(|it| (UNDOES_TRAILER, it.0.clone()));
        let in_part = self.undone_in_part.iter().map(|it| (UNDOES_PART_TRAILER, it.0.clone()));
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

/// The commits that are undone already.
#[derive(Default)]
pub(crate) struct UndoneCommitSet {
    commits: BTreeSet<String>,
    /// The subjects and files of undone commits that are not in the history: a rebase gave them
    /// new ids.
    rebased: Vec<(String, Vec<String>)>,
    /// The visits whose undone commits are not in the history for the same reason.
    rebased_visits: BTreeSet<Ulid>,
    /// The undone files of commits that are undone in part.
    files: BTreeMap<String, BTreeSet<String>>,
    /// The undone files of visits that are undone in part, whose commits a rebase gave new ids.
    rebased_files: BTreeMap<Ulid, BTreeSet<String>>,
}

impl UndoneCommitSet {
    /// Returns whether a commit, which is older than those before, is undone. If it is not, adds
    /// the commits that it undoes: what `git revert` has undone undoes nothing.
    pub(crate) fn add_commit(&mut self, palace: &OpenPalace, commit: &CommitDetails) -> bool {
        let is_undone = self.take_if_undone(commit);
        if !is_undone {
            self.add_commits_undone_by(palace, commit);
            self.add_files_undone_by(palace, commit);
        }
        is_undone
    }

    /// Returns a commit with only those of its files that are not undone.
    pub(crate) fn without_undone_files(&self, mut commit: CommitDetails) -> CommitDetails {
        let by_id = self.files.get(&commit.summary.id.0);
        let by_visit = visit_of_commit(&commit).and_then(|it| self.rebased_files.get(&it));
        let is_undone =
            |path: &String| [by_id, by_visit].into_iter().flatten().any(|it| it.contains(path));
        commit.changed_files.retain(|it| !is_undone(it));
        commit
    }

    /// Adds the files that `commit` undoes of commits that it undoes in part.
    fn add_files_undone_by(&mut self, palace: &OpenPalace, commit: &CommitDetails) {
        for id in commit.trailers_with_key(UNDOES_PART_TRAILER) {
            let is_there = palace.store().is_in_history(&CommitId(id.to_owned()));
            let files = match parse_undone_visit(&commit.body) {
                Some(visit) if !is_there.unwrap_or_default() => {
                    self.rebased_files.entry(visit).or_default()
                }
                _ => self.files.entry(id.to_owned()).or_default(),
            };
            files.extend(commit.changed_files.iter().cloned());
        }
    }

    /// Adds the commits that `commit` undoes, if it was made by `palazzo undo` or `git revert`.
    fn add_commits_undone_by(&mut self, palace: &OpenPalace, commit: &CommitDetails) {
        let CommitDetails { summary, body, changed_files, .. } = commit;
        let reverted = body.split("This reverts commit ").nth(1);
        let reverted = reverted.map(|it| it.split(|it: char| !it.is_ascii_hexdigit()));
        let reverted = reverted.and_then(|mut it| it.next());
        let by_trailer: Vec<_> = commit.trailers_with_key(UNDOES_TRAILER).collect();
        let undone = if by_trailer.is_empty() { Vec::from_iter(reverted) } else { by_trailer };
        for undone in undone {
            if palace.store().is_in_history(&CommitId(undone.to_owned())).unwrap_or_default() {
                self.commits.insert(undone.to_owned());
                continue;
            }
            let subject = &summary.subject;
            let quoted = || subject.strip_prefix("Revert \"")?.strip_suffix('"');
            let undone = subject.strip_prefix(UNDO_SUBJECT_PREFIX);
            let visit = undone.and_then(parse_visit_subject).or_else(|| parse_undone_visit(body));
            if let Some(visit) = visit.filter(|_| keeps_files(body)) {
                self.rebased_files.entry(visit).or_default().extend(changed_files.iter().cloned());
            } else if let Some(visit) = visit {
                self.rebased_visits.insert(visit);
            } else if let Some(subject) = undone.or_else(quoted) {
                self.rebased.push((subject.to_owned(), changed_files.clone()));
            }
        }
    }

    /// Returns true if a commit is undone. A match by subject and files is used once.
    pub(crate) fn take_if_undone(&mut self, commit: &CommitDetails) -> bool {
        let is_same = |it: &(String, Vec<String>)| {
            it.0 == commit.summary.subject && it.1 == commit.changed_files
        };
        if let Some(at) = self.rebased.iter().position(is_same) {
            self.rebased.remove(at);
            return true;
        }
        let left = self.without_undone_files(commit.clone()).changed_files;
        let is_undone_in_parts = left.len() < commit.changed_files.len()
            // Palazzo's own files stay while any item needs them.
            && left.iter().all(|it| format::is_schema_or_readme_path(it));
        self.commits.contains(&commit.summary.id.0)
            || visit_of_commit(commit).is_some_and(|it| self.rebased_visits.contains(&it))
            || is_undone_in_parts
    }
}

/// Returns the body of the message of a commit that undoes `commits`, of a visit if there is one, and
/// keeps `files` as they are.
pub(crate) fn undone_body(commits: usize, visit: Option<Ulid>, files: usize) -> String {
    let mut body = format!("{UNDONE_PREFIX}{}", render::count_with_noun(commits, "commit"));
    body.extend(visit.map(|it| format!("{OF_VISIT}{it}")));
    match files {
        0 => body,
        _ => format!("{body}{BUT_FOR}{}", render::count_with_noun(files, "file")),
    }
}

/// Returns whether an undoing commit with this body has kept files as they were.
fn keeps_files(body: &str) -> bool {
    body.lines().any(|it| it.starts_with(UNDONE_PREFIX) && it.contains(BUT_FOR))
}

/// Parses the visit in the body of an undoing commit.
fn parse_undone_visit(body: &str) -> Option<Ulid> {
    let line = body.lines().find(|it| it.starts_with(UNDONE_PREFIX))?;
    line.split_once(OF_VISIT)?.1.get(..ulid::ULID_LEN)?.parse().ok()
}

/// Parses the visit in the subject of an undoing commit of an earlier version of Palazzo.
fn parse_visit_subject(subject: &str) -> Option<Ulid> {
    subject.strip_prefix("visit ")?.parse().ok()
}

/// Returns the visit in which a commit was made.
pub(crate) fn visit_of_commit(commit: &CommitDetails) -> Option<Ulid> {
    commit.trailer(Caller::VISIT_TRAILER)?.parse().ok()
}

/// Returns whether a commit was made by a tool, changed files, and does not undo another: one that
/// undoes a part of others names none.
pub(crate) fn is_change_of_tool(commit: &CommitDetails) -> bool {
    commit.trailer(Caller::TOOL_TRAILER).is_some_and(|it| it != UNDO_COMMAND)
        && commit.trailer(UNDOES_TRAILER).is_none()
        && !commit.changed_files.is_empty()
}

/// Returns whether a commit was made by `palazzo undo`, and changed files.
pub(crate) fn is_undo(commit: &CommitDetails) -> bool {
    commit.trailer(Caller::TOOL_TRAILER) == Some(UNDO_COMMAND) && !commit.changed_files.is_empty()
}

/// Returns the subject of an undo without its prefix: what it undid.
pub(crate) fn subject_of_undo(commit: &CommitDetails) -> &str {
    let subject = commit.summary.subject.as_str();
    subject.strip_prefix(UNDO_SUBJECT_PREFIX).unwrap_or(subject)
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
