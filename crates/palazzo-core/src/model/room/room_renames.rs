//! The present names of missing rooms that were renamed by hand.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::model::RoomId;

/// The present names of missing rooms that were renamed by hand; unknown until they are searched in
/// the history. A cache, which is not compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoomRenames(OnceLock<BTreeMap<RoomId, RoomId>>);

impl RoomRenames {
    /// Returns whether the renamed rooms were searched.
    pub(crate) fn is_known(&self) -> bool {
        self.0.get().is_some()
    }

    /// Stores the present name of each renamed room, unless it is stored already.
    pub(crate) fn set(&self, renames: BTreeMap<RoomId, RoomId>) {
        let _ = self.0.set(renames);
    }

    /// Returns the present name of a room: its own, unless it is known to be renamed.
    pub(crate) fn present_name(&self, room: RoomId) -> RoomId {
        self.0.get().and_then(|it| it.get(&room)).cloned().unwrap_or(room)
    }

    /// Yields the old names of a room.
    pub(crate) fn old_names<'a>(&'a self, room: &'a RoomId) -> impl Iterator<Item = &'a RoomId> {
        let renames = self.0.get().into_iter().flatten();
        renames.filter(move |(_, new)| *new == room).map(|(old, _)| old)
    }
}

impl PartialEq for RoomRenames {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}
