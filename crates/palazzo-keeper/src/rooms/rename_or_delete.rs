//! Renames, moves and deletes one room (v2 section 3.1).

use std::collections::{BTreeMap, BTreeSet};

use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::palace::resolve::require_room;
use crate::rooms::room_plans::{plan_room_deletions, plan_room_moves};
use crate::{Refusal, Session};
use palazzo_core::model::{RoomDestination, RoomId, RoomRef};
use palazzo_core::render;

/// A room that was renamed or deleted.
#[derive(Clone, Debug)]
pub struct RenamedOrDeletedRoom {
    /// The name of the palace's directory.
    pub workspace_key: String,
    /// The room; after a rename, its new name.
    pub room: RoomId,
    /// Its display name, in one line.
    pub name: String,
    /// The other items that changed, as the end of a sentence: `; what names it follows: 2 other rooms, 3 scrolls`;
    /// may be empty.
    pub followed: String,
}

/// Gives a room another slug or wing.
pub fn rename_room(
    session: &mut Session<'_>,
    room: &RoomRef,
    new: &RoomDestination,
) -> Result<RenamedOrDeletedRoom, Refusal> {
    let mut done = None;
    session.palace.change_files(session.caller, &ChangeOptions::exclusive(), |open| {
        let from = require_room(open, room)?;
        let to = new.of_room(&from);
        let body = render::one_line(&open.palace.room_name(&from));
        let moves = BTreeMap::from([(from.clone(), to.clone())]);
        let (edits, counts) = plan_room_moves(open, &moves)?;
        let subject = format!("room {from}: rename to {to}");
        done = Some((from, to, counts));
        Ok(ChangePlan { edits, subject, body })
    })?;
    let (from, to, counts) = done.ok_or(Refusal::NoRooms)?;
    session.visit.rename_room(&session.key, &from, &to);
    let name = render::one_line(&session.palace.palace.room_name(&to));
    let followed = match counts.describe().as_str() {
        "" => String::new(),
        followed => format!("; what names it follows: {followed}"),
    };
    Ok(RenamedOrDeletedRoom { workspace_key: session.key.clone(), room: to, name, followed })
}

