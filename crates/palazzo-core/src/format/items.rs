//! Which item a file contains, and in which file an item is.

use crate::format::paths::PalacePath;
use crate::format::{file_kind, room_path};
use crate::model::{FileKind, ItemId, ItemKind, ItemOrFile, Palace};

/// Returns the item in a file; `None` if the palace has none there.
pub fn item_in_file(palace: &Palace, path: &str) -> Option<ItemId> {
    if PalacePath::parse(path) == Ok(PalacePath::Other) {
        // A note.
        return palace.item_of_kind_in_file(ItemKind::Drawer, path);
    }
    let kind = match file_kind(path)? {
        FileKind::Room => match PalacePath::parse(path) {
            Ok(PalacePath::Room(id)) => return palace.room(&id).map(|_| ItemId::Room(id)),
            _ => return None,
        },
        FileKind::Scroll => ItemKind::Scroll,
        FileKind::Entity => ItemKind::Entity,
        FileKind::Genus => ItemKind::Genus,
        FileKind::Task => ItemKind::Task,
        FileKind::Process => ItemKind::Process,
        FileKind::Drawer => ItemKind::Drawer,
        FileKind::Diary => ItemKind::Diary,
        FileKind::Palace | FileKind::Conflict => return None,
    };
    palace.item_of_kind_in_file(kind, path)
}

/// Returns the item in a file, or the settings, for a list of differences.
pub fn item_or_settings_in_file(palace: &Palace, path: &str) -> Option<ItemOrFile> {
    match path {
        PalacePath::SETTINGS_FILE => Some(ItemOrFile::Settings),
        path => Some(ItemOrFile::with_title(palace, item_in_file(palace, path)?)),
    }
}

/// Returns the file of an item; `None` if the palace does not have the item.
pub fn file_of_item(palace: &Palace, item: &ItemId) -> Option<String> {
    match item {
        ItemId::Room(id) => palace.room(id).map(|_| room_path(id)),
        ItemId::Scroll(which) => palace.file_of_scroll(which).map(str::to_owned),
        ItemId::Drawer(file) | ItemId::Diary(file) | ItemId::Task(file) | ItemId::Process(file) => {
            Some(file.clone())
        }
        ItemId::Genus(name) => palace.graph.file_of_genus_definition(name).map(str::to_owned),
        ItemId::Entity(name) => palace.graph.file_of_entity(name).map(str::to_owned),
    }
}
