//! Items that one side has deleted and the other still uses.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::merge::changes::{MergeInput, Version};
use crate::merge::items::{Item, entity_name, is_conflict_file, room_of_path};
use palazzo_core::format::{PalacePath, file_kind, parse_tree};
use palazzo_core::merge::{Fields, ListKind, field_of_item};
use palazzo_core::model::{FileKind, RoomId};

/// A reference to a deleted item, which stays.
pub(super) struct DanglingReference {
    pub(super) field: String,
    /// The name of the deleted item.
    pub(super) name: String,
    /// The side that wrote it.
    pub(super) side: usize,
    /// The path of the deleted item in the base.
    pub(super) deleted_path: String,
}

/// A deleted room or entity, by what refers to it.
pub(super) struct DeletedItem {
    path: String,
    entity: Option<String>,
    room: Option<RoomId>,
    /// The sides that still have it.
    is_on_side: [bool; 2],
}

/// Returns the rooms in whose folders a side has written scrolls.
pub(super) fn rooms_with_new_scrolls(input: &MergeInput<'_>, side: usize) -> BTreeSet<RoomId> {
    let is_new = |path: &&String| input.base.get(*path) != input.sides[side].get(*path);
    let paths = input.sides[side].keys().filter(is_new);
    let room = |path: &String| match PalacePath::parse(path) {
        Ok(PalacePath::Scroll(room)) => Some(room),
        _ => None,
    };
    paths.filter_map(room).collect()
}

/// Returns the deleted item that references may still name; `None` if nothing can refer to it.
pub(super) fn deleted_item(item: &Item) -> Option<DeletedItem> {
    let base = item.base.as_ref()?;
    let (entity, room) = (entity_name(base), room_of_path(&base.path));
    (entity.is_some() || room.is_some()).then(|| DeletedItem {
        path: base.path.clone(),
        entity,
        room,
        is_on_side: item.sides.each_ref().map(Option::is_some),
    })
}

/// Returns the references to deleted items that a side which still had them has added to a file.
pub(super) fn find_dangling_references(
    item: &Item,
    deleted: &[DeletedItem],
) -> Vec<DanglingReference> {
    let mut found = Vec::new();
    if is_conflict_file(item.any_path()) {
        return found;
    }
    for side in [0, 1] {
        let known: Vec<_> = deleted.iter().filter(|it| it.is_on_side[side]).collect();
        let Some(version) = item.sides[side].as_ref().filter(|_| !known.is_empty()) else {
            continue;
        };
        let text = version.text().unwrap_or_default();
        if !known.iter().any(|it| it.may_be_named_in(text)) {
            continue;
        }
        let old = item.base.as_ref().map(references).unwrap_or_default();
        for (field, text) in references(version) {
            let is_old = old.iter().any(|(_, it)| *it == text);
            if let Some(deleted) = known.iter().find(|it| !is_old && it.is_called(&text)) {
                let deleted_path = deleted.path.clone();
                found.push(DanglingReference { field, name: text, side, deleted_path });
            }
        }
    }
    found
}

impl DeletedItem {
    fn may_be_named_in(&self, text: &str) -> bool {
        let room = self.room.as_ref().map(|it| it.slug.as_str());
        self.entity.as_deref().into_iter().chain(room).any(|it| text.contains(it))
    }

    fn is_called(&self, text: &str) -> bool {
        let room = self.room.as_ref();
        self.entity.as_deref() == Some(text)
            || room.is_some_and(|it| it.to_string() == text || it.slug.as_str() == text)
    }
}

/// Returns the rooms and entities that a file names, with the fields.
fn references(version: &Version) -> Vec<(String, String)> {
    let tree = version.text().and_then(|it| parse_tree(&version.path, it));
    let (Some(kind), Some(tree)) = (file_kind(&version.path), tree) else { return Vec::new() };
    let fields = &tree.fields;
    let text = |fields: &Fields, at: &str, key: &str| {
        let text = fields.get(key)?.as_str()?.to_owned();
        Some((if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }, text))
    };
    let items = |list: &str, list_kind: ListKind, keys: &'static [&'static str]| {
        let items = fields.get(list).and_then(Value::as_array).into_iter().flatten();
        let names = items.flat_map(|item| {
            let at = field_of_item(list, list_kind, item);
            let map = item.as_object();
            let fields = keys.iter().filter_map(|key| text(map?, &at, key)).collect::<Vec<_>>();
            fields.into_iter().chain(item.as_str().map(|it| (at.clone(), it.to_owned())))
        });
        names.collect::<Vec<_>>()
    };
    match kind {
        FileKind::Room => {
            let mut found = items("actions", ListKind::Actions, &["room", "entity"]);
            found.extend(items("portals", ListKind::Set, &[]));
            found
        }
        FileKind::Entity => items("relations", ListKind::Relations, &["to"]),
        FileKind::Task | FileKind::Process => {
            ["entity", "room"].iter().filter_map(|key| text(fields, "", key)).collect()
        }
        FileKind::Palace => text(fields, "", "entry").into_iter().collect(),
        _ => Vec::new(),
    }
}
