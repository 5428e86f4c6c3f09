//! Writes scrolls (v1 section 5.4).

use chrono::{DateTime, SubsecRound as _, Utc};

use crate::name_check::reject_hidden_chars_in_line;
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::palace::resolve::{RoomsMeant, resolve_room, rooms_with_name};
use crate::walk::{current_position, mark_shown};
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::format::{self, new_scroll_path, room_path};
use palazzo_core::model::{
    FileEdit, ItemId, Layout, Palace, RoomId, RoomRef, Scroll, ScrollId, Slot,
};
use palazzo_core::render;
use palazzo_core::visit::Visit;

/// Maximum number of characters of a title.
const MAX_TITLE_CHARS: usize = 200;

/// A scroll to write.
#[derive(Clone, Debug)]
pub struct NewScroll {
    /// Its title, in one line.
    pub title: String,
    /// Its text.
    pub body: String,
    /// Its room by slug or name, or `entry` for the entry room; without one, the current room of the
    /// caller.
    pub room: Option<String>,
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
    /// When the scrolls were written that it replaces, and by whom, the newest first.
    pub replaced: Vec<(DateTime<Utc>, String)>,
}

/// Writes a scroll with the time and the name of the caller.
pub fn write_scroll(
    keeper: &mut Keeper,
    caller: &Caller,
    new: &NewScroll,
) -> Result<WrittenScroll, Refusal> {
    reject_hidden_chars_in_line("title", &new.title)?;
    let title = render::storable_line(&new.title);
    if title.is_empty() || title.chars().count() > MAX_TITLE_CHARS {
        let why = format!("a scroll needs a title of 1 to {MAX_TITLE_CHARS} characters");
        return Err(Refusal::Invalid(why));
    }
    let mut session = keeper.session(caller)?;
    let here = match &new.room {
        None if session.visit.workspace.is_some() => Some(current_position(&mut session)?.room),
        _ => None,
    };
    let mut scroll = new_scroll(&mut session, title.clone(), &new.body);
    let (mut written, mut replaced) = (None, Vec::new());
    session.palace.change_files(caller, &ChangeOptions::exclusive(), |open| {
        let room = room_for_scroll(open, new.room.as_deref(), here.as_ref())?;
        let room_name = render::one_line(&open.palace.room_name(&room));
        let mut older = scrolls_with_title(&open.palace, &room, &title);
        older.retain(|it| it.written <= scroll.written);
        replaced = older.iter().map(|it| (it.written, it.by.clone())).collect();
        scroll.replaces = older.iter().map(|it| it.id).collect();
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
    mark_shown(&mut session, &ItemId::Scroll(ScrollId { room: room.clone(), id: scroll.id }));
    let number = renumber_scrolls_if_here(&mut session, &room);
    Ok(WrittenScroll { title, room_name, number, replaced })
}

/// Returns the scrolls of a room with this title, in any case, that no other replaces yet.
fn scrolls_with_title<'a>(palace: &'a Palace, room: &RoomId, title: &str) -> Vec<&'a Scroll> {
    let lower = |it: &str| render::storable_line(it).to_lowercase();
    let title = lower(title);
    let is_current = |it: &&Scroll| palace.replacement_of_scroll(room, it).is_none();
    palace.scrolls_in_room(room).filter(|it| lower(&it.title) == title).filter(is_current).collect()
}

/// Returns the latest scrolls of a room, newest first, without those that are replaced.
pub(crate) fn current_scroll_ids(palace: &Palace, room: &RoomId) -> Vec<ScrollId> {
    let is_current = |it: &&Scroll| palace.replacement_of_scroll(room, it).is_none();
    let latest = palace.scrolls_in_room(room).filter(is_current).take(Visit::SCROLLS_PER_ROOM);
    latest.map(|it| ScrollId { room: room.clone(), id: it.id }).collect()
}

/// Returns the scrolls of a room after the first `from`, newest first, at most `limit`. Those that are
/// replaced come after all others.
pub(crate) fn page_of_scroll_ids(
    palace: &Palace,
    room: &RoomId,
    from: usize,
    limit: usize,
) -> Vec<ScrollId> {
    let all = palace.scrolls_in_room(room);
    let (replaced, current): (Vec<_>, Vec<_>) =
        all.partition(|it| palace.replacement_of_scroll(room, it).is_some());
    let scrolls = current.into_iter().chain(replaced).skip(from).take(limit);
    scrolls.map(|it| ScrollId { room: room.clone(), id: it.id }).collect()
}

