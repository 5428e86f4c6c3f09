//! Plans the edits of files whose references change: doors of rooms, subjects of work, values that
//! name other items. A file is read again first, so that the edit applies to its current content
//! and loses nothing that a person has just saved.

use crate::Refusal;
use crate::palace::open_palace::OpenPalace;
use palazzo_core::format::{
    self, PalacePath, ReferenceKind, add_missing_comments, change_references, edit_fields_and_body,
    file_kind, parse_fields_and_body, room_has_reference, room_path, work_has_reference,
};
use palazzo_core::model::{FileEdit, Process, Room, RoomId, Task, WorkSubject};

/// Changes a value that names something: gets what it names, the room of its file if there is one,
/// and the value.
pub(crate) type ReferenceChange<'a> = &'a dyn Fn(&ReferenceKind, Option<&RoomId>, &mut String);

/// Plans the edits of the rooms, and of the tasks and processes, whose references change.
pub(crate) fn plan_reference_edits_in_rooms_and_work(
    open: &mut OpenPalace,
    change: ReferenceChange<'_>,
) -> Result<[Vec<FileEdit>; 2], Refusal> {
    let palace = open.palace.clone();
    let changes = |id: Option<&RoomId>, kind: &ReferenceKind, was: &str| {
        let mut now = was.to_owned();
        change(kind, id, &mut now);
        now != was
    };
    let is_changed = |id: &RoomId, room: &Room| {
        let door = ReferenceKind::RoomFromHere;
        room_has_reference(room, &|kind, text| changes(Some(id), kind, text))
            || room.linked_rooms().any(|it| changes(Some(id), &door, &it.to_string()))
    };
    let rooms = palace.rooms().filter(|(id, room)| is_changed(id, room));
    let is_changed = |kind: &ReferenceKind, text: &str| changes(None, kind, text);
    let work = palace.work_subjects().filter(|(_, it)| work_has_reference(it, &is_changed));
    let mut plan = |path: &str| plan_reference_edit(open, path, change).transpose();
    let rooms = rooms.filter_map(|(id, _)| plan(&room_path(id))).collect::<Result<_, _>>()?;
    let work = work.filter_map(|(path, _)| plan(path)).collect::<Result<_, _>>()?;
    Ok([rooms, work])
}

/// Plans the edit of the references in a file; `None` if none changes, or there is no such file.
pub(crate) fn plan_reference_edit(
    open: &mut OpenPalace,
    path: &str,
    change: ReferenceChange<'_>,
) -> Result<Option<FileEdit>, Refusal> {
    let was = open.read_file_for_change(path)?;
    let Some(text) = &was else { return Ok(None) };
    let (Some(kind), Some(old)) = (file_kind(path), parse_fields_and_body(path, text)) else {
        return Ok(None);
    };
    let room = match PalacePath::parse(path) {
        Ok(PalacePath::Room(id)) => Some(id),
        _ => None,
    };
    let mut new = old.clone();
    change_references(kind, &mut new.fields, &mut |it, text| change(it, room.as_ref(), text));
    if new == old {
        return Ok(None);
    }
    let edited = edit_fields_and_body(path, text, &new)
        .ok_or_else(|| Refusal::UneditableFormatting { file: path.to_owned() })?;
    // The item of a list that changes is written again, without the comment beside it.
    let now = Some(add_missing_comments(path, &edited, "", text));
    Ok(Some(FileEdit { path: path.to_owned(), was, now }))
}

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
