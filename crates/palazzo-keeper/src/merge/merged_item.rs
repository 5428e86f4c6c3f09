//! Merges the versions of one item: decides which of them count.

use serde_json::Value;

use crate::merge::changes::Version;
use crate::merge::conflict_file::merge_conflict_item;
use crate::merge::file::{ChangedFile, FileChanges, MergedFile, merge_file};
use crate::merge::items::{Item, is_conflict_file};
use crate::merge::last_changes::OrderedSides;
use crate::merge::names::{MergedNames, move_to_renamed_rooms, path_conflict};
use palazzo_core::format::{add_missing_comments, parse_tree, retarget_modeline};
use palazzo_core::merge::FieldConflict;

/// Merges the versions of an item; `None` if it is deleted.
pub(super) fn merge_item(
    item: &Item,
    path: &str,
    sides: &OrderedSides<'_>,
    names: &MergedNames,
) -> Option<MergedFile> {
    if is_conflict_file(path) {
        return merge_conflict_item(item, path);
    }
    let renamed = renamed_item(item, names);
    let first = sides.first;
    let [own, other] = [first, 1 - first].map(|it| renamed.sides[it].as_ref());
    let raw = [first, 1 - first].map(|it| item.sides[it].as_ref());
    let is_unchanged = |it: usize| raw[it] == item.base.as_ref();
    let has_base_content = |it: usize| {
        raw[it].zip(item.base.as_ref()).is_some_and(|(it, base)| it.bytes == base.bytes)
    };
    let mut file = match (own, other) {
        (Some(own), Some(_)) if is_unchanged(1) => one_side(own, path),
        (Some(own), Some(_)) if has_base_content(1) && !is_unchanged(0) => one_side(own, path),
        (Some(_), Some(other)) if has_base_content(0) => one_side(other, path),
        (Some(own), Some(other)) => {
            let by_hand = sides.of_file().map(|it| it.is_by_hand);
            let layout = usize::from(by_hand == [false, true]);
            let (base, changes) = (renamed.base.as_ref(), FileChanges::Sides(sides));
            merge_file(ChangedFile { path, base, sides: [own, other], changes, layout })
        }
        (Some(it), None) | (None, Some(it)) if item.base.is_none() => one_side(it, path),
        (Some(it), None) | (None, Some(it)) => kept_file(&renamed, item, it, sides)?,
        (None, None) => return None,
    };
    file.conflicts.extend(path_conflict(&renamed, path, sides));
    Some(file)
}

/// Returns an item with the names after the merge in its paths and references.
fn renamed_item(item: &Item, names: &MergedNames) -> Item {
    let MergedNames { base_changes, side_changes, .. } = names;
    let side =
        |side: usize| item.sides[side].as_ref().map(|it| side_changes[side].rename_in_version(it));
    let renamed = Item {
        base: item.base.as_ref().map(|it| base_changes.rename_in_version(it)),
        sides: [side(0), side(1)],
    };
    move_to_renamed_rooms(&renamed, base_changes, side_changes)
}

/// Takes the version of one side; the first line of a moved file points editors to its schema.
fn one_side(version: &Version, path: &str) -> MergedFile {
    let text = version.text().filter(|_| version.path != path);
    let retargeted = text.map(|it| retarget_modeline(path, it).into_bytes());
    let bytes = retargeted.unwrap_or_else(|| version.bytes.clone());
    MergedFile { bytes, ..MergedFile::default() }
}

/// Returns whether a version has a comment that the base does not have.
fn has_new_comment(base: &Version, version: &Version) -> bool {
    let (Some(old), Some(new)) = (base.text(), version.text()) else { return false };
    add_missing_comments(&base.path, old, old, new) != old
}

/// Keeps a file that one side has changed and the other has deleted; `None` if it has changed only
/// by renames of other items.
fn kept_file(
    renamed: &Item,
    item: &Item,
    version: &Version,
    sides: &OrderedSides<'_>,
) -> Option<MergedFile> {
    let base = renamed.base.as_ref()?;
    let tree = |it: &Version| parse_tree(&it.path, it.text()?);
    let raw = [item.base.as_ref(), item.sides.iter().flatten().next()].map(|it| it.and_then(tree));
    let is_changed_by_renames = raw[0] != raw[1] && tree(base) == tree(version);
    if is_changed_by_renames && base.path == version.path && !has_new_comment(base, version) {
        return None;
    }
    let kept = usize::from(renamed.sides[sides.first].is_none());
    let mut values = [None, None];
    values[kept] = Some(Value::from(version.lossy_text()));
    let conflict = FieldConflict::new("", values, sides.of_file(), kept);
    Some(MergedFile { bytes: version.bytes.clone(), conflicts: vec![conflict], second: None })
}
