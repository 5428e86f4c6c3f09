//! One synchronization: fetch, merge, push, again if others pushed meanwhile. A merge makes the
//! files of the conflicts, too.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::conflict_file;
use crate::error::Refusal;
use crate::merge::conflict::merge_conflict_files;
use crate::merge::palaces::{MergeOutcome, merge_palaces};
use crate::merge::{FilePart, MERGE_RULES_VERSION, MergeInput, UnchangedFiles};
use crate::merge_driver::merge_file_versions;
use crate::sync::notices::future_commit_sentence;
use crate::sync::repositories::RepositoryWithPalaces;
use palazzo_core::format::{self, FieldsAndBody, PalacePath, file_kind, parse_fields_and_body};
use palazzo_core::merge::Fields;
use palazzo_core::model::{
    CommitMode, Diagnostic, NoteFolder, NoteFolders, path_text, quoted, quoted_unless_plain,
};
use palazzo_store::{
    self as store, DatedCommit, EditedFile, FileChange, HistoryComparison, IsWantedChange,
    MergedPalace, PalaceVersions, PlannedMove, SyncSession, Upstream,
};

/// The folder with files that Palazzo makes again when they are out of date.
const GENERATED_FOLDER: &str = ".palazzo/";

/// How long a file must not have been modified before an uncommitted edit of it is merged.
const EDIT_REST: TimeDelta = TimeDelta::minutes(15);

/// The options of a synchronization.
#[derive(Clone, Debug, Default)]
pub struct SyncOptions {
    /// Whether to push.
    pub pushes: bool,
    /// Whether only to fetch, and to report what would be done.
    pub is_dry_run: bool,
    /// Whether the user accepts that many files are deleted, or that agents' commits end.
    pub is_accepted: bool,
    /// The time limit of each fetch and push.
    pub time_limit: Duration,
    /// How long to wait for another process that synchronizes the repository.
    pub lock_timeout: Duration,
    /// The present time.
    pub now: DateTime<Utc>,
    /// Stops it when it is set.
    pub cancelled: Arc<AtomicBool>,
}

/// The result of a synchronization.
#[derive(Clone, Debug, Default)]
pub struct SyncReport {
    /// The branch and the remote, for a message.
    pub upstream: String,
    /// The number of commits of the remote that were missing here.
    pub received: usize,
    /// The number of commits that were pushed.
    pub sent: usize,
    /// The number of commits that were not pushed.
    pub waiting: usize,
    /// How often others pushed first.
    pub rejected: usize,
    /// Whether the two histories were merged.
    pub is_merged: bool,
    /// The numbers of files added, changed and deleted here.
    pub files: [usize; 3],
    /// The number of conflicts that the merge has recorded.
    pub new_conflicts: usize,
    /// The number of all recorded conflicts.
    pub conflicts: usize,
    /// Whether the remote no longer has commits that it had.
    pub is_rewritten: bool,
    /// A commit of the remote that is dated far ahead.
    pub future_commit: Option<DatedCommit>,
    /// The newest commit here.
    pub commit: String,
    /// Problems that did not prevent it.
    pub warnings: Vec<String>,
}

/// The versions of files that were parsed last: a file with many conflicts is asked for each of them.
#[derive(Default)]
struct ParsedVersions(RefCell<VecDeque<ParsedVersion>>);

struct ParsedVersion {
    path: String,
    content: Vec<u8>,
    tree: Rc<Option<FieldsAndBody>>,
}

impl ParsedVersions {
    /// The number of versions that are kept.
    const MAX: usize = 8;

    fn parse(&self, path: &str, content: Option<&[u8]>) -> Rc<Option<FieldsAndBody>> {
        let Some(content) = content else { return Rc::new(None) };
        let mut known = self.0.borrow_mut();
        if let Some(found) = known.iter().find(|it| it.path == path && it.content == content) {
            return found.tree.clone();
        }
        let text = std::str::from_utf8(content).ok();
        let tree = Rc::new(text.and_then(|it| parse_fields_and_body(path, it)));
        known.truncate(Self::MAX - 1);
        let (path, content) = (path.to_owned(), content.to_vec());
        known.push_front(ParsedVersion { path, content, tree: tree.clone() });
        tree
    }
}

