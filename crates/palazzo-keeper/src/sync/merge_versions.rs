//! Merges two versions of a palace for the store, with the files of the conflicts.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use chrono::{DateTime, TimeDelta, Utc};

use crate::conflict_file;
use crate::merge::{
    FilePart, MergeInput, MergeOutcome, UnchangedFiles, merge_conflict_files, merge_palaces,
};
use crate::merge_driver::merge_file_versions;
use palazzo_core::format::{self, FileTree, file_kind, parse_tree};
use palazzo_core::merge::Fields;
use palazzo_store::{EditedFile, FileChange, IsWantedChange, MergedPalace, PalaceVersions};

/// The folder with files that Palazzo makes again when they are out of date.
const GENERATED_FOLDER: &str = ".palazzo/";

/// How long a file must not have been modified before an uncommitted edit of it is merged.
const EDIT_REST: TimeDelta = TimeDelta::minutes(15);

/// Merges an uncommitted edit with the new content of its file, if the edit has rested and the merge
/// has no conflict.
pub(super) fn merge_rested_edit(file: &EditedFile<'_>, now: DateTime<Utc>) -> Option<String> {
    if now - file.modified < EDIT_REST {
        return None;
    }
    let sides = [file.on_disk.as_bytes(), file.new.as_bytes()];
    let merged = merge_file_versions(file.path, file.base.as_bytes(), sides)?;
    let text = String::from_utf8(merged.bytes).ok().filter(|_| merged.conflicts.is_empty())?;
    (!format::parse_file(file.path, &text).has_errors()).then_some(text)
}

/// Merges two versions of a palace.
pub(super) fn merge_versions(versions: &PalaceVersions<'_>) -> MergedPalace {
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
    tree: &dyn Fn() -> Rc<Option<FileTree>>,
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

/// The versions of files that were parsed last: a file with many conflicts is asked for each of them.
#[derive(Default)]
struct ParsedVersions(RefCell<VecDeque<ParsedVersion>>);

struct ParsedVersion {
    path: String,
    content: Vec<u8>,
    tree: Rc<Option<FileTree>>,
}

impl ParsedVersions {
    /// The number of versions that are kept.
    const MAX: usize = 8;

    fn parse(&self, path: &str, content: Option<&[u8]>) -> Rc<Option<FileTree>> {
        let Some(content) = content else { return Rc::new(None) };
        let mut known = self.0.borrow_mut();
        if let Some(found) = known.iter().find(|it| it.path == path && it.content == content) {
            return found.tree.clone();
        }
        let text = std::str::from_utf8(content).ok();
        let tree = Rc::new(text.and_then(|it| parse_tree(path, it)));
        known.truncate(Self::MAX - 1);
        let (path, content) = (path.to_owned(), content.to_vec());
        known.push_front(ParsedVersion { path, content, tree: tree.clone() });
        tree
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chrono::DateTime;

    use super::*;
    use palazzo_core::merge::Side;
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
            Side {
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
