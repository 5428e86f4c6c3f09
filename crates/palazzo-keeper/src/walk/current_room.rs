//! The page of the room or hall that the caller is in, and its menu.

use crate::palace::OpenPalace;
use crate::rooms::build::BuiltRoom;
use crate::rooms::scrolls::current_scroll_ids;
use crate::sync::notices::take_sync_notices;
use crate::walk::changes_since_visit::load_changes_and_save_visit;
use crate::walk::contents::{render_new_facts, render_new_scrolls};
use crate::walk::drawers::render_drawer_only_room;
use crate::walk::halls::{
    self, available_actions, hall_entity_listing, listed_entities, names_listed_at,
};
use crate::walk::note_links::leading_notes_notice;
use crate::walk::notices::{
    may_have_renamed_rooms, needs_history, room_notices, stale_scroll_notices,
};
use crate::walk::revision_notice::suggest_revision;
use crate::walk::unbuilt_rooms::{render_roomless_palace, render_unbuilt_room};
use crate::walk::{is_entrance_hall, place_name, position_of_caller};
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::format::room_path;
use palazzo_core::model::{Author, Hall, RoomId};
use palazzo_core::render::{self, Notice, RoomView, ScrollView, number_entity_links};
use palazzo_core::visit::{AnswerSubject, Location, Visit};

/// Renders the room or hall that the caller is in, with its newest scrolls.
pub(crate) fn render_current_room(keeper: &mut Keeper, caller: &Caller) -> Result<String, Refusal> {
    let position = position_of_caller(keeper, caller)?;
    let mut session = keeper.session_without_refresh(&position.workspace, caller)?;
    load_changes_and_save_visit(&mut session)?;
    session.palace.refresh_file(&room_path(&position.room));
    // A hall has no scrolls: they belong to the room above.
    let newest = match position.hall {
        None => current_scroll_ids(&session.palace.palace, &position.room),
        Some(_) => Vec::new(),
    };
    let summary = match is_entrance_hall(&position) {
        true => render_roomless_palace(session.palace, caller)? + "\n",
        false => String::new(),
    };
    let (contents, read) = render_new_scrolls(&mut session, &newest)?;
    let listed = names_listed_at(session.palace, &position);
    let facts = render_new_facts(&mut session, &listed, &[])?;
    session.visit.record_shown_scrolls(0, newest);
    let notices = take_notices(&mut session, &position);
    let mut listed_items = Vec::new();
    let page = render_room_view(keeper, caller, |palace, visit, view| {
        view.notices = notices_at(palace, visit, view, &position, caller);
        listed_items.clone_from(&view.listed_items);
        for it in &mut view.scrolls {
            *it = palace.scroll_view(view.id, it.scroll);
        }
        view.read_scrolls = read;
        view.entity_listing.iter_mut().for_each(|it| it.facts.clone_from(&facts));
        view.notices.extend(stale_scroll_notices(palace, view));
        view.notices.extend(notices);
        match view.room {
            _ if position.hall.is_some() => summary + &render::hall(view),
            Some(_) => render::room(view),
            None => render_drawer_only_room(palace, view)
                .unwrap_or_else(|| render_unbuilt_room(palace, view, &position)),
        }
    })?;
    let visit = keeper.visit_of_caller(caller);
    // A person has no other description of the actions than the menu.
    visit.has_seen_menu = matches!(caller.author, Author::Client(_));
    visit.listed_items = listed_items;
    visit.answer_subject = AnswerSubject::Place;
    Ok(contents + &page)
}

/// Returns the notices about a room, and adds the notes that they name to the items of its page.
fn notices_at(
    palace: &OpenPalace,
    visit: &Visit,
    view: &mut RoomView<'_>,
    position: &Location,
    caller: &Caller,
) -> Vec<Notice> {
    let since = visit.changes_since_visit.get(&position.workspace);
    let mut notices = room_notices(palace, &position.room, since, caller.reader());
    notices.extend(leading_notes_notice(palace, view));
    notices
}

/// Returns the notices of which a visit is told once: of the revision of a room, and of sync.
fn take_notices(session: &mut Session<'_>, position: &Location) -> Vec<Notice> {
    let revision = match position.hall {
        None => suggest_revision(session, &position.room),
        Some(_) => None,
    };
    revision.into_iter().chain(take_sync_notices(session)).collect()
}

