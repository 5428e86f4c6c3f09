//! Plans to rename, move and delete rooms: their scrolls and drawers, and the doors, tasks,
//! processes and settings that name them, follow.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::Refusal;
use crate::palace::OpenPalace;
use crate::palace::reference_edits::{
    ReferenceChange, plan_reference_edit, plan_reference_edits_in_rooms_and_work, plan_room_edit,
    plan_subject_edit,
};
use crate::rooms::build::plan_entry_edit;
use palazzo_core::format::{self, ReferenceKind, room_path};
use palazzo_core::model::{
    Diagnostic, DisplayWingRoom, Drawer, FileEdit, FrontMatterWingRoom, Palace, RoomId, RoomRef,
    Settings, Severity, WorkSubject,
};
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

    /// Changes a value that names a room in the room `at`, if there is one.
    pub(crate) fn rename(&self, kind: &ReferenceKind, at: Option<&RoomId>, text: &mut String) {
        let at = match kind {
            ReferenceKind::RoomFromHere => at,
            ReferenceKind::Room => None,
            _ => return,
        };
        let Ok(mut reference) = text.parse::<RoomRef>() else { return };
        let before = reference.clone();
        self.rename_reference(&mut reference, at);
        if reference != before {
            *text = reference.to_string();
        }
    }

    /// Returns the new name of the entry room, if it is renamed.
    fn renamed_entry(&self) -> Option<&RoomId> {
        let entry = self.before.settings.entry.as_ref()?;
        self.renamed.get(&self.before.resolve_room(entry, None).ok()?)
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
    let [mut edits, work] = plan_reference_edits_in_rooms_and_work(open, change)?;
    let rooms = edits.len();
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

/// Plans to move the drawers that a room shows, when the room gets another name. A room without a
/// wing shows the drawers of its slug in each wing; these stay in their wings.
pub(crate) fn plan_drawer_moves(
    open: &mut OpenPalace,
    from: &RoomId,
    to: &RoomId,
) -> Result<Vec<FileEdit>, Refusal> {
    let palace = open.palace.clone();
    let (mut edits, mut new_paths) = (Vec::new(), HashSet::new());
    for folder in palace.rooms_with_drawers_shown_in(from) {
        let moved = match (&from.wing, &to.wing) {
            // The room leaves its wing, and shows the drawers of all wings now.
            (Some(_) | None, None) => RoomId { wing: folder.wing.clone(), ..to.clone() },
            (Some(_), Some(_)) => to.clone(),
            (None, Some(wing)) if folder.wing.as_ref() == Some(wing) => to.clone(),
            (None, Some(_)) => continue,
        };
        if moved == *folder {
            continue;
        }
        let names = wing_room_names_after_move(&palace, folder, &moved);
        for (file, _) in palace.drawers.drawers_in_room(folder) {
            let planned = plan_drawer_move(open, file, &moved, &names)?;
            // The folders `My Notes` and `my-notes` are one room, and may have files of one name.
            let mut new = planned.iter().filter(|it| it.now.is_some()).map(|it| it.path.clone());
            if let Some(taken) = new.find(|it| !new_paths.insert(it.clone())) {
                return Err(taken_path_refusal(&taken));
            }
            edits.extend(planned);
        }
    }
    Ok(edits)
}

/// Plans to move one drawer to the folder of `to`, under these names. Those in its front matter follow.
pub(crate) fn plan_drawer_move(
    open: &mut OpenPalace,
    file: &str,
    to: &RoomId,
    names: &DisplayWingRoom,
) -> Result<Vec<FileEdit>, Refusal> {
    let was = open.read_file_for_change(file)?;
    let drawers = &open.palace.drawers;
    let (Some(text), Some(old)) = (&was, drawers.drawer_in_file(file)) else {
        return Ok(Vec::new());
    };
    let name = |was: &Option<String>, name: &str, folder: &str| {
        let is_named = was.is_some() || name != folder;
        is_named.then(|| name.to_owned())
    };
    let wing = to.wing.as_ref().map_or("", |it| it.as_str());
    let filed_under = FrontMatterWingRoom {
        wing: name(&old.filed_under.wing, &names.wing, wing),
        room: name(&old.filed_under.room, &names.room, to.slug.as_str()),
    };
    let new = Drawer { filed_under, ..old.clone() };
    let path = format!("drawers/{to}/{}", format::drawer_path_in_room(file));
    if open.has_file(&path) {
        return Err(taken_path_refusal(&path));
    }
    let now = format::edit_drawer_text(file, text, old, &new, &open.palace.settings.time_zone)
        .ok_or_else(|| Refusal::UneditableFormatting { file: file.to_owned() })?;
    Ok(vec![
        FileEdit { path, was: None, now: Some(now) },
        FileEdit { path: file.to_owned(), was, now: None },
    ])
}

fn taken_path_refusal(path: &str) -> Refusal {
    Refusal::FileExists { file: path.to_owned(), advice: "" }
}

/// Returns the names of wing and room for drawers that move from one folder to another: a part
/// that stays keeps its name.
fn wing_room_names_after_move(palace: &Palace, from: &RoomId, to: &RoomId) -> DisplayWingRoom {
    let drawers = &palace.drawers;
    let wing_name =
        to.wing.as_ref().map(|it| drawers.wing_name(it).unwrap_or(it.as_str()).to_owned());
    let room_name = match from.slug == to.slug {
        true => drawers.room_name(from),
        false => drawers.room_name(to),
    };
    DisplayWingRoom {
        wing: wing_name.unwrap_or_default(),
        room: room_name.unwrap_or(to.slug.as_str()).to_owned(),
    }
}
