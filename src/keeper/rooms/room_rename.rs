//! Replaces the references to a room that gets another slug or wing.

use crate::format;
use crate::keeper::Refusal;
use crate::keeper::palace::OpenPalace;
use crate::model::{
    ActionKind, FileEdit, Palace, Process, Room, RoomId, RoomRef, Task, WorkSubject,
};

/// A room, its new name, and the palace before the rename.
pub(crate) struct RoomRename<'a> {
    pub(crate) palace: &'a Palace,
    pub(crate) from: &'a RoomId,
    pub(crate) to: &'a RoomId,
}

impl RoomRename<'_> {
    /// Returns a room with the references that it needs after the rename.
    pub(crate) fn rename_in_room(&self, id: &RoomId, room: &Room) -> Room {
        let mut renamed = room.clone();
        for action in &mut renamed.actions {
            if let ActionKind::Navigate(target) = &mut action.kind
                && target.workspace.is_none()
            {
                self.rename_reference(&mut target.room, Some(id));
            }
        }
        for portal in &mut renamed.portals {
            self.rename_reference(portal, Some(id));
        }
        renamed
    }

    /// Returns the edits of the tasks about the room.
    pub(crate) fn plan_task_edits(&self, open: &mut OpenPalace) -> Result<Vec<FileEdit>, Refusal> {
        let mut edits = Vec::new();
        for (path, old) in &self.palace.tasks {
            let Some(subject) = self.renamed_subject(&old.subject) else { continue };
            let new = Task { subject, ..old.clone() };
            edits
                .push(plan_edit(open, path, |text| format::edit_task_text(path, text, old, &new))?);
        }
        Ok(edits)
    }

    /// Returns the edits of the processes about the room.
    pub(crate) fn plan_process_edits(
        &self,
        open: &mut OpenPalace,
    ) -> Result<Vec<FileEdit>, Refusal> {
        let mut edits = Vec::new();
        for (path, old) in &self.palace.processes {
            let Some(subject) = self.renamed_subject(&old.subject) else { continue };
            let new = Process { subject, ..old.clone() };
            let edit = |text: &str| format::edit_process_text(path, text, old, &new);
            edits.push(plan_edit(open, path, edit)?);
        }
        Ok(edits)
    }

    fn renamed_subject(&self, subject: &WorkSubject) -> Option<WorkSubject> {
        let mut room = subject.room.clone()?;
        self.rename_reference(&mut room, None);
        let renamed = WorkSubject { room: Some(room), ..subject.clone() };
        Some(renamed).filter(|it| it != subject)
    }

    /// Replaces a reference in the room `at`, if it leads to the renamed room, or would lead
    /// elsewhere after the rename.
    fn rename_reference(&self, reference: &mut RoomRef, at: Option<&RoomId>) {
        let Ok(target) = self.palace.resolve_room(reference, at) else { return };
        let literal = reference.as_literal_id();
        let is_bare = literal.wing.is_none() && target.wing.is_some();
        let leaves_wing = at == Some(self.from) && self.from.wing != self.to.wing;
        if target == *self.from {
            *reference = RoomRef::from(self.to.clone());
        } else if is_bare && (leaves_wing || literal.slug == self.to.slug) {
            *reference = RoomRef::from(target);
        }
    }
}

fn plan_edit(
    open: &mut OpenPalace,
    path: &str,
    edit: impl FnOnce(&str) -> Option<String>,
) -> Result<FileEdit, Refusal> {
    let was = open.read_file_for_change(path)?;
    match was.as_deref().and_then(edit) {
        Some(now) => Ok(FileEdit { path: path.to_owned(), was, now: Some(now) }),
        None => Err(Refusal::UneditableFormatting { file: path.to_owned() }),
    }
}
