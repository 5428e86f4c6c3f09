//! The occurrences of symbols in the texts of files, and an index of them by file.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use crate::palace::file_states::text_digest;
use palazzo_core::format::{
    PlacedValue, ReferenceKind, file_kind, linked_genus, placed_values, positions_of_bytes,
    reference_kind,
};
use palazzo_core::model::{EntityLink, FileKind, PathStep, Position, entity_links};

/// The maximum number of files in the index.
const MAX_INDEXED_FILES: usize = 5_000;

/// A value that names a symbol, and its range. Which symbol that is depends on the palace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Occurrence {
    pub(super) kind: ReferenceKind,
    /// The name as it is meant: without quotes and brackets.
    pub(super) name: Box<str>,
    pub(super) start: Position,
    pub(super) end: Position,
}

impl Occurrence {
    /// Returns whether the value is a name, which a rename changes: an id is none.
    pub(super) fn is_name(&self) -> bool {
        !matches!(self.kind, ReferenceKind::OwnId | ReferenceKind::RoomOfScroll)
    }
}

/// The occurrences in the files of rooms and in those that were asked about, each as of a text.
#[derive(Debug, Default)]
pub(super) struct OccurrenceIndex(RefCell<HashMap<String, IndexedFile>>);

#[derive(Debug)]
pub(super) struct IndexedFile {
    text_digest: u64,
    pub(super) is_ascii: bool,
    pub(super) occurrences: Arc<[Occurrence]>,
}

impl OccurrenceIndex {
    /// Returns a part of what is known about a file, if that is about the text with this digest.
    pub(super) fn find<T>(
        &self,
        path: &str,
        text_digest: Option<u64>,
        part: impl Fn(&IndexedFile) -> T,
    ) -> Option<T> {
        let files = self.0.borrow();
        files.get(path).filter(|it| Some(it.text_digest) == text_digest).map(part)
    }

    /// Finds the occurrences in files, each a path and a text, and remembers them: of the first five
    /// thousand.
    pub(super) fn fill(&self, files: impl Iterator<Item = (String, String)>) {
        let files: Vec<_> = files.take(MAX_INDEXED_FILES).collect();
        let found = files.par_iter().map(|(path, text)| find_occurrences(path, text));
        for ((path, text), occurrences) in files.iter().zip(found.collect::<Vec<_>>()) {
            self.insert(path, text, occurrences.into());
        }
    }

    /// Remembers the occurrences in a text.
    pub(super) fn insert(&self, path: &str, text: &str, occurrences: Arc<[Occurrence]>) {
        let mut files = self.0.borrow_mut();
        if files.len() >= MAX_INDEXED_FILES {
            files.clear();
        }
        let (text_digest, is_ascii) = (text_digest(text), text.is_ascii());
        files.insert(path.to_owned(), IndexedFile { text_digest, is_ascii, occurrences });
    }
}

/// Lists the occurrences in a text, in the order of the file.
pub(super) fn find_occurrences(path: &str, text: &str) -> Vec<Occurrence> {
    let Some(file_kind) = file_kind(path) else { return Vec::new() };
    let values = placed_values(path, text);
    // Of the keys, only the types of relations in a genus are names.
    let is_rule = |it: &PlacedValue| matches!(it.path.steps(), [PathStep::Value(relations), PathStep::Key(_)] if relations == "relations");
    let values =
        values.iter().filter(|it| !it.is_key() || file_kind == FileKind::Genus && is_rule(it));
    let values: Vec<_> = values.map(|it| (it.path.words(), it)).collect();
    let elsewhere = values.iter().filter_map(|(steps, _)| match steps.as_slice() {
        [actions, index, key] if actions == "actions" && key == "workspace" => Some(index.as_str()),
        _ => None,
    });
    let elsewhere: BTreeSet<_> = elsewhere.collect();
    let occurrence = |(steps, value): &(Vec<String>, &PlacedValue)| {
        let steps: Vec<_> = steps.iter().map(String::as_str).collect();
        let kind = reference_kind(file_kind, &steps)?;
        if kind == ReferenceKind::RelationType && file_kind == FileKind::Genus && !value.is_key() {
            return None;
        }
        // A variable that the visitor fills in.
        if steps.contains(&"tool_params") && value.text.starts_with('{') {
            return None;
        }
        // That room is in another palace.
        if matches!(steps.as_slice(), ["actions", index, "room"] if elsewhere.contains(index)) {
            return None;
        }
        let name = match kind {
            ReferenceKind::Genus if file_kind == FileKind::Genus => linked_genus(&value.text)?,
            ReferenceKind::TextWithLinks => return None,
            _ => &value.text,
        };
        Some(Occurrence { kind, name: name.into(), start: value.start, end: value.end })
    };
    let mut occurrences: Vec<_> = values.iter().filter_map(occurrence).collect();
    if matches!(file_kind, FileKind::Room | FileKind::Scroll) {
        occurrences.extend(link_occurrences(text));
    }
    occurrences.sort_by_key(|it| it.start);
    occurrences
}

/// Lists the links to entities in the texts of a file.
fn link_occurrences(text: &str) -> Vec<Occurrence> {
    let mut links = entity_links(text);
    // In YAML, `[[a, b]]` is a list of a list.
    links.retain(|it| !it.name.contains(['[', '{', ',']));
    let bytes: Vec<_> = links.iter().flat_map(|it| [it.range.start, it.range.end]).collect();
    let positions = positions_of_bytes(text, &bytes);
    let occurrence = |(link, at): (&EntityLink<'_>, &[Position])| {
        let name = link.name.split_whitespace().collect::<Vec<_>>().join(" ");
        Occurrence { kind: ReferenceKind::Entity, name: name.into(), start: at[0], end: at[1] }
    };
    links.iter().zip(positions.chunks(2)).map(occurrence).collect()
}
