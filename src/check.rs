//! Checks a palace as a whole: doors to missing rooms, queries that no tool answers,
//! ambiguous names.
//!
//! Faults inside one file are found by its parser in `format`. This module reads no files,
//! and each check is one pass: the cost is linear in the palace's size.

mod duplicates;
mod graph;
mod misplaced_files;
mod palace_check;
mod rooms;
mod tool_actions;
mod work;

pub use palace_check::{CheckFinding, PalaceCheck};

use std::collections::HashMap;

use crate::model::{Code, RoomId};

/// Limit for findings of one code in one file.
const MAX_FINDINGS_PER_FILE: usize = 50;

impl PalaceCheck<'_> {
    /// Returns all findings, at most fifty per file and code.
    pub fn findings(&self) -> Vec<CheckFinding> {
        let mut findings = self.check_rooms();
        findings.extend(self.check_tool_actions());
        findings.extend(self.check_scrolls_halls_and_entities());
        findings.extend(self.check_task_and_process_subjects());
        findings.extend(self.check_misplaced_files());
        findings.extend(self.check_duplicates());
        let mut counts = HashMap::<(String, Code), usize>::new();
        findings.retain(|it| {
            let count = counts.entry((it.diagnostic.file.clone(), it.diagnostic.code)).or_default();
            *count += 1;
            *count <= MAX_FINDINGS_PER_FILE
        });
        findings
    }

    /// Returns the findings of one room that need no pass over the whole palace: the cost
    /// depends on the room's size.
    pub fn room_findings(&self, id: &RoomId) -> Vec<CheckFinding> {
        let Some(room) = self.palace.room(id) else { return Vec::new() };
        let file = (self.room_file)(id);
        let mut findings = self.check_room_tool_actions(room, &file, &self.tools_by_name());
        // Searches for no rooms with a similar name, because that visits all rooms.
        let mut compared = rooms::MAX_SUGGESTIONS;
        findings.extend(self.check_exits(id, room, &file, &mut compared));
        findings.extend(self.check_reachable(id));
        findings.extend(self.check_generated_hall(id, room, &mut 0));
        findings
    }

    /// Returns true if a file below `folder` could not be read; what seems to be missing may
    /// then exist.
    fn has_unreadable_files(&self, folder: &str) -> bool {
        self.unreadable_files.range(folder..).next().is_some_and(|it| it.starts_with(folder))
    }
}
