//! Renders drawers: one drawer, lists of drawers, and unbuilt rooms that have only drawers.

use chrono::{DateTime, Utc};

use crate::model::{Drawer, Layout, Provenance, RoomId, Slot, WingRoomNames};
use crate::render::room::{RoomView, menu};
use crate::render::text::{
    count_with_noun, name_in_sentence, one_line, printable_text, truncate, whole_line,
};
use crate::render::{ago, origin_suffix, provenance};

/// Limit for the characters of a title.
const TITLE_CHARS: usize = 60;

/// Limit for the characters of a text in a list.
const PREVIEW_CHARS: usize = 160;

/// A drawer with its wing and room, and where it comes from.
#[derive(Clone, Debug)]
pub struct DrawerView<'a> {
    /// The drawer.
    pub drawer: &'a Drawer,
    /// The names of its wing and room.
    pub shelf: WingRoomNames,
    /// The room.
    pub room: &'a RoomId,
    /// Its author and its origin.
    pub provenance: Provenance,
}

/// Renders an unbuilt room that has drawers. `wing` is the name of its wing.
/// `advice` is how to build it.
pub fn unbuilt_drawer_room(view: &RoomView<'_>, name: &str, wing: &str, advice: &str) -> String {
    let description = unbuilt_drawer_room_description(view.drawer_count, wing);
    format!("── {} ──\n{description}\n{advice}\n{}", one_line(name), menu(view))
}

/// Describes an unbuilt room that has drawers; `wing` is the name of its wing.
pub fn unbuilt_drawer_room_description(drawer_count: usize, wing: &str) -> String {
    format!(
        "A bare room in the wing {}: it is not built yet, and it contains only {}.",
        name_in_sentence(wing),
        count_with_noun(drawer_count, "drawer")
    )
}

/// Renders drawers of the room named `room`; `left` is the number of older drawers that are
/// not shown.
pub fn drawer_list(
    room: &str,
    shown: &[DrawerView<'_>],
    left: usize,
    now: DateTime<Utc>,
) -> String {
    let mut page = format!("The drawers of {}, newest first:\n", name_in_sentence(room));
    for (place, it) in shown.iter().enumerate() {
        let drawer = it.drawer;
        let number = Layout::Wide.number_of_slot(Slot::Result(place));
        let mut notes = vec![name_in_sentence(&it.shelf.wing)];
        notes.extend(drawer.filed.map(|it| ago(it, now)));
        notes.extend(Some(provenance(&it.provenance)).filter(|it| !it.is_empty()));
        let excerpt = truncate(&preview(&drawer.text), PREVIEW_CHARS);
        page.push_str(&format!("  {number}. {excerpt} ({})\n", notes.join(", ")));
    }
    let number = Layout::Wide.number_of_slot(Slot::Drawers);
    if left > 0 {
        page.push_str(&format!("  {number}. {}\n", count_with_noun(left, "older drawer")));
    }
    page
}

/// Renders a drawer.
pub fn drawer(view: &DrawerView<'_>, now: DateTime<Utc>) -> String {
    let text = &view.drawer.text;
    let (title, heading) = (drawer_title(text), drawer_heading(view, now));
    format!("── {title} ──\n{heading}\n\n{}", printable_text(text))
}

/// Renders where a drawer is, who filed it and when, and how it came there.
pub fn drawer_heading(view: &DrawerView<'_>, now: DateTime<Utc>) -> String {
    let DrawerView { drawer, shelf, room, provenance } = view;
    let filed = drawer.filed.map(|it| format!(", filed {}", ago(it, now)));
    let by = provenance.by.as_ref().map(|it| format!(" by {}", name_in_sentence(it)));
    format!(
        "A drawer of {} in {} ({room}){}{}{}.",
        name_in_sentence(&shelf.room),
        name_in_sentence(&shelf.wing),
        filed.unwrap_or_default(),
        by.unwrap_or_default(),
        origin_suffix(provenance)
    )
}

/// Returns the first words of a text as its title, because drawers have none.
pub fn drawer_title(text: &str) -> String {
    let first = text.lines().map(one_line).find(|it| it.chars().any(char::is_alphanumeric));
    truncate(&first.unwrap_or_else(|| "A drawer".to_owned()), TITLE_CHARS)
}

/// Returns the beginning of a text in one line.
fn preview(text: &str) -> String {
    whole_line(&text.chars().take(4 * PREVIEW_CHARS).collect::<String>())
}
