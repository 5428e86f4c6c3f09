//! The places where symbols are defined and mentioned, and the doors in and out of a room.

use std::collections::BTreeSet;

use crate::editor::EditorPalace;
use crate::editor::symbol::Symbol;
use palazzo_core::format::{PalacePath, room_path};
use palazzo_core::model::{
    Action, ActionKind, AttributeKind, Entity, Genus, Position, RoomId, ScrollId, Tool,
    entity_links,
};
use palazzo_core::render;

/// Maximum number of files in which references are searched.
pub(super) const MAX_FILES: usize = 2_000;

/// A place in a file of the palace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// The path of the file.
    pub path: String,
    /// The start.
    pub start: Position,
    /// The end.
    pub end: Position,
}

impl EditorPalace {
    /// Returns the place where a symbol is defined: its name in its file; `None` if it has no file.
    pub fn definition(&self, symbol: &Symbol) -> Option<FilePlace> {
        let path = self.file_of(symbol)?;
        let mut own = self.mentions_of(&path, symbol).into_iter().filter(|it| it.is_own_name);
        let place = own.next().map_or([Position::START; 2], |it| [it.start, it.end]);
        Some(FilePlace { path, start: place[0], end: place[1] })
    }

    /// Lists the places that mention a symbol, in the order of the files. The definition is among
    /// them if `with_definition`.
    pub fn references(&self, symbol: &Symbol, with_definition: bool) -> Vec<FilePlace> {
        let mut places = Vec::new();
        for path in self.files_mentioning(symbol).into_iter().take(MAX_FILES) {
            let found = self.mentions_of(&path, symbol).into_iter();
            let found = found.filter(|it| with_definition || !it.is_own_name);
            places.extend(found.map(|it| FilePlace {
                path: path.clone(),
                start: it.start,
                end: it.end,
            }));
        }
        places
    }

    /// Returns the file that defines a symbol.
    pub fn file_of(&self, symbol: &Symbol) -> Option<String> {
        let palace = &self.open.palace;
        match symbol {
            Symbol::Room(id) => palace.room(id).map(|_| room_path(id)),
            Symbol::Entity(name) => palace.graph.file_of_entity(name).map(str::to_owned),
            Symbol::Genus(name) => palace.graph.file_of_genus_definition(name).map(str::to_owned),
            Symbol::RelationType(_) | Symbol::Tool(_) => None,
        }
    }

    /// Lists the files that may mention a symbol, with the one that defines it.
    pub(super) fn files_mentioning(&self, symbol: &Symbol) -> BTreeSet<String> {
        let mut files = match symbol {
            Symbol::Room(id) => self.files_mentioning_room(id),
            Symbol::Entity(name) => self.files_mentioning_entity(name),
            Symbol::Genus(name) => self.files_mentioning_genus(name),
            Symbol::RelationType(kind) => self.files_mentioning_relation_type(kind),
            Symbol::Tool(name) => {
                let calls = |it: &Action| {
                    matches!(&it.kind, ActionKind::Query { tool, .. }
                        if Tool::bare_name(tool) == name)
                };
                let mut files = self.rooms_with_action(calls);
                files.insert(PalacePath::SETTINGS_FILE.to_owned());
                files
            }
        };
        files.extend(self.file_of(symbol));
        files
    }

    fn files_mentioning_room(&self, id: &RoomId) -> BTreeSet<String> {
        let palace = &self.open.palace;
        let doors = palace.rooms_linking_to(id).map(room_path);
        let is_param = |it: &Action| {
            matches!(&it.kind, ActionKind::Query { params, .. }
                if params.contains_key(Action::ROOM_PARAM))
        };
        let work = palace.work_subjects().filter(|(_, it)| it.room.is_some());
        let scrolls = palace.scrolls_in_room(id);
        let scrolls = scrolls.filter_map(|it| {
            let id = ScrollId { room: id.clone(), id: it.id };
            palace.file_of_scroll(&id)
        });
        doors
            .chain(self.rooms_with_action(is_param))
            .chain(work.map(|(path, _)| path.to_owned()))
            .chain(scrolls.map(str::to_owned))
            .chain([PalacePath::SETTINGS_FILE.to_owned()])
            .collect()
    }

