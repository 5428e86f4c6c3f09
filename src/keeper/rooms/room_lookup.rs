//! Finds the room that a caller names.

use crate::format::room_path;
use crate::keeper::Refusal;
use crate::keeper::palace::OpenPalace;
use crate::model::{RoomId, RoomRef, did_you_mean};

/// Resolves a reference to a room that is built.
pub(crate) fn require_room(open: &OpenPalace, room: &RoomRef) -> Result<RoomId, Refusal> {
    let id = open.palace.resolve_room(room, None)?;
    match open.palace.room(&id) {
        Some(_) => Ok(id),
        None => Err(no_such_room_refusal(open, &id)),
    }
}

/// Returns the refusal for a room that does not exist, or whose file is broken.
pub(crate) fn no_such_room_refusal(open: &OpenPalace, id: &RoomId) -> Refusal {
    if let Some(finding) = open.file_error(&room_path(id)) {
        return Refusal::UnreadableFile(finding.clone().into());
    }
    let rooms = || open.palace.rooms().map(|(id, _)| id);
    let meant = did_you_mean(id.slug.as_str(), rooms().map(|it| it.slug.as_str()));
    let meant = meant.map(str::to_owned);
    let rooms = rooms().take(5).map(ToString::to_string).collect();
    Refusal::NoSuchRoom { asked: id.to_string(), meant, rooms }
}
