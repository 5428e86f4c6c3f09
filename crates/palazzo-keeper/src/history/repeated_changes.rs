//! Finds the fields that a visit changed more than once, with each step; a diff shows only the result.

use std::collections::BTreeMap;

use crate::Refusal;
use crate::history::item_diffs::item_diffs_from_file_diffs;
use crate::palace::OpenPalace;
use palazzo_core::model::{
    ChangeDetail, ChangeKind, CommitDetails, ItemDiff, ItemElement, PalaceItem, RepeatedChange,
    RepeatedChanges,
};

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
            for diff in item_diffs_from_file_diffs(&diffs) {
                items.add(&diff);
            }
        }
    }
    Ok(items.into_repeated_changes())
}

/// The changes of items, each item by its file.
#[derive(Default)]
struct ItemSteps(BTreeMap<String, (PalaceItem, Vec<RepeatedChange>)>);

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
            let is_presence = |it: &RepeatedChange| matches!(it, RepeatedChange::Presence(_));
            let is_added_and_removed = changes.iter().any(|it| is_presence(it) && is_repeated(it));
            // What was in an item that was removed again is of no interest.
            changes.retain(|it| is_repeated(it) && (is_presence(it) || !is_added_and_removed));
            RepeatedChanges { item, changes }
        });
        repeated.filter(|it| !it.changes.is_empty()).collect()
    }
}

/// Returns whether there is more than one change.
fn is_repeated(change: &RepeatedChange) -> bool {
    match change {
        RepeatedChange::Presence(states) => states.len() > 1,
        RepeatedChange::Value { states, .. } => states.len() > 2,
        RepeatedChange::Part(states) => states.len() > 2,
        RepeatedChange::Text { versions, .. } => *versions > 1,
    }
}

fn add_presence(steps: &mut Vec<RepeatedChange>, is_there: bool) {
    let known = steps.iter_mut().find_map(|it| match it {
        RepeatedChange::Presence(states) => Some(states),
        _ => None,
    });
    match known {
        Some(states) => states.push(is_there),
        None => steps.push(RepeatedChange::Presence(vec![is_there])),
    }
}

fn add_detail(steps: &mut Vec<RepeatedChange>, detail: &ChangeDetail) {
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
        ChangeDetail::TextChanged { text, .. } => add_text(steps, text),
        ChangeDetail::Moved { .. }
        | ChangeDetail::Renamed { .. }
        | ChangeDetail::Replaces { .. }
        | ChangeDetail::PartsReordered(_)
        | ChangeDetail::Unreadable { .. } => {}
    }
}

fn add_value(steps: &mut Vec<RepeatedChange>, field: &str, [was, now]: [Option<String>; 2]) {
    let known = steps.iter_mut().find_map(|it| match it {
        RepeatedChange::Value { of, states } if of == field => Some(states),
        _ => None,
    });
    match known {
        Some(states) => states.push(now),
        None => steps.push(RepeatedChange::Value { of: field.to_owned(), states: vec![was, now] }),
    }
}

/// Adds the change of a part to the changes after which the part was as before this one. A part that
/// was removed is the same when it is added again.
fn add_part(steps: &mut Vec<RepeatedChange>, was: Option<ItemElement>, now: Option<ItemElement>) {
    let is_before = |states: &[Option<ItemElement>]| match states {
        [.., before, None] if was.is_none() => *before == now,
        [.., last] => *last == was && last.is_some(),
        [] => false,
    };
    let known = steps.iter_mut().find_map(|it| match it {
        RepeatedChange::Part(states) if is_before(states) => Some(states),
        _ => None,
    });
    match known {
        Some(states) => states.push(now),
        None => steps.push(RepeatedChange::Part(vec![was, now])),
    }
}

fn add_text(steps: &mut Vec<RepeatedChange>, text: &str) {
    let known = steps.iter_mut().find_map(|it| match it {
        RepeatedChange::Text { of, versions } if of == text => Some(versions),
        _ => None,
    });
    match known {
        Some(versions) => *versions += 1,
        None => steps.push(RepeatedChange::Text { of: text.to_owned(), versions: 1 }),
    }
}
