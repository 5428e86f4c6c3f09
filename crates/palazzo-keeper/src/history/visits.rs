//! The visits in the history of a palace: what each conversation of an MCP client has changed, and
//! each step of what it changed more than once.
//!
//! Every commit of a conversation has the trailer `Palazzo-Visit` with the id of its visit.
//! Commands of a person have an id too, but are no visits here.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, TimeDelta, Utc};
use ulid::Ulid;

use crate::history::diff::{PalaceDiff, commit_summary, file_patch};
use crate::history::item_diffs::{
    compare_items_in_files, item_diffs_from_file_diffs, replaced_scroll_files,
};
use crate::history::log::{LogFilter, ParsedLogFilter};
use crate::history::revert::{changes_file, creates_palace};
use crate::history::undone_commits::{
    UndoneCommitSet, is_change_of_tool, is_undo, subject_of_undo, visit_of_commit,
};
use crate::palace::OpenPalace;
use crate::walk::hand_over::is_hand_over;
use crate::{Caller, Refusal, Session};
use palazzo_core::format::PalacePath;
use palazzo_core::model::{
    ChangeDetail, ChangeKind, ChangeSteps, CommitDetails, FileDiff, HandOver, ItemDiff,
    ItemElement, ItemOrFile, Palace, RecordedVisit, RepeatedChanges, ScrollId, VisitDetails,
    commit_trailers, quoted,
};
use palazzo_core::render;

/// The name of the newest visit that changed something and is not undone.
const LAST: &str = "last";

/// How many visits a refusal lists.
const MAX_LISTED_VISITS: usize = 5;

/// The newest visits of a palace.
#[derive(Clone, Debug)]
pub struct VisitLog {
    /// The visits, newest first.
    pub visits: Vec<VisitDetails>,
    /// Whether there are older ones.
    pub is_truncated: bool,
}

/// The changes of items, each item by its file.
#[derive(Default)]
struct ItemSteps(BTreeMap<String, (ItemOrFile, Vec<ChangeSteps>)>);

impl ItemSteps {
    fn add(&mut self, diff: &ItemDiff) {
        let (Some(first), Some(last)) = (diff.files.first(), diff.files.last()) else { return };
        let (_, mut steps) =
            self.0.remove(first).unwrap_or_else(|| (diff.item.clone(), Vec::new()));
        match diff.change {
            ChangeKind::Added(_) => add_presence(&mut steps, true),
            ChangeKind::Removed(_) => add_presence(&mut steps, false),
            ChangeKind::Changed(_) => {}
        }
        if let ChangeKind::Added(details) | ChangeKind::Changed(details) = &diff.change {
            for detail in details {
                add_detail(&mut steps, detail);
            }
        }
        self.0.insert(last.clone(), (diff.item.clone(), steps));
    }

    fn into_repeated_changes(self) -> Vec<RepeatedChanges> {
        let repeated = self.0.into_values().map(|(item, mut changes)| {
            let is_presence = |it: &ChangeSteps| matches!(it, ChangeSteps::Presence(_));
            let is_added_and_removed = changes.iter().any(|it| is_presence(it) && is_repeated(it));
            // What was in an item that was removed again is of no interest.
            changes.retain(|it| is_repeated(it) && (is_presence(it) || !is_added_and_removed));
            RepeatedChanges { item, changes }
        });
        repeated.filter(|it| !it.changes.is_empty()).collect()
    }
}

/// Lists the newest visits of clients with commits that the filter selects, at most `limit`.
pub fn list_visits(
    session: &Session<'_>,
    filter: &LogFilter,
    limit: usize,
) -> Result<VisitLog, Refusal> {
    let palace = &*session.palace;
    let selection = ParsedLogFilter::parse(filter, session.caller)?;
    let mut visits = read_visits(palace, selection, limit.saturating_add(1))?;
    let is_truncated = visits.len() > limit;
    visits.truncate(limit);
    let describe = |visit: RecordedVisit| {
        let layers = combine_diffs(palace, &visit.commits_to_describe())?;
        describe_visit(palace, visit, &layers)
    };
    let visits = visits.into_iter().map(describe).collect::<Result<_, Refusal>>()?;
    Ok(VisitLog { visits, is_truncated })
}