    fn files_mentioning_entity(&self, name: &str) -> BTreeSet<String> {
        let (palace, graph) = (&self.open.palace, &self.open.palace.graph);
        let names = graph.names_referring_to(name);
        let sources = names.iter().filter_map(|(it, is_defined)| match is_defined {
            true => graph.file_of_entity(it),
            false => graph.file_of_loose_end(it),
        });
        let is_it = |text: &str| graph.find_entity(text).map_or(text, |it| &it.name) == name;
        let links_to_it =
            |text: &str| text.contains("[[") && entity_links(text).iter().any(|it| is_it(it.name));
        let rooms = palace.rooms().filter(|(_, room)| {
            room.actions.iter().any(|it| it.named_entities().any(is_it))
                || room.texts_with_links().any(links_to_it)
        });
        let work = palace.work_subjects();
        let work = work.filter(|(_, it)| it.entity.as_deref().is_some_and(is_it));
        let scrolls = palace.scroll_files();
        let scrolls = scrolls
            .filter(|(_, id)| palace.scroll(id).is_some_and(|it| links_to_it(&it.body)))
            .map(|(file, _)| file);
        sources
            .map(str::to_owned)
            .chain(rooms.map(|(id, _)| room_path(id)))
            .chain(work.map(|(path, _)| path.to_owned()))
            .chain(scrolls.map(str::to_owned))
            .collect()
    }

    fn files_mentioning_relation_type(&self, kind: &str) -> BTreeSet<String> {
        let graph = &self.open.palace.graph;
        let rules = graph.genus_definitions();
        let rules = rules.filter(|it| it.relations.iter().any(|(it, _)| it == kind));
        let rules = rules.filter_map(|it| graph.file_of_genus_definition(&it.name));
        let asks = |it: &Action| {
            matches!(&it.kind, ActionKind::Query { params, .. }
                if params.get("type").is_some_and(|it| it == kind))
        };
        let mut files = self.entity_files(|it| it.relations.iter().any(|it| it.kind == *kind));
        files.extend(rules.map(str::to_owned));
        files.extend(self.rooms_with_action(asks));
        files
    }

    fn files_mentioning_genus(&self, name: &str) -> BTreeSet<String> {
        let graph = &self.open.palace.graph;
        let is_it = |it: &&str| graph.canonical_genus_name(it).unwrap_or(it) == name;
        let spellings = graph.genus_counts().map(|(it, _)| it).filter(is_it);
        let entities = spellings.flat_map(|it| graph.entities_of_genus(it, None));
        let entities = entities.filter_map(|it| graph.file_of_entity(&it.name));
        let names_genus = |it: &Action| matches!(&it.kind, ActionKind::Query { params, .. } if params.contains_key("genus"));
        let halls = self.open.palace.rooms().filter(|(_, it)| it.generate.is_some());
        let halls = halls.map(|(id, _)| room_path(id));
        let links_to_it = |it: &&Genus| {
            let links = it.attributes.iter().map(|(_, it)| &it.kind);
            let mut links = links.filter_map(|it| match it {
                AttributeKind::Link(genus) => genus.as_deref(),
                _ => None,
            });
            links.any(|it| graph.canonical_genus_name(it).unwrap_or(it) == name)
        };
        let genera = graph.genus_definitions().filter(links_to_it);
        let genera = genera.filter_map(|it| graph.file_of_genus_definition(&it.name));
        entities
            .chain(genera)
            .map(str::to_owned)
            .chain(halls)
            .chain(self.rooms_with_action(names_genus))
            .collect()
    }

    fn rooms_with_action(&self, is_meant: impl Fn(&Action) -> bool) -> BTreeSet<String> {
        let rooms = self.open.palace.rooms();
        rooms
            .filter(|(_, it)| it.actions.iter().any(&is_meant))
            .map(|(id, _)| room_path(id))
            .collect()
    }

    fn entity_files(&self, is_meant: impl Fn(&Entity) -> bool) -> BTreeSet<String> {
        let entities = self.open.palace.graph.entities_with_files();
        entities.filter(|(_, it)| is_meant(it)).map(|(file, _)| file.to_owned()).collect()
    }

    /// Lists the rooms with doors to a room.
    pub fn rooms_leading_to(&self, id: &RoomId) -> Vec<NeighbourRoom> {
        let target = Symbol::Room(id.clone());
        let from: Vec<_> = self.open.palace.rooms_linking_to(id).cloned().collect();
        from.iter().map(|it| self.neighbour(it, &room_path(it), &target)).collect()
    }

    /// Lists the rooms that the doors in the file of a room lead to.
    pub fn rooms_led_to_from(&self, id: &RoomId) -> Vec<NeighbourRoom> {
        let path = room_path(id);
        let mut targets: Vec<_> = self
            .mentions(&path)
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
        let doors = self.mentions_of(path, target).into_iter().filter(|it| !it.is_own_name);
        let doors =
            doors.map(|it| FilePlace { path: path.to_owned(), start: it.start, end: it.end });
        NeighbourRoom {
            id: id.clone(),
            name: render::one_line(&self.open.palace.room_name(id)),
            place: self.definition(&Symbol::Room(id.clone())),
            doors: doors.collect(),
        }
    }
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
