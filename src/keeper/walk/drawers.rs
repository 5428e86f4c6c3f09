//! Opening drawers while walking.

use crate::format::room_path;
use crate::keeper::palace::OpenPalace;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Drawer, ItemId, Layout, Palace, RoomId};
use crate::render::{self, DrawerRange, DrawerView, RoomView};
use crate::session::Location;

/// How many bytes of a drawer are read at once: some thousand tokens.
const MAX_PART_BYTES: usize = 24_000;

impl Keeper {
    /// Lists the drawers of the room the caller stands in, newest first; asked
    /// again, those behind them; after the oldest come the newest. `None`: there
    /// are none.
    pub(crate) fn list_room_drawers(
        &mut self,
        by: &Caller,
        at: &Location,
    ) -> Result<Option<String>, Refusal> {
        let seen = self.visit(by).drawers_seen;
        let palace = &self.open_palace(&at.workspace)?.palace;
        let all = drawers_newest_first(palace, &at.room);
        let from = if seen < all.len() { seen } else { 0 };
        let shown: Vec<_> = all.iter().skip(from).take(Layout::MAX_RESULTS).collect();
        if shown.is_empty() {
            return Ok(None);
        }
        let seen = from + shown.len();
        let filed: Vec<_> = shown.iter().filter_map(|it| drawer_view(palace, it.0)).collect();
        let page =
            render::drawer_list(&palace.room_name(&at.room), &filed, all.len() - seen, by.now);
        let openings = shown.iter().map(|it| ItemId::Drawer(it.0.to_owned())).collect();
        let visit = self.visit(by);
        (visit.drawers_seen, visit.listed_items) = (seen, openings);
        Ok(Some(page))
    }

    /// Reads a drawer, the `place`th of what can be opened; of a long one, the
    /// next part at each asking.
    pub(crate) fn read_drawer_part(
        &mut self,
        by: &Caller,
        at: &Location,
        place: usize,
        file: &str,
    ) -> Result<String, Refusal> {
        let mark = self.visit(by).bookmark.take();
        let held = self.open_palace(&at.workspace)?;
        held.refresh_file(file);
        let Some(it) = drawer_view(&held.palace, file) else {
            return Ok("That drawer has been taken away since.".to_owned());
        };
        let text = &it.drawer.text;
        let from = mark.filter(|(of, from)| of == file && text.is_char_boundary(*from));
        let from = from.map_or(0, |(_, from)| from);
        let to = find_part_end(text, from);
        let page =
            render::drawer(&it, DrawerRange { start: from, end: to, item_index: place }, by.now);
        let left = to < text.len();
        self.visit(by).bookmark = left.then(|| (file.to_owned(), to));
        Ok(page)
    }
}

/// Renders a room that nobody has built and that holds drawers; `None`: it is
/// no such room.
pub(crate) fn render_drawer_only_room(held: &OpenPalace, view: &RoomView<'_>) -> Option<String> {
    let palace = &held.palace;
    let wing = palace.drawers.wing_name(view.id.wing.as_ref()?)?;
    let bare = view.room.is_none() && held.file_error(&room_path(view.id)).is_none();
    let stored = bare && palace.is_enterable(view.id);
    stored.then(|| render::unbuilt_drawer_room(view, &palace.room_name(view.id), wing))
}

/// Finds the rooms that hold drawers and that a visitor names: by the slug, by
/// the name drawers are filed under, or by wing and name.
pub(crate) fn find_drawer_rooms(palace: &Palace, said: &str) -> Vec<RoomId> {
    let said = said.to_lowercase();
    let same = |it: &str| it.to_lowercase() == said;
    let drawers = &palace.drawers;
    let fits = |id: &&RoomId| {
        let (wing, name) = (id.wing.as_ref(), drawers.room_name(id).unwrap_or_default());
        let wing = wing.and_then(|it| drawers.wing_name(it)).unwrap_or_default();
        same(id.slug.as_str()) || same(name) || same(&format!("{wing}/{name}"))
    };
    drawers.rooms().filter(fits).cloned().collect()
}

/// Returns the drawers that are opened in a room with their files, newest first.
fn drawers_newest_first<'a>(palace: &'a Palace, room: &'a RoomId) -> Vec<(&'a str, &'a Drawer)> {
    let mut all: Vec<_> =
        palace.drawer_rooms_for(room).flat_map(|it| palace.drawers.in_room(it)).collect();
    all.sort_by_key(|(_, it)| std::cmp::Reverse((it.filed, it.id)));
    all
}

fn drawer_view<'a>(palace: &'a Palace, file: &str) -> Option<DrawerView<'a>> {
    let drawers = &palace.drawers;
    let (drawer, shelf) = (drawers.get(file)?, drawers.wing_room_of_file(file)?);
    Some(DrawerView { drawer, shelf, room: drawers.room_of_file(file)? })
}

/// Returns where a part of a text ends that begins at `from`: at the end of a
/// line, if there is one.
fn find_part_end(text: &str, from: usize) -> usize {
    let rest = &text[from..];
    if rest.len() <= MAX_PART_BYTES {
        return text.len();
    }
    let end =
        (0..=MAX_PART_BYTES).rev().find(|it| rest.is_char_boundary(*it)).unwrap_or(rest.len());
    let line = rest[..end].rfind('\n').map(|it| it + 1).filter(|it| *it > MAX_PART_BYTES / 2);
    from + line.unwrap_or(end)
}
