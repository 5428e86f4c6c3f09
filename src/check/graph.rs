//! What hangs in rooms and below them, and what they show of the graph.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{Remark, Survey};
use crate::model::{Arrangement, By, Code, Fault, Room, RoomId, Trail, did_you_mean};

/// How many genera of which there is nothing are compared with those there are.
const COMPARED: usize = 20;

impl Survey<'_> {
    /// Looks at the walls scrolls hang on, the genera that rooms show, and what
    /// entities are by theirs.
    pub(crate) fn graph(&self) -> Vec<Remark> {
        self.lost_scrolls().chain(self.strange_halls()).chain(self.faults()).collect()
    }

    /// Tells of rooms that are not there and have scrolls, at the first of them.
    fn lost_scrolls(&self) -> impl Iterator<Item = Remark> {
        let mut lost = BTreeMap::new();
        for (file, which) in self.palace.scroll_files() {
            if self.palace.room(&which.room).is_none() {
                lost.entry(&which.room).or_insert((file, 0)).1 += 1;
            }
        }
        let lost = lost.into_iter().filter(|_| !self.is_torn("rooms/"));
        lost.map(|(room, (file, count))| {
            let message = match count {
                1 => format!("the room `{room}` is not there, and this scroll hangs in it"),
                _ => format!("the room `{room}` is not there, and {count} scrolls hang in it"),
            };
            let remark = Remark::new(Code::LostScroll, file, Trail::TOP, message);
            remark.hint("build the room, or move the scrolls into another's folder")
        })
    }

    /// Tells of rooms that show a genus of which there is nothing, or go by an attribute
    /// that nothing has.
    fn strange_halls(&self) -> impl Iterator<Item = Remark> {
        let mut compared = 0;
        self.palace.rooms().filter_map(move |(id, room)| self.strange_hall(id, room, &mut compared))
    }

    /// Tells that of one room; `compared` counts what is not there and was compared with
    /// what is.
    pub(crate) fn strange_hall(
        &self,
        id: &RoomId,
        room: &Room,
        compared: &mut usize,
    ) -> Option<Remark> {
        let Arrangement::Genus { genus, by } = room.generate.as_ref()? else { return None };
        // What is not there may be in a file that could not be read.
        if self.is_torn("entities/") || self.is_torn("genera/") {
            return None;
        }
        let graph = &self.palace.graph;
        let (remark, meant) = match (graph.genus_called(genus), by) {
            (None, _) => {
                let message = format!(
                    "no entity has the genus `{}`, and no file tells of it",
                    genus.escape_debug()
                );
                let known = graph.known_genera().filter(|_| *compared < COMPARED);
                ((Code::UndefinedGenus, "genus", message), did_you_mean(genus, known))
            }
            (Some(genus), By::Attribute(key)) => {
                if graph.count(genus) == 0 || graph.attributes(genus).any(|it| it == key) {
                    return None;
                }
                let known = graph.attributes(genus).filter(|_| *compared < COMPARED);
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
        let about = Trail::TOP.value("generate").value(key);
        let remark = Remark::new(code, &(self.file_of)(id), about, message);
        Some(match meant {
            Some(meant) => remark.hint(format!("did you mean `{}`?", meant.escape_debug())),
            None => remark,
        })
    }

    /// Tells what is wrong with entities by their genus, and where they lead to
    /// what nobody has defined.
    fn faults(&self) -> impl Iterator<Item = Remark> {
        let graph = &self.palace.graph;
        let faults = graph.files().flat_map(|(file, entity)| {
            graph.faults(entity).into_iter().map(move |fault| (file, fault))
        });
        let faults = faults.filter(|(_, fault)| !fault.is_of_file());
        faults.filter_map(|(file, fault)| self.faulty(file, fault))
    }

    /// Tells of one such fault.
    pub(crate) fn faulty(&self, file: &str, fault: Fault) -> Option<Remark> {
        let Fault { code, about, message, hint, lost } = fault;
        // What is not there may be in a file that could not be read.
        if code == Code::UndefinedEntity && self.is_torn("entities/") {
            return None;
        }
        let meant = lost.as_ref().and_then(|it| self.palace.graph.names_like(it).next());
        let meant = meant.map(|it| format!("did you mean `{}`?", it.escape_debug()));
        let mut remark = Remark::new(code, file, about, message);
        remark.finding.hint = meant.or(hint);
        Some(remark)
    }
}
