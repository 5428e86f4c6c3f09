//! Files that lie, or are named, as if they held something else. Who names a
//! file for nothing that is known has a reason.

use std::collections::HashMap;

use crate::check::{CheckFinding, PalaceCheck};
use crate::model::{Code, RoomId, Slug, ValuePath, WingRoom};

impl PalaceCheck<'_> {
    /// Looks whether files hold what they are named for.
    pub(crate) fn check_misplaced_files(&self) -> Vec<CheckFinding> {
        let mut remarks = self.misplaced_entities();
        remarks.extend(self.misplaced_rooms());
        remarks.extend(self.misplaced_drawers());
        remarks
    }

    /// Tells of entities in the folder of another genus, or in a file named for
    /// another entity.
    fn misplaced_entities(&self) -> Vec<CheckFinding> {
        let graph = &self.palace.graph;
        let slugs = |text| Slug::from_text(text).map(|slug| (slug.to_string(), text));
        let genera: HashMap<_, _> = graph.genus_counts().filter_map(|(it, _)| slugs(it)).collect();
        let names: HashMap<_, _> = graph.iter().filter_map(|it| slugs(&it.name)).collect();
        let mut remarks = Vec::new();
        for (file, entity) in graph.entities_with_files() {
            let parts: Vec<_> = file.trim_end_matches(".yaml").split('/').collect();
            let [_, folder, .., name] = parts.as_slice() else { continue };
            if let Some(other) = genera.get(*folder).filter(|_| !is_slug_of(folder, &entity.genus))
            {
                remarks.push(path_mismatch(file, "genus", "folder", other));
            }
            if let Some(other) = names.get(*name).filter(|_| !is_slug_of(name, &entity.name)) {
                remarks.push(path_mismatch(file, "name", "file", other));
            }
        }
        remarks
    }

    /// Tells of rooms in a file that is named for another room of the wing.
    fn misplaced_rooms(&self) -> Vec<CheckFinding> {
        let rooms = self.palace.rooms().filter_map(|(id, room)| {
            let id = RoomId { slug: Slug::from_text(&room.name)?, ..id.clone() };
            Some((id, room.name.as_str()))
        });
        let names: HashMap<_, _> = rooms.collect();
        let strange =
            self.palace.rooms().filter(|(id, it)| !is_slug_of(id.slug.as_str(), &it.name));
        let strange = strange.filter_map(|(id, _)| Some((id, names.get(id)?)));
        strange
            .map(|(id, other)| path_mismatch(&(self.room_file)(id), "name", "file", other))
            .collect()
    }

    /// Tells of drawers in the folder of another wing or room.
    fn misplaced_drawers(&self) -> Vec<CheckFinding> {
        let drawers = &self.palace.drawers;
        let mut remarks = Vec::new();
        for room in drawers.rooms() {
            let folders = room.wing.as_ref().and_then(|it| drawers.wing_name(it));
            let Some((wing, name)) = folders.zip(drawers.room_name(room)) else { continue };
            for (file, _) in drawers.in_room(room) {
                let Some(WingRoom { wing: its_wing, room: its_room }) =
                    drawers.wing_room_of_file(file)
                else {
                    continue;
                };
                if its_wing != wing {
                    remarks.push(path_mismatch(file, "wing", "folder", wing));
                } else if its_room != name {
                    remarks.push(path_mismatch(file, "room", "folder", name));
                } else {
                    remarks.extend(drawer_folder_mismatch(file, &its_wing, &its_room));
                }
            }
        }
        remarks
    }
}

/// Tells of a drawer whose folders are named for nothing it says: moving a file moves
/// no drawer that says itself where it is filed.
fn drawer_folder_mismatch(file: &str, wing: &str, room: &str) -> Option<CheckFinding> {
    let mut folders = file.split('/').skip(1);
    let said = [("wing", wing), ("room", room)].into_iter();
    let (key, said, folder) = said
        .filter_map(|(key, said)| Some((key, said, folders.next()?)))
        .find(|(_, said, folder)| {
            Slug::from_text(said).is_some_and(|it| !folder.starts_with(it.as_str()))
        })?;
    let message =
        format!("the folder is named `{folder}`, and the drawer says `{}`", said.escape_debug());
    let remark =
        CheckFinding::new(Code::PathMismatch, file, ValuePath::ROOT.then_value(key), message);
    Some(remark.with_hint(format!(
        "what it says counts: to move it, change the `{key}` it says, or take that out"
    )))
}

/// Tells whether `slug` is the name of what is called `text`.
fn is_slug_of(slug: &str, text: &str) -> bool {
    Slug::from_text(text).is_some_and(|it| it.as_str() == slug)
}

fn path_mismatch(file: &str, key: &str, what: &str, other: &str) -> CheckFinding {
    let message = format!("the {what} is named for `{}`", other.escape_debug());
    CheckFinding::new(Code::PathMismatch, file, ValuePath::ROOT.then_value(key), message)
}
