//! Leaving scrolls (v1 section 5.4).

use chrono::SubsecRound;

use crate::format::{self, new_scroll_path, room_path};
use crate::keeper::palace::ChangePlan;
use crate::keeper::position::{current_position, newest_scroll_ids};
use crate::keeper::session::new_id;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Edit, Layout, RoomId, RoomRef, Scroll, Slot};
use crate::render;
use crate::session::Visit;

/// The most characters a title may have.
const MAX_TITLE_CHARS: usize = 200;

/// A scroll to be left.
#[derive(Clone, Debug)]
pub struct NewScroll {
    /// Its title, one line.
    pub title: String,
    /// Its text, kept as it is.
    pub body: String,
    /// The room to leave it in; else the one the caller stands in.
    pub room: Option<RoomRef>,
}

impl Keeper {
    /// Leaves a scroll, stamped now, by the caller's name.
    pub fn write_scroll(&mut self, by: &Caller, new: &NewScroll) -> Result<String, Refusal> {
        let title = render::one_line(&new.title);
        if title.is_empty() || title.chars().count() > MAX_TITLE_CHARS {
            let why = format!("a scroll needs a title of 1 to {MAX_TITLE_CHARS} characters");
            return Err(Refusal::Invalid(why));
        }
        let (key, here) = match &new.room {
            None if self.visit(by).workspace.is_some() => {
                let standing = current_position(self, by)?;
                (standing.workspace, Some(standing.room))
            }
            _ => (self.current_workspace(by)?, None),
        };
        let scroll = self.new_scroll(by, title.clone(), &new.body);
        let held = self.open_palace(&key)?;
        let (mut place, mut hung) = (String::new(), None);
        held.change(by, |held| {
            let room = match (&new.room, &here) {
                (Some(called), _) => held.palace.resolve_room(called, None)?,
                (None, Some(here)) => here.clone(),
                // Who has not come in yet stands at the entry.
                (None, None) => held.palace.entry_room().cloned().ok_or(Refusal::NoRooms)?,
            };
            if held.palace.room(&room).is_none() {
                let broken = held.file_error(&room_path(&room)).cloned().map(Box::new);
                return Err(broken.map_or(Refusal::RoomNotBuilt { room }, Refusal::UnreadableFile));
            }
            place = render::one_line(&held.palace.room_name(&room));
            let now = Some(format::write_scroll(&scroll));
            let plan = ChangePlan {
                edits: vec![Edit { path: new_scroll_path(&room, &scroll), was: None, now }],
                subject: format!("scroll {room}: {title}"),
                body: format!("Left the scroll \"{title}\" in {place}"),
            };
            hung = Some(room);
            Ok(plan)
        })?;
        let number = hung.and_then(|room| self.scroll_number_if_here(by, &key, &room));
        let number = number.map(|it| format!(" ({it} reads it)")).unwrap_or_default();
        let answer = format!("The scroll \"{title}\" hangs in {place} now{number}.\n");
        Ok(answer)
    }

    fn new_scroll(&mut self, by: &Caller, title: String, body: &str) -> Scroll {
        let end = if body.ends_with('\n') { "" } else { "\n" };
        Scroll {
            id: new_id(&mut self.id_generator, by.now),
            title,
            written: by.now.trunc_subsecs(0),
            by: by.name.clone(),
            body: format!("{body}{end}"),
        }
    }

    /// If the caller stands in the room, gives its newest scrolls their numbers,
    /// and returns that of the first.
    fn scroll_number_if_here(&mut self, by: &Caller, key: &str, room: &RoomId) -> Option<usize> {
        let standing = current_position(self, by).ok()?;
        if standing.workspace != key || standing.room != *room {
            return None;
        }
        let newest = newest_scroll_ids(
            &self.open_palace(key).ok()?.palace,
            room,
            0,
            Visit::SCROLLS_PER_ROOM,
        );
        self.visit(by).show_scrolls(0, newest);
        Some(Layout::default().number_of_slot(Slot::Scroll(0)))
    }
}
