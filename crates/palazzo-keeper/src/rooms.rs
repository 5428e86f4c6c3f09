//! Building rooms and writing scrolls. The rooms that callers name.

pub(crate) mod build;
pub(crate) mod move_room;
pub(crate) mod room_plans;
pub(crate) mod scrolls;

use crate::Refusal;
use crate::palace::OpenPalace;
use palazzo_core::format::room_path;
use palazzo_core::model::{Palace, Room, RoomId, RoomRef, did_you_mean};

/// Resolves a reference to a room that is built.
pub(crate) fn require_room(open: &OpenPalace, room: &RoomRef) -> Result<RoomId, Refusal> {
    let id = open.palace.resolve_present_room(room, None)?;
    match open.palace.room(&id) {
        Some(_) => Ok(id),
        None => Err(no_such_room_refusal(open, &id)),
    }
}

/// Finds a room that is built by its slug, its full name or its display name.
pub(crate) fn require_room_by_name(open: &OpenPalace, name: &str) -> Result<RoomId, Refusal> {
    let name = name.trim();
    let named = rooms_with_name(&open.palace, name);
    match name.parse::<RoomRef>() {
        Ok(room) if named.is_empty() => require_room(open, &room),
        Ok(room) if require_room(open, &room).is_ok() => require_room(open, &room),
        _ => match named.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(Refusal::NoSuchRoom {
                asked: name.to_owned(),
                meant: None,
                rooms: open.palace.rooms().take(5).map(|(id, _)| id.to_string()).collect(),
            }),
            several => Err(Refusal::AmbiguousName {
                sentence: "several rooms are called",
                name: name.to_owned(),
                advice: ": write one of ",
                candidates: several.iter().map(|it| format!("`{it}`")).collect(),
            }),
        },
    }
}

/// Returns the built rooms with this display name, whatever its case. Without one, returns those
/// whose display name or slug has the same words, in any order and with any punctuation.
pub(crate) fn rooms_with_name(palace: &Palace, name: &str) -> Vec<RoomId> {
    let words = sorted_words(name);
    let has_words = |text: &str| !words.is_empty() && sorted_words(text) == words;
    let rooms_such_that = |is_named: &dyn Fn(&RoomId, &Room) -> bool| {
        let rooms = palace.rooms().filter(|(id, room)| is_named(id, room));
        rooms.map(|(id, _)| id.clone()).collect::<Vec<_>>()
    };
    let same = rooms_such_that(&|_, room| room.name.to_lowercase() == name.to_lowercase());
    match same.is_empty() {
        true => rooms_such_that(&|id, room| has_words(&room.name) || has_words(&id.to_string())),
        false => same,
    }
}

/// Returns the only built room whose display name or slug has all these words, and maybe others.
pub(crate) fn only_room_with_words(palace: &Palace, name: &str) -> Option<RoomId> {
    let words = sorted_words(name);
    let has_words = |text: &str| {
        let all = sorted_words(text);
        words.iter().all(|it| all.contains(it))
    };
    let mut rooms =
        palace.rooms().filter(|(id, it)| has_words(&it.name) || has_words(&id.to_string()));
    let only = rooms.next().filter(|_| !words.is_empty())?.0.clone();
    rooms.next().is_none().then_some(only)
}

fn sorted_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let mut words: Vec<_> = words.map(str::to_owned).collect();
    words.sort_unstable();
    words
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
