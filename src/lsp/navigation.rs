//! Goes to definitions and references.

use std::slice;

use gen_lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams, CallHierarchyItem,
    CallHierarchyOutgoingCall, CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams,
    Definition, DefinitionParams, DefinitionResponse, Location, Range, ReferenceParams, SymbolKind,
    TextDocumentPositionParams,
};

use crate::lsp::server::Server;
use crate::lsp::text_positions::{ColumnUnit, TextPositions, ascii_range};
use crate::lsp::uri::uri_of_path;
use palazzo_core::model::{Position, RoomId};
use palazzo_keeper::{EditorPalace, FilePlace, NeighbourRoom, Symbol};

/// Returns the place where the symbol at a position is defined.
pub(super) fn definition(
    server: &mut Server,
    params: &DefinitionParams,
) -> Option<DefinitionResponse> {
    let unit = server.client.unit;
    let (palace, symbol, _) = server.symbol_at(&params.text_document_position_params)?;
    let place = palace.definition(&symbol);
    let location = place.map(|it| location(palace, &it, unit));
    location.map(|it| DefinitionResponse::Definition(Definition::Location(it)))
}

/// Returns the places that mention the symbol at a position or, where none is, the item of the file.
pub(super) fn references(server: &mut Server, params: &ReferenceParams) -> Option<Vec<Location>> {
    let unit = server.client.unit;
    let with_definition = params.context.include_declaration;
    let (palace, symbol) = server.symbol_here(&params.text_document_position_params)?;
    let places = palace.references(&symbol, with_definition);
    Some(locations(palace, &places, unit))
}

/// Finds a symbol at a position of a file, and its range.
type FindSymbol = fn(&EditorPalace, &str, Position) -> Option<(Symbol, [Position; 2])>;

impl Server {
    /// Returns the symbol at a position, and the range of its name or id.
    pub(super) fn symbol_at(
        &mut self,
        params: &TextDocumentPositionParams,
    ) -> Option<(&mut EditorPalace, Symbol, Range)> {
        self.find_symbol(params, EditorPalace::symbol_at)
    }

    /// Returns the symbol whose name is at a position, and the range of the name.
    pub(super) fn name_at(
        &mut self,
        params: &TextDocumentPositionParams,
    ) -> Option<(&mut EditorPalace, Symbol, Range)> {
        self.find_symbol(params, EditorPalace::name_at)
    }

    fn find_symbol(
        &mut self,
        params: &TextDocumentPositionParams,
        find: FindSymbol,
    ) -> Option<(&mut EditorPalace, Symbol, Range)> {
        let unit = self.client.unit;
        let (palace, path) = self.palace_of(&params.text_document.uri)?;
        let text = palace.text(&path)?;
        let positions = TextPositions::new(&text, unit);
        let at = positions.to_position(params.position);
        let (symbol, [start, end]) = find(palace, &path, at)?;
        Some((palace, symbol, positions.range(start, end)))
    }

    /// Returns the symbol at a position or, where none is, the one that the file defines.
    fn symbol_here(
        &mut self,
        params: &TextDocumentPositionParams,
    ) -> Option<(&mut EditorPalace, Symbol)> {
        let symbol = self.symbol_at(params).map(|(_, it, _)| it);
        let (palace, path) = self.palace_of(&params.text_document.uri)?;
        let symbol = symbol.or_else(|| palace.symbol_in_file(&path))?;
        Some((palace, symbol))
    }
}

/// Converts a place to a location.
fn location(palace: &EditorPalace, place: &FilePlace, unit: ColumnUnit) -> Location {
    locations(palace, slice::from_ref(place), unit).remove(0)
}

/// Converts places to locations. Reads the file of neighbouring places once, or not at all if all
/// its columns are bytes.
fn locations(palace: &EditorPalace, places: &[FilePlace], unit: ColumnUnit) -> Vec<Location> {
    let root = palace.root();
    let by_file = places.chunk_by(|a, b| a.path == b.path).flat_map(|in_file| {
        let path = &in_file[0].path;
        let is_ascii = palace.is_ascii_file(path);
        let text = if is_ascii { None } else { palace.text(path) }.unwrap_or_default();
        let positions = TextPositions::new(&text, unit);
        let uri = uri_of_path(&root.join(path));
        let location = |it: &FilePlace| {
            let range = match is_ascii {
                true => ascii_range(it.start, it.end),
                false => positions.range(it.start, it.end),
            };
            Location { uri: uri.clone(), range }
        };
        in_file.iter().map(location).collect::<Vec<_>>()
    });
    by_file.collect()
}

/// Begins a walk through doors at the room at a position.
pub(super) fn prepare_doors(
    server: &mut Server,
    params: &CallHierarchyPrepareParams,
) -> Option<Vec<CallHierarchyItem>> {
    let unit = server.client.unit;
    let found = server.symbol_here(&params.text_document_position_params);
    let Some((palace, Symbol::Room(id))) = found else { return None };
    let place = palace.definition(&Symbol::Room(id.clone()));
    let name = palace.room_name(&id);
    let room = NeighbourRoom { id, name, place, doors: Vec::new() };
    room_item(palace, &room, unit).map(|it| vec![it])
}

/// Lists the rooms with doors to a room.
pub(super) fn doors_in(
    server: &mut Server,
    params: &CallHierarchyIncomingCallsParams,
) -> Option<Vec<CallHierarchyIncomingCall>> {
    let unit = server.client.unit;
    let (palace, id) = server.room_of_item(&params.item)?;
    let rooms = palace.rooms_leading_to(&id);
    let calls = rooms.iter().filter_map(|room| {
        let from = room_item(palace, room, unit)?;
        Some(CallHierarchyIncomingCall { from, from_ranges: door_ranges(palace, room, unit) })
    });
    Some(calls.collect())
}

/// Lists the rooms that the doors of a room lead to.
pub(super) fn doors_out(
    server: &mut Server,
    params: &CallHierarchyOutgoingCallsParams,
) -> Option<Vec<CallHierarchyOutgoingCall>> {
    let unit = server.client.unit;
    let (palace, id) = server.room_of_item(&params.item)?;
    let rooms = palace.rooms_led_to_from(&id);
    let calls = rooms.iter().filter_map(|room| {
        let to = room_item(palace, room, unit)?;
        Some(CallHierarchyOutgoingCall { to, from_ranges: door_ranges(palace, room, unit) })
    });
    Some(calls.collect())
}

impl Server {
    /// Returns the room of an item of a call hierarchy.
    fn room_of_item(&mut self, item: &CallHierarchyItem) -> Option<(&mut EditorPalace, RoomId)> {
        let (palace, path) = self.palace_of(&item.uri)?;
        match palace.symbol_in_file(&path)? {
            Symbol::Room(id) => Some((palace, id)),
            _ => None,
        }
    }
}

fn room_item(
    palace: &EditorPalace,
    room: &NeighbourRoom,
    unit: ColumnUnit,
) -> Option<CallHierarchyItem> {
    let Location { uri, range } = location(palace, room.place.as_ref()?, unit);
    Some(CallHierarchyItem {
        name: room.name.clone(),
        kind: SymbolKind::Module,
        tags: None,
        detail: Some(room.id.to_string()),
        uri,
        range,
        selection_range: range,
        data: None,
    })
}

fn door_ranges(palace: &EditorPalace, room: &NeighbourRoom, unit: ColumnUnit) -> Vec<Range> {
    locations(palace, &room.doors, unit).into_iter().map(|it| it.range).collect()
}
