//! Renames, moves and deletes rooms (v2 section 3.1): their scrolls, and the doors, tasks, processes
//! and settings that name them, follow in the same commit.

use crate::format::{self, PalacePath, room_path};
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::rooms::room_lookup::require_room;
use crate::keeper::rooms::room_rename::RoomRename;
use crate::keeper::{Refusal, Session};
use crate::model::{Diagnostic, FileEdit, Room, RoomId, RoomRef, Severity};
use crate::render::{self, count_with_noun};

/// A room that was renamed or deleted, and what followed.
#[derive(Clone, Debug)]
pub struct MovedRoom {
    /// The name of the palace's directory.
    pub(crate) workspace_key: String,
    /// The room; after a rename, its new name.
    pub room: RoomId,
    /// Its display name, in one line.
    pub name: String,
    /// What changed with it: `2 other rooms, 3 scrolls`; may be empty.
    pub followed: String,
}

/// What a move of a room changes besides its file.
#[derive(Default)]
struct Followers {
    rooms: usize,
    scrolls: usize,
    tasks: usize,
    processes: usize,
}

/// Gives a room another slug or wing.
pub fn rename_room(
    session: &mut Session<'_>,
    room: &RoomRef,
    new: &RoomRef,
) -> Result<MovedRoom, Refusal> {
    let to = new.as_literal_id().clone();
    let mut done = None;
    session.palace.change_files(session.caller, |open| {
        let from = require_room(open, room)?;
        let (plan, followers) = plan_room_rename(open, &from, &to)?;
        done = Some((from, followers));
        Ok(plan)
    })?;
    let (from, followers) = done.ok_or(Refusal::NoRooms)?;
    session.visit.rename_room(&session.key, &from, &to);
    let name = render::one_line(&session.palace.palace.room_name(&to));
    let workspace_key = session.key.clone();
    Ok(MovedRoom { workspace_key, room: to, name, followed: followers.describe() })
}

/// Deletes a room, and the doors that lead to it. Its scrolls move to `scrolls_to`, or are deleted
/// with it. The entry room cannot be deleted.
pub fn delete_room(
    session: &mut Session<'_>,
    room: &RoomRef,
    scrolls_to: Option<&RoomRef>,
) -> Result<MovedRoom, Refusal> {
    let mut done = None;
    session.palace.change_files(session.caller, |open| {
        let id = require_room(open, room)?;
        let scrolls_to = scrolls_to.map(|it| require_room(open, it)).transpose()?;
        let name = render::one_line(&open.palace.room_name(&id));
        let (plan, followers) = plan_room_deletion(open, &id, scrolls_to.as_ref())?;
        done = Some((id, name, followers));
        Ok(plan)
    })?;
    let (room, name, followers) = done.ok_or(Refusal::NoRooms)?;
    session.visit.leave_deleted_room(&session.key, &room);
    let workspace_key = session.key.clone();
    Ok(MovedRoom { workspace_key, room, name, followed: followers.describe() })
}

fn plan_room_rename(
    open: &mut OpenPalace,
    from: &RoomId,
    to: &RoomId,
) -> Result<(ChangePlan, Followers), Refusal> {
    let palace = open.palace.clone();
    let has_scrolls = palace.scrolls_in_room(to).next().is_some();
    if open.has_file(&room_path(to)) || has_scrolls {
        return Err(Refusal::Invalid(format!(
            "there is a room `{to}` already: choose another slug, or delete that room first"
        )));
    }
    let rename = RoomRename { palace: &palace, from, to };
    let mut edits = Vec::new();
    for (id, room) in palace.rooms() {
        let renamed = rename.rename_in_room(id, room);
        if id != from && renamed != *room {
            edits.push(plan_room_edit(open, id, room, &renamed)?);
        }
    }
    let rooms = edits.len();
    if let Some(room) = palace.room(from) {
        let FileEdit { path, was, now } =
            plan_room_edit(open, from, room, &rename.rename_in_room(from, room))?;
        edits.push(FileEdit { path: room_path(to), was: None, now });
        edits.push(FileEdit { path, was, now: None });
    }
    let scrolls = plan_scroll_moves(open, from, Some(to))?;
    let (tasks, processes) = (rename.plan_task_edits(open)?, rename.plan_process_edits(open)?);
    let followers = Followers {
        rooms,
        scrolls: scrolls.len() / 2,
        tasks: tasks.len(),
        processes: processes.len(),
    };
    edits.extend(scrolls.into_iter().chain(tasks).chain(processes));
    edits.extend(plan_entry_rename(open, from, to)?);
    let body = render::one_line(&palace.room_name(from));
    Ok((ChangePlan { edits, subject: format!("room {from}: rename to {to}"), body }, followers))
}

