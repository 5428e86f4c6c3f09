//! Writes scrolls (v1 section 5.4).

use chrono::SubsecRound;

use crate::format::{self, new_scroll_path, room_path};
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::rooms::position::current_position;
use crate::keeper::{Caller, Keeper, Refusal, Session};
use crate::model::{FileEdit, Layout, Palace, RoomId, RoomRef, Scroll, ScrollId, Slot};
use crate::render;
use crate::visit::Visit;

/// Maximum number of characters of a title.
const MAX_TITLE_CHARS: usize = 200;

/// A scroll to write.
#[derive(Clone, Debug)]
pub struct NewScroll {
    /// Its title, in one line.
    pub title: String,
    /// Its text.
    pub body: String,
    /// Its room; without one, the current room of the caller.
    pub room: Option<RoomRef>,
}

/// A scroll that was written.
#[derive(Clone, Debug)]
pub struct WrittenScroll {
    /// Its title, in one line.
    pub title: String,
    /// The name of its room, in one line.
    pub room_name: String,
    /// The number that reads it, if the caller is in its room.
    pub number: Option<usize>,
}

/// Writes a scroll with the time and the name of the caller.
pub fn write_scroll(
    keeper: &mut Keeper,
    caller: &Caller,
    new: &NewScroll,
) -> Result<WrittenScroll, Refusal> {
    let title = render::one_line(&new.title);
    if title.is_empty() || title.chars().count() > MAX_TITLE_CHARS {
        let why = format!("a scroll needs a title of 1 to {MAX_TITLE_CHARS} characters");
        return Err(Refusal::Invalid(why));
    }
    let mut session = keeper.session(caller)?;
    let here = match &new.room {
        None if session.visit.workspace.is_some() => Some(current_position(&mut session)?.room),
        _ => None,
    };
    let scroll = new_scroll(&mut session, title.clone(), &new.body);
    let mut written = None;
    session.palace.change_files(caller, |open| {
        let room = room_for_scroll(open, new.room.as_ref(), here.as_ref())?;
        let room_name = render::one_line(&open.palace.room_name(&room));
        let now = Some(format::serialize_scroll(&scroll));
        let plan = ChangePlan {
            edits: vec![FileEdit { path: new_scroll_path(&room, &scroll), was: None, now }],
            subject: format!("scroll {room}: {title}"),
            body: format!("Wrote the scroll \"{title}\" in {room_name}"),
        };
        written = Some((room, room_name));
        Ok(plan)
    })?;
    let (room, room_name) = written.ok_or(Refusal::NoRooms)?;
    let number = renumber_scrolls_if_here(&mut session, &room);
    Ok(WrittenScroll { title, room_name, number })
}

/// Returns the scrolls of a room after the first `from`, newest first, at most `limit`.
pub(crate) fn newest_scroll_ids(
    palace: &Palace,
    room: &RoomId,
    from: usize,
    limit: usize,
) -> Vec<ScrollId> {
    let scrolls = palace.scrolls_in_room(room).skip(from).take(limit);
    scrolls.map(|it| ScrollId { room: room.clone(), id: it.id }).collect()
}

fn new_scroll(session: &mut Session<'_>, title: String, body: &str) -> Scroll {
    let end = if body.ends_with('\n') { "" } else { "\n" };
    Scroll {
        id: session.new_id(),
        title,
        written: session.caller.now.trunc_subsecs(0),
        by: session.caller.name.clone(),
        body: format!("{body}{end}"),
    }
}

/// Returns the room for a scroll: the room that the caller names, the current room of the caller,
/// or the entry room. Refuses a room that is not built.
fn room_for_scroll(
    open: &OpenPalace,
    requested: Option<&RoomRef>,
    here: Option<&RoomId>,
) -> Result<RoomId, Refusal> {
    let room = match (requested, here) {
        (Some(requested), _) => open.palace.resolve_room(requested, None)?,
        (None, Some(here)) => here.clone(),
        (None, None) => open.palace.entry_room().cloned().ok_or(Refusal::NoRooms)?,
    };
    if open.palace.room(&room).is_some() {
        return Ok(room);
    }
    let broken = open.file_error(&room_path(&room)).cloned().map(Box::new);
    Err(broken.map_or(Refusal::RoomNotBuilt { room }, Refusal::UnreadableFile))
}

/// If the caller is in the room, numbers its newest scrolls again and returns the number of the
/// first one.
fn renumber_scrolls_if_here(session: &mut Session<'_>, room: &RoomId) -> Option<usize> {
    session.visit.workspace.as_ref()?;
    if current_position(session).ok()?.room != *room {
        return None;
    }
    let newest = newest_scroll_ids(&session.palace.palace, room, 0, Visit::SCROLLS_PER_ROOM);
    session.visit.record_shown_scrolls(0, newest);
    Some(Layout::default().number_of_slot(Slot::Scroll(0)))
}
