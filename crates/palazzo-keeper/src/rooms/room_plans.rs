//! Plans to rename, move and delete rooms: their scrolls and drawers, and the doors, tasks,
//! processes and settings that name them, follow.

use std::collections::{BTreeMap, BTreeSet};

use crate::Refusal;
use crate::palace::OpenPalace;
use crate::palace::item_edits::{
    ReferenceChange, plan_reference_edit, plan_reference_edits_in_rooms,
    plan_reference_edits_in_work, plan_room_edit, plan_subject_edit,
};
use crate::rooms::build::plan_entry_edit;
use crate::rooms::drawer_moves::plan_drawer_moves;
use crate::rooms::room_rename::RoomRename;
use palazzo_core::format::{self, room_path};
use palazzo_core::model::{Diagnostic, FileEdit, Palace, RoomId, RoomRef, Severity, WorkSubject};
use palazzo_core::render::count_with_noun;

/// The numbers of other items that change when rooms are renamed, moved or deleted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FollowUpCounts {
    rooms: usize,
    pub(crate) scrolls: usize,
    pub(crate) drawers: usize,
    tasks: usize,
    processes: usize,
}

/// Plans the edits that give rooms other names. The new name of each room must be free.
pub(crate) fn plan_room_moves(
    open: &mut OpenPalace,
    moves: &BTreeMap<RoomId, RoomId>,
) -> Result<(Vec<FileEdit>, FollowUpCounts), Refusal> {
    let palace = open.palace.clone();
    for (from, to) in moves {
        reject_taken_name(open, &palace, from, to)?;
    }
    let rename = RoomRename::new(&palace, moves);
    let (mut edits, mut counts) = plan_reference_edits(open, &palace, &rename, moves)?;
    for (from, to) in moves {
        edits.extend(plan_room_file_move(open, &rename, from, to)?);
        let scrolls = plan_scroll_moves(open, from, Some(to))?;
        counts.scrolls += scrolls.len() / 2;
        let drawers = plan_drawer_moves(open, from, to)?;
        counts.drawers += drawers.len() / 2;
        edits.extend(scrolls.into_iter().chain(drawers));
    }
    Ok((edits, counts))
}

/// Plans the edits of the other rooms, the tasks, the processes and the settings that name a
/// renamed room.
pub(crate) fn plan_reference_edits(
    open: &mut OpenPalace,
    palace: &Palace,
    rename: &RoomRename<'_>,
    moves: &BTreeMap<RoomId, RoomId>,
) -> Result<(Vec<FileEdit>, FollowUpCounts), Refusal> {
    let is_moved = |it: Option<&RoomId>| it.is_some_and(|it| moves.contains_key(it));
    let change: ReferenceChange<'_> = &|kind, at, text| {
        if !is_moved(at) {
            rename.rename(kind, at, text);
        }
    };
    let mut edits = plan_reference_edits_in_rooms(open, change)?;
    let rooms = edits.len();
    let work = plan_reference_edits_in_work(open, change)?;
    let tasks = work.iter().filter(|it| palace.tasks.contains_key(&it.path)).count();
    let processes = work.len() - tasks;
    edits.extend(work);
    if let Some(entry) = rename.renamed_entry() {
        edits.push(plan_entry_edit(open, entry)?);
    }
    Ok((edits, FollowUpCounts { rooms, tasks, processes, ..FollowUpCounts::default() }))
}

/// Plans the edits that delete rooms, and the doors to them. Their scrolls move to `scrolls_to`, or
/// are deleted with them; tasks and processes about them move too, or name no room any more.
pub(crate) fn plan_room_deletions(
    open: &mut OpenPalace,
    ids: &BTreeSet<RoomId>,
    scrolls_to: Option<&RoomId>,
) -> Result<(Vec<FileEdit>, FollowUpCounts), Refusal> {
    let palace = open.palace.clone();
    if let Some(entry) = palace.entry_room().filter(|it| ids.contains(*it)) {
        return Err(Refusal::EntryRoomDeletion { room: entry.clone() });
    }
    if scrolls_to.is_some_and(|it| ids.contains(it)) {
        return Err(Refusal::Invalid(
            "the room for the scrolls is itself to be deleted: name another room".to_owned(),
        ));
    }
    let mut edits = plan_door_removals(open, &palace, ids)?;
    let mut counts = FollowUpCounts { rooms: edits.len(), ..FollowUpCounts::default() };
    let is_there =
        |it: &WorkSubject| it.room.as_ref().is_some_and(|it| is_any_of(&palace, it, None, ids));
    for (path, _) in palace.work_subjects().filter(|(_, it)| is_there(it)) {
        edits.extend(plan_subject_edit(open, path, |it| {
            let room = scrolls_to.cloned().map(RoomRef::from);
            is_there(it).then(|| WorkSubject { room, ..it.clone() })
        })?);
    }
    let work = &edits[counts.rooms..];
    counts.tasks = work.iter().filter(|it| palace.tasks.contains_key(&it.path)).count();
    counts.processes = work.len() - counts.tasks;
    for id in ids {
        let path = room_path(id);
        let was = open.read_file_for_change(&path)?;
        edits.push(FileEdit { path, was, now: None });
        edits.extend(plan_scroll_moves(open, id, scrolls_to)?);
        counts.scrolls += palace.scrolls_in_room(id).count();
        counts.drawers += palace.drawers.count_in_room(id);
    }
    Ok((edits, counts))
}