/// Deletes a room, and the doors that lead to it. Its scrolls move to `scrolls_to`, or are deleted
/// with it. The entry room cannot be deleted.
pub fn delete_room(
    session: &mut Session<'_>,
    room: &RoomRef,
    scrolls_to: Option<&RoomRef>,
) -> Result<RenamedOrDeletedRoom, Refusal> {
    let mut done = None;
    session.palace.change_files(session.caller, &ChangeOptions::exclusive(), |open| {
        let id = require_room(open, room)?;
        let scrolls_to = scrolls_to.map(|it| require_room(open, it)).transpose()?;
        let name = render::one_line(&open.palace.room_name(&id));
        let ids = BTreeSet::from([id.clone()]);
        let (edits, counts) = plan_room_deletions(open, &ids, scrolls_to.as_ref())?;
        let (subject, body) = (format!("room {id}: delete"), name.clone());
        done = Some((id, name, counts.describe_deletion(scrolls_to.as_ref())));
        Ok(ChangePlan { edits, subject, body })
    })?;
    let (room, name, followed) = done.ok_or(Refusal::NoRooms)?;
    session.visit.leave_deleted_room(&session.key, &room);
    Ok(RenamedOrDeletedRoom { workspace_key: session.key.clone(), room, name, followed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

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

    fn to(text: &str) -> RoomDestination {
        text.parse().unwrap()
    }

    #[test]
    fn doors_scrolls_and_tasks_follow_a_renamed_room() {
        let mut home = home();
        let moved = home.run(|it| rename_room(it, &room("attic"), &to("loft"))).unwrap();
        assert_eq!((moved.name.as_str(), moved.room.to_string()), ("Attic", "loft".to_owned()));
        assert_eq!(moved.followed, "; what names it follows: 1 other room, 1 scroll, 1 task");
        assert_eq!(home.read("rooms/hall.yaml"), Some(HALL.replace("attic", "loft")));
        assert_eq!(home.read("rooms/loft.yaml").as_deref(), Some(ATTIC));
        assert_eq!(home.read("rooms/attic.yaml"), None);
        assert_eq!(home.read(&format!("scrolls/loft/{SCROLL_FILE}")).as_deref(), Some(SCROLL));
        assert_eq!(home.read(TASK_FILE).as_deref(), Some("title: Sweep\nroom: loft\n"));
    }

    #[test]
    fn a_renamed_entry_room_stays_the_entry() {
        let mut home = home();
        home.run(|it| rename_room(it, &room("hall"), &to("north/hall"))).unwrap();
        assert!(home.read("palace.toml").unwrap().contains("entry = \"north/hall\""));
        assert!(home.enter().unwrap().contains("── Hall ──"));
    }

    #[test]
    fn a_room_that_moves_to_a_wing_keeps_its_doors() {
        let mut home = home();
        home.write("rooms/east/den.yaml", "name: Den\ndescription: x\nportals: [nook]\n");
        home.write("rooms/east/nook.yaml", "name: Nook\ndescription: x\n");
        home.write("rooms/nook.yaml", "name: Other\ndescription: x\n");
        home.run(|it| rename_room(it, &room("east/den"), &to("west/den"))).unwrap();
        assert!(home.read("rooms/west/den.yaml").unwrap().contains("portals: [east/nook]"));
    }

    #[test]
    fn a_name_that_is_taken_is_refused() {
        let mut home = home();
        let refused = home.run(|it| rename_room(it, &room("attic"), &to("hall")));
        let why = "there is a room `hall` already: choose another slug, or delete that room first";
        assert_eq!(refused.unwrap_err().to_string(), why);
        let refused = home.run(|it| rename_room(it, &room("atic"), &to("loft")));
        assert!(refused.unwrap_err().to_string().contains("did you mean `attic`?"));
    }

    #[test]
    fn a_deleted_room_takes_the_doors_to_it_and_its_scrolls_along() {
        let mut home = home();
        let gone = home.run(|it| delete_room(it, &room("attic"), None)).unwrap();
        let followed = "; 1 scroll deleted too; 1 other room without the doors to it; 1 task without a room now";
        assert_eq!(gone.followed, followed);
        assert_eq!(home.read(TASK_FILE).as_deref(), Some("title: Sweep\n"));
        let hall = home.read("rooms/hall.yaml").unwrap();
        assert!(!hall.contains("attic"), "{hall}");
        assert_eq!(home.read("rooms/attic.yaml"), None);
        assert_eq!(home.read(&format!("scrolls/attic/{SCROLL_FILE}")), None);
    }

    #[test]
    fn scrolls_of_a_deleted_room_can_move_to_another() {
        let mut home = home();
        let hall = room("hall");
        let gone = home.run(|it| delete_room(it, &room("attic"), Some(&hall))).unwrap();
        assert!(gone.followed.starts_with("; 1 scroll moved to `hall`; "), "{}", gone.followed);
        assert_eq!(home.read(TASK_FILE).as_deref(), Some("title: Sweep\nroom: hall\n"));
        assert_eq!(home.read(&format!("scrolls/hall/{SCROLL_FILE}")).as_deref(), Some(SCROLL));
        assert_eq!(home.read(&format!("scrolls/attic/{SCROLL_FILE}")), None);
    }

    #[test]
    fn the_entry_room_cannot_be_deleted() {
        let mut home = home();
        let refused = home.run(|it| delete_room(it, &room("hall"), None)).unwrap_err();
        let why = "`hall` is the entry room: make another room the entry first, with `entry` in \
                   palace.toml or `entry: true` of build_room";
        assert_eq!(refused.to_string(), why);
    }

    #[test]
    fn a_room_with_an_unreadable_scroll_is_neither_renamed_nor_deleted() {
        let mut home = home();
        home.write("scrolls/attic/01KJMM4N00F2JXHH4DQ7YF03TQ-x.md", "---\ntitle: [\n---\n");
        let refused = home.run(|it| rename_room(it, &room("attic"), &to("loft"))).unwrap_err();
        assert!(refused.to_string().contains("01KJMM4N00F2JXHH4DQ7YF03TQ-x.md"), "{refused}");
        assert!(home.run(|it| delete_room(it, &room("attic"), None)).is_err());
    }
}