/// Returns the edit of the settings, if they name the renamed room as the entry.
fn plan_entry_rename(
    open: &mut OpenPalace,
    from: &RoomId,
    to: &RoomId,
) -> Result<Option<FileEdit>, Refusal> {
    let entry = open.palace.settings.entry.clone();
    let is_entry = entry.is_some_and(|it| open.palace.resolve_room(&it, None).as_ref() == Ok(from));
    let path = PalacePath::SETTINGS_FILE.to_owned();
    let Some(text) = open.read_file_for_change(&path)?.filter(|_| is_entry) else {
        return Ok(None);
    };
    let mut settings = open.palace.settings.clone();
    settings.entry = Some(RoomRef::from(to.clone()));
    let now = format::edit_settings_text(&text, &settings)
        .ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?;
    Ok(Some(FileEdit { path, was: Some(text), now: Some(now) }))
}

fn plan_room_deletion(
    open: &mut OpenPalace,
    id: &RoomId,
    scrolls_to: Option<&RoomId>,
) -> Result<(ChangePlan, Followers), Refusal> {
    let palace = open.palace.clone();
    if palace.entry_room() == Some(id) {
        return Err(Refusal::Invalid(format!(
            "`{id}` is the entry room: make another room the entry first, with `entry: true`"
        )));
    }
    if scrolls_to == Some(id) {
        return Err(Refusal::Invalid(
            "`scrolls_to` is the room to delete: name another room".to_owned(),
        ));
    }
    let mut edits = Vec::new();
    for (other, room) in palace.rooms().filter(|(it, _)| *it != id) {
        let leads_here = |it: &RoomRef| palace.resolve_room(it, Some(other)).as_ref() == Ok(id);
        let mut now = room.clone();
        now.actions.retain(|it| !it.target_room().is_some_and(leads_here));
        now.portals.retain(|it| !leads_here(it));
        if now != *room {
            edits.push(plan_room_edit(open, other, room, &now)?);
        }
    }
    let rooms = edits.len();
    let path = room_path(id);
    let was = open.read_file_for_change(&path)?;
    edits.push(FileEdit { path, was, now: None });
    edits.extend(plan_scroll_moves(open, id, scrolls_to)?);
    let scrolls = palace.scrolls_in_room(id).count();
    let followers = Followers { rooms, scrolls, ..Followers::default() };
    let body = render::one_line(&palace.room_name(id));
    Ok((ChangePlan { edits, subject: format!("room {id}: delete"), body }, followers))
}

fn plan_room_edit(
    open: &mut OpenPalace,
    id: &RoomId,
    old: &Room,
    new: &Room,
) -> Result<FileEdit, Refusal> {
    let path = room_path(id);
    let was = open.read_file_for_change(&path)?;
    let now = was.as_ref().and_then(|it| format::edit_room_text(&path, it, old, new));
    match now {
        Some(now) => Ok(FileEdit { path, was, now: Some(now) }),
        None => Err(Refusal::UneditableFormatting { file: path }),
    }
}

/// Returns the edits that move the scrolls of a room to another, or delete them.
fn plan_scroll_moves(
    open: &mut OpenPalace,
    from: &RoomId,
    to: Option<&RoomId>,
) -> Result<Vec<FileEdit>, Refusal> {
    let folder = format!("scrolls/{from}/");
    let is_broken =
        |it: &&Diagnostic| it.severity() == Severity::Error && it.file.starts_with(&folder);
    if let Some(finding) = open.findings().find(is_broken) {
        return Err(Refusal::BrokenFile(finding.clone().into()));
    }
    let palace = open.palace.clone();
    let mut edits = Vec::new();
    for (path, _) in palace.scroll_files().filter(|(_, it)| it.room == *from) {
        let Some(text) = open.read_file_for_change(path)? else { continue };
        if let (Some(to), Some(name)) = (to, path.strip_prefix(&folder)) {
            let now = Some(text.clone());
            edits.push(FileEdit { path: format!("scrolls/{to}/{name}"), was: None, now });
        }
        edits.push(FileEdit { path: path.to_owned(), was: Some(text), now: None });
    }
    Ok(edits)
}

