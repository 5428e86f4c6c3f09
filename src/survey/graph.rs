//! What hangs in rooms and below them, and what they show of the graph.

use std::collections::BTreeMap;

use crate::model::{Arrangement, Code, Fault, Trail, did_you_mean};
use crate::survey::{Remark, Survey};

/// How many genera of which there is nothing are compared with those there are.
const COMPARED: usize = 20;

impl Survey<'_> {
    /// Looks at the walls scrolls hang on, the genera that rooms show, and what
    /// entities are by theirs.
    pub(super) fn graph(&self) -> Vec<Remark> {
        self.lost_scrolls().chain(self.undefined_genera()).chain(self.faults()).collect()
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

    /// Tells of rooms that show a genus of which there is nothing.
    fn undefined_genera(&self) -> impl Iterator<Item = Remark> {
        let graph = &self.palace.graph;
        let shown = self.palace.rooms().filter_map(|(id, room)| match room.generate.as_ref()? {
            Arrangement::Genus { genus, .. } => Some((id, genus)),
            Arrangement::Everything => None,
        });
        let undefined = shown.filter(|(_, genus)| graph.genus_called(genus).is_none());
        // What is not there may be in a file that could not be read.
        let is_torn = self.is_torn("entities/") || self.is_torn("genera/");
        undefined.filter(move |_| !is_torn).enumerate().map(|(number, (id, genus))| {
            let quoted = genus.escape_debug();
            let message = format!("no entity has the genus `{quoted}`, and no file tells of it");
            let about = Trail::TOP.value("generate").value("genus");
            let remark = Remark::new(Code::UndefinedGenus, &(self.file_of)(id), about, message);
            let known = graph.known_genera().filter(|_| number < COMPARED);
            match did_you_mean(genus, known) {
                Some(meant) => remark.hint(format!("did you mean `{}`?", meant.escape_debug())),
                None => remark,
            }
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
