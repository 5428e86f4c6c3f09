//! Converts diffs of files to diffs of the items of a palace.

use std::collections::BTreeSet;

use ulid::Ulid;

use crate::Refusal;
use crate::palace::OpenPalace;
use palazzo_core::diff::{self, diff_palaces, diff_texts};
use palazzo_core::format::{self, PalacePath, item_or_settings_in_file};
use palazzo_core::model::{
    ChangeDetail, ChangeKind, CommitId, FileContent, FileDiff, Files, ItemDiff, ItemOrFile,
    NoteFolders, Palace, ScrollId, Settings, Severity,
};

/// The name of a palace that is parsed from some of its files.
const PLACEHOLDER_NAME: &str = "palace";

/// The items that differ between two states of a palace, and the parts of both that differ.
pub(crate) struct ComparedItems {
    /// Sorted by kind and name.
    pub(crate) items: Vec<ItemDiff>,
    pub(crate) was: Palace,
    pub(crate) now: Palace,
}

/// Diffs the items in files, sorted by kind and name. A file that does not belong to the palace
/// format, or that cannot be parsed in one of the states, is an item of its own; schemas are left
/// out. `settings` are those of the palace, for files without `palace.toml`.
pub(crate) fn item_diffs_from_file_diffs(diffs: &[FileDiff], settings: &Settings) -> Vec<ItemDiff> {
    compare_items_in_files(diffs, &Files::new(), settings).items
}

/// Diffs the items in files, as [`item_diffs_from_file_diffs`] does, and returns both states. A new scroll is
/// compared with one of `replaced`, the files of unchanged scrolls.
pub(crate) fn compare_items_in_files(
    diffs: &[FileDiff],
    replaced: &Files,
    settings: &Settings,
) -> ComparedItems {
    let (mut was, mut now) = (replaced.clone(), replaced.clone());
    let (mut parsed, mut items) = (Vec::new(), Vec::new());
    for it in diffs.iter().filter(|it| !format::is_schema_or_readme_path(&it.path)) {
        if let Some(difference) = diff_unparsed_file(it, &settings.note_folders) {
            items.push(difference);
            continue;
        }
        parsed.push(it);
        for (files, content) in [(&mut was, &it.was), (&mut now, &it.now)] {
            files.extend(content.text().map(|text| (it.path.clone(), text.to_owned())));
        }
    }
    let ((was, _), (now, _)) = (
        format::parse_files_of_palace(settings, &was),
        format::parse_files_of_palace(settings, &now),
    );
    items.extend(diff::diff_palaces(&was, &now, file_of_palace_item));
    let mentioned: BTreeSet<_> = items.iter().map(|it| it.item.clone()).collect();
    for it in parsed {
        let item = item_or_settings_in_file(&now, &it.path)
            .or_else(|| item_or_settings_in_file(&was, &it.path));
        let is_both = it.was.text().is_some() && it.now.text().is_some();
        let files = vec![it.path.clone()];
        match item {
            Some(item) if mentioned.contains(&item) || !is_both => {}
            Some(item) => {
                items.push(ItemDiff { item, files, change: ChangeKind::Changed(Vec::new()) });
            }
            None => {
                let item = ItemOrFile::File(it.path.clone());
                items.push(ItemDiff { item, files, change: text_change_kind(it) });
            }
        }
    }
    items.sort_by(|a, b| a.item.sort_key().cmp(&b.item.sort_key()));
    ComparedItems { items, was, now }
}

/// Returns the files of the unchanged scrolls that new ones replace, as of a commit.
pub(crate) fn replaced_scroll_files(
    open: &OpenPalace,
    commit: Option<&CommitId>,
    diffs: &[FileDiff],
) -> Result<Files, Refusal> {
    let ids = ids_of_replaced_scrolls(diffs);
    let paths = open.palace.scrolls().filter(|(_, it)| ids.contains(&it.id));
    let paths = paths.filter_map(|(room, it)| {
        open.palace.file_of_scroll(&ScrollId { room: room.clone(), id: it.id })
    });
    let paths: Vec<_> = paths.filter(|path| !diffs.iter().any(|it| it.path == **path)).collect();
    let (Some(commit), false) = (commit, paths.is_empty()) else { return Ok(Files::new()) };
    let past = open.store().as_of(commit)?;
    let read = |path: &str| Some((path.to_owned(), past.read_file(path).ok().flatten()?));
    Ok(paths.into_iter().filter_map(read).collect())
}

