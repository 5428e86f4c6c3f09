//! Plans to move drawers to the folder of another room. The names of wing and room in the front
//! matter follow.

use std::collections::HashSet;

use crate::Refusal;
use crate::palace::OpenPalace;
use palazzo_core::format;
use palazzo_core::model::{Drawer, FileEdit, FrontMatterWingRoom, Palace, RoomId, WingRoomNames};

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

/// Plans to move one drawer to the folder of `to`, under these names.
pub(crate) fn plan_drawer_move(
    open: &mut OpenPalace,
    file: &str,
    to: &RoomId,
    names: &WingRoomNames,
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
fn wing_room_names_after_move(palace: &Palace, from: &RoomId, to: &RoomId) -> WingRoomNames {
    let drawers = &palace.drawers;
    let wing_name =
        to.wing.as_ref().map(|it| drawers.wing_name(it).unwrap_or(it.as_str()).to_owned());
    let room_name = match from.slug == to.slug {
        true => drawers.room_name(from),
        false => drawers.room_name(to),
    };
    WingRoomNames {
        wing: wing_name.unwrap_or_default(),
        room: room_name.unwrap_or(to.slug.as_str()).to_owned(),
    }
}
