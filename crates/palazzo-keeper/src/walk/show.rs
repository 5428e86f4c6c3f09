//! Rooms and the map without a visit: for the command line.

use crate::palace::OpenPalace;
use crate::palace::resolve::no_such_room_refusal;
use crate::walk::drawers::render_drawer_only_room;
use crate::walk::halls::{self, available_actions, hall_entity_listing, listed_entities};
use crate::walk::note_links::note_links_text;
use crate::walk::notices::{room_notices, stale_scroll_notices};
use crate::workspaces::open_as_of;
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::format::room_path;
use palazzo_core::model::{ItemId, RoomId, RoomRef};
use palazzo_core::render::{self, MapView, RoomView};
use palazzo_core::view;
use palazzo_core::visit::{Location, Visit};

/// Renders a room, by default the entry room, as at the beginning of a visit, now or as of a past
/// revision; and its version and age.
pub(crate) fn show_room(
    keeper: &mut Keeper,
    caller: &Caller,
    room: Option<&RoomRef>,
    as_of: Option<&str>,
) -> Result<String, Refusal> {
    let mut key = keeper.current_workspace(caller)?;
    if let Some(revision) = as_of {
        key = open_as_of(keeper, caller, &key, revision)?;
    }
    let open = keeper.open_palace(&key)?;
    open.begin_session()?;
    open.update_file_history_cache()?;
    open.find_renamed_rooms()?;
    let id = resolve_room_or_entry(open, room)?;
    let open = &*open;
    let mut view = room_view_without_visit(open, &key, &id, caller);
    let stale = stale_scroll_notices(open, &view);
    view.notices.extend(stale);
    let page = render_drawer_only_room(open, &view).unwrap_or_else(|| render::room(&view));
    let versions = open.file_histories().get(&room_path(&id)).copied();
    let leading = note_links_text(open, &ItemId::Room(id.clone()));
    let page = if leading.is_empty() { page } else { format!("{}\n{leading}\n", page.trim_end()) };
    Ok(page + &render::version_summary(versions, open.store().as_of_commit(), caller.now))
}

/// Returns a room as at the beginning of a visit.
pub(crate) fn room_view_without_visit<'a>(
    open: &'a OpenPalace,
    key: &str,
    id: &'a RoomId,
    caller: &Caller,
) -> RoomView<'a> {
    let palace = &open.palace;
    let position = Location::from_room(key, id.clone());
    let hall = halls::visible_hall(palace, &position);
    let contents = hall.as_ref().map(|it| halls::hall_contents(palace, &position, it));
    let scroll_count = palace.scrolls_in_room(id).count();
    let entity_listing = hall.as_ref().zip(contents.as_ref());
    let entity_listing = entity_listing.map(|(hall, it)| hall_entity_listing(palace, hall, it));
    let description = palace.room(id).map(|it| it.description.as_str()).unwrap_or_default();
    RoomView {
        id,
        room: palace.room(id),
        description: render::resolve_entity_links(description, &palace.graph),
        layout: palace.settings.layout,
        scrolls: palace
            .scrolls_in_room(id)
            .take(Visit::SCROLLS_PER_ROOM)
            .map(|it| open.scroll_view(id, it))
            .collect(),
        unread_scrolls: Vec::new(),
        read_scrolls: Vec::new(),
        older_scroll_count: scroll_count.saturating_sub(Visit::SCROLLS_PER_ROOM),
        drawer_count: palace.count_drawers_shown_in(id),
        actions: available_actions(palace, &position, contents.as_ref(), None),
        listed_items: listed_entities(entity_listing.as_ref()),
        entity_listing,
        page: 0,
        back: None,
        has_seen_menu: false,
        notices: room_notices(open, id, None, caller.reader()),
        audience: caller.audience(),
        now: caller.now,
    }
}

/// Renders the map of the palace.
pub fn show_map(session: &mut Session<'_>) -> Result<String, Refusal> {
    session.palace.update_file_history_cache()?;
    session.palace.find_renamed_rooms()?;
    Ok(render::map(&map_view(session)))
}

/// Renders the map of the palace as JSON.
pub fn show_map_as_json(session: &mut Session<'_>) -> Result<String, Refusal> {
    session.palace.update_file_history_cache()?;
    session.palace.find_renamed_rooms()?;
    Ok(format!("{:#}\n", render::map_json(&map_view(session))))
}

/// Draws the map of the palace as SVG.
pub fn show_map_as_svg(session: &mut Session<'_>) -> Result<String, Refusal> {
    session.palace.update_file_history_cache()?;
    session.palace.find_renamed_rooms()?;
    Ok(view::map_svg(&map_view(session), &*session.palace.room_arrivals()?))
}