/// Returns the content of the item in a file, as that of an item that was added; for a file without
/// an item, its text.
pub(crate) fn content_of_file(path: &str, text: &str, settings: &Settings) -> Vec<ChangeDetail> {
    let whole = || {
        let (count, lines) = diff_texts("", text);
        vec![ChangeDetail::TextChanged { of: String::new(), count, lines }]
    };
    match added_item(path, text, settings).map(|it| it.change) {
        Some(ChangeKind::Added(content)) => content,
        _ => whole(),
    }
}

/// Returns the ids of the scrolls that new ones replace.
pub(crate) fn ids_of_replaced_scrolls(diffs: &[FileDiff]) -> BTreeSet<Ulid> {
    let is_scroll = |path: &str| matches!(PalacePath::parse(path), Ok(PalacePath::Scroll(_)));
    let new = diffs.iter().filter(|it| it.was == FileContent::Missing && is_scroll(&it.path));
    let new = new.filter_map(|it| Some((it.path.clone(), it.now.text()?.to_owned())));
    let (palace, _) = format::parse_palace(PLACEHOLDER_NAME, &new.collect());
    palace.scrolls().flat_map(|(_, it)| it.replaces.clone()).collect()
}

/// Returns the file of an item, of the settings, or of another file.
fn file_of_palace_item(palace: &Palace, item: &ItemOrFile) -> Option<String> {
    match item {
        ItemOrFile::Settings => Some(PalacePath::SETTINGS_FILE.to_owned()),
        ItemOrFile::Item { id, .. } => format::file_of_item(palace, id),
        ItemOrFile::File(path) => Some(path.clone()),
    }
}

/// Diffs a file without items: one that cannot be parsed, or that does not belong to the format.
fn diff_unparsed_file(it: &FileDiff, note_folders: &NoteFolders) -> Option<ItemDiff> {
    let path = it.path.clone();
    for (before, content) in [(false, &it.now), (true, &it.was)] {
        let why = match content {
            FileContent::Unreadable(why) => Some(why.clone()),
            FileContent::Text(text) => parse_failure(&path, text),
            FileContent::Missing => None,
        };
        if let Some(why) = why {
            let change = ChangeKind::Changed(vec![ChangeDetail::Unreadable { before, why }]);
            return Some(ItemDiff {
                item: ItemOrFile::File(path.clone()),
                files: vec![path],
                change,
            });
        }
    }
    match PalacePath::parse(&path) {
        Ok(PalacePath::Other) if note_folders.contains(&path) => None,
        Ok(PalacePath::Conflict | PalacePath::Other) | Err(_) => Some(ItemDiff {
            item: ItemOrFile::File(path.clone()),
            files: vec![path],
            change: text_change_kind(it),
        }),
        Ok(_) => None,
    }
}

fn text_change_kind(it: &FileDiff) -> ChangeKind {
    let (was, now) = (it.was.text(), it.now.text());
    let (count, lines) = diff_texts(was.unwrap_or_default(), now.unwrap_or_default());
    let text = vec![ChangeDetail::TextChanged { of: String::new(), count, lines }];
    match (was, now) {
        (None, _) => ChangeKind::Added(text),
        (_, None) => ChangeKind::Removed(text),
        (Some(_), Some(_)) => ChangeKind::Changed(text),
    }
}

/// Returns why no item could be parsed from a file of the palace; `None` if one was.
fn parse_failure(path: &str, text: &str) -> Option<String> {
    let is_item = |it: &PalacePath| !matches!(it, PalacePath::Conflict | PalacePath::Other);
    let kind = PalacePath::parse(path).ok().filter(is_item)?;
    let files = Files::from([(path.to_owned(), text.to_owned())]);
    let (palace, findings) = format::parse_palace(PLACEHOLDER_NAME, &files);
    let is_parsed = match kind {
        PalacePath::Settings => format::parse_settings(text).is_some(),
        _ => item_or_settings_in_file(&palace, path).is_some(),
    };
    let first = findings.first().map(|it| format!("line {}: {}", it.at.line, it.message));
    (!is_parsed).then(|| first.unwrap_or_default())
}

/// Returns the item in a file, as one that was added; `None` if the file has none or is faulty.
pub(crate) fn added_item(path: &str, text: &str, settings: &Settings) -> Option<ItemDiff> {
    let files = Files::from([(path.to_owned(), text.to_owned())]);
    let (palace, findings) = format::parse_files_of_palace(settings, &files);
    item_or_settings_in_file(&palace, path)?;
    if findings.iter().any(|it| it.code.severity() == Severity::Error) {
        return None;
    }
    let (nothing, _) = format::parse_files_of_palace(settings, &Files::new());
    let is_in_file = |it: &ItemDiff| it.files.iter().any(|it| it == path);
    diff_palaces(&nothing, &palace, file_of_palace_item).into_iter().find(is_in_file)
}