impl Followers {
    fn describe(&self) -> String {
        let counts = [
            (self.rooms, "other room"),
            (self.scrolls, "scroll"),
            (self.tasks, "task"),
            (self.processes, "process"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        counts.map(|(count, noun)| count_with_noun(*count, noun)).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::test_home::TestHome;

    const HALL: &str = "name: Hall\ndescription: Stone.\nactions:\n- {label: Go, type: navigate, room: attic}\nportals: [attic]\n";
    const ATTIC: &str = "name: Attic\ndescription: Dust.\n";
    const SCROLL: &str = "---\ntitle: Moss\nwritten: 2026-03-01\nby: ada\n---\n\nGreen.\n";
    const SCROLL_FILE: &str = "01KJMM4N00F2JXHH4DQ7YF03TN-moss.md";
    const TASK_FILE: &str = "tasks/01KJMM4N00F2JXHH4DQ7YF03TP.yaml";

    fn home() -> TestHome {
        TestHome::new(&[
            ("palace.toml", "format = 1\nname = \"Keep\"\nentry = \"hall\"\n"),
            ("rooms/hall.yaml", HALL),
            ("rooms/attic.yaml", ATTIC),
            (&format!("scrolls/attic/{SCROLL_FILE}"), SCROLL),
            (TASK_FILE, "title: Sweep\nroom: attic\n"),
        ])
    }

    fn room(text: &str) -> RoomRef {
        text.parse().unwrap()
    }

    #[test]
    fn doors_scrolls_and_tasks_follow_a_renamed_room() {
        let mut home = home();
        let moved = home.run(|it| rename_room(it, &room("attic"), &room("loft"))).unwrap();
        assert_eq!((moved.name.as_str(), moved.room.to_string()), ("Attic", "loft".to_owned()));
        assert_eq!(moved.followed, "1 other room, 1 scroll, 1 task");
        assert_eq!(home.read("rooms/hall.yaml"), Some(HALL.replace("attic", "loft")));
        assert_eq!(home.read("rooms/loft.yaml").as_deref(), Some(ATTIC));
        assert_eq!(home.read("rooms/attic.yaml"), None);
        assert_eq!(home.read(&format!("scrolls/loft/{SCROLL_FILE}")).as_deref(), Some(SCROLL));
        assert_eq!(home.read(TASK_FILE).as_deref(), Some("title: Sweep\nroom: loft\n"));
    }

    #[test]
    fn a_renamed_entry_room_stays_the_entry() {
        let mut home = home();
        home.run(|it| rename_room(it, &room("hall"), &room("north/hall"))).unwrap();
        assert!(home.read("palace.toml").unwrap().contains("entry = \"north/hall\""));
        assert!(home.enter().unwrap().contains("── Hall ──"));
    }

    #[test]
    fn a_room_that_moves_to_a_wing_keeps_its_doors() {
        let mut home = home();
        home.write("rooms/east/den.yaml", "name: Den\ndescription: x\nportals: [nook]\n");
        home.write("rooms/east/nook.yaml", "name: Nook\ndescription: x\n");
        home.write("rooms/nook.yaml", "name: Other\ndescription: x\n");
        home.run(|it| rename_room(it, &room("east/den"), &room("west/den"))).unwrap();
        assert!(home.read("rooms/west/den.yaml").unwrap().contains("portals: [east/nook]"));
    }

    #[test]
    fn a_name_that_is_taken_is_refused() {
        let mut home = home();
        let refused = home.run(|it| rename_room(it, &room("attic"), &room("hall")));
        let why = "there is a room `hall` already: choose another slug, or delete that room first";
        assert_eq!(refused.unwrap_err().to_string(), why);
        let refused = home.run(|it| rename_room(it, &room("atic"), &room("loft")));
        assert!(refused.unwrap_err().to_string().contains("did you mean `attic`?"));
    }

    #[test]
    fn a_deleted_room_takes_the_doors_to_it_and_its_scrolls_along() {
        let mut home = home();
        let gone = home.run(|it| delete_room(it, &room("attic"), None)).unwrap();
        assert_eq!(gone.followed, "1 other room, 1 scroll");
        let hall = home.read("rooms/hall.yaml").unwrap();
        assert!(!hall.contains("attic"), "{hall}");
        assert_eq!(home.read("rooms/attic.yaml"), None);
        assert_eq!(home.read(&format!("scrolls/attic/{SCROLL_FILE}")), None);
    }

    #[test]
    fn scrolls_of_a_deleted_room_can_move_to_another() {
        let mut home = home();
        let hall = room("hall");
        home.run(|it| delete_room(it, &room("attic"), Some(&hall))).unwrap();
        assert_eq!(home.read(&format!("scrolls/hall/{SCROLL_FILE}")).as_deref(), Some(SCROLL));
        assert_eq!(home.read(&format!("scrolls/attic/{SCROLL_FILE}")), None);
    }

    #[test]
    fn the_entry_room_cannot_be_deleted() {
        let mut home = home();
        let refused = home.run(|it| delete_room(it, &room("hall"), None)).unwrap_err();
        let why = "`hall` is the entry room: make another room the entry first, with `entry: true`";
        assert_eq!(refused.to_string(), why);
    }

    #[test]
    fn a_room_with_an_unreadable_scroll_is_neither_renamed_nor_deleted() {
        let mut home = home();
        home.write("scrolls/attic/01KJMM4N00F2JXHH4DQ7YF03TQ-x.md", "---\ntitle: [\n---\n");
        let refused = home.run(|it| rename_room(it, &room("attic"), &room("loft"))).unwrap_err();
        assert!(refused.to_string().contains("01KJMM4N00F2JXHH4DQ7YF03TQ-x.md"), "{refused}");
        assert!(home.run(|it| delete_room(it, &room("attic"), None)).is_err());
    }
}