fn new_scroll(session: &mut Session<'_>, title: String, body: &str) -> Scroll {
    let end = if body.ends_with('\n') { "" } else { "\n" };
    Scroll {
        id: session.new_id(),
        title,
        written: session.caller.now.trunc_subsecs(0),
        by: session.caller.name.clone(),
        replaces: Vec::new(),
        body: format!("{body}{end}"),
    }
}

/// Returns the room for a scroll: the room that the caller names, the current room of the caller,
/// or the entry room. Refuses a room that is not built.
fn room_for_scroll(
    open: &mut OpenPalace,
    requested: Option<&str>,
    here: Option<&RoomId>,
) -> Result<RoomId, Refusal> {
    let room = match (requested, here) {
        (Some(requested), _) => find_requested_room(open, requested)?,
        (None, Some(here)) => here.clone(),
        (None, None) => open.palace.entry_room().cloned().ok_or(Refusal::NoRooms)?,
    };
    if open.palace.room(&room).is_some() {
        return Ok(room);
    }
    let broken = open.file_error(&room_path(&room)).cloned().map(Box::new);
    Err(broken.map_or(Refusal::RoomNotBuilt { room }, Refusal::UnreadableFile))
}

/// Returns the room with this slug or name, or the entry room for `entry`. A room that is not built is
/// returned if the text is a slug.
fn find_requested_room(open: &mut OpenPalace, requested: &str) -> Result<RoomId, Refusal> {
    if requested.trim().eq_ignore_ascii_case("entry") {
        match open.palace.entry_room() {
            Some(entry) => return Ok(entry.clone()),
            None if open.palace.rooms().next().is_none() => return Err(Refusal::NoRooms),
            None => {}
        }
    }
    let by_slug = match requested.parse::<RoomRef>() {
        Ok(room) => {
            let asked = open.palace.resolve_room(&room, None)?;
            Some(open.present_room_id(asked)?)
        }
        Err(_) => None,
    };
    let is_built = |it: &RoomId| open.palace.room(it).is_some();
    if let Some(room) = by_slug.iter().find(|it| is_built(it)) {
        return Ok(room.clone());
    }
    match by_slug {
        Some(room) if rooms_with_name(&open.palace, requested).is_empty() => Ok(room),
        _ => resolve_room(open, requested, RoomsMeant::Built),
    }
}

