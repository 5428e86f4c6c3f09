//! Plans a move of `HEAD`: which files it writes, and the merge commit.

use std::collections::{BTreeMap, HashSet};

use gix::ObjectId;

use crate::history::commits::HistoryReader;
use crate::history::commits::MERGE_RULES_TRAILER;
use crate::history::palace_lookup::PalaceLookup;
use crate::repo::palace_files::{CONFLICTS_FOLDER, PALACE_FOLDERS, SETTINGS_FILE};
use crate::repo::tree_diff::{self, TreeChange};
use crate::repo::tree_lookup::BlobEntry;
use crate::sync::tree_merge::MergedTree;
use crate::write::commit::GitIdentity;
use crate::write::head_move::{HeadMove, HeadMoveFile, NewCommit, NewHead};
use palazzo_core::model::{RoomId, Slug};

/// A fast-forward or a merge that can be applied.
#[derive(Debug)]
pub struct PlannedMove {
    /// The number of files that are added.
    pub added: usize,
    /// The number of files that are changed.
    pub changed: usize,
    /// The number of files that are deleted, without those that are moved.
    pub deleted: usize,
    /// The number of files before.
    pub files_before: usize,
    /// The palace that loses more than half of its items, and three or more.
    pub emptied: Option<EmptiedPalace>,
    /// The number of conflicts that the merge records.
    pub conflicts: usize,
    pub(crate) head_move: HeadMove,
}

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

impl PlannedMove {
    /// Returns the paths of the files in the repository.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.head_move.files.iter().map(|it| it.path.as_str())
    }

    /// Returns the files that are written, by path in the repository, with their texts.
    pub fn new_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.head_move.files.iter();
        files.filter_map(|it| Some((it.path.as_str(), it.now.as_ref()?.1.as_str())))
    }

    /// Plans to move `HEAD` to the merge of two commits, of which the first is `HEAD`.
    pub(crate) fn for_merge(
        history: &HistoryReader<'_>,
        [ours, theirs]: [ObjectId; 2],
        merged: MergedTree,
        rules_version: u32,
    ) -> gix::Result<Self> {
        let mut parents = [ours, theirs];
        parents.sort_unstable();
        let time = |id| -> gix::Result<i64> { Ok(history.git.find_commit(id)?.time()?.seconds) };
        let merge = NewCommit {
            parents: parents.to_vec(),
            tree: merged.tree,
            identity: GitIdentity::for_sync(),
            seconds: time(ours)?.max(time(theirs)?),
            message: merge_message(merged.conflicts, rules_version),
        };
        let planned = Self::new(history, ours, NewHead::Commit(merge), "sync: merge")?;
        Ok(Self { conflicts: merged.conflicts, ..planned })
    }

    /// Plans to move `HEAD` from `old` to `new`.
    pub(crate) fn new(
        history: &HistoryReader<'_>,
        old: ObjectId,
        new: NewHead,
        reason: &'static str,
    ) -> gix::Result<Self> {
        let before = history.root_tree(old)?;
        let tree = match &new {
            NewHead::Existing(commit) => history.root_tree(*commit)?,
            NewHead::Commit(commit) => commit.tree,
        };
        let changes = tree_diff::compare(&history.git, Some(before), Some(tree))?;
        let added: HashSet<_> = changes
            .iter()
            .filter(|it| it.was.is_none())
            .filter_map(|it| it.now)
            .map(|it| it.id)
            .collect();
        let is_deleted = |it: &&TreeChange| {
            it.now.is_none() && it.was.is_some_and(|was| !added.contains(&was.id))
        };
        let files_before = tree_diff::compare(&history.git, None, Some(before))?;
        let emptied = find_lost_palace(history, [before, tree], &files_before, &changes)?;
        let count = |is: &dyn Fn(&TreeChange) -> bool| changes.iter().filter(|it| is(it)).count();
        Ok(Self {
            added: count(&|it| it.was.is_none()),
            changed: count(&|it| it.was.is_some() && it.now.is_some()),
            deleted: changes.iter().filter(is_deleted).count(),
            files_before: files_before.len(),
            emptied,
            conflicts: 0,
            head_move: HeadMove {
                old,
                new,
                files: changes
                    .into_iter()
                    .map(|it| head_move_file(&history.git, it))
                    .collect::<gix::Result<_>>()?,
                reason,
            },
        })
    }
}

/// Returns a palace that loses more than half of its items, and three or more, or its settings; or one in
/// whose folder nobody would look any more.
fn find_lost_palace(
    history: &HistoryReader<'_>,
    [before, after]: [ObjectId; 2],
    files_before: &[TreeChange],
    changes: &[TreeChange],
) -> gix::Result<Option<EmptiedPalace>> {
    const MIN_DELETED: usize = 3;
    if let Some(covered) = find_covered_palace(changes, files_before) {
        return Ok(Some(covered));
    }
    let added = added_items(&PalaceLookup::new(&history.git, &[after]), changes)?;
    let folders = PalaceLookup::new(&history.git, &[before]);
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
    let losses = losses.into_iter().filter(|(_, (count, gone))| *gone || *count >= MIN_DELETED);
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
    folders: &PalaceLookup<'_>,
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

fn head_move_file(git: &gix::Repository, change: TreeChange) -> gix::Result<HeadMoveFile> {
    let now = change.now.map(|it| -> gix::Result<_> {
        let text = String::from_utf8(git.find_blob(it.id)?.take_data());
        Ok((it.into(), text.map_err(gix::Error::from_error)?))
    });
    let was = change.was.map(BlobEntry::from);
    Ok(HeadMoveFile { path: change.path, was, now: now.transpose()? })
}

/// Returns the message of a merge. It follows from the content, so that it is the same everywhere.
fn merge_message(conflicts: usize, rules_version: u32) -> String {
    let subject = match conflicts {
        0 => "sync: merge".to_owned(),
        1 => "sync: merge, with 1 conflict".to_owned(),
        count => format!("sync: merge, with {count} conflicts"),
    };
    format!("{subject}\n\n{MERGE_RULES_TRAILER}: {rules_version}\n")
}
