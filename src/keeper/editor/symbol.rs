//! Symbols: what values in files name.

use crate::format::{
    PalacePath, PlacedValue, file_kind, linked_genus, placed_values, positions_of_bytes,
};
use crate::keeper::editor::EditorPalace;
use crate::model::{
    Action, AttributeKind, EntityLink, FileKind, ItemId, Position, RoomId, RoomRef, Tool,
    entity_links,
};

/// An item, a type of relations or a tool that values in files name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A room, built or not.
    Room(RoomId),
    /// An entity, defined or not.
    Entity(String),
    /// A genus.
    Genus(String),
    /// A type of relations.
    RelationType(String),
    /// A tool.
    Tool(String),
}

/// A value that names something, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) symbol: Symbol,
    pub(super) start: Position,
    pub(super) end: Position,
    /// Whether it is the name, or the id, in the file of the symbol itself.
    pub(super) is_own_name: bool,
}

impl EditorPalace {
    /// Returns what is named at a position, and the range of the name.
    pub fn symbol_at(&self, path: &str, at: Position) -> Option<(Symbol, [Position; 2])> {
        let text = self.text(path)?;
        let mentions = self.mentions(path, &text);
        let found = mentions.into_iter().find(|it| it.start <= at && at <= it.end)?;
        Some((found.symbol, [found.start, found.end]))
    }

    /// Returns the symbol that a file defines.
    pub fn symbol_in_file(&self, path: &str) -> Option<Symbol> {
        match self.open.item_in_file(path)? {
            ItemId::Room(id) => Some(Symbol::Room(id)),
            ItemId::Entity(name) => Some(Symbol::Entity(name)),
            ItemId::Genus(name) => Some(Symbol::Genus(name)),
            _ => None,
        }
    }

    /// Lists what a file mentions, in the order of the file.
    pub(super) fn mentions(&self, path: &str, text: &str) -> Vec<Mention> {
        let mut mentions = Vec::new();
        for value in placed_values(path, text).iter().filter(|it| !it.is_key()) {
            if let Some((symbol, is_own_name)) = self.symbol_of_value(path, value) {
                let (start, end) = (value.start, value.end);
                mentions.push(Mention { symbol, start, end, is_own_name });
            }
        }
        mentions.extend(self.linked_entities(path, text));
        mentions.sort_by_key(|it| it.start);
        mentions
    }

    /// Lists the links to entities in the texts of a file.
    fn linked_entities(&self, path: &str, text: &str) -> Vec<Mention> {
        if !matches!(PalacePath::parse(path), Ok(PalacePath::Room(_) | PalacePath::Scroll(_))) {
            return Vec::new();
        }
        let mut links = entity_links(text);
        links.retain(|it| !it.name.contains(['[', '{', ',']));
        let bytes: Vec<_> = links.iter().flat_map(|it| [it.range.start, it.range.end]).collect();
        let positions = positions_of_bytes(text, &bytes);
        let mention = |(link, at): (&EntityLink<'_>, &[Position])| {
            let name = link.name.split_whitespace().collect::<Vec<_>>().join(" ");
            let symbol = self.entity_called(&name);
            Mention { symbol, start: at[0], end: at[1], is_own_name: false }
        };
        links.iter().zip(positions.chunks(2)).map(mention).collect()
    }

    fn entity_called(&self, name: &str) -> Symbol {
        let found = self.open.palace.graph.find_entity(name);
        Symbol::Entity(found.map_or_else(|| name.to_owned(), |it| it.name.clone()))
    }

    /// Returns what a value names, and whether it is the symbol's own name.
    fn symbol_of_value(&self, path: &str, value: &PlacedValue) -> Option<(Symbol, bool)> {
        let steps = value.path.words();
        let steps: Vec<_> = steps.iter().map(String::as_str).collect();
        let text = value.text.as_str();
        let own = |it| Some((it, true));
        let other = |it| Some((it, false));
        match (file_kind(path)?, steps.as_slice()) {
            (FileKind::Room, ["name" | "id"]) => own(Symbol::Room(own_room(path)?)),
            (FileKind::Room, steps) => other(self.symbol_in_room(path, steps, text)?),
            (FileKind::Entity, ["name" | "id"]) => {
                own(Symbol::Entity(self.own_entity(path)?.name.clone()))
            }
            (FileKind::Entity, ["genus"]) => other(self.genus_called(text)),
            (FileKind::Entity, ["relations", _, "to"]) => other(Symbol::Entity(text.to_owned())),
            (FileKind::Entity, ["relations", _, "type"]) => {
                other(Symbol::RelationType(text.to_owned()))
            }
            (FileKind::Entity, ["attributes", key]) => {
                let genus = &self.own_entity(path)?.genus;
                let genus = self.open.palace.graph.genus_definition(genus)?;
                let is_link = matches!(genus.attribute_def(key)?.kind, AttributeKind::Link(_));
                is_link.then(|| (self.entity_called(text), false))
            }
            (FileKind::Genus, ["name"]) => own(Symbol::Genus(text.to_owned())),
            (FileKind::Genus, ["attributes", _] | ["attributes", _, "type"]) => {
                other(self.genus_called(linked_genus(text)?))
            }
            (FileKind::Task | FileKind::Process, ["room"]) | (FileKind::Palace, ["entry"]) => {
                other(self.room_called(text, None)?)
            }
            (FileKind::Task | FileKind::Process, ["entity"]) => other(self.entity_called(text)),
            (FileKind::Palace, ["actions", "allow", _]) => other(tool_called(text)),
            (FileKind::Scroll, ["id" | "title"]) => match PalacePath::parse(path) {
                Ok(PalacePath::Scroll(room)) => other(Symbol::Room(room)),
                _ => None,
            },
            _ => None,
        }
    }

    fn symbol_in_room(&self, path: &str, steps: &[&str], text: &str) -> Option<Symbol> {
        let own = own_room(path)?;
        match steps {
            ["actions", index, "room"] => {
                let room = self.open.palace.room(&own)?;
                let action = room.actions.get(index.parse::<usize>().ok()?);
                let is_elsewhere = action.is_some_and(|it| it.target_workspace().is_some());
                if is_elsewhere { None } else { self.room_called(text, Some(&own)) }
            }
            ["portals", _] => self.room_called(text, Some(&own)),
            ["actions", _, "tool"] => Some(tool_called(text)),
            ["actions", _, "entity"] => Some(self.entity_called(text)),
            ["actions", _, "tool_params", key] if Action::ENTITY_PARAMS.contains(key) => {
                Some(self.entity_called(text))
            }
            ["actions", _, "tool_params", key] if *key == Action::ROOM_PARAM => {
                self.room_called(text, None)
            }
            ["actions", _, "tool_params", "genus"] | ["generate", "genus"] => {
                Some(self.genus_called(text))
            }
            _ => None,
        }
    }

    fn room_called(&self, text: &str, from: Option<&RoomId>) -> Option<Symbol> {
        let reference = text.parse::<RoomRef>().ok()?;
        self.open.palace.resolve_present_room(&reference, from).ok().map(Symbol::Room)
    }

    fn genus_called(&self, text: &str) -> Symbol {
        let name = self.open.palace.graph.canonical_genus_name(text).unwrap_or(text);
        Symbol::Genus(name.to_owned())
    }
}

fn tool_called(text: &str) -> Symbol {
    Symbol::Tool(Tool::bare_name(text).to_owned())
}

/// Returns the room whose file this is.
pub(super) fn own_room(path: &str) -> Option<RoomId> {
    match PalacePath::parse(path) {
        Ok(PalacePath::Room(id)) => Some(id),
        _ => None,
    }
}
