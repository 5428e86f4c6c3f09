//! Doors in and out of a room.

use crate::editor::{EditorPalace, FilePlace, Symbol};
use palazzo_core::format::room_path;
use palazzo_core::model::RoomId;
use palazzo_core::render;

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