fn map_view<'s>(session: &'s Session<'_>) -> MapView<'s> {
    let (palace, history) = (&*session.palace.palace, session.palace.file_histories());
    let now = session.caller.now;
    let audience = session.caller.audience();
    let conflicts = session.palace.count_open_conflicts();
    let room_file = room_path;
    MapView { palace, here: None, hall: None, conflicts, history, room_file, audience, now }
}

/// Resolves a room; without one, the entry room.
fn resolve_room_or_entry(open: &OpenPalace, room: Option<&RoomRef>) -> Result<RoomId, Refusal> {
    let palace = &open.palace;
    let id = match room {
        Some(room) => palace.resolve_present_room(room, None)?,
        None => palace.entry_room().cloned().ok_or(Refusal::NoRooms)?,
    };
    match palace.is_enterable_room(&id) {
        true => Ok(id),
        false => Err(no_such_room_refusal(open, &id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    fn home_with_rooms(slugs: &[&str]) -> TestHome {
        let home = TestHome::new(&[]);
        for slug in slugs {
            home.write(&format!("rooms/{slug}.yaml"), &format!("name: The {slug}\n"));
        }
        home
    }

    fn show(home: &mut TestHome, room: Option<&str>) -> Result<String, Refusal> {
        let room = room.map(|it| it.parse().unwrap());
        show_room(&mut home.keeper, &ada(), room.as_ref(), None)
    }

    #[test]
    fn the_entry_room_is_shown_unless_a_room_is_named() {
        let mut home = home_with_rooms(&["hall", "crypt"]);
        home.write("palace.toml", "name = \"Keep\"\nentry = \"hall\"\n");
        assert!(show(&mut home, None).unwrap().starts_with("── The hall ──\n"));
        assert!(show(&mut home, Some("crypt")).unwrap().starts_with("── The crypt ──\n"));
    }

    #[test]
    fn showing_a_room_does_not_begin_a_visit() {
        let mut home = home_with_rooms(&["hall"]);
        show(&mut home, None).unwrap();
        assert_eq!(home.keeper.visit_of_caller(&ada()).workspace, None);
    }

    #[test]
    fn an_unknown_room_is_refused_with_the_most_similar_slug() {
        let mut home = home_with_rooms(&["hall", "crypt"]);
        let refusal = show(&mut home, Some("cript")).unwrap_err().to_string();
        assert_eq!(refusal, "no room is called `cript`; did you mean `crypt`?");
    }

    #[test]
    fn an_unknown_room_unlike_all_others_is_refused_with_five_of_them() {
        let mut home = home_with_rooms(&["arch", "bath", "cell", "dome", "exit", "fort"]);
        let refusal = show(&mut home, Some("observatory")).unwrap_err().to_string();
        let rooms = "`arch`, `bath`, `cell`, `dome`, `exit`";
        let why = format!("no room is called `observatory`; existing rooms include {rooms}");
        assert_eq!(refusal, why);
    }

    #[test]
    fn a_room_with_a_broken_file_is_refused_with_the_position_of_the_error() {
        let mut home = home_with_rooms(&["hall"]);
        home.write("rooms/crypt.yaml", "name: Crypt\nname: Vault\n");
        let refusal = show(&mut home, Some("crypt")).unwrap_err().to_string();
        assert!(refusal.starts_with("rooms/crypt.yaml:2:1: "), "{refusal}");
    }

    #[test]
    fn a_palace_without_rooms_has_no_room_to_show() {
        let refusal = show(&mut home_with_rooms(&[]), None).unwrap_err();
        assert!(matches!(refusal, Refusal::NoRooms), "{refusal}");
    }

    #[test]
    fn the_map_lists_rooms_and_marks_none_as_the_current_one() {
        let mut home = home_with_rooms(&["hall", "crypt"]);
        let map = home.run(show_map).unwrap();
        assert!(map.starts_with("── Map of Keep ──\n"), "{map}");
        assert!(map.contains("The hall (hall)") && map.contains("The crypt (crypt)"), "{map}");
        assert!(!map.contains("you are here"), "{map}");
    }

    #[test]
    fn the_map_marks_rooms_without_doors() {
        let mut home = home_with_rooms(&["hall", "crypt"]);
        home.write("rooms/attic.yaml", "name: Attic\nportals: [hall]\n");
        let map = home.run(show_map).unwrap();
        assert!(map.contains("  The crypt (crypt)\n      no doors: no room leads here\n"), "{map}");
        assert_eq!(map.matches("no doors").count(), 1, "{map}");
    }
}