/// Plans the edits that remove the doors to rooms.
fn plan_door_removals(
    open: &mut OpenPalace,
    palace: &Palace,
    ids: &BTreeSet<RoomId>,
) -> Result<Vec<FileEdit>, Refusal> {
    let linking: BTreeSet<_> = ids.iter().flat_map(|it| palace.rooms_linking_to(it)).collect();
    let mut edits = Vec::new();
    for other in linking.into_iter().filter(|it| !ids.contains(*it)) {
        edits.extend(plan_room_edit(open, other, |room| {
            let mut room = room.clone();
            let leads_there = |it: &RoomRef| is_any_of(palace, it, Some(other), ids);
            room.actions.retain(|it| !it.target_room().is_some_and(leads_there));
            room.portals.retain(|it| !leads_there(it));
            room
        })?);
    }
    Ok(edits)
}

/// Returns whether a reference in the room `at` means one of `ids`.
fn is_any_of(
    palace: &Palace,
    reference: &RoomRef,
    at: Option<&RoomId>,
    ids: &BTreeSet<RoomId>,
) -> bool {
    palace.resolve_room(reference, at).is_ok_and(|it| ids.contains(&it))
}

/// Plans the edits that move the scrolls of a room to another, or delete them.
pub(crate) fn plan_scroll_moves(
    open: &mut OpenPalace,
    from: &RoomId,
    to: Option<&RoomId>,
) -> Result<Vec<FileEdit>, Refusal> {
    let folder = format!("scrolls/{from}/");
    let is_broken =
        |it: &&Diagnostic| it.severity() == Severity::Error && it.file.starts_with(&folder);
    if let Some(finding) = open.findings().find(is_broken) {
        return Err(Refusal::BrokenFile(finding.clone().into()));
    }
    let palace = open.palace.clone();
    let mut edits = Vec::new();
    for (path, _) in palace.scroll_files().filter(|(_, it)| it.room == *from) {
        let Some(text) = open.read_file_for_change(path)? else { continue };
        if let (Some(to), Some(name)) = (to, path.strip_prefix(&folder)) {
            let now = Some(text.clone());
            edits.push(FileEdit { path: format!("scrolls/{to}/{name}"), was: None, now });
        }
        edits.push(FileEdit { path: path.to_owned(), was: Some(text), now: None });
    }
    Ok(edits)
}

/// Plans to move the file of a room, with the references that it needs at its new place.
fn plan_room_file_move(
    open: &mut OpenPalace,
    rename: &RoomRename<'_>,
    from: &RoomId,
    to: &RoomId,
) -> Result<[FileEdit; 2], Refusal> {
    let (path, new_path) = (room_path(from), room_path(to));
    let was = open.read_file_for_change(&path)?;
    let edited = plan_reference_edit(open, &path, &|kind, at, text| rename.rename(kind, at, text))?;
    let now = edited.map_or_else(|| was.clone(), |it| it.now);
    let now = now.map(|it| format::retarget_modeline(&new_path, &it));
    Ok([FileEdit { path: new_path, was: None, now }, FileEdit { path, was, now: None }])
}

fn reject_taken_name(
    open: &OpenPalace,
    palace: &Palace,
    from: &RoomId,
    to: &RoomId,
) -> Result<(), Refusal> {
    let file = room_path(to);
    let why = if from == to {
        format!("the room is called `{to}` already")
    } else if palace.room(to).is_some() {
        format!("there is a room `{to}` already: choose another slug, or delete that room first")
    } else if open.has_file(&file) {
        format!("there is a file {file} already: choose another slug, or remove that file")
    } else if palace.scrolls_in_room(to).next().is_some() {
        format!(
            "scrolls/{to}/ has scrolls of an earlier room: choose another slug, or move or delete \
             them"
        )
    } else {
        return Ok(());
    };
    Err(Refusal::Invalid(why))
}

impl FollowUpCounts {
    /// Lists what changes besides the rooms: `2 other rooms, 1 scroll`; may be empty.
    pub(crate) fn describe(&self) -> String {
        let counts = [
            (self.rooms, "other room"),
            (self.scrolls, "scroll"),
            (self.drawers, "drawer"),
            (self.tasks, "task"),
            (self.processes, "process"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        counts.map(|(count, noun)| count_with_noun(*count, noun)).collect::<Vec<_>>().join(", ")
    }

    /// Lists what happens besides the deletion of rooms: `; 2 scrolls deleted too; doors removed from
    /// 1 room`; may be empty.
    pub(crate) fn describe_deletion(&self, scrolls_to: Option<&RoomId>) -> String {
        let scrolls = match scrolls_to {
            Some(to) => format!("moved to `{to}`"),
            None => "deleted too".to_owned(),
        };
        let room = match scrolls_to {
            Some(to) => format!("moved to `{to}`"),
            None => "without a room now".to_owned(),
        };
        let parts = [
            (self.scrolls, "scroll", scrolls.as_str()),
            (self.rooms, "other room", "without the doors to it"),
            (self.drawers, "drawer", "kept in the wing"),
            (self.tasks, "task", &room),
            (self.processes, "process", &room),
        ];
        let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
        let parts =
            parts.map(|(count, noun, what)| format!("; {} {what}", count_with_noun(count, noun)));
        parts.collect::<Vec<_>>().concat()
    }
}