/// If the caller is in the room, numbers its newest scrolls again and returns the number of the
/// first one.
fn renumber_scrolls_if_here(session: &mut Session<'_>, room: &RoomId) -> Option<usize> {
    session.visit.workspace.as_ref()?;
    if current_position(session).ok()?.room != *room {
        return None;
    }
    let newest = current_scroll_ids(&session.palace.palace, room);
    session.visit.record_shown_scrolls(0, newest);
    Some(Layout::default().number_of_slot(Slot::Scroll(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{NOW, TestHome, ada};

    const HALL: (&str, &str) = ("rooms/hall.yaml", "name: Hall\ndescription: Stone.\n");
    const CRYPT: (&str, &str) = ("rooms/crypt.yaml", "name: Crypt\ndescription: Dark.\n");

    fn home() -> TestHome {
        let home = TestHome::new(&[HALL, CRYPT]);
        home.write("palace.toml", "format = 1\nname = \"Keep\"\nentry = \"hall\"\n");
        home
    }

    fn write(
        home: &mut TestHome,
        title: &str,
        room: Option<&str>,
    ) -> Result<WrittenScroll, Refusal> {
        let room = room.map(str::to_owned);
        let new = NewScroll { title: title.to_owned(), body: "Found.".to_owned(), room };
        write_scroll(&mut home.keeper, &ada(), &new)
    }

    #[test]
    fn a_scroll_without_a_room_goes_to_the_entry_and_gets_no_number_before_a_visit() {
        let written = write(&mut home(), "On moss", None).unwrap();
        assert_eq!((written.room_name.as_str(), written.number), ("Hall", None));
    }

    #[test]
    fn the_newest_scroll_of_the_current_room_is_read_by_21() {
        let mut home = home();
        home.enter().unwrap();
        assert_eq!(write(&mut home, "First", None).unwrap().number, Some(21));
        assert_eq!(write(&mut home, "Second", Some("hall")).unwrap().number, Some(21));
        let shown = home.run(|session| {
            let shown = session.visit.shown_scrolls.clone();
            let scrolls = shown.iter().filter_map(|it| session.palace.palace.scroll(it));
            scrolls.map(|it| it.title.clone()).collect::<Vec<_>>()
        });
        assert_eq!(shown, ["Second", "First"]);
    }

    #[test]
    fn a_scroll_for_another_room_gets_no_number() {
        let mut home = home();
        home.enter().unwrap();
        let written = write(&mut home, "On bones", Some("crypt")).unwrap();
        assert_eq!((written.room_name.as_str(), written.number), ("Crypt", None));
    }

    #[test]
    fn a_scroll_has_the_time_and_the_name_of_the_caller_and_ends_in_a_line_break() {
        let mut home = home();
        write(&mut home, "Über\nMoos", None).unwrap();
        let (title, by, written, body) = home.run(|session| {
            let (_, scroll) = session.palace.palace.scrolls().next().unwrap();
            (scroll.title.clone(), scroll.by.clone(), scroll.written, scroll.body.clone())
        });
        assert_eq!((title.as_str(), by.as_str(), body.as_str()), ("Über Moos", "ada", "Found.\n"));
        assert_eq!(written, NOW.parse::<chrono::DateTime<chrono::Utc>>().unwrap());
    }

    #[test]
    fn a_room_is_named_by_its_slug_its_name_or_as_the_entry() {
        let mut home = home();
        home.write("rooms/topic-river.yaml", "name: River of Topics\n");
        for (room, name) in [
            ("crypt", "Crypt"),
            ("CRYPT", "Crypt"),
            ("entry", "Hall"),
            ("River of Topics", "River of Topics"),
            ("river-of-topics", "River of Topics"),
            ("Topics, river of", "River of Topics"),
        ] {
            let written = write(&mut home, "On moss", Some(room)).unwrap();
            assert_eq!(written.room_name, name, "{room}");
        }
    }

    #[test]
    fn a_name_of_several_rooms_is_refused_with_their_slugs() {
        let mut home = home();
        home.write("rooms/east/spring.yaml", "name: Well\n");
        home.write("rooms/west/fountain.yaml", "name: Well\n");
        let refusal = write(&mut home, "On moss", Some("well")).unwrap_err().to_string();
        let why = "several rooms are called `well`: write one of `east/spring`, `west/fountain`";
        assert_eq!(refusal, why);
    }

    #[test]
    fn a_title_has_1_to_200_characters() {
        let mut home = home();
        assert!(write(&mut home, &"é".repeat(200), None).is_ok());
        for title in ["", " \n\t", "é".repeat(201).as_str()] {
            let refusal = write(&mut home, title, None).unwrap_err().to_string();
            assert_eq!(refusal, "a scroll needs a title of 1 to 200 characters");
        }
    }

    #[test]
    fn a_scroll_for_an_unbuilt_room_is_refused() {
        let refusal = write(&mut home(), "Deep", Some("pit")).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "the room `pit` is not built yet: build it with build_room first, or name another `room`"
        );
    }

    #[test]
    fn a_scroll_for_a_room_with_a_broken_file_is_refused_with_the_position_of_the_error() {
        let mut home = home();
        home.write("rooms/crypt.yaml", "name: Crypt\nname: Vault\n");
        let refusal = write(&mut home, "Deep", Some("crypt")).unwrap_err().to_string();
        assert!(
            refusal.starts_with("rooms/crypt.yaml:2:1: the key `name` occurs twice"),
            "{refusal}"
        );
    }

    #[test]
    fn a_palace_without_rooms_has_no_place_for_a_scroll() {
        let refusal = write(&mut TestHome::new(&[]), "On moss", None).unwrap_err();
        assert!(matches!(refusal, Refusal::NoRooms), "{refusal}");
    }

    #[test]
    fn older_scrolls_follow_the_newest() {
        let mut home = home();
        for title in ["First", "Second", "Third"] {
            write(&mut home, title, None).unwrap();
        }
        let titles = home.run(|session| {
            let palace = &session.palace.palace;
            let ids = page_of_scroll_ids(palace, &"hall".parse().unwrap(), 1, 5);
            let titles = ids.iter().filter_map(|it| Some(palace.scroll(it)?.title.clone()));
            titles.collect::<Vec<_>>()
        });
        assert_eq!(titles, ["Second", "First"]);
    }
}
