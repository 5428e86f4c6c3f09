//! The folders with the files of a wing, for the commands about the past.

use std::collections::BTreeSet;

use crate::Refusal;
use crate::palace::OpenPalace;
use palazzo_core::format::{PalacePath, drawer_wing_folder};
use palazzo_core::model::{RoomId, Slug};

/// Returns the folders with the files of the wing that `name` names, as `code/`, each with a slash
/// at its end; `None` if `name` is no name of a wing, or no file was ever in such a wing.
pub(crate) fn folders_of_wing(
    open: &mut OpenPalace,
    name: &str,
) -> Result<Option<BTreeSet<String>>, Refusal> {
    let wing = name.trim().strip_suffix('/').and_then(|it| it.parse::<Slug>().ok());
    let Some(wing) = wing else { return Ok(None) };
    open.update_file_history_cache()?;
    let present = open.palace.scroll_files().map(|(path, _)| path);
    let paths = open.file_histories().keys().map(String::as_str).chain(present);
    let is_room = |it: &RoomId| it.wing.as_ref() == Some(&wing);
    let texts = paths.filter_map(|it| match PalacePath::parse(it) {
        Ok(PalacePath::Scroll(room)) if is_room(&room) => Some(format!("scrolls/{room}/")),
        Ok(PalacePath::Drawer(room)) if is_room(&room) => Some(drawer_wing_folder(it)),
        _ => None,
    });
    let mut folders: BTreeSet<_> = texts.collect();
    folders.extend(["rooms", "drawers"].map(|it| format!("{it}/{wing}/")));
    let is_known = open.palace.rooms().any(|(id, _)| is_room(id))
        || open.file_histories().keys().any(|path| is_in_folders(path, &folders));
    Ok(is_known.then_some(folders))
}

/// Returns whether a file is in one of these folders, or is one of these files.
pub(crate) fn is_in_folders<'p>(file: &str, paths: impl IntoIterator<Item = &'p String>) -> bool {
    let mut paths = paths.into_iter();
    paths.any(|it| it == file || (it.ends_with('/') && file.starts_with(it.as_str())))
}