/// Brings the palace of the caller up to date, and renders the room or hall that the caller is in.
pub fn look_around(keeper: &mut Keeper, caller: &Caller) -> Result<String, Refusal> {
    let position = position_of_caller(keeper, caller)?;
    keeper.session_in(&position.workspace, caller)?;
    render_current_room(keeper, caller)
}

/// Adds the menu of the caller to a page.
pub fn with_menu(keeper: &mut Keeper, caller: &Caller, page: &str) -> Result<String, Refusal> {
    // A person reads more easily one action per line.
    let form = match caller.author {
        Author::Client(_) => render::short_menu,
        Author::Person(_) => render::menu,
    };
    Ok(format!("{}\n\n{}", page.trim_end(), render_menu_with(keeper, caller, form)?))
}

/// Renders the numbers that the caller can choose.
pub(crate) fn render_menu(keeper: &mut Keeper, caller: &Caller) -> Result<String, Refusal> {
    render_menu_with(keeper, caller, render::menu)
}

fn render_menu_with(
    keeper: &mut Keeper,
    caller: &Caller,
    render: impl FnOnce(&RoomView<'_>) -> String,
) -> Result<String, Refusal> {
    let listed = keeper.visit_of_caller(caller).listed_items.clone();
    // The menu alone lists no entities: its numbers open what was listed before.
    render_room_view(keeper, caller, |_, _, view| {
        view.listed_items = listed;
        render(view)
    })
}

/// Renders the position of the caller with `render`, which adds the notices if it shows any, and
/// remembers the actions of the numbers.
fn render_room_view(
    keeper: &mut Keeper,
    caller: &Caller,
    render: impl FnOnce(&OpenPalace, &Visit, &mut RoomView<'_>) -> String,
) -> Result<String, Refusal> {
    let position = position_of_caller(keeper, caller)?;
    let palace = keeper.open_palace(&position.workspace)?;
    if needs_history(&palace.palace) {
        palace.update_file_history_cache()?;
    }
    if may_have_renamed_rooms(&palace.palace, &position.room) {
        palace.find_renamed_rooms()?;
    }
    let hall = halls::visible_hall(&palace.palace, &position);
    if let Some(hall) = &hall {
        palace.keep_grouping_sorted(&hall.grouping);
    }
    let back = keeper.visit_of_caller(caller).previous_location().cloned();
    let back = back.map(|it| place_name(keeper, &it, &position.workspace));
    let session = keeper.session_without_refresh(&position.workspace, caller)?;
    let mut view = room_view(session.palace, session.visit, &position, hall, caller);
    view.back = back;
    let page = render(session.palace, session.visit, &mut view);
    let visit = session.visit;
    (visit.menu, visit.layout, visit.page) = (view.actions, view.layout, view.page);
    Ok(page)
}

fn room_view<'a>(
    open: &'a OpenPalace,
    visit: &Visit,
    position: &'a Location,
    hall: Option<Hall>,
    caller: &Caller,
) -> RoomView<'a> {
    let (palace, room) = (&open.palace, &position.room);
    let layout = palace.settings.layout;
    let contents = hall.as_ref().map(|it| halls::hall_contents(palace, position, it));
    let from = previous_room(visit, position);
    let actions = available_actions(palace, position, contents.as_ref(), from);
    // The page of the menu may not exist any more.
    let page_exists = visit.page * layout.page_size(actions.len()) < actions.len();
    let is_hall = position.hall.is_some();
    let since = visit.changes_since_visit.get(&position.workspace);
    let unread = since.into_iter().flat_map(|it| &it.unread_scrolls).map(|it| it.id);
    let scroll_count = if is_hall { 0 } else { palace.scrolls_in_room(room).count() };
    let latest_count = current_scroll_ids(palace, room).len();
    let entity_listing =
        hall.zip(contents).map(|(hall, it)| hall_entity_listing(palace, &hall, &it));
    let mut listed_items = listed_entities(entity_listing.as_ref());
    let text = palace.room(room).filter(|_| !is_hall).map(|it| it.description.as_str());
    let description = text.map(|it| number_entity_links(it, &palace.graph, &mut listed_items));
    if listed_items.is_empty() {
        listed_items.clone_from(&visit.listed_items);
    }
    let shown = visit.shown_scrolls.iter().filter_map(|it| palace.scroll(it));
    RoomView {
        id: room,
        room: palace.room(room),
        description: description.unwrap_or_default(),
        layout,
        scrolls: shown.map(ScrollView::without_provenance).collect(),
        unread_scrolls: unread.collect(),
        read_scrolls: Vec::new(),
        older_scroll_count: scroll_count.saturating_sub(visit.scrolls_seen.max(latest_count)),
        drawer_count: if is_hall { 0 } else { palace.count_drawers_shown_in(room) },
        listed_items,
        entity_listing,
        actions,
        page: if page_exists { visit.page } else { 0 },
        back: None,
        has_seen_menu: visit.has_seen_menu,
        notices: Vec::new(),
        audience: caller.audience(),
        now: caller.now,
    }
}