/// Synchronizes a repository with the upstream of its branch, if the user has set that up.
pub fn sync_repository(
    repository: &RepositoryWithPalaces,
    options: &SyncOptions,
) -> Result<SyncReport, Refusal> {
    let mut store = repository.store_for_commits();
    store.set_cancel_flag(options.cancelled.clone());
    require_consent(repository, &store.upstream()?)?;
    let mut session = SyncSession::begin(store, options.time_limit, options.lock_timeout)?;
    // The configuration may have changed since it was read.
    require_consent(repository, session.upstream())?;
    let done = exchange_commits(repository, &mut session, options);
    match &done {
        Ok(_) if options.is_dry_run => {}
        Ok(report) => session.update_record(|it| {
            if report.received > 0 {
                it.future_commit.clone_from(&report.future_commit);
            }
            it.failure = None;
        }),
        Err(refusal) => {
            if let Some(kind) = refusal.sync_failure_kind() {
                session.update_record(|it| it.set_failure(kind, refusal.to_string(), options.now));
            }
        }
    }
    done
}

fn exchange_commits(
    repository: &RepositoryWithPalaces,
    session: &mut SyncSession,
    options: &SyncOptions,
) -> Result<SyncReport, Refusal> {
    let upstream = session.upstream().description();
    let mut report = SyncReport { upstream, ..SyncReport::default() };
    loop {
        let fetched = session.fetch()?;
        report.is_rewritten |= fetched.is_rewritten;
        let future = fetched.latest_commit.filter(|it| store::is_far_ahead(it.at, options.now));
        report.future_commit = future.or(report.future_commit.take());
        session.update_record(|it| it.last_reached = Some(options.now));
        let mut histories = session.compare(MERGE_RULES_VERSION)?;
        let planned = session.plan(&histories, &merge_versions, MERGE_RULES_VERSION)?;
        if let Some(planned) = &planned {
            check_plan(repository, session, planned, options)?;
            report.add_plan(planned, &histories);
        }
        if options.is_dry_run {
            report.sent = histories.ahead;
            break;
        }
        if let Some(planned) = &planned {
            let merge_edit = |it: &EditedFile<'_>| merge_rested_edit(it, options.now);
            let Some(warnings) = session.apply(planned, &merge_edit)? else {
                session.wait_for_next_attempt()?;
                continue;
            };
            report.warnings.extend(warnings.iter().map(ToString::to_string));
            histories = session.compare(MERGE_RULES_VERSION)?;
        }
        if push_commits(session, &histories, options, &mut report)? {
            break;
        }
        session.wait_for_next_attempt()?;
    }
    report.warnings.extend(report.future_commit.as_ref().map(future_commit_sentence));
    report.commit = session.newest_commit()?.0;
    report.conflicts = repository.count_conflicts();
    Ok(report)
}

/// Pushes what the remote lacks, if that is asked for; `false`: others have pushed first.
fn push_commits(
    session: &SyncSession,
    histories: &HistoryComparison,
    options: &SyncOptions,
    report: &mut SyncReport,
) -> Result<bool, Refusal> {
    if histories.ahead == 0 || !options.pushes {
        report.waiting = histories.ahead;
        return Ok(true);
    }
    let is_pushed = session.push(histories)?;
    if is_pushed {
        session.update_record(|it| it.last_push = Some(options.now));
        report.sent = histories.ahead;
    } else {
        report.rejected += 1;
    }
    Ok(is_pushed)
}

/// Drops the last merge of a repository if it was not pushed; returns the ids of the merge and of
/// the commit before it.
pub fn undo_last_sync(repository: &RepositoryWithPalaces) -> Result<[String; 2], Refusal> {
    Ok(repository.store().undo_last_sync()?)
}

/// Commits the reverse of the last merge of a repository; returns the ids of the merge and of the
/// new commit.
pub fn revert_last_sync(
    repository: &RepositoryWithPalaces,
    now: DateTime<Utc>,
) -> Result<[String; 2], Refusal> {
    Ok(repository.store_for_commits().revert_last_sync(&merge_versions, now)?)
}

