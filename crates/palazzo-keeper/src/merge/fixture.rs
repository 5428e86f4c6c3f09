//! Two versions of an example palace, for the tests of merging.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use chrono::{TimeZone as _, Utc};

use crate::merge::palaces::{MergeOutcome, merge_palaces};
use crate::merge::{FilePart, MergeInput, RawFiles, UnchangedFiles};
use palazzo_core::merge::LastChange;
use palazzo_core::model::Files;

/// A change to the files of a palace.
pub(super) type Edit = Box<dyn Fn(&mut Files)>;

/// The example palace.
pub(super) const EXAMPLE: &str = "../../example-palaces/paradigm-survey";

/// Reads the files of a palace.
pub(super) fn read_palace(folder: &str) -> Files {
    let mut files = Files::new();
    collect_files(Path::new(folder), Path::new(folder), &mut files);
    assert!(files.len() > 10, "no palace in {folder}");
    files
}

fn collect_files(root: &Path, folder: &Path, files: &mut Files) {
    for place in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
        if place.is_dir() {
            collect_files(root, &place, files);
        } else {
            let path = place.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            files.insert(path, fs::read_to_string(&place).unwrap());
        }
    }
}

/// Merges two versions of a palace; `by_hand` tells which sides were edited by hand. Side `b` is
/// the later one. Checks that the result does not depend on the order of the sides.
pub(super) fn merge(base: &Files, sides: [&Files; 2], by_hand: [bool; 2]) -> (Files, MergeOutcome) {
    let change = |name: &str, seconds: i64, is_by_hand: bool| LastChange {
        author: name.to_owned(),
        at: Utc.timestamp_opt(1_700_000_000 + seconds, 0).unwrap(),
        is_by_hand,
        commit: "0".repeat(40),
    };
    merge_changes(base, sides, &[change("ada", 0, by_hand[0]), change("claude", 1, by_hand[1])])
}

/// Merges two versions of a palace, as [`merge`] does; `changes` are the last changes of the sides.
pub(super) fn merge_changes(
    base: &Files,
    sides: [&Files; 2],
    changes: &[LastChange; 2],
) -> (Files, MergeOutcome) {
    let ([a, b], [by_a, by_b]) = (sides, changes);
    let merged = merge_in_order(base, [a, b], [by_a, by_b]);
    let swapped = merge_in_order(base, [b, a], [by_b, by_a]);
    assert_eq!(merged, swapped, "the result depends on the order of the sides");
    let mut files: Files = base
        .iter()
        .filter(|(path, text)| sides.iter().all(|it| it.get(*path) == Some(*text)))
        .map(|(path, text)| (path.clone(), text.clone()))
        .collect();
    for (path, bytes) in &merged.files {
        files.insert(path.clone(), String::from_utf8(bytes.clone()).unwrap());
    }
    (files, merged)
}

fn merge_in_order(base: &Files, sides: [&Files; 2], changes: [&LastChange; 2]) -> MergeOutcome {
    let is_changed = |path: &String| sides.iter().any(|it| it.get(path) != base.get(path));
    let changed = |files: &Files| -> RawFiles {
        let files = files.iter().filter(|(path, _)| is_changed(path));
        files.map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect()
    };
    let unchanged: BTreeSet<_> = base.keys().filter(|it| !is_changed(it)).cloned().collect();
    let last_change = |side: usize, _: &str, _: FilePart<'_>| changes[side].clone();
    let read = |path: &str| base.get(path).map(|it| it.clone().into_bytes());
    merge_palaces(&MergeInput {
        base: &changed(base),
        sides: [&changed(sides[0]), &changed(sides[1])],
        unchanged: UnchangedFiles { paths: &unchanged, read: &read },
        last_change: &last_change,
    })
}

/// Does nothing.
pub(super) fn nothing() -> Edit {
    Box::new(|_| {})
}

/// Makes several changes.
pub(super) fn all(edits: Vec<Edit>) -> Edit {
    Box::new(move |files| edits.iter().for_each(|it| it(files)))
}

/// Replaces a part of a file.
pub(super) fn replace(path: &'static str, old: &'static str, new: &'static str) -> Edit {
    Box::new(move |files| {
        let text = files.get_mut(path).unwrap();
        assert!(text.contains(old), "{path} has no {old:?}");
        *text = text.replacen(old, new, 1);
    })
}

/// Appends lines to a file.
pub(super) fn append(path: &'static str, new: &'static str) -> Edit {
    Box::new(move |files| files.get_mut(path).unwrap().push_str(new))
}

/// Writes a file.
pub(super) fn write(path: &'static str, text: &'static str) -> Edit {
    Box::new(move |files| drop(files.insert(path.to_owned(), text.to_owned())))
}

/// Deletes a file.
pub(super) fn delete(path: &'static str) -> Edit {
    Box::new(move |files| drop(files.remove(path).unwrap()))
}

/// Moves a file.
pub(super) fn rename(path: &'static str, new: &'static str) -> Edit {
    Box::new(move |files| {
        let text = files.remove(path).unwrap();
        files.insert(new.to_owned(), text);
    })
}

/// Replaces a text in all files.
pub(super) fn replace_everywhere(old: &'static str, new: &'static str) -> Edit {
    Box::new(move |files| files.values_mut().for_each(|it| *it = it.replace(old, new)))
}

/// Replaces the part of a file from `start` up to `end`, or to the end of the file.
pub(super) fn cut(path: &'static str, start: &'static str, end: &'static str) -> Edit {
    Box::new(move |files| {
        let text = files.get_mut(path).unwrap();
        let from = text.find(start).unwrap();
        let to = if end.is_empty() { text.len() } else { from + text[from..].find(end).unwrap() };
        text.replace_range(from..to, "");
    })
}

/// Moves the action at index `from` to index `to`.
pub(super) fn move_action(path: &'static str, from: usize, to: usize) -> Edit {
    Box::new(move |files| {
        let text = files.get_mut(path).unwrap();
        let (head, list) = text.split_once("actions:\n").unwrap();
        let mut items: Vec<_> = list.split("  - label").skip(1).collect();
        let item = items.remove(from);
        items.insert(to, item);
        let items: Vec<_> = items.iter().map(|it| format!("  - label{it}")).collect();
        *text = format!("{head}actions:\n{}", items.concat());
    })
}
