//! What hangs in rooms and below them, and what they show of the graph.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{CheckFinding, PalaceCheck};
use crate::model::{Code, EntityFault, GroupBy, Grouping, Room, RoomId, ValuePath, did_you_mean};

/// How many genera of which there is nothing are compared with those there are.
const MAX_SUGGESTIONS: usize = 20;

impl PalaceCheck<'_> {
    /// Looks at the walls scrolls hang on, the genera that rooms show, and what
    /// entities are by theirs.
    pub(crate) fn check_graph(&self) -> Vec<CheckFinding> {
        self.scrolls_in_missing_rooms()
            .chain(self.check_generated_halls())
            .chain(self.entity_faults())
            .collect()
    }

    /// Tells of rooms that are not there and have scrolls, at the first of them.
    fn scrolls_in_missing_rooms(&self) -> impl Iterator<Item = CheckFinding> {
        let mut lost = BTreeMap::new();
        for (file, which) in self.palace.scroll_files() {
            if self.palace.room(&which.room).is_none() {
                lost.entry(&which.room).or_insert((file, 0)).1 += 1;
            }
        }
        let lost = lost.into_iter().filter(|_| !self.has_unreadable_files("rooms/"));
        lost.map(|(room, (file, count))| {
            let message = match count {
                1 => format!("the room `{room}` is not there, and this scroll hangs in it"),
                _ => format!("the room `{room}` is not there, and {count} scrolls hang in it"),
            };
            let remark = CheckFinding::new(Code::LostScroll, file, ValuePath::ROOT, message);
            remark.with_hint("build the room, or move the scrolls into another's folder")
        })
    }

    /// Tells of rooms that show a genus of which there is nothing, or go by an attribute
    /// that nothing has.
    fn check_generated_halls(&self) -> impl Iterator<Item = CheckFinding> {
        let mut compared = 0;
        self.palace
            .rooms()
            .filter_map(move |(id, room)| self.check_generated_hall(id, room, &mut compared))
    }

    /// Tells that of one room; `compared` counts what is not there and was compared with
    /// what is.
    pub(crate) fn check_generated_hall(
        &self,
        id: &RoomId,
        room: &Room,
        compared: &mut usize,
    ) -> Option<CheckFinding> {
        let Grouping::Genus { genus, by } = room.generate.as_ref()? else { return None };
        // What is not there may be in a file that could not be read.
        if self.has_unreadable_files("entities/") || self.has_unreadable_files("genera/") {
            return None;
        }
        let graph = &self.palace.graph;
        let (remark, meant) = match (graph.find_genus_ignoring_case(genus), by) {
            (None, _) => {
                let message = format!(
                    "no entity has the genus `{}`, and no file tells of it",
                    genus.escape_debug()
                );
                let known = graph.all_genus_names().filter(|_| *compared < MAX_SUGGESTIONS);
                ((Code::UndefinedGenus, "genus", message), did_you_mean(genus, known))
            }
            (Some(genus), GroupBy::Attribute(key)) => {
                if graph.count_in_genus(genus) == 0
                    || graph.attribute_names(genus).any(|it| it == key)
                {
                    return None;
                }
                let known = graph.attribute_names(genus).filter(|_| *compared < MAX_SUGGESTIONS);
                let known: BTreeSet<_> = known.collect();
                let message = format!(
                    "no {} has an attribute `{}`, nor is it laid down",
                    genus.escape_debug(),
                    key.escape_debug()
                );
                ((Code::UndefinedAttribute, "by", message), did_you_mean(key, known))
            }
            _ => return None,
        };
        *compared += 1;
        let (code, key, message) = remark;
        let about = ValuePath::ROOT.then_value("generate").then_value(key);
        let remark = CheckFinding::new(code, &(self.room_file)(id), about, message);
        Some(match meant {
            Some(meant) => remark.with_hint(format!("did you mean `{}`?", meant.escape_debug())),
            None => remark,
        })
    }

    /// Tells what is wrong with entities by their genus, and where they lead to
    /// what nobody has defined.
    fn entity_faults(&self) -> impl Iterator<Item = CheckFinding> {
        let graph = &self.palace.graph;
        let faults = graph.entities_with_files().flat_map(|(file, entity)| {
            graph.entity_faults(entity).into_iter().map(move |fault| (file, fault))
        });
        let faults = faults.filter(|(_, fault)| !fault.is_invalid_date());
        faults.filter_map(|(file, fault)| self.fault_finding(file, fault))
    }

    /// Tells of one such fault.
    pub(crate) fn fault_finding(&self, file: &str, fault: EntityFault) -> Option<CheckFinding> {
        let EntityFault { code, path: about, message, hint, undefined_name: lost } = fault;
        // What is not there may be in a file that could not be read.
        if code == Code::UndefinedEntity && self.has_unreadable_files("entities/") {
            return None;
        }
        let meant = lost.as_ref().and_then(|it| self.palace.graph.names_ignoring_case(it).next());
        let meant = meant.map(|it| format!("did you mean `{}`?", it.escape_debug()));
        let mut remark = CheckFinding::new(code, file, about, message);
        remark.diagnostic.hint = meant.or(hint);
        Some(remark)
    }
}
