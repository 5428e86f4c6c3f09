//! Doors in and out of a room, and what a palace has, for lists of an editor.

use crate::format::room_path;
use crate::keeper::editor::{EditorPalace, FilePlace, Symbol};
use crate::model::{Position, RoomId, fold_name};
use crate::render;

/// The maximum number of items in a list.
const MAX_ITEMS: usize = 200;

/// A room, entity or scroll of the palace, with the place of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedItem {
    /// The name.
    pub name: String,
    /// What it is: `room`, a genus, `scroll in hall`.
    pub detail: String,
    /// The place of its name.
    pub place: FilePlace,
}

/// A room next to another one, and the places of the doors between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourRoom {
    /// The room.
    pub id: RoomId,
    /// The display name.
    pub name: String,
    /// The place of its name; `None`: it is not built yet.
    pub place: Option<FilePlace>,
    /// The doors, in the file of the room that they lead from.
    pub doors: Vec<FilePlace>,
}

impl EditorPalace {
    /// Lists the rooms with doors to a room.
    pub fn rooms_leading_to(&self, id: &RoomId) -> Vec<NeighbourRoom> {
        let target = Symbol::Room(id.clone());
        let from: Vec<_> = self.open.palace.rooms_linking_to(id).cloned().collect();
        from.iter().map(|it| self.neighbour(it, &room_path(it), &target)).collect()
    }

    /// Lists the rooms that the doors in the file of a room lead to.
    pub fn rooms_led_to_from(&self, id: &RoomId) -> Vec<NeighbourRoom> {
        let path = room_path(id);
        let Some(text) = self.text(&path) else { return Vec::new() };
        let mut targets: Vec<_> = self
            .mentions(&path, &text)
            .into_iter()
            .filter(|it| !it.is_own_name)
            .filter_map(|it| match it.symbol {
                Symbol::Room(id) => Some(id),
                _ => None,
            })
            .collect();
        targets.sort();
        targets.dedup();
        targets.iter().map(|it| self.neighbour(it, &path, &Symbol::Room(it.clone()))).collect()
    }

    /// Describes the room `id` with the mentions of `target` in the file `path`.
    fn neighbour(&self, id: &RoomId, path: &str, target: &Symbol) -> NeighbourRoom {
        let text = self.text(path).unwrap_or_default();
        let doors = self.mentions(path, &text).into_iter();
        let doors = doors.filter(|it| it.symbol == *target && !it.is_own_name);
        let doors =
            doors.map(|it| FilePlace { path: path.to_owned(), start: it.start, end: it.end });
        NeighbourRoom {
            id: id.clone(),
            name: render::one_line(&self.open.palace.room_name(id)),
            place: self.definition(&Symbol::Room(id.clone())),
            doors: doors.collect(),
        }
    }

    /// Counts what leads to the thing in a file, and what is in it; `None` if it is no room and no
    /// entity.
    pub fn counts_of_file(&self, path: &str) -> Option<String> {
        let palace = &self.open.palace;
        match self.symbol_in_file(path)? {
            Symbol::Room(id) => {
                let doors = palace.rooms_linking_to(&id).count();
                let scrolls = palace.scrolls_in_room(&id).count();
                let doors = render::count_with_noun(doors, "door");
                let verb = if doors.starts_with("1 ") { "leads" } else { "lead" };
                let scrolls = render::count_with_noun(scrolls, "scroll");
                Some(format!("{doors} {verb} here · {scrolls}"))
            }
            Symbol::Entity(name) => {
                let incoming = palace.graph.incoming_relations(&name).count();
                let incoming = render::count_with_noun(incoming, "relation");
                let verb = if incoming.starts_with("1 ") { "leads" } else { "lead" };
                Some(format!("{incoming} {verb} here"))
            }
            _ => None,
        }
    }

    /// Lists the rooms, entities and scrolls whose names have all words of `words`.
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
        let found = rooms.chain(entities).chain(scrolls).take(MAX_ITEMS);
        let item = |(name, detail, path): (String, String, String)| {
            let place = FilePlace { path, start: Position::START, end: Position::START };
            NamedItem { name: render::one_line(&name), detail: render::one_line(&detail), place }
        };
        found.map(item).collect()
    }

    /// Lists the display names of the rooms and the genera of the entities that a file mentions, each
    /// with the end of the mention.
    pub fn name_hints(&self, path: &str) -> Vec<(Position, String)> {
        let Some(text) = self.text(path) else { return Vec::new() };
        let palace = &self.open.palace;
        let mentions = self.mentions(path, &text).into_iter().filter(|it| !it.is_own_name);
        let hints = mentions.filter_map(|it| {
            let hint = match &it.symbol {
                Symbol::Room(id) => palace.room(id)?.name.clone(),
                Symbol::Entity(name) => palace.graph.get(name)?.genus.clone(),
                _ => return None,
            };
            Some((it.end, render::one_line(&hint)))
        });
        hints.collect()
    }

    /// Lists the mentions in a file whose things have files, with the paths of these files.
    pub fn file_links(&self, path: &str) -> Vec<([Position; 2], String)> {
        let Some(text) = self.text(path) else { return Vec::new() };
        let mentions = self.mentions(path, &text).into_iter().filter(|it| !it.is_own_name);
        mentions.filter_map(|it| Some(([it.start, it.end], self.file_of(&it.symbol)?))).collect()
    }
}