/// Finds a visit by its id, by the last six or more characters of it, or as `last`, and returns
/// its changes, and the fields that it changed more than once; or an undo, by the same of its id.
pub fn show_visit(session: &Session<'_>, name: &str) -> Result<VisitDetails, Refusal> {
    let visit = find_visit_or_undo(session.palace, session.caller, name)?;
    let commits = visit.commits_to_describe();
    let layers = combine_diffs(session.palace, &commits)?;
    let details = describe_visit(session.palace, visit, &layers)?;
    let repeated = find_repeated_changes(session.palace, &commits)?;
    Ok(VisitDetails { repeated, ..details })
}

/// Returns the differences that a visit made, and the visit; `name` as for [`show_visit`]. The commits
/// of the diff are the one before the visit and its last one; others may have changed the palace
/// between them.
pub fn diff_visit(
    session: &Session<'_>,
    name: &str,
) -> Result<(RecordedVisit, PalaceDiff), Refusal> {
    let palace = &*session.palace;
    let visit = find_visit_or_undo(palace, session.caller, name)?;
    let commits = visit.commits_to_describe();
    let layers = combine_diffs(palace, &commits)?;
    let VisitDetails { visit, items, .. } = describe_visit(palace, visit, &layers)?;
    let before = commits.last().and_then(|it| it.parent.clone());
    let prefix = palace.store().prefix_in_repository()?;
    let patches = layers.iter().rev().flatten().map(|it| file_patch(&prefix, it));
    let diff = PalaceDiff {
        from: before.map(|it| commit_summary(palace, &it)).transpose()?,
        to: commits.first().map(|it| it.summary.clone()),
        items,
        patch: patches.collect(),
    };
    Ok((visit, diff))
}

/// Finds a visit, or an undo of the command line, as [`show_visit`] does.
pub(crate) fn find_visit_or_undo(
    palace: &OpenPalace,
    caller: &Caller,
    name: &str,
) -> Result<RecordedVisit, Refusal> {
    match find_visit(palace, caller, name) {
        Ok(visit) => Ok(visit),
        Err(unknown) => find_undo(palace, name)?.ok_or(unknown),
    }
}

/// Finds an undo of the command line by the last characters of its id.
fn find_undo(palace: &OpenPalace, name: &str) -> Result<Option<RecordedVisit>, Refusal> {
    let (wanted, mut found) = (name.trim().to_uppercase(), None);
    if wanted.len() < RecordedVisit::SHORT_ID_LENGTH {
        return Ok(None);
    }
    let mut undone = UndoneCommitSet::default();
    palace.store().log(&[], |commit| {
        let is_undone = undone.add_commit(palace, &commit);
        let id = visit_of_commit(&commit).filter(|it| it.to_string().ends_with(&wanted));
        found = id.filter(|_| is_undo(&commit)).map(|id| {
            let mut visit = new_visit(id, &commit);
            visit.client.clone_from(&commit.summary.by);
            visit.undoes = Some(subject_of_undo(&commit).to_owned());
            add_commit(&mut visit, commit, is_undone, &undone);
            visit
        });
        found.is_none()
    })?;
    Ok(found)
}

/// Finds a visit of a client, as [`show_visit`] does.
pub(crate) fn find_visit(
    palace: &OpenPalace,
    caller: &Caller,
    name: &str,
) -> Result<RecordedVisit, Refusal> {
    let wanted = name.trim().to_uppercase();
    if wanted.eq_ignore_ascii_case(LAST) {
        return last_visit(palace);
    }
    let is_id = |it: char| it.is_ascii_alphanumeric();
    let has_length = (RecordedVisit::SHORT_ID_LENGTH..=ulid::ULID_LEN).contains(&wanted.len());
    if !has_length || !wanted.chars().all(is_id) {
        let why = format!(
            "{} is not the id of a visit: `palazzo log --visits` lists them; `last` is the newest",
            quoted(name)
        );
        return Err(Refusal::Invalid(why));
    }
    let is_wanted = |it: &RecordedVisit| it.id.to_string().ends_with(&wanted);
    let mut all = read_visits_until(palace, ParsedLogFilter::default(), |commit, visits| {
        visits.iter().find(|it| is_wanted(it)).is_some_and(|it| is_before(commit, it))
    })?;
    match all.iter().position(is_wanted) {
        Some(at) => Ok(all.swap_remove(at)),
        None => Err(unknown_visit_refusal(&all, name, caller)),
    }
}

