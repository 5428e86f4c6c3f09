//! The notices in a room: changes by others, open work, faults (v1 section 6; v2 sections 2.4 and
//! 3.5).
//!
//! A room lists the tasks and processes that name it, and those about an entity that it shows: one
//! that one of its actions names, or whose genus an action lists. The entry lists all open work of
//! the palace.

use chrono::{DateTime, Utc};

use crate::format::{PalacePath, room_path};
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::room_scope::RoomScope;
use crate::keeper::walk::changes_since_visit;
use crate::keeper::work::work_items::work_view;
use crate::model::{ItemId, Palace, RoomId, WorkSubject};
use crate::render::{self, Notice};
use crate::visit::ChangesSinceVisit;

/// Maximum numbers of processes and tasks that a room lists.
const MAX_PROCESSES: usize = 2;
const MAX_TASKS: usize = 3;

/// Returns true if a notice needs the history of a file: for the age of open work.
pub(crate) fn needs_history(palace: &Palace) -> bool {
    palace.processes.values().any(|it| it.status.is_open())
        || palace.tasks.values().any(|it| it.status.is_open() && it.created.is_none())
}

/// Returns the open processes and the open tasks whose subject `is_listed`.
pub(crate) fn list_open_work(
    palace: &Palace,
    is_listed: impl Fn(&WorkSubject) -> bool,
) -> [Vec<ItemId>; 2] {
    let open =
        palace.processes.iter().filter(|(_, it)| it.status.is_open() && is_listed(&it.subject));
    let processes = open.map(|(file, _)| ItemId::Process(file.clone())).collect();
    let open = palace.tasks.iter().filter(|(_, it)| it.status.is_open() && is_listed(&it.subject));
    [processes, open.map(|(file, _)| ItemId::Task(file.clone())).collect()]
}

/// Returns the notices in a room; `since` are the changes of others since the last visit.
pub(crate) fn room_notices(
    palace: &OpenPalace,
    room: &RoomId,
    since: Option<&ChangesSinceVisit>,
    now: DateTime<Utc>,
) -> Vec<Notice> {
    let scope = RoomScope::for_room(&palace.palace, room);
    let changes =
        since.map(|it| changes_since_visit::change_notices(&palace.palace, &scope, it, now));
    let work = work_notices(palace, &scope, now);
    let faults = palace.entity_faults().room_notice(&palace.palace.graph, &scope);
    let notices = changes.into_iter().flatten().chain(work).chain(faults);
    let is_entry = palace.palace.entry_room() == Some(room);
    let notices = notices.map(Notice).chain(palace.store().warning_before_write().map(Notice));
    let notices = notices.chain(missing_entry_notice(palace).filter(|_| is_entry));
    notices.chain(palace.file_error_notices().into_iter().map(Notice)).collect()
}

/// Returns the notice that the entry room of the settings does not exist. An entry room whose file
/// is broken has another notice.
fn missing_entry_notice(palace: &OpenPalace) -> Option<Notice> {
    let entry = palace.palace.settings.entry.as_ref()?;
    let exists = palace.palace.resolve_room(entry, None).is_ok_and(|it| {
        palace.palace.room(&it).is_some() || palace.file_error(&room_path(&it)).is_some()
    });
    let text = format!(
        "{}: the entry room `{entry}` does not exist, so visits begin here: build it, or name \
         another room as `entry`",
        PalacePath::SETTINGS_FILE
    );
    (!exists).then_some(Notice(text))
}

fn work_notices(open: &OpenPalace, scope: &RoomScope<'_>, now: DateTime<Utc>) -> Vec<String> {
    let palace = &open.palace;
    let [processes, tasks] =
        list_open_work(palace, |subject| scope.includes_subject(palace, subject));
    let listed = processes.iter().take(MAX_PROCESSES).chain(tasks.iter().take(MAX_TASKS));
    let views = listed.filter_map(|it| work_view(open, it));
    let mut notices: Vec<_> = views.map(|it| render::work_notice(&it, now)).collect();
    let left =
        processes.len().saturating_sub(MAX_PROCESSES) + tasks.len().saturating_sub(MAX_TASKS);
    if left > 0 {
        notices.push(format!("and {left} more to be done: list_tasks"));
    }
    notices
}
