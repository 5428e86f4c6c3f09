//! Drawers: the rooms that hold nothing else, lists of them, and one opened.

use chrono::{DateTime, Utc};

use crate::model::{Drawer, Layout, RoomId, Slot, WingRoom, strip_unprintable};
use crate::render::room::{RoomView, menu};
use crate::render::{ago, one_line, pluralize, truncate};

/// How many characters of a title are shown.
const TITLE_CHARS: usize = 60;

/// How many characters of a text a list shows.
const PREVIEW_CHARS: usize = 160;

/// A drawer, what it is filed under, and the room it is filed in.
#[derive(Clone, Debug)]
pub struct DrawerView<'a> {
    /// The drawer.
    pub drawer: &'a Drawer,
    /// What its wing and room are called.
    pub shelf: WingRoom,
    /// The room.
    pub room: &'a RoomId,
}

/// Which part of a drawer's text is read, in bytes, and by which number one
/// reads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawerRange {
    /// Where the part begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The place of the drawer among what can be opened.
    pub item_index: usize,
}

/// Renders a room that nobody has built and that holds drawers. `wing` is what
/// its wing is called.
pub fn unbuilt_drawer_room(view: &RoomView<'_>, name: &str, wing: &str) -> String {
    format!(
        "── {} ──\n\
         A bare room in the wing {}: nobody has built it, and nothing stands here but the \
         cabinets with {}.\n\
         Call build_room with slug `{}` to give it a look, actions and doors.\n\n{}",
        one_line(name),
        one_line(wing),
        pluralize(view.drawer_count, "drawer"),
        view.id,
        menu(view)
    )
}

/// Renders the drawers of a room called `room`, of which `left` are older than
/// those shown.
pub fn drawer_list(
    room: &str,
    shown: &[DrawerView<'_>],
    left: usize,
    now: DateTime<Utc>,
) -> String {
    let mut page = format!("The drawers of {}, newest first:\n", one_line(room));
    for (place, DrawerView { drawer, shelf, .. }) in shown.iter().enumerate() {
        let number = Layout::Wide.number_of_slot(Slot::Result(place));
        let mut notes = vec![one_line(&shelf.wing)];
        notes.extend(drawer.filed.map(|it| ago(it, now)));
        notes.extend(
            drawer
                .source
                .as_ref()
                .map(|it| format!("from {}", truncate(&one_line(it), TITLE_CHARS))),
        );
        let excerpt = truncate(&preview(&drawer.text), PREVIEW_CHARS);
        page.push_str(&format!("  {number}. {excerpt} ({})\n", notes.join(", ")));
    }
    let number = Layout::Wide.number_of_slot(Slot::Drawers);
    if left > 0 {
        page.push_str(&format!("  {number}. {}\n", pluralize(left, "older drawer")));
    }
    page
}

/// Renders a part of a drawer, and how to read on where it is not the last.
pub fn drawer(
    DrawerView { drawer, shelf, room }: &DrawerView<'_>,
    DrawerRange { start: from, end: to, item_index: place }: DrawerRange,
    now: DateTime<Utc>,
) -> String {
    let mut notes = vec![format!(
        "A drawer of {} in {} ({room})",
        one_line(&shelf.room),
        one_line(&shelf.wing)
    )];
    let filed = drawer.filed.map(|it| format!(", filed {}", ago(it, now)));
    let by = drawer.by.as_ref().map(|it| format!(" by {}", one_line(it)));
    notes.extend(filed);
    notes.extend(by);
    notes.extend(drawer.source.as_ref().map(|it| format!(", from {}", one_line(it))));
    let text = strip_unprintable(drawer.text.get(from..to).unwrap_or_default());
    let mut page = format!("── {} ──\n{}.\n\n{text}", drawer_title(&drawer.text), notes.concat());
    let all = drawer.text.len();
    if from > 0 || to < all {
        page.push_str(&format!("\n\n[bytes {from} to {to} of {all}"));
        if to < all {
            let number = Layout::Wide.number_of_slot(Slot::Result(place));
            page.push_str(&format!(": {number} again reads on"));
        }
        page.push_str("]\n");
    }
    page
}

/// Returns the first words of a text, in place of the title it does not have.
pub fn drawer_title(text: &str) -> String {
    let first = text.lines().map(one_line).find(|it| it.chars().any(char::is_alphanumeric));
    truncate(&first.unwrap_or_else(|| "A drawer".to_owned()), TITLE_CHARS)
}

/// Returns enough of a text to show its beginning in one line.
fn preview(text: &str) -> String {
    one_line(&text.chars().take(4 * PREVIEW_CHARS).collect::<String>())
}