/// Returns the room the visitor came from, if it is in the same palace.
fn previous_room<'a>(visit: &'a Visit, position: &Location) -> Option<&'a RoomId> {
    let previous = visit.previous_location().filter(|it| it.workspace == position.workspace);
    previous.map(|it| &it.room)
}

/// Takes the caller into a room that was just built, and shows it (v1 section 5.3).
pub fn enter_built_room(
    keeper: &mut Keeper,
    caller: &Caller,
    workspace_key: &str,
    room: &RoomId,
) -> Result<String, Refusal> {
    let note = keeper.with_workspace_note(caller, String::new());
    let new_room = Location::from_room(workspace_key, room.clone());
    leave_doorway(keeper, caller, &new_room)?;
    let visit = keeper.visit_of_caller(caller);
    match &visit.location {
        // A caller without a position gets one in the first room.
        None => visit.enter_palace(workspace_key, Some(new_room)),
        Some(at) if is_entrance_hall(at) => visit.enter_palace(workspace_key, Some(new_room)),
        Some(at) if at.is_same_place(&new_room) => visit.page = 0,
        Some(_) => visit.go_to(new_room),
    }
    Ok(note + &render_current_room(keeper, caller)?)
}

/// Moves a caller in the doorway of an unbuilt room into the room with the same slug that was just
/// built in a wing, so that no way leads back to the doorway.
fn leave_doorway(keeper: &mut Keeper, caller: &Caller, built: &Location) -> Result<(), Refusal> {
    let Some(here) = keeper.visit_of_caller(caller).location.clone() else { return Ok(()) };
    let is_same_slug = here.workspace == built.workspace && here.room.slug == built.room.slug;
    let palace = &keeper.open_palace(&built.workspace)?.palace;
    if is_same_slug && here.hall.is_none() && !palace.is_enterable_room(&here.room) {
        let visit = keeper.visit_of_caller(caller);
        visit.rename_room(&built.workspace, &here.room, &built.room);
    }
    Ok(())
}

/// Updates the menu of a caller in the room that was just built, so that the numbers of the new
/// actions work before the room is shown again.
pub fn update_menu_in_built_room(
    keeper: &mut Keeper,
    caller: &Caller,
    built: &BuiltRoom,
) -> Result<(), Refusal> {
    let is_here = |it: Location| it.room == built.room && it.workspace == built.workspace_key;
    if position_of_caller(keeper, caller).is_ok_and(is_here) {
        render_menu(keeper, caller)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rooms::scrolls::{NewScroll, write_scroll};
    use crate::test_home::{TestHome, ada};

    #[test]
    fn a_replaced_scroll_counts_as_older() {
        let mut home = TestHome::new(&[
            ("palace.toml", "format = 1\nname = \"Keep\"\nentry = \"hall\"\n"),
            ("rooms/hall.yaml", "name: Hall\ndescription: Bare.\n"),
        ]);
        home.enter().unwrap();
        for (body, older) in [("one", None), ("two", Some("(1)")), ("three", Some("(2)"))] {
            let (title, room) = ("Hand-over".to_owned(), Some("hall".to_owned()));
            let new = NewScroll { title, body: body.to_owned(), room };
            write_scroll(&mut home.keeper, &ada(), &new).unwrap();
            let page = look_around(&mut home.keeper, &ada()).unwrap();
            let count = page.split_once("older scrolls ").map(|(_, it)| &it[..3]);
            assert_eq!(count, older, "{page}");
        }
    }
}
