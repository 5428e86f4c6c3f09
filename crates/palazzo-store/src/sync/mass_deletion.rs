//! Decides when a sync is refused because it deletes too much: many files, or most items of a palace.

use std::collections::{BTreeMap, HashSet};

use gix::ObjectId;

use crate::history::commits::HistoryReader;
use crate::history::palaces_in_trees::PalacesInTrees;
use palazzo_core::model::PALACE_FOLDERS;

use crate::repo::palace_files::{CONFLICTS_FOLDER, SETTINGS_FILE};
use crate::repo::tree_diff::TreeChange;
use palazzo_core::model::{RoomId, Slug, quoted};

/// The number of files that a sync may delete, however few there are.
const MAX_DELETED_FILES: usize = 20;
/// The number of items from which on their loss counts.
const MIN_LOST_ITEMS: usize = 3;

/// A palace that loses most of its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmptiedPalace {
    /// Its folder in the repository, empty or ending in `/`.
    pub folder: String,
    /// The number of items that are deleted.
    pub deleted: usize,
    /// The number of items before.
    pub all: usize,
}

/// Returns the numbers of deleted and of all files, or of items of a palace, and what they are, if so
/// many are deleted that a person has to agree: more than a tenth of the files, or `emptied`.
pub(super) fn find_mass_deletion(
    deleted: usize,
    files_before: usize,
    emptied: Option<&EmptiedPalace>,
) -> Option<(usize, usize, String)> {
    if deleted > MAX_DELETED_FILES && deleted * 10 > files_before {
        return Some((deleted, files_before, "files".to_owned()));
    }
    let EmptiedPalace { folder, deleted, all } = emptied?;
    let palace = if folder.is_empty() { "the palace" } else { &quoted(folder) };
    Some((*deleted, *all, format!("items of {palace}")))
}

/// Returns a palace that loses more than half of its items, and three or more, or its settings; or one in
/// whose folder nobody would look any more.
pub(super) fn find_lost_palace(
    history: &HistoryReader<'_>,
    [before, after]: [ObjectId; 2],
    files_before: &[TreeChange],
    changes: &[TreeChange],
) -> gix::Result<Option<EmptiedPalace>> {
    if let Some(covered) = find_covered_palace(changes, files_before) {
        return Ok(Some(covered));
    }
    let added = added_items(&PalacesInTrees::new(&history.git, &[after]), changes)?;
    let folders = PalacesInTrees::new(&history.git, &[before]);
    // Without its settings, a folder is no palace any more.
    let mut losses: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    for change in changes.iter().filter(|it| it.now.is_none()) {
        let (Some(folder), Some(was)) = (folders.palace_of(&change.path)?, change.was) else {
            continue;
        };
        let rest = &change.path[folder.len()..];
        let (count, has_no_settings) = losses.entry(folder.clone()).or_default();
        *has_no_settings |= rest == SETTINGS_FILE;
        let kind = kind_of_item(rest);
        *count += usize::from(kind.is_some_and(|it| !added.contains(&(folder, it, was.id))));
    }
    let losses = losses.into_iter().filter(|(_, (count, gone))| *gone || *count >= MIN_LOST_ITEMS);
    for (folder, (count, has_no_settings)) in losses {
        let mut all = 0;
        for file in files_before.iter().filter(|it| it.path.starts_with(&folder)) {
            let is_here = folders.palace_of(&file.path)?.as_ref() == Some(&folder);
            all += usize::from(is_here && kind_of_item(&file.path[folder.len()..]).is_some());
        }
        let moved =
            if has_no_settings { count_moved_items(&folder, files_before, changes) } else { 0 };
        let deleted = if has_no_settings { all - moved.min(all) } else { count };
        if deleted * 2 > all {
            return Ok(Some(EmptiedPalace { folder, deleted, all }));
        }
    }
    Ok(None)
}

/// Returns the items that are added, each with the folder of its palace, its kind and its blob. An item that
/// is moved to another kind, to another palace, or to where it is none, is lost.
fn added_items(
    folders: &PalacesInTrees<'_>,
    changes: &[TreeChange],
) -> gix::Result<HashSet<(String, &'static str, ObjectId)>> {
    let mut items = HashSet::new();
    for change in changes.iter().filter(|it| it.was.is_none()) {
        let (Some(folder), Some(now)) = (folders.palace_of(&change.path)?, change.now) else {
            continue;
        };
        if let Some(kind) = kind_of_item(&change.path[folder.len()..]) {
            items.insert((folder, kind, now.id));
        }
    }
    Ok(items)
}