fn require_consent(repository: &RepositoryWithPalaces, upstream: &Upstream) -> Result<(), Refusal> {
    match repository.is_allowed(upstream)? {
        true => Ok(()),
        false => Err(Refusal::Invalid(format!(
            "syncing with {} is not set up on this machine; run `palazzo sync --setup` to allow it",
            upstream.description()
        ))),
    }
}

/// Fails if a plan needs a person.
fn check_plan(
    repository: &RepositoryWithPalaces,
    session: &SyncSession,
    planned: &PlannedMove,
    options: &SyncOptions,
) -> Result<(), Refusal> {
    reject_other_format(repository, planned)?;
    reject_unreadable_settings(planned)?;
    reject_new_note_folders(repository, planned)?;
    if let Some(palace) = repository.palace_with_manual_commits() {
        return Err(Refusal::Invalid(format!(
            "the commits of {} were fetched, and not merged, because {} sets `commit = \"manual\"`; \
             merge them with `git merge`",
            session.upstream().description(),
            quoted_unless_plain(&path_text(palace.join("palace.toml")))
        )));
    }
    if !options.is_accepted && !options.is_dry_run {
        session.reject_mass_deletion(planned)?;
        reject_manual_commits(planned)?;
    }
    Ok(())
}

/// Fails if a plan brings the setting that leaves commits to the user: the changes of agents would
/// silently not be committed any more on this machine.
fn reject_manual_commits(planned: &PlannedMove) -> Result<(), Refusal> {
    let is_manual =
        |text| format::parse_settings(text).is_some_and(|it| it.commit == CommitMode::Manual);
    match planned_settings(planned).find(|(_, text)| is_manual(text)) {
        Some((path, _)) => Err(Refusal::Invalid(format!(
            "the remote sets `commit = \"manual\"` in {}: what agents write would not be committed on \
             this machine any more, and sync would end; `palazzo sync --accept` accepts that, or take \
             it back where it was set",
            quoted(path)
        ))),
        None => Ok(()),
    }
}

/// Fails if a plan brings settings that cannot be read: nothing could be written to that palace any
/// more.
fn reject_unreadable_settings(planned: &PlannedMove) -> Result<(), Refusal> {
    let error = planned_settings(planned)
        .find_map(|(path, text)| Some((path, format::find_settings_error(text)?)));
    match error {
        Some((path, error)) => Err(Refusal::Invalid(format!(
            "the remote has settings that cannot be read, and nothing was merged: {}:{}: {}; correct \
             them where they were changed",
            quoted_unless_plain(path),
            error.at.line,
            error.message
        ))),
        None => Ok(()),
    }
}

/// Fails if a plan brings a folder of notes that is not set here: from then on, others could change all
/// Markdown files in it, such as instructions for agents.
fn reject_new_note_folders(
    repository: &RepositoryWithPalaces,
    planned: &PlannedMove,
) -> Result<(), Refusal> {
    let here = repository.note_folders();
    for (path, text) in planned_settings(planned) {
        let Some(settings) = format::parse_settings(text) else { continue };
        let prefix = path.strip_suffix(PalacePath::SETTINGS_FILE).unwrap_or_default();
        let known = here.iter().find(|(it, _)| it == prefix).map(|(_, folders)| folders);
        let is_known = |new: &NoteFolder| {
            let mut known = known.into_iter().flat_map(NoteFolders::iter);
            known.any(|it| it.path == new.path && it.patterns == new.patterns)
        };
        if let Some(new) = settings.note_folders.iter().find(|it| !is_known(it)) {
            return Err(Refusal::Invalid(format!(
                "the remote names a folder of notes that is not set here, `{}` in {}: nothing was \
                 merged; look at it, and take it over with `git pull`",
                new.path_in_settings(),
                quoted_unless_plain(path)
            )));
        }
    }
    Ok(())
}

/// Yields the settings of palaces that a plan writes, with their paths in the repository.
fn planned_settings(planned: &PlannedMove) -> impl Iterator<Item = (&str, &str)> {
    let is_settings = |path: &str| path.rsplit('/').next() == Some(PalacePath::SETTINGS_FILE);
    planned.new_texts().filter(move |(path, _)| is_settings(path))
}

