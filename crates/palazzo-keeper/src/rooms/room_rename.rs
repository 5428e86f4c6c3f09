//! Replaces the references to rooms that get another slug or wing.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Refusal;
use crate::palace::OpenPalace;
use crate::palace::item_edits::plan_subject_edit;
use palazzo_core::model::{
    Action, ActionKind, FileEdit, Palace, Room, RoomId, RoomRef, Settings, WorkSubject,
};

/// Rooms that get other names, and the palace before and after.
pub(crate) struct RoomRename<'a> {
    before: &'a Palace,
    /// The rooms afterwards; their files may still contain the old references.
    after: Palace,
    /// The new name of each renamed room.
    renamed: &'a BTreeMap<RoomId, RoomId>,
}

impl<'a> RoomRename<'a> {
    /// Prepares the rename of rooms. A room that does not exist is a name that has only references.
    pub(crate) fn new(before: &'a Palace, renamed: &'a BTreeMap<RoomId, RoomId>) -> Self {
        let mut after = Palace::new(Settings::with_name(&before.settings.name));
        for (id, room) in before.rooms() {
            after.set_room(renamed.get(id).unwrap_or(id), Some(room.clone()));
        }
        Self { before, after, renamed }
    }

    /// Returns a room with the references that it needs after the rename.
    pub(crate) fn rename_in_room(&self, id: &RoomId, room: &Room) -> Room {
        let mut renamed = room.clone();
        for action in &mut renamed.actions {
            match &mut action.kind {
                ActionKind::Navigate(target) if target.workspace.is_none() => {
                    self.rename_reference(&mut target.room, Some(id));
                }
                ActionKind::Query { params, .. } => {
                    if let Some(Value::String(text)) = params.get_mut(Action::ROOM_PARAM) {
                        self.rename_in_text(text);
                    }
                }
                _ => {}
            }
        }
        for portal in &mut renamed.portals {
            self.rename_reference(portal, Some(id));
        }
        renamed
    }

    /// Returns the edits of the tasks and processes about the rooms.
    pub(crate) fn plan_work_edits(&self, open: &mut OpenPalace) -> Result<Vec<FileEdit>, Refusal> {
        let mut edits = Vec::new();
        let subjects = self.before.work_subjects();
        for (path, _) in subjects.filter(|it| self.renamed_subject(it.1).is_some()) {
            edits.extend(plan_subject_edit(open, path, |it| self.renamed_subject(it))?);
        }
        Ok(edits)
    }

    /// Returns the new name of the entry room, if it is renamed.
    pub(crate) fn renamed_entry(&self) -> Option<&RoomId> {
        let entry = self.before.settings.entry.as_ref()?;
        self.renamed.get(&self.before.resolve_room(entry, None).ok()?)
    }

    fn renamed_subject(&self, subject: &WorkSubject) -> Option<WorkSubject> {
        let mut room = subject.room.clone()?;
        self.rename_reference(&mut room, None);
        let renamed = WorkSubject { room: Some(room), ..subject.clone() };
        Some(renamed).filter(|it| it != subject)
    }

    /// Replaces the parameter of a query that names a renamed room.
    fn rename_in_text(&self, text: &mut String) {
        let Ok(mut reference) = text.parse::<RoomRef>() else { return };
        let before = reference.clone();
        self.rename_reference(&mut reference, None);
        if reference != before {
            *text = reference.to_string();
        }
    }

    /// Replaces a reference in the room `at`, if it leads to a renamed room, or would lead
    /// elsewhere after the rename. A bare slug stays one between rooms of the same wing.
    fn rename_reference(&self, reference: &mut RoomRef, at: Option<&RoomId>) {
        let Ok(target) = self.before.resolve_room(reference, at) else { return };
        let new_at = at.map(|it| self.renamed.get(it).unwrap_or(it));
        let is_bare = reference.as_literal_id().wing.is_none();
        let leads_to =
            |it: &RoomRef, to: &RoomId| self.after.resolve_room(it, new_at).as_ref() == Ok(to);
        let Some(new_target) = self.renamed.get(&target) else {
            if !leads_to(reference, &target) {
                *reference = RoomRef::from(target);
            }
            return;
        };
        let bare = RoomRef::from(RoomId { wing: None, slug: new_target.slug.clone() });
        let is_same_wing = new_at.is_some_and(|it| it.wing == new_target.wing);
        *reference = match is_bare && is_same_wing && leads_to(&bare, new_target) {
            true => bare,
            false => RoomRef::from(new_target.clone()),
        };
    }
}