/// Counts the items of a palace that are in the folder to which its settings are moved, too, if that folder
/// is one that is looked for beside it.
fn count_moved_items(folder: &str, files: &[TreeChange], changes: &[TreeChange]) -> usize {
    let added = changes.iter().filter(|it| it.was.is_none());
    let added: BTreeMap<_, _> =
        added.filter_map(|it| Some((it.path.as_str(), it.now?.id))).collect();
    let here = files.iter().filter_map(|it| Some((it.path.strip_prefix(folder)?, it.now?.id)));
    let here: Vec<_> = here.collect();
    let settings = here.iter().find(|(rest, _)| *rest == SETTINGS_FILE).map(|it| it.1);
    let targets = added.iter().filter(|(_, id)| Some(**id) == settings);
    let targets = targets.filter_map(|(path, _)| path.strip_suffix(SETTINGS_FILE));
    let moved_to = |to: &str| {
        let is_there = |(rest, id): &&(&str, ObjectId)| {
            kind_of_item(rest).is_some() && added.get(format!("{to}{rest}").as_str()) == Some(id)
        };
        here.iter().filter(is_there).count()
    };
    targets.filter(|it| is_beside(it, folder)).map(moved_to).max().unwrap_or(0)
}

/// Returns whether two folders, which end in `/`, are in the same one, and the first is not hidden.
fn is_beside(folder: &str, other: &str) -> bool {
    let split = |it: &'_ str| -> Option<(String, String)> {
        let name = it.strip_suffix('/')?;
        let (parent, name) = name.rsplit_once('/').unwrap_or(("", name));
        Some((parent.to_owned(), name.to_owned()))
    };
    let (Some((parent, name)), Some((other_parent, _))) = (split(folder), split(other)) else {
        return false;
    };
    parent == other_parent && !name.starts_with('.')
}

/// Returns a palace in whose folder nobody would look any more, because a folder above becomes a palace.
fn find_covered_palace(
    changes: &[TreeChange],
    files_before: &[TreeChange],
) -> Option<EmptiedPalace> {
    let folder_of = |path: &'_ str| -> Option<String> {
        let folder = path.strip_suffix(SETTINGS_FILE)?;
        (folder.is_empty() || folder.ends_with('/')).then(|| folder.to_owned())
    };
    let new: Vec<_> = changes
        .iter()
        .filter(|it| it.was.is_none() && it.now.is_some())
        .filter_map(|it| folder_of(&it.path))
        .collect();
    let mut known = files_before.iter().filter_map(|it| folder_of(&it.path));
    let is_below = |known: &String, new: &String| known != new && known.starts_with(new.as_str());
    let folder = known.find(|known| new.iter().any(|new| is_below(known, new)))?;
    let files = files_before.iter().filter_map(|it| it.path.strip_prefix(&folder));
    let all = files.filter(|it| kind_of_item(it).is_some()).count();
    Some(EmptiedPalace { folder, deleted: all, all })
}

/// Returns the folder of the kind of item that a file of a palace is; `None` for settings, records of
/// conflicts, and files with names that no item has.
fn kind_of_item(path: &str) -> Option<&'static str> {
    let (folder, rest) = path.split_once('/')?;
    let kind = PALACE_FOLDERS.into_iter().find(|it| *it == folder && *it != CONFLICTS_FOLDER)?;
    let is_room = |it: &str| it.parse::<RoomId>().is_ok();
    let (yaml, markdown) = (rest.strip_suffix(".yaml"), rest.strip_suffix(".md"));
    let is_named = match kind {
        "rooms" => is_room(yaml?),
        "scrolls" => is_room(markdown?.rsplit_once('/')?.0),
        "drawers" => match markdown?.splitn(3, '/').collect::<Vec<_>>()[..] {
            [wing, room, _] => is_room(&format!("{wing}/{room}")),
            _ => false,
        },
        "diary" => markdown?.split_once('/')?.0.parse::<Slug>().is_ok(),
        _ => yaml.is_some(),
    };
    let is_hidden = rest.split('/').any(|it| it.starts_with('.'));
    (is_named && !is_hidden).then_some(kind)
}
