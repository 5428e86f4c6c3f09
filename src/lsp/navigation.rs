//! Goes to definitions and references.

use gen_lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams, CallHierarchyItem,
    CallHierarchyOutgoingCall, CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams,
    Definition, DefinitionParams, DefinitionResponse, Location, Range, ReferenceParams, SymbolKind,
    TextDocumentPositionParams,
};

use crate::keeper::{EditorPalace, FilePlace, NeighbourRoom, Symbol};
use crate::lsp::server::Server;
use crate::lsp::text_positions::{ColumnUnit, TextPositions};
use crate::lsp::uri::uri_of_path;
use crate::model::RoomId;

/// Returns the place where the thing at a position is defined.
pub(super) fn definition(
    server: &mut Server,
    params: &DefinitionParams,
) -> Option<DefinitionResponse> {
    let unit = server.client.unit;
    let (palace, symbol) = server.symbol_at(&params.text_document_position_params)?;
    let place = palace.definition(&symbol);
    let location = place.map(|it| location(palace, &it, unit));
    location.map(|it| DefinitionResponse::Definition(Definition::Location(it)))
}

/// Returns the places that mention the thing at a position.
pub(super) fn references(server: &mut Server, params: &ReferenceParams) -> Option<Vec<Location>> {
    let unit = server.client.unit;
    let with_definition = params.context.include_declaration;
    let (palace, symbol) = server.symbol_at(&params.text_document_position_params)?;
    let places = palace.references(&symbol, with_definition);
    Some(places.iter().map(|it| location(palace, it, unit)).collect())
}

impl Server {
    /// Returns what is named at a position: in a room's file, where nothing is named, the room.
    pub(super) fn symbol_at(
        &mut self,
        params: &TextDocumentPositionParams,
    ) -> Option<(&mut EditorPalace, Symbol)> {
        let unit = self.client.unit;
        let (palace, path) = self.palace_of(&params.text_document.uri)?;
        let text = palace.text(&path)?;
        let at = TextPositions::new(&text, unit).to_position(params.position);
        let (symbol, _) = palace.symbol_at(&path, at)?;
        Some((palace, symbol))
    }
}

/// Converts a place to a location.
pub(super) fn location(palace: &EditorPalace, place: &FilePlace, unit: ColumnUnit) -> Location {
    let text = palace.text(&place.path).unwrap_or_default();
    let range = TextPositions::new(&text, unit).range(place.start, place.end);
    Location { uri: uri_of_path(&palace.root().join(&place.path)), range }
}

/// Begins a walk through doors at the room at a position.
pub(super) fn prepare_doors(
    server: &mut Server,
    params: &CallHierarchyPrepareParams,
) -> Option<Vec<CallHierarchyItem>> {
    let unit = server.client.unit;
    let found = server.symbol_at(&params.text_document_position_params);
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
    room.doors.iter().map(|it| location(palace, it, unit).range).collect()
}
