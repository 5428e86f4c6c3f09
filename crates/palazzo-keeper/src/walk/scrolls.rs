//! The scrolls of a room: listing and reading them, with numbers for the entities that they link.

use crate::palace::OpenPalace;
use crate::rooms::scrolls::{current_scroll_ids, page_of_scroll_ids};
use crate::walk::changes_since_visit::mark_scroll_read;
use crate::{Refusal, Session};
use palazzo_core::model::{Graph, ItemId, Layout, RoomId, ScrollId};
use palazzo_core::render::{self, ScrollView};
use palazzo_core::visit::Visit;

/// Lists the scrolls after those shown; after the oldest the newest ones again.
pub(crate) fn list_older_scrolls(
    session: &mut Session<'_>,
    room: &RoomId,
) -> Result<String, Refusal> {
    session.palace.load_provenance()?;
    let palace = &session.palace.palace;
    let total = palace.scrolls_in_room(room).count();
    if total == current_scroll_ids(palace, room).len() {
        return Ok("There are no older scrolls here.".to_owned());
    }
    let seen = session.visit.scrolls_seen;
    let from = if seen < total { seen } else { 0 };
    let ids = page_of_scroll_ids(palace, room, from, Layout::MAX_SCROLLS);
    let scrolls = scroll_views(session.palace, &ids);
    let left = total.saturating_sub(from + ids.len());
    let now = session.caller.now;
    let page = render::older_scrolls(&palace.room_name(room), &scrolls, left, now);
    session.visit.record_shown_scrolls(from, ids);
    Ok(page)
}

/// Lists the scrolls of a room and the numbers that work everywhere (v1 section 7).
pub(crate) fn list_inventory(session: &mut Session<'_>, room: &RoomId) -> Result<String, Refusal> {
    session.palace.load_provenance()?;
    let palace = &session.palace.palace;
    let ids = page_of_scroll_ids(palace, room, 0, Layout::MAX_SCROLLS);
    let scrolls = scroll_views(session.palace, &ids);
    let total = palace.scrolls_in_room(room).count();
    let page = render::inventory(&scrolls, total, session.caller.audience(), session.caller.now);
    session.visit.record_shown_scrolls(0, ids);
    Ok(page)
}

/// Returns scrolls with their provenance.
fn scroll_views<'a>(open: &'a OpenPalace, ids: &[ScrollId]) -> Vec<ScrollView<'a>> {
    let view = |it: &ScrollId| Some(open.scroll_view(&it.room, open.palace.scroll(it)?));
    ids.iter().filter_map(view).collect()
}

/// Renders a scroll, and marks it as read.
pub(crate) fn read_scroll(session: &mut Session<'_>, scroll: &ScrollId) -> Result<String, Refusal> {
    mark_scroll_read(session, scroll);
    session.palace.load_provenance()?;
    let palace = &session.palace.palace;
    let Some(it) = palace.scroll(scroll) else {
        return Ok("That scroll has been deleted since.".to_owned());
    };
    let text = render_linked_text(session.visit, &palace.graph, &it.body);
    let view = session.palace.scroll_view(&scroll.room, it);
    let page = render::scroll(&view, &text, &palace.room_name(&scroll.room), session.caller.now);
    Ok(page + &stale_file_notes(session.palace, scroll))
}

/// Renders a note on each file that a scroll names and that is gone or much changed; none as of a
/// past commit.
pub(crate) fn stale_file_notes(open: &OpenPalace, scroll: &ScrollId) -> String {
    if open.store().as_of_commit().is_some() {
        return String::new();
    }
    let stale = open.stale_file_notes_of_scroll(scroll).into_iter();
    stale.flat_map(|it| ["\nNote: it ".to_owned(), it, ".".to_owned()]).collect()
}

/// Renders a text in which links to entities are names with numbers. The numbers follow those of the
/// items listed last; if not enough are left, the links replace those items.
pub(crate) fn render_linked_text(visit: &mut Visit, graph: &Graph, text: &str) -> String {
    let listed = &mut visit.listed_items;
    let is_listed =
        |name: &str| listed.iter().any(|it| matches!(it, ItemId::Entity(entity) if entity == name));
    let new = graph.linked_entities(text).into_iter().filter(|it| !is_listed(it)).count();
    if listed.len() + new > Layout::MAX_RESULTS {
        listed.clear();
    }
    render::number_entity_links(text, graph, listed)
}
