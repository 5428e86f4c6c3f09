//! The notices in a room: changes by others, open work, faults (v1 section 6; v2 sections 2.4 and
//! 3.5).
//!
//! A room lists the tasks and processes that name it, and those about an entity that it shows: one
//! that one of its actions names, or whose genus an action lists. The entry lists all open work of
//! the palace.

use std::collections::BTreeMap;

use crate::palace::OpenPalace;
use crate::palace::room_scope::RoomScope;
use crate::walk::changes_since_visit;
use crate::work::{list_open_work, work_view};
use palazzo_core::format::{PalacePath, room_path};
use palazzo_core::model::{OpenConflict, Palace, Reader, Room, RoomId, ScrollId};
use palazzo_core::render::{self, Notice, RoomView};
use palazzo_core::visit::ChangesSinceVisit;

/// Maximum numbers of processes and tasks that a room lists.
const MAX_PROCESSES: usize = 2;
const MAX_TASKS: usize = 3;

/// Maximum number of files that a room lists for one scroll.
const MAX_STALE_FILES: usize = 2;

/// Maximum number of conflicts that a room lists.
const MAX_CONFLICTS: usize = 3;

/// Returns true if a notice needs the history of a file: for the age of open work.
pub(crate) fn needs_history(palace: &Palace) -> bool {
    palace.processes.values().any(|it| it.status.is_open())
        || palace.tasks.values().any(|it| it.status.is_open() && it.created.is_none())
}

/// Returns true if a room does not exist, and so may have been renamed, to which a door of `room`
/// leads, or which is the entry or has scrolls.
pub(crate) fn may_have_renamed_rooms(palace: &Palace, room: &RoomId) -> bool {
    unbuilt_exits(palace, room).next().is_some()
        || palace.missing_rooms_with_scrolls().len() > 0
        || has_unbuilt_entry_room(palace)
}

/// Returns true if the entry room of the settings does not exist; it may have been renamed.
pub(crate) fn has_unbuilt_entry_room(palace: &Palace) -> bool {
    let entry = palace.settings.entry.as_ref().map(|it| palace.resolve_room(it, None));
    entry.is_some_and(|it| it.is_ok_and(|it| palace.room(&it).is_none()))
}

fn unbuilt_exits<'p>(palace: &'p Palace, id: &'p RoomId) -> impl Iterator<Item = RoomId> + 'p {
    let exits = palace.room(id).into_iter().flat_map(Room::linked_rooms);
    let exits = exits.filter_map(|it| palace.resolve_room(it, Some(id)).ok());
    exits.filter(|it| !palace.is_enterable_room(it))
}

/// Returns a notice on each door by the old name of a room; the door leads to the room.
fn old_name_notices(open: &OpenPalace, room: &RoomId) -> Vec<Notice> {
    let palace = &open.palace;
    let ways = palace.room(room).into_iter().flat_map(Room::linked_rooms);
    let renamed: BTreeMap<_, _> = ways
        .filter_map(|way| {
            let old = palace.resolve_room(way, Some(room)).ok()?;
            let new = palace.resolve_present_room(way, Some(room)).ok()?;
            (old != new).then_some((old, new))
        })
        .collect();
    let notice = |(old, new): (&RoomId, &RoomId)| {
        Notice(format!("The room `{old}` is `{new}` now · `palazzo check --fix` renames the doors"))
    };
    renamed.iter().map(notice).chain(renamed_entry_notice(palace, room)).collect()
}

/// Returns the notice that the settings name the room `here` as the entry by its old name.
fn renamed_entry_notice(palace: &Palace, here: &RoomId) -> Option<Notice> {
    let entry = palace.settings.entry.as_ref().filter(|_| palace.entry_room() == Some(here))?;
    let is_missing = palace.resolve_room(entry, None).is_ok_and(|it| palace.room(&it).is_none());
    let is_renamed = palace.resolve_present_room(entry, None).as_ref() == Ok(here);
    let text = format!(
        "The entry room `{entry}` is `{here}` now · `palazzo check --fix` changes the entry"
    );
    (is_missing && is_renamed).then_some(Notice(text))
}

