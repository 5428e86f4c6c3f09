//! Symbols: what values in files name.

use crate::editor::EditorPalace;
use crate::editor::occurrences::Occurrence;
use palazzo_core::format::{PalacePath, ReferenceKind, file_kind};
use palazzo_core::model::{AttributeKind, FileKind, ItemId, Position, RoomId, RoomRef, Tool};

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
    /// Whether it is the name in the file of the symbol itself.
    pub(super) is_own_name: bool,
}

impl EditorPalace {
    /// Returns the symbol at a position, by its name or its id, and the range of that.
    pub fn symbol_at(&self, path: &str, at: Position) -> Option<(Symbol, [Position; 2])> {
        self.find_symbol_at(path, at, |_| true)
    }

    /// Returns the symbol whose name is at a position, and the range of the name.
    pub fn name_at(&self, path: &str, at: Position) -> Option<(Symbol, [Position; 2])> {
        self.find_symbol_at(path, at, Occurrence::is_name)
    }

    fn find_symbol_at(
        &self,
        path: &str,
        at: Position,
        is_wanted: impl Fn(&Occurrence) -> bool,
    ) -> Option<(Symbol, [Position; 2])> {
        let (occurrences, own) = (self.occurrences(path), own_room(path));
        let here = occurrences.iter().filter(|it| it.start <= at && at <= it.end);
        here.filter(|it| is_wanted(it)).find_map(|it| {
            let symbol = self.symbol_of_occurrence(path, own.as_ref(), it)?;
            Some((symbol, [it.start, it.end]))
        })
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
    pub(super) fn mentions(&self, path: &str) -> Vec<Mention> {
        self.mentions_among(path, |_| true)
    }

    /// Lists the mentions of a symbol in a file, in the order of the file.
    pub(super) fn mentions_of(&self, path: &str, symbol: &Symbol) -> Vec<Mention> {
        let slugs = match symbol {
            Symbol::Room(id) => Some(self.open.palace.slugs_of_room(id)),
            _ => None,
        };
        let mut mentions = self.mentions_among(path, |it| match (&it.kind, &slugs) {
            (ReferenceKind::RoomFromHere | ReferenceKind::Room, Some(slugs)) => {
                let slug = it.name.rsplit('/').next().unwrap_or_default();
                slugs.iter().any(|own| own.as_str() == slug)
            }
            _ => true,
        });
        mentions.retain(|it| it.symbol == *symbol);
        mentions
    }

    fn mentions_among(&self, path: &str, is_wanted: impl Fn(&Occurrence) -> bool) -> Vec<Mention> {
        let (occurrences, own) = (self.occurrences(path), own_room(path));
        let mention = |it: &Occurrence| {
            let symbol = self.symbol_of_occurrence(path, own.as_ref(), it)?;
            let is_own_name = it.kind == ReferenceKind::OwnName;
            Some(Mention { symbol, start: it.start, end: it.end, is_own_name })
        };
        occurrences.iter().filter(|it| it.is_name() && is_wanted(it)).filter_map(mention).collect()
    }

    /// Returns the symbol that an occurrence in a file names. `own` is the room whose file it is.
    fn symbol_of_occurrence(
        &self,
        path: &str,
        own: Option<&RoomId>,
        occurrence: &Occurrence,
    ) -> Option<Symbol> {
        let name = &*occurrence.name;
        match &occurrence.kind {
            ReferenceKind::OwnName | ReferenceKind::OwnId => self.own_symbol(path, name),
            ReferenceKind::RoomFromHere => self.room_called(name, own),
            ReferenceKind::Room => self.room_called(name, None),
            ReferenceKind::RoomOfScroll => match PalacePath::parse(path) {
                Ok(PalacePath::Scroll(room)) => Some(Symbol::Room(room)),
                _ => None,
            },
            ReferenceKind::Entity => Some(self.entity_called(name)),
            ReferenceKind::RelationTarget => Some(Symbol::Entity(name.to_owned())),
            ReferenceKind::Attribute(key) => {
                let genus = &self.own_entity(path)?.genus;
                let genus = self.open.palace.graph.genus_definition(genus)?;
                let is_link = matches!(genus.attribute_def(key)?.kind, AttributeKind::Link(_));
                is_link.then(|| self.entity_called(name))
            }
            ReferenceKind::Genus => Some(self.genus_called(name)),
            ReferenceKind::RelationType => Some(Symbol::RelationType(name.to_owned())),
            ReferenceKind::Tool => Some(Symbol::Tool(Tool::bare_name(name).to_owned())),
            // Each link in the text is an occurrence of its own.
            ReferenceKind::TextWithLinks => None,
        }
    }

    /// Returns the item of a file that has this name or id.
    fn own_symbol(&self, path: &str, name: &str) -> Option<Symbol> {
        match file_kind(path)? {
            FileKind::Room => own_room(path).map(Symbol::Room),
            FileKind::Entity => Some(Symbol::Entity(self.own_entity(path)?.name.clone())),
            FileKind::Genus => Some(Symbol::Genus(name.to_owned())),
            _ => None,
        }
    }

    fn entity_called(&self, name: &str) -> Symbol {
        let found = self.open.palace.graph.find_entity(name);
        Symbol::Entity(found.map_or_else(|| name.to_owned(), |it| it.name.clone()))
    }

    pub(super) fn room_called(&self, text: &str, from: Option<&RoomId>) -> Option<Symbol> {
        let reference = text.parse::<RoomRef>().ok()?;
        self.open.palace.resolve_present_room(&reference, from).ok().map(Symbol::Room)
    }

    fn genus_called(&self, text: &str) -> Symbol {
        let name = self.open.palace.graph.canonical_genus_name(text).unwrap_or(text);
        Symbol::Genus(name.to_owned())
    }
}

/// Returns the room whose file this is.
pub(super) fn own_room(path: &str) -> Option<RoomId> {
    match PalacePath::parse(path) {
        Ok(PalacePath::Room(id)) => Some(id),
        _ => None,
    }
}