/// Finds the newest visit that changed something and is not undone.
fn last_visit(palace: &OpenPalace) -> Result<RecordedVisit, Refusal> {
    for limit in [10, usize::MAX] {
        let visits = read_visits(palace, ParsedLogFilter::default(), limit)?;
        for visit in visits.into_iter().filter(|it| it.undoable > 0) {
            if !combine_diffs(palace, &visit.commits_to_describe())?.is_empty() {
                return Ok(visit);
            }
        }
    }
    let why = "there is no visit of an MCP client whose changes are not undone; `palazzo log` \
               lists all changes";
    Err(Refusal::Invalid(why.to_owned()))
}

fn unknown_visit_refusal(all: &[RecordedVisit], name: &str, caller: &Caller) -> Refusal {
    let known = all.iter().take(MAX_LISTED_VISITS).map(|it| {
        let client = render::name_in_sentence(&it.client);
        format!("{} ({client}, {})", it.short_id(), render::ago(it.ended(), caller.now))
    });
    let known: Vec<_> = known.collect();
    let hint = match known.is_empty() {
        true => String::new(),
        false => format!("; the last visits are {}", known.join(", ")),
    };
    Refusal::NotFound { what: "visit", name: name.to_owned(), hint }
}

/// Reads the newest visits of clients with selected commits, at most `limit`, newest first.
fn read_visits(
    palace: &OpenPalace,
    selection: ParsedLogFilter,
    limit: usize,
) -> Result<Vec<RecordedVisit>, Refusal> {
    let since = selection.since;
    let mut visits = read_visits_until(palace, selection, |commit, visits| {
        // Leaves a day for clocks that differ.
        let is_too_old = since.is_some_and(|it| commit.summary.at + TimeDelta::days(1) < it);
        let wanted = visits.get(..limit).or(is_too_old.then_some(visits));
        wanted.is_some_and(|it| it.iter().all(|it| is_before(commit, it)))
    })?;
    visits.truncate(limit);
    Ok(visits)
}

/// Reads visits of clients with selected commits, newest first. `is_complete` returns true if no
/// visit that is wanted can have the commit that comes next.
fn read_visits_until(
    palace: &OpenPalace,
    selection: ParsedLogFilter,
    is_complete: impl Fn(&CommitDetails, &[RecordedVisit]) -> bool,
) -> Result<Vec<RecordedVisit>, Refusal> {
    let mut found = VisitCollector { selection, ..VisitCollector::default() };
    palace.store().log(&[], |commit| {
        let is_complete = is_complete(&commit, &found.visits);
        if !is_complete {
            found.add_commit(palace, commit);
        }
        !is_complete
    })?;
    found.into_visits(palace)
}

/// Collects the visits of clients among commits, given newest first.
pub(crate) fn visits_of_commits(
    palace: &OpenPalace,
    commits: &[CommitDetails],
) -> Result<Vec<RecordedVisit>, Refusal> {
    let mut found = VisitCollector::default();
    for commit in commits {
        found.add_commit(palace, commit.clone());
    }
    found.into_visits(palace)
}

/// Collects commits by visit.
#[derive(Default)]
struct VisitCollector {
    /// The commits of which one makes a visit wanted.
    selection: ParsedLogFilter,
    visits: Vec<RecordedVisit>,
    /// The place of each visit in the list.
    places: HashMap<Ulid, usize>,
    /// The commits that later ones have undone.
    undone: UndoneCommitSet,
}

impl VisitCollector {
    /// Adds a commit that is older than those before.
    fn add_commit(&mut self, palace: &OpenPalace, commit: CommitDetails) {
        let is_undone = self.undone.add_commit(palace, &commit);
        let Some(id) = client_visit_of_commit(&commit) else { return };
        if !self.places.contains_key(&id) && !self.selection.selects(&commit) {
            return;
        }
        let place = *self.places.entry(id).or_insert(self.visits.len());
        if place == self.visits.len() {
            self.visits.push(new_visit(id, &commit));
        }
        add_commit(&mut self.visits[place], commit, is_undone, &self.undone);
    }

    fn into_visits(mut self, palace: &OpenPalace) -> Result<Vec<RecordedVisit>, Refusal> {
        for visit in &mut self.visits {
            visit.undoable -= count_creations(palace, &visit.commits)?.min(visit.undoable);
        }
        Ok(self.visits)
    }
}

fn new_visit(id: Ulid, newest: &CommitDetails) -> RecordedVisit {
    let client = newest.trailer(commit_trailers::CLIENT).unwrap_or(&newest.summary.by).to_owned();
    RecordedVisit {
        id,
        client,
        commits: Vec::new(),
        undoable: 0,
        undone: BTreeSet::new(),
        files_left: BTreeMap::new(),
        undoes: None,
    }
}

