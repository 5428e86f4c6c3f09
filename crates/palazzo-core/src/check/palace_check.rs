//! A check of one palace, and its findings.

use crate::model::Code;
use crate::model::Diagnostic;
use crate::model::Palace;
use crate::model::RoomId;
use crate::model::Tool;
use crate::model::ValuePath;
use std::collections::BTreeSet;

/// A palace with the inputs of its check.
pub struct PalaceCheck<'a> {
    /// The palace, from the files that could be read.
    pub palace: &'a Palace,
    /// Every tool that actions can call.
    pub tools: &'a [Tool],
    /// The directories and the names of the palaces of the home, to which doors can lead.
    pub workspaces: &'a [String],
    /// The files that could not be read completely.
    pub unreadable_files: BTreeSet<&'a str>,
    /// Returns the path of a room's file.
    pub room_file: fn(&RoomId) -> String,
}

impl PalaceCheck<'_> {
    /// Returns the files of scrolls, entities, drawers, tasks and processes, whose names need not be
    /// slugs. Notes are none: other programs name them.
    pub(super) fn files_with_free_names(&self) -> impl Iterator<Item = &str> {
        let palace = self.palace;
        let scrolls = palace.scroll_files().map(|(file, _)| file);
        let entities = palace.graph.entities_with_files().map(|(file, _)| file);
        let is_note = |file: &str| palace.settings.note_folders.contains(file);
        let drawers = palace.drawers.rooms().flat_map(|it| palace.drawers.drawers_in_room(it));
        let drawers = drawers.filter(move |(file, _)| !is_note(file));
        let work = palace.tasks.keys().chain(palace.processes.keys());
        let files = scrolls.chain(entities).chain(drawers.map(|(file, _)| file));
        files.chain(work.map(String::as_str))
    }
}

/// A finding with the path of its value; the line is found later, in the text of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckFinding {
    /// The finding, at the beginning of its file.
    pub diagnostic: Diagnostic,
    /// The path of the value that the finding is about.
    pub value_path: ValuePath,
    /// The missing or repeated thing, which the history may explain.
    pub subject: Option<FindingSubject>,
}

/// The missing or repeated thing of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingSubject {
    /// A room that does not exist.
    MissingRoom(RoomId),
    /// The name of an entity that does not exist.
    MissingEntity(String),
    /// An id that another file has too.
    SameId {
        /// The other file.
        other: String,
    },
}

impl CheckFinding {
    pub(super) fn new(
        code: Code,
        file: &str,
        about: ValuePath,
        message: impl Into<String>,
    ) -> Self {
        let diagnostic = Diagnostic::for_file(code, file, message);
        Self { diagnostic, value_path: about, subject: None }
    }

    pub(super) fn with_subject(mut self, subject: FindingSubject) -> Self {
        self.subject = Some(subject);
        self
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.diagnostic.hint = Some(hint.into());
        self
    }

    /// Sets the hint to the name that was probably meant, if there is one.
    pub(super) fn with_suggestion(mut self, meant: Option<&str>) -> Self {
        self.diagnostic.suggest(meant);
        self
    }
}
