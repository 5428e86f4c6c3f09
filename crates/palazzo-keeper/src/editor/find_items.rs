//! Finds items by words of their names.

use crate::editor::{EditorPalace, FilePlace};
use palazzo_core::format::room_path;
use palazzo_core::model::{Position, fold_name};
use palazzo_core::render;

/// The maximum number of items that are found.
const MAX_ITEMS: usize = 200;

/// A room, genus, entity or scroll of the palace, with the place of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedItem {
    /// The name.
    pub name: String,
    /// More about it: `room`, its genus, `scroll in hall`.
    pub detail: String,
    /// The place of its name.
    pub place: FilePlace,
}

impl EditorPalace {
    /// Lists the rooms, genera, entities and scrolls whose names have all words of `words`.
    pub fn find_items(&self, words: &str) -> Vec<NamedItem> {
        let typed = fold_name(words);
        let is_match = |name: &str| {
            let name = fold_name(name);
            typed.split_whitespace().all(|it| name.contains(it))
        };
        let palace = &self.open.palace;
        let rooms =
            palace.rooms().filter(|(id, it)| is_match(&it.name) || is_match(id.slug.as_str()));
        let rooms = rooms.map(|(id, it)| (it.name.clone(), "room".to_owned(), room_path(id)));
        let entities = palace.graph.entities_with_files().filter(|(_, it)| is_match(&it.name));
        let entities =
            entities.map(|(file, it)| (it.name.clone(), it.genus.clone(), file.to_owned()));
        let scrolls = palace.scroll_files().filter_map(|(file, id)| {
            let scroll = palace.scroll(id).filter(|it| is_match(&it.title))?;
            Some((scroll.title.clone(), format!("scroll in {}", id.room), file.to_owned()))
        });
        let genera = palace.graph.genus_definitions().filter(|it| is_match(&it.name));
        let genera = genera.filter_map(|it| {
            let file = palace.graph.file_of_genus_definition(&it.name)?;
            Some((it.name.clone(), "genus".to_owned(), file.to_owned()))
        });
        let found = rooms.chain(genera).chain(entities).chain(scrolls).take(MAX_ITEMS);
        let item = |(name, detail, path): (String, String, String)| {
            let place = FilePlace { path, start: Position::START, end: Position::START };
            NamedItem { name: render::one_line(&name), detail: render::whole_line(&detail), place }
        };
        found.map(item).collect()
    }
}
