//! The changes that each visit has made to a palace, kept in memory only.
//!
//! A room that shows many changed entities suggests to revise it (v2 section 4.3).

use std::collections::BTreeMap;

use ulid::Ulid;

use palazzo_core::format::PalacePath;
use palazzo_core::model::{Palace, RoomId};

/// Maximum number of visits; the oldest are forgotten first.
const MAX_VISITS: usize = 100;

/// Maximum number of changed entities of one visit.
const MAX_ENTITIES: usize = 10_000;

/// The changes of the latest visits, by the id of the visit.
#[derive(Clone, Debug, Default)]
pub(crate) struct VisitChanges {
    visits: BTreeMap<Ulid, ChangesOfVisit>,
}

/// The changes of one visit. Each item has the number of the last change that touched it.
#[derive(Clone, Debug, Default)]
struct ChangesOfVisit {
    change_count: usize,
    /// By genus and name.
    entities: BTreeMap<(String, String), usize>,
    /// The rooms that were built, or in which a scroll was left.
    rooms: BTreeMap<RoomId, usize>,
}

impl VisitChanges {
    /// Begins to record a change of a visit.
    pub(crate) fn begin_change(&mut self, visit: Ulid) {
        self.visits.entry(visit).or_default().change_count += 1;
        while self.visits.len() > MAX_VISITS {
            self.visits.pop_first();
        }
    }

    /// Records the content of the file at `path`, as part of the last change of a visit. Called
    /// before and after the file is changed.
    pub(crate) fn record_file(&mut self, visit: Ulid, palace: &Palace, path: &str) {
        let Some(changes) = self.visits.get_mut(&visit) else { return };
        let number = changes.change_count;
        match PalacePath::parse(path) {
            Ok(PalacePath::Entity) => {
                let entity = palace.graph.entity_in_file(path).filter(|it| it.is_defined);
                if let Some(it) = entity.filter(|_| changes.entities.len() < MAX_ENTITIES) {
                    changes.entities.insert((it.genus.clone(), it.name.clone()), number);
                }
            }
            Ok(PalacePath::Room(id) | PalacePath::Scroll(id)) => {
                changes.rooms.insert(id, number);
            }
            _ => {}
        }
    }

    /// Counts by genus the entities for which `is_shown` returns true, given genus and name, and
    /// that the visit has changed since it last built the room or left a scroll there.
    pub(crate) fn count_since_revision(
        &self,
        visit: Ulid,
        room: &RoomId,
        is_shown: impl Fn(&str, &str) -> bool,
    ) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        let Some(changes) = self.visits.get(&visit) else { return counts };
        let revised = changes.rooms.get(room).copied().unwrap_or_default();
        for ((genus, name), number) in &changes.entities {
            if *number > revised && is_shown(genus, name) {
                *counts.entry(genus.as_str()).or_default() += 1;
            }
        }
        counts
    }
}