/// Returns the notices in a room; `since` are the changes of others since the last visit.
pub(crate) fn room_notices(
    palace: &OpenPalace,
    room: &RoomId,
    since: Option<&ChangesSinceVisit>,
    reader: Reader,
) -> Vec<Notice> {
    let scope = RoomScope::for_room(&palace.palace, room);
    let changes =
        since.map(|it| changes_since_visit::change_notices(&palace.palace, &scope, it, reader.now));
    let work = work_notices(palace, &scope, reader);
    let faults = palace.faulty_entities().room_notice(&palace.palace.graph, &scope);
    let notices = changes.into_iter().flatten().chain(work).chain(faults);
    let is_entry = palace.palace.entry_room() == Some(room);
    let notices = notices.map(Notice).chain(palace.store().warning_before_write().map(Notice));
    let notices = notices.chain(missing_entry_notice(palace).filter(|_| is_entry));
    let notices = notices.chain(old_name_notices(palace, room));
    let notices = notices.chain(conflict_notices(palace, room, reader));
    notices.chain(palace.file_error_notices().into_iter().map(Notice)).collect()
}

/// Returns the notices on the conflicts about a room and its scrolls; in the entry room, also the
/// number of all others.
fn conflict_notices(open: &OpenPalace, room: &RoomId, reader: Reader) -> Vec<Notice> {
    let room_file = room_path(room);
    let is_here = |file: &str| {
        file == room_file || open.palace.scroll_in_file(file).is_some_and(|it| it.room == *room)
    };
    let here = open.open_conflicts_about(is_here);
    let writer =
        |it: &OpenConflict| (it.item_file == room_file).then_some("build_room (merge: true)");
    let listed = here.iter().take(MAX_CONFLICTS);
    let listed = listed.map(|it| Notice(render::conflict_notice(it, writer(it), reader)));
    let others = match open.palace.entry_room() == Some(room) {
        true => open.count_open_conflicts(),
        false => here.len(),
    };
    let others = others.saturating_sub(here.len().min(MAX_CONFLICTS));
    let others = (others > 0).then(|| {
        Notice(format!("Elsewhere, {}", render::conflict_count_line(others, reader.audience)))
    });
    listed.chain(others).collect()
}

/// Returns the notice that the entry room of the settings does not exist. An entry room whose file
/// is broken has another notice.
fn missing_entry_notice(palace: &OpenPalace) -> Option<Notice> {
    let entry = palace.palace.settings.entry.as_ref()?;
    let exists = palace.palace.resolve_present_room(entry, None).is_ok_and(|it| {
        palace.palace.room(&it).is_some() || palace.file_error(&room_path(&it)).is_some()
    });
    let text = format!(
        "{}: the entry room `{entry}` does not exist, so visits begin here: build it, or name \
         another room as `entry`",
        PalacePath::SETTINGS_FILE
    );
    (!exists).then_some(Notice(text))
}

fn work_notices(open: &OpenPalace, scope: &RoomScope<'_>, reader: Reader) -> Vec<String> {
    let palace = &open.palace;
    let [processes, tasks] =
        list_open_work(palace, |subject| scope.includes_subject(palace, subject));
    let listed = processes.iter().take(MAX_PROCESSES).chain(tasks.iter().take(MAX_TASKS));
    let views = listed.filter_map(|it| work_view(open, it));
    let mut notices: Vec<_> = views.map(|it| render::work_notice(&it, reader.now)).collect();
    let left =
        processes.len().saturating_sub(MAX_PROCESSES) + tasks.len().saturating_sub(MAX_TASKS);
    if left > 0 {
        let tool = reader.audience.choose(": list_tasks", "");
        notices.push(format!("and {left} more to be done{tool}"));
    }
    notices
}

