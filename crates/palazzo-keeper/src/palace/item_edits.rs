//! Plans the edit of one item. The file is read again first, so that the edit applies to its
//! current content and loses nothing that a person has just saved.

use crate::Refusal;
use crate::palace::open_palace::OpenPalace;
use palazzo_core::format::{self, room_path};
use palazzo_core::model::{FileEdit, Process, Room, RoomId, Task, WorkSubject};

/// Plans the edit of a room; `None` if `change` changes nothing, or there is no such room.
pub(crate) fn plan_room_edit(
    open: &mut OpenPalace,
    id: &RoomId,
    change: impl FnOnce(&Room) -> Room,
) -> Result<Option<FileEdit>, Refusal> {
    let path = room_path(id);
    let was = open.read_file_for_change(&path)?;
    let (Some(text), Some(old)) = (&was, open.palace.room(id)) else { return Ok(None) };
    let new = change(old);
    if new == *old {
        return Ok(None);
    }
    match format::edit_room_text(&path, text, old, &new) {
        Some(now) => Ok(Some(FileEdit { path, was, now: Some(now) })),
        None => Err(Refusal::UneditableFormatting { file: path }),
    }
}

/// Plans the edit of the subject of the task or process in a file; `None` if `change` returns none,
/// or there is no such item.
pub(crate) fn plan_subject_edit(
    open: &mut OpenPalace,
    path: &str,
    change: impl FnOnce(&WorkSubject) -> Option<WorkSubject>,
) -> Result<Option<FileEdit>, Refusal> {
    let was = open.read_file_for_change(path)?;
    let Some(text) = &was else { return Ok(None) };
    let zone = &open.palace.settings.time_zone;
    let now = if let Some(old) = open.palace.tasks.get(path) {
        let Some(subject) = change(&old.subject) else { return Ok(None) };
        format::edit_task_text(path, text, old, &Task { subject, ..old.clone() }, zone)
    } else if let Some(old) = open.palace.processes.get(path) {
        let Some(subject) = change(&old.subject) else { return Ok(None) };
        format::edit_process_text(path, text, old, &Process { subject, ..old.clone() }, zone)
    } else {
        return Ok(None);
    };
    match now {
        Some(now) => Ok(Some(FileEdit { path: path.to_owned(), was, now: Some(now) })),
        None => Err(Refusal::UneditableFormatting { file: path.to_owned() }),
    }
}
