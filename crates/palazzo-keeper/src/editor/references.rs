//! The places where symbols are defined and mentioned, and the doors in and out of a room.

use std::collections::BTreeSet;

use crate::editor::EditorPalace;
use crate::editor::symbol::Symbol;
use palazzo_core::format::{
    PalacePath, ReferenceKind, ReferenceTest, room_has_reference, room_path, work_has_reference,
};
use palazzo_core::model::{AttributeKind, Position, RoomId, ScrollId, Tool, entity_links};
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

    /// Lists the files that may mention a symbol, with the one that defines it. Doors, and the files
    /// of the graph, are found by the indexes of the palace.
    pub(super) fn files_mentioning(&self, symbol: &Symbol) -> BTreeSet<String> {
        let mut files = match symbol {
            Symbol::Room(id) => self.files_mentioning_room(id),
            Symbol::Entity(name) => self.files_mentioning_entity(name),
            Symbol::Genus(name) => self.files_mentioning_genus(name),
            Symbol::RelationType(kind) => self.files_mentioning_relation_type(kind),
            Symbol::Tool(name) => self.rooms_and_work_with(&|kind, text| {
                *kind == ReferenceKind::Tool && Tool::bare_name(text) == name
            }),
        };
        if let Symbol::Room(_) | Symbol::Tool(_) = symbol {
            files.insert(PalacePath::SETTINGS_FILE.to_owned());
        }
        files.extend(self.file_of(symbol));
        files
    }

    fn files_mentioning_room(&self, id: &RoomId) -> BTreeSet<String> {
        let palace = &self.open.palace;
        let target = Symbol::Room(id.clone());
        let mut files = self.rooms_and_work_with(&|kind, text| {
            *kind == ReferenceKind::Room && self.room_called(text, None).as_ref() == Some(&target)
        });
        let scrolls = palace.scrolls_in_room(id);
        let scrolls = scrolls.map(|it| ScrollId { room: id.clone(), id: it.id });
        files.extend(scrolls.filter_map(|it| palace.file_of_scroll(&it).map(str::to_owned)));
        files.extend(palace.rooms_linking_to(id).map(room_path));
        files
    }

    fn files_mentioning_entity(&self, name: &str) -> BTreeSet<String> {
        let (palace, graph) = (&self.open.palace, &self.open.palace.graph);
        let is_it = |text: &str| graph.find_entity(text).map_or(text, |it| &it.name) == name;
        let links_to_it =
            |text: &str| text.contains("[[") && entity_links(text).iter().any(|it| is_it(it.name));
        let mut files = self.rooms_and_work_with(&|kind, text| match kind {
            ReferenceKind::Entity => is_it(text),
            ReferenceKind::TextWithLinks => links_to_it(text),
            _ => false,
        });
        let names = graph.names_referring_to(name);
        let sources = names.iter().filter_map(|(it, is_defined)| match is_defined {
            true => graph.file_of_entity(it),
            false => graph.file_of_loose_end(it),
        });
        let scrolls = palace.scroll_files();
        let scrolls = scrolls
            .filter(|(_, id)| palace.scroll(id).is_some_and(|it| links_to_it(&it.body)))
            .map(|(file, _)| file);
        files.extend(sources.chain(scrolls).map(str::to_owned));
        files
    }

    fn files_mentioning_relation_type(&self, name: &str) -> BTreeSet<String> {
        let graph = &self.open.palace.graph;
        let rules = graph.genus_definitions();
        let rules = rules.filter(|it| it.relations.iter().any(|(it, _)| it == name));
        let rules = rules.filter_map(|it| graph.file_of_genus_definition(&it.name));
        let entities = graph.entities_with_files();
        let entities = entities.filter(|(_, it)| it.relations.iter().any(|it| it.kind == name));
        let mut files = self.rooms_and_work_with(&|kind, text| {
            *kind == ReferenceKind::RelationType && text == name
        });
        files.extend(entities.map(|(file, _)| file).chain(rules).map(str::to_owned));
        files
    }

    fn files_mentioning_genus(&self, name: &str) -> BTreeSet<String> {
        let graph = &self.open.palace.graph;
        let is_it = |it: &str| graph.canonical_genus_name(it).unwrap_or(it) == name;
        let spellings = graph.genus_counts().map(|(it, _)| it).filter(|it| is_it(it));
        let entities = spellings.flat_map(|it| graph.entities_of_genus(it, None));
        let entities = entities.filter_map(|it| graph.file_of_entity(&it.name));
        let links_to_it = |it: &AttributeKind| match it {
            AttributeKind::Link(genus) => genus.as_deref().is_some_and(is_it),
            _ => false,
        };
        let genera = graph.genus_definitions();
        let genera = genera.filter(|it| it.attributes.iter().any(|(_, it)| links_to_it(&it.kind)));
        let genera = genera.filter_map(|it| graph.file_of_genus_definition(&it.name));
        let mut files =
            self.rooms_and_work_with(&|kind, text| *kind == ReferenceKind::Genus && is_it(text));
        files.extend(entities.chain(genera).map(str::to_owned));
        files
    }

    fn rooms_and_work_with(&self, is_meant: ReferenceTest<'_>) -> BTreeSet<String> {
        let rooms = self.open.palace.rooms().filter(|(_, it)| room_has_reference(it, is_meant));
        let work = self.open.palace.work_subjects();
        let work = work.filter(|(_, it)| work_has_reference(it, is_meant));
        rooms.map(|(id, _)| room_path(id)).chain(work.map(|(path, _)| path.to_owned())).collect()
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn only_files_that_name_a_symbol_are_searched_for_it() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("rooms/hall.yaml", "name: Hall\ndescription: See [[Ada]].\nportals: [attic]\n"),
            (
                "rooms/attic.yaml",
                "name: Attic\nactions: [{ label: x, room: hall, workspace: y }]\n",
            ),
            (
                "rooms/study.yaml",
                "name: Study\ngenerate: { genus: person }\nactions:\n- { label: x, tool: search, \
                tool_params: { room: hall, name: 1984, genus: Year, type: knows } }\n",
            ),
            ("entities/person/ada.yaml", "name: Ada\ngenus: Person\n"),
            ("tasks/a.yaml", "title: Ask\nroom: attic\nentity: ADA\n"),
        ] {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let palace = EditorPalace::open(folder.path(), Vec::new(), None, Arc::new(|| {})).unwrap();
        let files = |it: &Symbol| palace.files_mentioning(it).into_iter().collect::<Vec<_>>();
        let [hall, attic] = ["hall", "attic"].map(|it| files(&Symbol::Room(it.parse().unwrap())));
        assert_eq!(hall, ["palace.toml", "rooms/hall.yaml", "rooms/study.yaml"]);
        assert_eq!(attic, ["palace.toml", "rooms/attic.yaml", "rooms/hall.yaml", "tasks/a.yaml"]);
        let ada = files(&Symbol::Entity("Ada".to_owned()));
        assert_eq!(ada, ["entities/person/ada.yaml", "rooms/hall.yaml", "tasks/a.yaml"]);
        let person = files(&Symbol::Genus("Person".to_owned()));
        assert_eq!(person, ["entities/person/ada.yaml", "rooms/study.yaml"]);
        for symbol in [
            Symbol::Entity("1984".to_owned()),
            Symbol::Genus("Year".to_owned()),
            Symbol::RelationType("knows".to_owned()),
        ] {
            assert_eq!(files(&symbol), ["rooms/study.yaml"]);
        }
        assert_eq!(files(&Symbol::Tool("search".to_owned())), ["palace.toml", "rooms/study.yaml"]);
    }
}