/// Returns the notices on the files that the shown scrolls name and that are gone or much changed;
/// none as of a past commit.
pub(crate) fn stale_scroll_notices(open: &OpenPalace, view: &RoomView<'_>) -> Vec<Notice> {
    if open.store().as_of_commit().is_some() {
        return Vec::new();
    }
    let notices = view.scrolls.iter().flat_map(|it| {
        let which = ScrollId { room: view.id.clone(), id: it.scroll.id };
        let mut notes = open.stale_file_notes_of_scroll(&which);
        let left = notes.len().saturating_sub(MAX_STALE_FILES);
        notes.truncate(MAX_STALE_FILES);
        if left > 0 {
            notes.push(format!("names {left} more files that are gone or much changed"));
        }
        let title = render::name_in_sentence(&it.scroll.title);
        notes.into_iter().map(move |note| Notice(format!("The scroll {title} {note}")))
    });
    notices.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    const HALL: (&str, &str) = ("rooms/hall.yaml", "name: Hall\ndescription: Stone.\n");
    const CRYPT: (&str, &str) = ("rooms/crypt.yaml", "name: Crypt\ndescription: Dark.\n");

    fn notices(home: &mut TestHome, room: &str) -> Vec<String> {
        let room = room.parse().unwrap();
        let notices = home.run(|session| room_notices(session.palace, &room, None, ada().reader()));
        notices.into_iter().map(|it| it.0).collect()
    }

    /// A palace with the entry `entry`, a hall and a crypt.
    fn home_with_entry(entry: &str) -> TestHome {
        let home = TestHome::new(&[HALL, CRYPT]);
        home.write("palace.toml", &format!("name = \"Keep\"\nentry = \"{entry}\"\n"));
        home
    }

    #[test]
    fn the_entry_lists_all_open_work_and_another_room_only_its_own() {
        let mut home = home_with_entry("hall");
        home.write("tasks/a.yaml", "title: Dust\nroom: crypt\n");
        home.write("tasks/b.yaml", "title: Think\n");
        home.write("tasks/c.yaml", "title: Rest\nstatus: done\n");
        assert_eq!(notices(&mut home, "hall"), ["Task: Dust", "Task: Think"]);
        assert_eq!(notices(&mut home, "crypt"), ["Task: Dust"]);
    }

    #[test]
    fn a_room_lists_two_processes_and_three_tasks_and_counts_the_rest() {
        let mut home = home_with_entry("hall");
        for number in 1..=4 {
            home.write(&format!("tasks/{number}.yaml"), &format!("title: Task {number}\n"));
            let process = format!("name: Process {number}\nsteps: [Begin]\n");
            home.write(&format!("processes/{number}.yaml"), &process);
        }
        let expected = [
            "Process: Process 1 (step 1/1)",
            "Process: Process 2 (step 1/1)",
            "Task: Task 1",
            "Task: Task 2",
            "Task: Task 3",
            "and 3 more to be done: list_tasks",
        ];
        assert_eq!(notices(&mut home, "hall"), expected);
    }

    #[test]
    fn a_room_lists_the_work_about_an_entity_that_its_action_names() {
        let action = "  - label: Tap\n    type: query\n    tool: get_entity\n    \
                      tool_params: { name: Granite }\n";
        let mut home = home_with_entry("hall");
        home.write("entities/rock/granite.yaml", "name: Granite\ngenus: Rock\n");
        home.write("tasks/a.yaml", "title: Weigh\nentity: Granite\n");
        home.write("rooms/well.yaml", &format!("name: Well\nactions:\n{action}"));
        assert_eq!(notices(&mut home, "well"), ["Task: Weigh"]);
        assert_eq!(notices(&mut home, "crypt"), [""; 0]);
    }

    #[test]
    fn a_missing_entry_room_is_noticed_where_visits_begin_instead() {
        let mut home = home_with_entry("nowhere");
        let entry = home.run(|session| session.palace.palace.entry_room().cloned()).unwrap();
        let notice = "palace.toml: the entry room `nowhere` does not exist, so visits begin here: \
                      build it, or name another room as `entry`";
        assert_eq!(notices(&mut home, &entry.to_string()), [notice]);
        let other = if entry.slug.as_str() == "hall" { "crypt" } else { "hall" };
        assert_eq!(notices(&mut home, other), [""; 0]);
    }

    #[test]
    fn every_room_lists_the_files_that_cannot_be_read() {
        let mut home = home_with_entry("hall");
        home.write("rooms/well.yaml", "name: Well\nname: Spring\n");
        for room in ["hall", "crypt"] {
            let notices = notices(&mut home, room);
            let [only] = notices.as_slice() else { panic!("{notices:?}") };
            assert!(only.starts_with("rooms/well.yaml:2:1: "), "{only}");
        }
    }

    #[test]
    fn history_is_needed_for_open_processes_and_for_tasks_without_a_date() {
        for (path, text, expected) in [
            ("tasks/a.yaml", "title: Dust\n", true),
            ("tasks/01KJHSAPE0PJMA0HCKESTE6VY6.yaml", "title: Dust\n", false),
            ("tasks/a.yaml", "title: Dust\nstatus: done\n", false),
            ("processes/01KJHSAPE0PJMA0HCKESTE6VY6.yaml", "name: P\nsteps: [Begin]\n", true),
        ] {
            let needed = TestHome::new(&[(path, text)]).run(|it| needs_history(&it.palace.palace));
            assert_eq!(needed, expected, "{path}: {text}");
        }
    }
}