/// Adds a commit, which is older than the others, to its visit.
fn add_commit(
    visit: &mut RecordedVisit,
    commit: CommitDetails,
    is_undone: bool,
    undone: &UndoneCommitSet,
) {
    match is_undone {
        true => {
            visit.undone.insert(commit.summary.id.clone());
        }
        false => visit.undoable += 1,
    }
    let left = undone.without_undone_files(commit.clone()).changed_files;
    if left.len() < commit.changed_files.len() {
        visit.files_left.insert(commit.summary.id.clone(), left);
    }
    visit.commits.push(commit);
}

/// Counts the commits that created the palace: at most one.
fn count_creations(palace: &OpenPalace, commits: &[CommitDetails]) -> Result<usize, Refusal> {
    let mut count = 0;
    for commit in commits {
        if changes_file(commit, PalacePath::SETTINGS_FILE) {
            count += usize::from(creates_palace(&palace.store().diff_of_commit(commit)?));
        }
    }
    Ok(count)
}

/// Returns the visit of a client that changed the palace with a commit.
pub(crate) fn client_visit_of_commit(commit: &CommitDetails) -> Option<Ulid> {
    visit_of_commit(commit).filter(|_| commit.is_by_client && is_change_of_tool(commit))
}

/// Returns whether a commit was made before a visit began; leaves a day for clocks that differ.
fn is_before(commit: &CommitDetails, visit: &RecordedVisit) -> bool {
    commit.summary.at + TimeDelta::days(1) < DateTime::<Utc>::from(visit.id.datetime())
}

/// Describes what a visit changed: the diffs of its commits, as [`combine_diffs`] returns them.
pub(crate) fn describe_visit(
    palace: &OpenPalace,
    visit: RecordedVisit,
    layers: &[Vec<FileDiff>],
) -> Result<VisitDetails, Refusal> {
    let (mut items, mut hand_over) = (Vec::new(), None);
    let parent = visit.commits.last().and_then(|it| it.parent.as_ref());
    for diffs in layers {
        let replaced = replaced_scroll_files(palace, parent, diffs)?;
        let compared = compare_items_in_files(diffs, &replaced, &palace.palace.settings);
        hand_over = hand_over.or_else(|| newest_hand_over(palace, &compared.now, diffs));
        items.extend(compared.items);
    }
    Ok(VisitDetails { visit, items, repeated: Vec::new(), hand_over })
}

/// Returns the newest hand-over among the changed scrolls.
fn newest_hand_over(open: &OpenPalace, now: &Palace, diffs: &[FileDiff]) -> Option<HandOver> {
    let written = now.scrolls().filter(|(room, it)| is_hand_over(&open.palace, room, it));
    let is_changed = |path: &str| diffs.iter().any(|it| it.path == path);
    let written = written.filter(|(room, it)| {
        let id = ScrollId { room: (*room).clone(), id: it.id };
        now.file_of_scroll(&id).is_some_and(is_changed)
    });
    let newest = written.max_by_key(|(_, it)| (it.written, it.id));
    newest.map(|(_, it)| HandOver { title: it.title.clone(), text: it.body.clone() })
}

/// Combines the diffs of commits, given newest first, to one for each of their changed files. If
/// others changed a file in between, it has several diffs: each element of the result has one of
/// each file, the first one the newest. What was changed back is left out.
pub(crate) fn combine_diffs(
    palace: &OpenPalace,
    commits: &[CommitDetails],
) -> Result<Vec<Vec<FileDiff>>, Refusal> {
    let mut by_file = BTreeMap::<String, Vec<FileDiff>>::new();
    for commit in commits {
        let diffs = palace.store().diff_of_commit(commit)?;
        for diff in diffs.into_iter().filter(|it| changes_file(commit, &it.path)) {
            let of_file = by_file.entry(diff.path.clone()).or_default();
            match of_file.last_mut() {
                Some(later) if later.was == diff.now => later.was = diff.was,
                _ => of_file.push(diff),
            }
        }
    }
    let mut layers = Vec::<Vec<FileDiff>>::new();
    for of_file in by_file.into_values() {
        for (layer, diff) in of_file.into_iter().enumerate().filter(|(_, it)| it.was != it.now) {
            if layers.len() <= layer {
                layers.resize_with(layer + 1, Vec::new);
            }
            layers[layer].push(diff);
        }
    }
    Ok(layers)
}

