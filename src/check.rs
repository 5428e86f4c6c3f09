//! Looks over a palace as a whole: doors that lead nowhere, questions that no
//! tool answers, names that mean two things.
//!
//! What is wrong with one file by itself, its reader tells. Here nothing is
//! read and nothing is asked twice: the cost follows the palace's size.

mod duplicates;
mod graph;
mod misplaced_files;
mod rooms;
mod tool_actions;
mod work;

use std::collections::{BTreeSet, HashMap};

use crate::model::{Code, Diagnostic, Palace, RoomId, Tool, Trail};

/// How many findings of one kind a file may have.
const MOST: usize = 50;

/// A palace, and what one needs to know to look it over.
pub struct Survey<'a> {
    /// The palace, as far as its files could be read.
    pub palace: &'a Palace,
    /// Every tool that actions can ask.
    pub tools: &'a [Tool],
    /// The files that could not be read whole.
    pub broken: BTreeSet<&'a str>,
    /// The file a room has.
    pub file_of: fn(&RoomId) -> String,
}

/// A finding that knows what it is about; where that stands, only the file can
/// tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// The finding, at the beginning of its file.
    pub finding: Diagnostic,
    /// The way from there to what is meant.
    pub about: Trail,
}

impl Survey<'_> {
    /// Tells everything that is wrong or worth knowing.
    pub fn remarks(&self) -> Vec<Remark> {
        let mut remarks = self.doors();
        remarks.extend(self.questions());
        remarks.extend(self.graph());
        remarks.extend(self.work());
        remarks.extend(self.strangers());
        remarks.extend(self.twins());
        let mut counts = HashMap::<(String, Code), usize>::new();
        remarks.retain(|it| {
            let count = counts.entry((it.finding.file.clone(), it.finding.code)).or_default();
            *count += 1;
            *count <= MOST
        });
        remarks
    }

    /// Tells the same of one room, as far as it can be told without looking over the
    /// whole palace: the cost follows the room's size.
    pub fn of_room(&self, id: &RoomId) -> Vec<Remark> {
        let Some(room) = self.palace.room(id) else { return Vec::new() };
        let file = (self.file_of)(id);
        let mut remarks = self.questions_of(room, &file, &self.by_name());
        // Rooms of a similar name are not looked for.
        let mut compared = rooms::COMPARED;
        remarks.extend(self.dead_ends(id, room, &file, &mut compared));
        remarks.extend(self.cut_off(id));
        remarks.extend(self.strange_hall(id, room, &mut 0));
        remarks
    }

    /// Tells whether something below `folder` could not be read: then what
    /// seems to be missing may be there.
    fn is_torn(&self, folder: &str) -> bool {
        self.broken.range(folder..).next().is_some_and(|it| it.starts_with(folder))
    }
}

impl Remark {
    fn new(code: Code, file: &str, about: Trail, message: impl Into<String>) -> Self {
        Self { finding: Diagnostic::of_file(code, file, message), about }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.finding.hint = Some(hint.into());
        self
    }
}