/// Fails if a palace has files of another format, here or after the plan. A plan that brings back the
/// format of this program is possible.
fn reject_other_format(
    repository: &RepositoryWithPalaces,
    planned: &PlannedMove,
) -> Result<(), Refusal> {
    let settings: Vec<_> = planned_settings(planned).collect();
    let planned_finding = settings.iter().find_map(|(path, text)| {
        let finding = format::find_other_format(text)?;
        Some(Diagnostic { file: (*path).to_owned(), ..finding })
    });
    let is_replaced = |it: &Diagnostic| settings.iter().any(|(path, _)| *path == it.file);
    let remaining_finding = || repository.other_format_findings().find(|it| !is_replaced(it));
    match planned_finding.or_else(remaining_finding) {
        Some(finding) => Err(Refusal::OtherFormat(finding.into())),
        None => Ok(()),
    }
}

impl SyncReport {
    fn add_plan(&mut self, planned: &PlannedMove, histories: &HistoryComparison) {
        self.received += histories.behind;
        self.is_merged |= histories.ahead > 0 && histories.behind > 0;
        self.new_conflicts += planned.conflicts;
        let counts = [planned.added, planned.changed, planned.deleted];
        for (sum, count) in self.files.iter_mut().zip(counts) {
            *sum += count;
        }
    }
}

/// Merges an uncommitted edit with the new content of its file, if the edit has rested and the merge
/// has no conflict.
fn merge_rested_edit(file: &EditedFile<'_>, now: DateTime<Utc>) -> Option<String> {
    if now - file.modified < EDIT_REST {
        return None;
    }
    let sides = [file.on_disk.as_bytes(), file.new.as_bytes()];
    let merged = merge_file_versions(file.path, file.base.as_bytes(), sides)?;
    let text = String::from_utf8(merged.bytes).ok().filter(|_| merged.conflicts.is_empty())?;
    (!format::parse_file(file.path, &text).has_errors()).then_some(text)
}

/// Merges two versions of a palace.
fn merge_versions(versions: &PalaceVersions<'_>) -> MergedPalace {
    let trees = ParsedVersions::default();
    let last_change = |side: usize, path: &str, part: FilePart<'_>| {
        let is_wanted = |change: &FileChange| has_set_value(part, path, change, &trees);
        let is_wanted: Option<&IsWantedChange<'_>> = match part {
            FilePart::Any => None,
            _ => Some(&is_wanted),
        };
        (versions.last_change)(side, path, is_wanted)
    };
    let [one, other] = &versions.sides;
    let MergeOutcome { mut files, mut conflicts } = merge_palaces(&MergeInput {
        base: &versions.base,
        sides: [one, other],
        unchanged: UnchangedFiles { paths: &versions.unchanged, read: versions.read_unchanged },
        last_change: &last_change,
    });
    conflicts.retain(|it| !it.path.starts_with(GENERATED_FOLDER));
    for conflict in &conflicts {
        let (path, text) = conflict_file(conflict);
        let bytes = match files.get(&path) {
            // A machine has found the same conflict before.
            Some(known) => merge_conflict_files(&path, known, text.as_bytes()),
            None => text.into_bytes(),
        };
        files.insert(path, bytes);
    }
    MergedPalace { files, conflicts: conflicts.len() }
}

/// Returns whether a commit has given a part of a file the value that its side has: that value is in
/// the file after the commit, and in none of its parents.
fn has_set_value(
    part: FilePart<'_>,
    path: &str,
    change: &FileChange,
    trees: &ParsedVersions,
) -> bool {
    let has_value = |content: &Option<Vec<u8>>| {
        let tree = || trees.parse(path, content.as_deref());
        has_value(part, path, content.is_some(), &tree)
    };
    has_value(&change.after) && !change.before.iter().any(has_value)
}

