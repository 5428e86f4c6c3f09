//! Looking at palaces from outside: for the command line.

use std::path::PathBuf;

use crate::format::{Place, room_file};
use crate::keeper::visit::choices;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Diagnostic, Files, Palace, RoomRef, Severity};
use crate::render::{self, MapView, RoomView};
use crate::session::Visit;

/// What was found in all palaces of a home.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// One for each palace.
    pub palaces: Vec<Checked>,
}

/// What was found in one palace.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Where it lies.
    pub root: PathBuf,
    /// What is wrong or worth knowing, by file and line.
    pub findings: Vec<Diagnostic>,
    /// How many rooms, scrolls and entities were read.
    pub counts: (usize, usize, usize),
}

impl Keeper {
    /// Reads every palace of the home and says what is wrong with its files.
    pub fn check(&mut self) -> Result<Inspection, Refusal> {
        let mut palaces = Vec::new();
        for workspace in self.workspaces()? {
            let held = self.open(&workspace)?;
            let palace = &held.palace;
            let mut findings: Vec<_> = held.findings().cloned().collect();
            findings.extend(lost_entry(palace));
            findings.sort_by(|a, b| (&a.file, a.at, &a.message).cmp(&(&b.file, b.at, &b.message)));
            let counts = (palace.rooms().len(), palace.scrolls().count(), palace.graph.len());
            palaces.push(Checked { root: held.store().root().to_owned(), findings, counts });
        }
        Ok(Inspection { palaces })
    }

    /// Renders a room, or the entry, as a visitor would first see it.
    pub fn show(&mut self, by: &Caller, room: Option<&RoomRef>) -> Result<String, Refusal> {
        let key = self.current(by)?;
        let held = self.at(&key)?;
        let palace = &held.palace;
        let id = match room {
            Some(called) => palace.resolve(called, None)?,
            None => palace.entry().cloned().ok_or(Refusal::NoRooms)?,
        };
        let Some(found) = palace.room(&id) else {
            let rooms = palace.rooms().take(5).map(|(id, _)| format!("`{id}`")).collect();
            return Err(Refusal::NoSuchRoom { asked: id.to_string(), rooms });
        };
        let total = palace.scrolls_in(&id).count();
        Ok(render::room(&RoomView {
            id: &id,
            room: Some(found),
            layout: palace.settings.layout,
            scrolls: palace.scrolls_in(&id).take(Visit::SCROLLS).collect(),
            older: total.saturating_sub(Visit::SCROLLS),
            actions: choices(palace, &id, None),
            page: 0,
            back: None,
            notices: Vec::new(),
            now: by.now,
        }))
    }

    /// Renders the map of the palace.
    pub fn show_map(&mut self, by: &Caller) -> Result<String, Refusal> {
        let key = self.current(by)?;
        let held = self.at(&key)?;
        let history = held.history()?.clone();
        let palace = &held.palace;
        let view =
            MapView { palace, here: None, history: &history, file_of: room_file, now: by.now };
        Ok(render::map(&view))
    }

    /// Founds a palace from the files of a template, under its own name and in
    /// one commit; returns the directory it lies in.
    pub fn found_from(
        &mut self,
        by: &Caller,
        name: &str,
        template: &Files,
    ) -> Result<PathBuf, Refusal> {
        let key = self.found(by, name, template)?;
        Ok(self.at(&key)?.store().root().to_owned())
    }
}

/// Tells of an entry room that is not there.
fn lost_entry(palace: &Palace) -> Option<Diagnostic> {
    let entry = palace.settings.entry.as_ref()?;
    let stands = palace.resolve(entry, None).is_ok_and(|it| palace.room(&it).is_some());
    if stands {
        return None;
    }
    let message = format!("the entry room `{entry}` is not there");
    let finding = Diagnostic::of_file(Severity::Error, Place::SETTINGS, message);
    Some(finding.with_hint("build it, or name another room as `entry`"))
}