/// Finds what commits, given newest first, changed more than once in an item.
pub(crate) fn find_repeated_changes(
    palace: &OpenPalace,
    commits: &[CommitDetails],
) -> Result<Vec<RepeatedChanges>, Refusal> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for path in commits.iter().flat_map(|it| &it.changed_files) {
        *counts.entry(path).or_default() += 1;
    }
    let is_repeated = |path: &str| counts.get(path).is_some_and(|it| *it > 1);
    let mut items = ItemSteps::default();
    for commit in commits.iter().rev() {
        if commit.changed_files.iter().any(|it| is_repeated(it)) {
            let mut diffs = palace.store().diff_of_commit(commit)?;
            diffs.retain(|it| is_repeated(&it.path));
            for diff in item_diffs_from_file_diffs(&diffs, &palace.palace.settings) {
                items.add(&diff);
            }
        }
    }
    Ok(items.into_repeated_changes())
}

/// Returns whether there is more than one change.
fn is_repeated(change: &ChangeSteps) -> bool {
    match change {
        ChangeSteps::Presence(states) => states.len() > 1,
        ChangeSteps::Value { states, .. } => states.len() > 2,
        ChangeSteps::Part(states) => states.len() > 2,
        ChangeSteps::Text { versions, .. } => *versions > 1,
    }
}

fn add_presence(steps: &mut Vec<ChangeSteps>, is_there: bool) {
    let known = steps.iter_mut().find_map(|it| match it {
        ChangeSteps::Presence(states) => Some(states),
        _ => None,
    });
    match known {
        Some(states) => states.push(is_there),
        None => steps.push(ChangeSteps::Presence(vec![is_there])),
    }
}

fn add_detail(steps: &mut Vec<ChangeSteps>, detail: &ChangeDetail) {
    match detail {
        ChangeDetail::ValueChanged { of, was, now } => {
            add_value(steps, of, [was.clone(), now.clone()]);
        }
        ChangeDetail::PartAdded(now) => add_part(steps, None, Some(now.clone())),
        ChangeDetail::PartRemoved(was) => add_part(steps, Some(was.clone()), None),
        ChangeDetail::PartChanged { was, now } => {
            add_part(steps, Some(was.clone()), Some(now.clone()));
        }
        ChangeDetail::RelationChanged { was, now } => {
            let [was, now] = [was, now].map(|it| Some(ItemElement::Relation(it.clone())));
            add_part(steps, was, now);
        }
        ChangeDetail::TextChanged { of, .. } => add_text(steps, of),
        ChangeDetail::Moved { .. }
        | ChangeDetail::Renamed { .. }
        | ChangeDetail::Replaces { .. }
        | ChangeDetail::PartsReordered(_)
        | ChangeDetail::Unreadable { .. } => {}
    }
}

fn add_value(steps: &mut Vec<ChangeSteps>, field: &str, [was, now]: [Option<String>; 2]) {
    let known = steps.iter_mut().find_map(|it| match it {
        ChangeSteps::Value { of, states } if of == field => Some(states),
        _ => None,
    });
    match known {
        Some(states) => states.push(now),
        None => steps.push(ChangeSteps::Value { of: field.to_owned(), states: vec![was, now] }),
    }
}

/// Adds the change of a part to the changes after which the part was as before this one. A part that
/// was removed is the same when it is added again.
fn add_part(steps: &mut Vec<ChangeSteps>, was: Option<ItemElement>, now: Option<ItemElement>) {
    let is_before = |states: &[Option<ItemElement>]| match states {
        [.., before, None] if was.is_none() => *before == now,
        [.., last] => *last == was && last.is_some(),
        [] => false,
    };
    let known = steps.iter_mut().find_map(|it| match it {
        ChangeSteps::Part(states) if is_before(states) => Some(states),
        _ => None,
    });
    match known {
        Some(states) => states.push(now),
        None => steps.push(ChangeSteps::Part(vec![was, now])),
    }
}

fn add_text(steps: &mut Vec<ChangeSteps>, text: &str) {
    let known = steps.iter_mut().find_map(|it| match it {
        ChangeSteps::Text { of, versions } if of == text => Some(versions),
        _ => None,
    });
    match known {
        Some(versions) => *versions += 1,
        None => steps.push(ChangeSteps::Text { of: text.to_owned(), versions: 1 }),
    }
}