/// Returns whether a version of a file has the value that the side has.
fn has_value(
    part: FilePart<'_>,
    path: &str,
    is_there: bool,
    tree: &dyn Fn() -> Rc<Option<FieldsAndBody>>,
) -> bool {
    match part {
        FilePart::Any | FilePart::Path => is_there,
        FilePart::Body(body) => {
            tree().as_ref().as_ref().is_some_and(|it| it.body.as_deref() == body)
        }
        FilePart::Field { fields, place, value } => {
            let Some(kind) = file_kind(path) else { return false };
            let (tree, none) = (tree(), Fields::new());
            let here = tree.as_ref().as_ref().map_or(&none, |it| &it.fields);
            let found = place.in_version(kind, fields, here);
            found.map_or(value.is_none(), |it| it.has_value(here, value))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chrono::DateTime;

    use super::*;
    use palazzo_core::merge::LastChange;
    use palazzo_store::FileContents;

    const PATH: &str = "rooms/hall.yaml";
    const BASE: &str = "name: Hall\ndescription: Stone.\nactions:\n- label: Look\n  type: text\n  content: Dust lies on all that stands in this room, and on the floor.\n";

    /// The versions of the file on one side, oldest first, and whether each is by hand.
    type Versions<'a> = [(&'a str, bool)];

    /// Merges two sides of one file; the second side's commits are the later ones.
    fn merge(sides: [&Versions<'_>; 2]) -> (String, Vec<String>) {
        let contents =
            |text: &str| FileContents::from([(PATH.to_owned(), text.as_bytes().to_vec())]);
        let last_change = |side: usize, _: &str, is_wanted: Option<&IsWantedChange<'_>>| {
            let bytes = |it: &str| Some(it.as_bytes().to_vec());
            let is_change = |index: &usize| {
                let before = if *index == 0 { BASE } else { sides[side][index - 1].0 };
                let (after, before) = (bytes(sides[side][*index].0), vec![bytes(before)]);
                is_wanted.is_none_or(|it| it(&FileChange { after, before }))
            };
            let found = (0..sides[side].len()).rev().find(is_change);
            let index = found.unwrap_or(sides[side].len() - 1);
            LastChange {
                author: format!("{side} {index}"),
                at: DateTime::from_timestamp(i64::try_from(side).unwrap(), 0).unwrap(),
                is_by_hand: sides[side][index].1,
                commit: String::new(),
            }
        };
        let merged = merge_versions(&PalaceVersions {
            base: contents(BASE),
            sides: sides.map(|it| contents(it.last().unwrap().0)),
            unchanged: BTreeSet::new(),
            read_unchanged: &|_| None,
            last_change: &last_change,
        });
        let text = |path: &str| String::from_utf8(merged.files[path].clone()).unwrap();
        let conflicts = merged.files.keys().filter(|it| it.starts_with("conflicts/"));
        (text(PATH), conflicts.map(|it| text(it)).collect())
    }

    #[test]
    fn the_side_that_changed_the_field_by_hand_stands_whatever_changed_the_file_last() {
        let by_hand = BASE.replace("Hall", "Nave");
        let own = [(by_hand.as_str(), true), (&by_hand.replace("Stone", "Wood"), false)];
        let by_tool = BASE.replace("Hall", "Loft");
        let other = [(by_tool.as_str(), false), (&by_tool.replace("Dust", "Rain"), true)];
        for sides in [[&own[..], &other[..]], [&other[..], &own[..]]] {
            let (merged, conflicts) = merge(sides);
            assert!(merged.starts_with("name: Nave\ndescription: Wood."), "{merged}");
            assert!(merged.contains("Rain lies"), "{merged}");
            let [conflict] = conflicts.as_slice() else { panic!("{conflicts:?}") };
            assert!(conflict.contains("stands: Nave\n") && conflict.contains("other: Loft\n"));
            let authors =
                conflict.matches("author: 0 0\n").chain(conflict.matches("author: 1 0\n"));
            assert_eq!(authors.count(), 2, "{conflict}");
        }
    }

    #[test]
    fn a_field_of_a_renamed_action_is_followed() {
        let by_hand = BASE.replace("Dust", "Ash");
        let own =
            [(BASE, false), (&by_hand, true), (&by_hand.replace("Look", "Look round"), false)];
        let by_tool = BASE.replace("Dust", "Sand");
        let (merged, conflicts) = merge([&own, &[(BASE, false), (&by_tool, false)]]);
        assert!(merged.contains("label: Look round\n") && merged.contains("Ash"), "{merged}");
        let conflict = &conflicts[0];
        assert!(conflict.contains("field: actions[\"Look round\"].content"), "{conflict}");
        assert!(conflict.contains("author: 0 1\n"), "{conflict}");
    }
}
