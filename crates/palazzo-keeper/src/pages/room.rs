//! Collects the content of the pages of rooms.

use std::collections::BTreeSet;

use crate::pages::map::{map_view, planned_map};
use crate::pages::page_session::{PageContent, PageSession};
use crate::palace::OpenPalace;
use crate::palace::resolve::no_such_room_refusal;
use crate::walk::drawers::{describe_drawer_only_room, drawer_view, drawers_newest_first};
use crate::walk::halls;
use crate::walk::show::room_view_without_visit;
use crate::walk::unbuilt_rooms::{describe_unbuilt_room, render_roomless_palace};
use crate::{Caller, Refusal};
use palazzo_core::format::room_path;
use palazzo_core::model::{Action, CommitDetails, CommitSummary, ItemId, Palace, RoomId, RoomRef};
use palazzo_core::render::{self, RoomView};
use palazzo_core::view::{self, Links, PageKind, RoomPage};
use palazzo_core::visit::Location;

/// Limits for the lists beside a room.
const MAX_DRAWERS: usize = 10;
const MAX_OLDER_SCROLLS: usize = 30;
const MAX_ROOMS: usize = 30;
const MAX_ENTITIES: usize = 40;
const MAX_CHANGES: usize = 5;

/// Collects what the page of a room shows; without a room, the entry.
pub(super) fn room_content(
    page: &mut PageSession<'_, '_>,
    room: Option<&RoomRef>,
) -> Result<PageContent, Refusal> {
    let (open, key) = (&mut *page.session.palace, page.session.key.clone());
    let id = match room {
        Some(room) => open.palace.resolve_present_room(room, None)?,
        None => match open.palace.entry_room() {
            Some(entry) => entry.clone(),
            None => return roomless_content(open, page.session.caller),
        },
    };
    require_known_room(open, &id)?;
    let position = Location::from_room(&key, id.clone());
    if let Some(hall) = halls::visible_hall(&open.palace, &position) {
        open.keep_grouping_sorted(&hall.grouping);
    }
    let (open, by) = (&*open, page.session.caller);
    let room_page = collect_room(open, &key, &id, (by, page.links, page.commits));
    let map = planned_map(open, Some(&id), by)?;
    let map_view = map_view(open, Some(&id), by);
    let map = view::draw_planned_map(&map, &map_view, page.links, false);
    let body = view::room_page(&room_page, Some(&map));
    let kind = room.is_none().then_some(PageKind::Entry);
    let title = open.palace.room_name(&id);
    Ok(PageContent { title, place: Some(id.to_string()), kind, item: Some(ItemId::Room(id)), body })
}

/// Refuses a room that neither exists nor has a door to it.
fn require_known_room(open: &OpenPalace, id: &RoomId) -> Result<(), Refusal> {
    let palace = &open.palace;
    let is_known = palace.is_enterable_room(id)
        || open.file_error(&room_path(id)).is_some()
        || palace.rooms_linking_to(id).next().is_some();
    if is_known { Ok(()) } else { Err(no_such_room_refusal(open, id)) }
}

fn roomless_content(open: &OpenPalace, by: &Caller) -> Result<PageContent, Refusal> {
    let text = render_roomless_palace(open, by)?;
    let title = open.palace.settings.name.clone();
    Ok(PageContent::of_kind(PageKind::Entry, &title, view::plain_text_page(&text)))
}

/// Collects a room and what is around it.
pub(super) fn collect_room<'a>(
    open: &'a OpenPalace,
    key: &str,
    id: &'a RoomId,
    (by, links, commits): (&Caller, &'a Links, &[CommitDetails]),
) -> RoomPage<'a> {
    let palace = &open.palace;
    let view = room_view_without_visit(open, key, id, by);
    let older = palace.scrolls_in_room(id).skip(view.scrolls.len()).take(MAX_OLDER_SCROLLS);
    let drawers = drawers_newest_first(palace, id).into_iter().take(MAX_DRAWERS);
    let histories = open.file_histories().get(&room_path(id)).copied();
    let versions = render::version_summary(histories, open.store().as_of_commit(), by.now);
    RoomPage {
        palace,
        links,
        unbuilt: describe_unbuilt(open, &view, links),
        older_scrolls: older.map(|it| open.scroll_view(id, it)).collect(),
        drawers: drawers.filter_map(|(file, _)| drawer_view(open, file)).collect(),
        leads_here: palace.rooms_linking_to(id).take(MAX_ROOMS).collect(),
        entities: entities_of_room(palace, &view),
        changes: changes_of_room(id, commits),
        versions,
        view,
    }
}

/// Describes a room that is not built.
fn describe_unbuilt(open: &OpenPalace, view: &RoomView<'_>, links: &Links) -> Option<String> {
    if view.room.is_some() {
        return None;
    }
    let (text, advice) = match describe_drawer_only_room(open, view) {
        Some((wing, advice)) => {
            (render::unbuilt_drawer_room_description(view.drawer_count, wing), advice)
        }
        None => {
            let (context, advice) = describe_unbuilt_room(open, view.id, view.audience);
            (format!("This room is not built yet.\n{context}"), advice)
        }
    };
    // The advice has a path of this machine; a file may be read on another.
    let is_file = matches!(links, Links::File { .. });
    Some(if is_file { text } else { format!("{text}\n{advice}") })
}

/// Lists the entities that a room shows, names or links to.
fn entities_of_room<'a>(palace: &'a Palace, view: &RoomView<'a>) -> Vec<&'a str> {
    let graph = &palace.graph;
    let mut names = BTreeSet::new();
    if let Some(room) = view.room {
        let named = room.actions.iter().flat_map(Action::named_entities);
        names.extend(named.filter_map(|it| Some(graph.find_entity(it)?.name.as_str())));
        names.extend(room.texts_with_links().flat_map(|it| graph.linked_entities(it)));
    }
    let bodies = view.scrolls.iter().flat_map(|it| graph.linked_entities(&it.scroll.body));
    names.extend(bodies);
    names.into_iter().take(MAX_ENTITIES).collect()
}

/// Returns the newest commits that changed a room or its scrolls.
fn changes_of_room(id: &RoomId, commits: &[CommitDetails]) -> Vec<CommitSummary> {
    let (file, folder) = (room_path(id), format!("scrolls/{id}/"));
    let is_here = |it: &&CommitDetails| {
        it.changed_files.iter().any(|it| *it == file || it.starts_with(&folder))
    };
    let changes = commits.iter().filter(is_here).take(MAX_CHANGES);
    changes.map(|it| it.summary.clone()).collect()
}
