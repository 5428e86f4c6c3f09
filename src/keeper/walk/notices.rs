//! What the server says of a room by itself about work (v1 section 6; v2
//! sections 2.4 and 3.5).
//!
//! A room tells of the tasks and processes that name it, and of those about an
//! entity that it shows: one that an action of its names, or whose genus an
//! action lists. The entry tells of all that is open in the palace.

use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::room_scope::RoomScope;
use crate::keeper::work::list::work_view;
use crate::model::{ItemId, Palace, WorkSubject};
use crate::render;

/// How many processes and how many tasks a room tells of.
const MAX_PROCESSES: usize = 2;
const MAX_TASKS: usize = 3;

/// Tells whether anything that a room tells of has an age that only its past
/// knows.
pub(crate) fn needs_history(palace: &Palace) -> bool {
    palace.processes.values().any(|it| it.status.is_open())
        || palace.tasks.values().any(|it| it.status.is_open() && it.created.is_none())
}

/// Returns the processes and the tasks that are not done, of those that concern
/// somebody.
pub(crate) fn open_work(
    palace: &Palace,
    concerns: impl Fn(&WorkSubject) -> bool,
) -> [Vec<ItemId>; 2] {
    let open =
        palace.processes.iter().filter(|(_, it)| it.status.is_open() && concerns(&it.subject));
    let processes = open.map(|(file, _)| ItemId::Process(file.clone())).collect();
    let open = palace.tasks.iter().filter(|(_, it)| it.status.is_open() && concerns(&it.subject));
    [processes, open.map(|(file, _)| ItemId::Task(file.clone())).collect()]
}

/// Says what waits to be done in a room.
pub(crate) fn work_notices(
    held: &OpenPalace,
    exhibits: &RoomScope<'_>,
    now: chrono::DateTime<chrono::Utc>,
) -> Vec<String> {
    let palace = &held.palace;
    let [processes, tasks] = open_work(palace, |about| exhibits.includes_subject(palace, about));
    let shown = processes.iter().take(MAX_PROCESSES).chain(tasks.iter().take(MAX_TASKS));
    let views = shown.filter_map(|it| work_view(held, it));
    let mut told: Vec<_> = views.map(|it| render::work_notice(&it, now)).collect();
    let left =
        processes.len().saturating_sub(MAX_PROCESSES) + tasks.len().saturating_sub(MAX_TASKS);
    if left > 0 {
        told.push(format!("and {left} more to be done: list_tasks"));
    }
    told
}
