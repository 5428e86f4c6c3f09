//! What the server says of a room by itself about work (v1 section 6; v2
//! sections 2.4 and 3.5).
//!
//! A room tells of the tasks and processes that name it, and of those about an
//! entity that it shows: one that an action of its names, or whose genus an
//! action lists. The entry tells of all that is open in the palace.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::keeper::palace::OpenPalace;
use crate::keeper::work::list::work_view;
use crate::model::{ActionKind, Grouping, ItemId, Palace, RoomId, WorkSubject};
use crate::render;

/// How many processes and how many tasks a room tells of.
const MAX_PROCESSES: usize = 2;
const MAX_TASKS: usize = 3;

/// What a room shows of the graph.
pub(crate) struct RoomScope<'a> {
    /// Whether the room is about everything: the entry, or a room that shows all
    /// there are.
    is_whole_palace: bool,
    room: &'a RoomId,
    names: BTreeSet<&'a str>,
    genera: BTreeSet<String>,
}

impl<'a> RoomScope<'a> {
    /// Looks at what the actions of a room ask of the graph, and what it shows.
    pub(crate) fn for_room(palace: &'a Palace, room: &'a RoomId) -> Self {
        let found = palace.room(room);
        let actions = found.map(|it| it.actions.as_slice()).unwrap_or_default();
        let (mut names, mut genera) = (BTreeSet::new(), BTreeSet::new());
        for action in actions {
            let ActionKind::Query { params, .. } = &action.kind else { continue };
            let text = |key: &str| params.get(key).and_then(Value::as_str);
            names.extend(text("name").into_iter().chain(text("entity")));
            genera.extend(text("genus").map(str::to_lowercase));
        }
        let shown = found.and_then(|it| it.generate.as_ref());
        if let Some(Grouping::Genus { genus, .. }) = shown {
            genera.insert(genus.to_lowercase());
        }
        let is_wide = palace.entry_room() == Some(room) || shown == Some(&Grouping::Everything);
        Self { is_whole_palace: is_wide, room, names, genera }
    }

    /// Tells whether the room shows all entities of a genus.
    pub(crate) fn includes_genus(&self, genus: &str) -> bool {
        self.is_whole_palace || self.genera.contains(&genus.to_lowercase())
    }

    /// Tells whether the room shows an entity of that name by itself.
    pub(crate) fn includes_entity(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Tells whether what happens in a room concerns the room.
    pub(crate) fn includes_room(&self, room: &RoomId) -> bool {
        self.is_whole_palace || self.room == room
    }

    fn includes_about(&self, palace: &Palace, about: &WorkSubject) -> bool {
        let is_here = |it| palace.resolve_room(it, None).as_ref() == Ok(self.room);
        let shows = |name: &String| {
            let genus = palace.graph.get(name).map(|it| it.genus.as_str());
            self.includes_entity(name) || genus.is_some_and(|it| self.includes_genus(it))
        };
        self.is_whole_palace
            || about.room.as_ref().is_some_and(is_here)
            || about.entity.as_ref().is_some_and(shows)
    }
}

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
    let [processes, tasks] = open_work(palace, |about| exhibits.includes_about(palace, about));
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
