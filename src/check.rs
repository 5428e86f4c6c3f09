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

use crate::model::{Code, Diagnostic, Palace, RoomId, Tool, ValuePath};

/// How many findings of one kind a file may have.
const MAX_FINDINGS_PER_FILE: usize = 50;

/// A palace, and what one needs to know to look it over.
pub struct PalaceCheck<'a> {
    /// The palace, as far as its files could be read.
    pub palace: &'a Palace,
    /// Every tool that actions can ask.
    pub tools: &'a [Tool],
    /// The files that could not be read whole.
    pub unreadable_files: BTreeSet<&'a str>,
    /// The file a room has.
    pub room_file: fn(&RoomId) -> String,
}

/// A finding that knows what it is about; where that stands, only the file can
/// tell.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckFinding {
    /// The finding, at the beginning of its file.
    pub diagnostic: Diagnostic,
    /// The way from there to what is meant.
    pub value_path: ValuePath,
}

impl PalaceCheck<'_> {
    /// Tells everything that is wrong or worth knowing.
    pub fn findings(&self) -> Vec<CheckFinding> {
        let mut remarks = self.check_rooms();
        remarks.extend(self.check_tool_actions());
        remarks.extend(self.check_graph());
        remarks.extend(self.check_work());
        remarks.extend(self.check_misplaced_files());
        remarks.extend(self.check_duplicates());
        let mut counts = HashMap::<(String, Code), usize>::new();
        remarks.retain(|it| {
            let count = counts.entry((it.diagnostic.file.clone(), it.diagnostic.code)).or_default();
            *count += 1;
            *count <= MAX_FINDINGS_PER_FILE
        });
        remarks
    }

    /// Tells the same of one room, as far as it can be told without looking over the
    /// whole palace: the cost follows the room's size.
    pub fn room_findings(&self, id: &RoomId) -> Vec<CheckFinding> {
        let Some(room) = self.palace.room(id) else { return Vec::new() };
        let file = (self.room_file)(id);
        let mut remarks = self.check_room_tool_actions(room, &file, &self.tools_by_name());
        // Rooms of a similar name are not looked for.
        let mut compared = rooms::MAX_SUGGESTIONS;
        remarks.extend(self.check_exits(id, room, &file, &mut compared));
        remarks.extend(self.check_reachable(id));
        remarks.extend(self.check_generated_hall(id, room, &mut 0));
        remarks
    }

    /// Tells whether something below `folder` could not be read: then what
    /// seems to be missing may be there.
    fn has_unreadable_files(&self, folder: &str) -> bool {
        self.unreadable_files.range(folder..).next().is_some_and(|it| it.starts_with(folder))
    }
}

impl CheckFinding {
    fn new(code: Code, file: &str, about: ValuePath, message: impl Into<String>) -> Self {
        Self { diagnostic: Diagnostic::for_file(code, file, message), value_path: about }
    }

    fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.diagnostic.hint = Some(hint.into());
        self
    }
}
