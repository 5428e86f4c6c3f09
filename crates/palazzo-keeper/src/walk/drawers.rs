//! The drawers of a room: listing and reading them, and rooms that only have drawers.

use chrono::{DateTime, Utc};

use crate::palace::OpenPalace;
use crate::palace::loaded_palace::LoadedPalace;
use crate::walk::unbuilt_rooms::building_advice;
use crate::{Refusal, Session};
use palazzo_core::format::room_path;
use palazzo_core::model::{Audience, Drawer, ItemId, Layout, Palace, RoomId};
use palazzo_core::render::{self, DrawerView, RoomView};

/// Limit for the later texts that are named below a drawer.
const MAX_LATER_TEXTS: usize = 2;

/// Lists the drawers of a room, newest first, one page per call; after the last page the first one
/// again. `None` if there are none.
pub(crate) fn list_room_drawers(
    session: &mut Session<'_>,
    room: &RoomId,
) -> Result<Option<String>, Refusal> {
    session.palace.load_provenance()?;
    let palace = &session.palace.palace;
    let all = drawers_newest_first(palace, room);
    let seen = session.visit.drawers_seen;
    let from = if seen < all.len() { seen } else { 0 };
    let listed: Vec<_> = all.iter().skip(from).take(Layout::MAX_RESULTS).collect();
    if listed.is_empty() {
        return Ok(None);
    }
    let seen = from + listed.len();
    let views = listed.iter().filter_map(|it| drawer_view(session.palace, it.0));
    let views: Vec<_> = views.collect();
    let name = palace.room_name(room);
    let page = render::drawer_list(&name, &views, all.len() - seen, session.caller.now);
    let items = listed.iter().map(|it| ItemId::Drawer(it.0.to_owned())).collect();
    session.visit.record_listed_items(items);
    session.visit.drawers_seen = seen;
    Ok(Some(page))
}

/// Reads a drawer; `file` is its file.
pub(crate) fn read_drawer(session: &mut Session<'_>, file: &str) -> Result<String, Refusal> {
    session.palace.refresh_file(file);
    session.palace.load_provenance()?;
    let page = render_drawer(session.palace, file, session.caller.now);
    Ok(page.unwrap_or_else(|| "That drawer has been deleted since.".to_owned()))
}

/// Names the later drawers that share the rare words of a drawer, which may have changed what it says, and
/// gives them numbers; empty for a person.
pub(crate) fn later_texts_note(session: &mut Session<'_>, file: &str) -> String {
    let (open, now) = (&*session.palace, session.caller.now);
    let is_agent = session.caller.audience() == Audience::Agent;
    let drawers = &open.palace.drawers;
    let drawer = drawers.drawer_in_file(file).filter(|it| is_agent && it.filed.is_some());
    let Some(drawer) = drawer else { return String::new() };
    let is_later = |it: &ItemId| match it {
        ItemId::Drawer(file) => {
            drawers.drawer_in_file(file).is_some_and(|it| it.filed > drawer.filed)
        }
        _ => false,
    };
    let item = ItemId::Drawer(file.to_owned());
    let related = open.index().related_texts(&item, &drawer.text, is_later).into_iter();
    let words = open.index().rare_words_of_no_other(&drawer.text, is_later);
    let row = |item: ItemId| match &item {
        ItemId::Drawer(file) => {
            let row = render::drawer_row(&drawer_view(open, file)?, now);
            Some((item, row))
        }
        _ => None,
    };
    let rows: Vec<_> = related.filter_map(row).take(MAX_LATER_TEXTS).collect();
    let numbered = rows.into_iter().map(|(it, row)| (session.visit.number_listed_item(it), row));
    render::later_texts(numbered, &words)
}

/// Renders a drawer; `None` if no drawer has this file.
pub(crate) fn render_drawer(open: &LoadedPalace, file: &str, now: DateTime<Utc>) -> Option<String> {
    Some(render::drawer(&drawer_view(open, file)?, now))
}

/// Renders a room that is not built and has drawers; `None` for other rooms.
pub(crate) fn render_drawer_only_room(open: &OpenPalace, view: &RoomView<'_>) -> Option<String> {
    let (wing, advice) = describe_drawer_only_room(open, view)?;
    Some(render::unbuilt_drawer_room(view, &open.palace.room_name(view.id), wing, &advice))
}

/// Returns the name of the wing of a room that is not built and has drawers, and how to build the
/// room; `None` for other rooms.
pub(crate) fn describe_drawer_only_room<'a>(
    open: &'a OpenPalace,
    view: &'a RoomView<'_>,
) -> Option<(&'a str, String)> {
    let palace = &open.palace;
    let wing = palace.drawers.wing_name(view.id.wing.as_ref()?)?;
    let is_unbuilt = view.room.is_none() && open.file_error(&room_path(view.id)).is_none();
    let advice = match view.audience {
        Audience::Agent => {
            format!(
                "Call build_room with slug `{}` to give it a look, actions and doors.\n",
                view.id
            )
        }
        Audience::Person => building_advice(open, view.id, view.audience),
    };
    (is_unbuilt && palace.is_enterable_room(view.id)).then_some((wing, advice))
}

/// Returns the drawers of a room with their files, newest first.
pub(crate) fn drawers_newest_first<'a>(
    palace: &'a Palace,
    room: &'a RoomId,
) -> Vec<(&'a str, &'a Drawer)> {
    let mut all: Vec<_> = palace
        .rooms_with_drawers_shown_in(room)
        .flat_map(|it| palace.drawers.drawers_in_room(it))
        .collect();
    all.sort_by_key(|(_, it)| std::cmp::Reverse((it.filed, it.id)));
    all
}

/// Returns a drawer with its wing, its room and its provenance; `None` if no drawer has this file.
pub(crate) fn drawer_view<'a>(open: &'a LoadedPalace, file: &str) -> Option<DrawerView<'a>> {
    let drawers = &open.palace.drawers;
    let (drawer, shelf) = (drawers.drawer_in_file(file)?, drawers.wing_room_of_file(file)?);
    let (room, provenance) = (drawers.room_of_file(file)?, open.provenance(file));
    Some(DrawerView { drawer, shelf, room, provenance })
}
