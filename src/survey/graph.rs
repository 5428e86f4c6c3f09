//! What hangs in rooms and below them.

use std::collections::BTreeMap;

use crate::model::{Code, Fault, Trail};
use crate::survey::{Remark, Survey};

impl Survey<'_> {
    /// Looks at the walls scrolls hang on, and what entities are by their genera.
    pub(super) fn graph(&self) -> Vec<Remark> {
        self.lost_scrolls().chain(self.faults()).collect()
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

    /// Tells what is wrong with entities by their genus, and where they lead to
    /// what nobody has defined.
    fn faults(&self) -> impl Iterator<Item = Remark> {
        let graph = &self.palace.graph;
        let faults = graph.files().flat_map(|(file, entity)| {
            graph.faults(entity).into_iter().map(move |fault| (file, fault))
        });
        faults.filter_map(|(file, fault)| self.faulty(file, fault))
    }

    /// Tells of one such fault.
    pub(super) fn faulty(&self, file: &str, fault: Fault) -> Option<Remark> {
        let Fault { code, about, message, hint, lost } = fault;
        // What is not there may be in a file that could not be read.
        if code == Code::UndefinedEntity && self.is_torn("entities/") {
            return None;
        }
        let meant = lost.as_ref().and_then(|it| self.palace.graph.names_like(it).next());
        let meant = meant.map(|it| format!("did you mean `{}`?", it.escape_debug()));
        let mut remark = Remark::new(code, file, about, message);
        remark.finding.hint = meant.or_else(|| hint.map(str::to_owned));
        Some(remark)
    }
}
