//! Converts diffs of files to diffs of the items of a palace.

use std::collections::BTreeSet;

use crate::diff;
use crate::diff::count_changed_lines;
use crate::format::{self, PalacePath};
use crate::model::{
    ChangeDetail, ChangeKind, FileContent, FileDiff, FileItemKind, Files, ItemDiff, Palace,
    PalaceItem, ScrollId,
};

/// The name of a palace that is parsed from some of its files.
const PLACEHOLDER_NAME: &str = "palace";

/// Diffs the items in files, sorted by kind and name. A file that does not belong to the palace
/// format, or that cannot be parsed in one of the states, is an item of its own; schemas are left
/// out.
pub(crate) fn item_diffs_from_file_diffs(diffs: &[FileDiff]) -> Vec<ItemDiff> {
    let (mut was, mut now) = (Files::new(), Files::new());
    let (mut parsed, mut differences) = (Vec::new(), Vec::new());
    for it in diffs.iter().filter(|it| !format::is_schema_path(&it.path)) {
        if let Some(difference) = diff_unparsed_file(it) {
            differences.push(difference);
            continue;
        }
        parsed.push(it);
        for (files, content) in [(&mut was, &it.was), (&mut now, &it.now)] {
            files.extend(content.text().map(|text| (it.path.clone(), text.to_owned())));
        }
    }
    let ((was, _), (now, _)) = (
        format::parse_palace(PLACEHOLDER_NAME, &was),
        format::parse_palace(PLACEHOLDER_NAME, &now),
    );
    differences.extend(diff::diff_palaces(&was, &now));
    let mentioned: BTreeSet<_> = differences.iter().map(|it| it.item.clone()).collect();
    for it in parsed {
        let item =
            palace_item_in_file(&now, &it.path).or_else(|| palace_item_in_file(&was, &it.path));
        let is_both = it.was.text().is_some() && it.now.text().is_some();
        match item {
            Some(item) if mentioned.contains(&item) || !is_both => {}
            Some(item) => {
                differences.push(ItemDiff { item, change: ChangeKind::Changed(Vec::new()) });
            }
            None => {
                let item = PalaceItem::File(it.path.clone());
                differences.push(ItemDiff { item, change: text_change_kind(it) });
            }
        }
    }
    differences.sort_by(|a, b| a.item.cmp(&b.item));
    differences
}

/// Returns the item in a file.
pub(crate) fn palace_item_in_file(palace: &Palace, path: &str) -> Option<PalaceItem> {
    match PalacePath::parse(path).ok()? {
        PalacePath::Settings => Some(PalaceItem::Settings),
        PalacePath::Room(id) => palace.room(&id).map(|_| PalaceItem::Room(id)),
        PalacePath::Scroll(_) => {
            let which: &ScrollId = palace.scroll_in_file(path)?;
            let title = palace.scroll(which)?.title.clone();
            Some(PalaceItem::Scroll { which: which.clone(), title })
        }
        PalacePath::Entity => {
            palace.graph.entity_in_file(path).map(|it| PalaceItem::Entity(it.name.clone()))
        }
        kind => {
            let has_item = match kind {
                PalacePath::Genus => palace.graph.genus_definition_in_file(path).is_some(),
                PalacePath::Task => palace.tasks.contains_key(path),
                PalacePath::Process => palace.processes.contains_key(path),
                PalacePath::Drawer(_) => palace.drawers.drawer_in_file(path).is_some(),
                PalacePath::Diary(_) => palace.diaries.entry_in_file(path).is_some(),
                _ => false,
            };
            item_identified_by_path(path).filter(|_| has_item)
        }
    }
}

/// Returns the item that is identified by the path of its file.
fn item_identified_by_path(path: &str) -> Option<PalaceItem> {
    let what = match PalacePath::parse(path).ok()? {
        PalacePath::Genus => FileItemKind::Genus,
        PalacePath::Task => FileItemKind::Task,
        PalacePath::Process => FileItemKind::Process,
        PalacePath::Drawer(_) => FileItemKind::Drawer,
        PalacePath::Diary(_) => FileItemKind::DiaryEntry,
        _ => return None,
    };
    Some(PalaceItem::ByFile { what, path: path.to_owned() })
}

/// Diffs a file without items: one that cannot be parsed, or that does not belong to the format.
fn diff_unparsed_file(it: &FileDiff) -> Option<ItemDiff> {
    let path = it.path.clone();
    for (before, content) in [(false, &it.now), (true, &it.was)] {
        let why = match content {
            FileContent::Unreadable(why) => Some(why.clone()),
            FileContent::Text(text) => parse_failure(&path, text),
            FileContent::Missing => None,
        };
        if let Some(why) = why {
            let change = ChangeKind::Changed(vec![ChangeDetail::Unreadable { before, why }]);
            return Some(ItemDiff { item: PalaceItem::File(path), change });
        }
    }
    let item = match PalacePath::parse(&path) {
        Ok(PalacePath::Other) | Err(_) => PalaceItem::File(path),
        Ok(_) => item_identified_by_path(&path)?,
    };
    Some(ItemDiff { item, change: text_change_kind(it) })
}

fn text_change_kind(it: &FileDiff) -> ChangeKind {
    match (it.was.text(), it.now.text()) {
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Removed,
        (Some(was), Some(now)) => {
            let count = count_changed_lines(was, now);
            ChangeKind::Changed(vec![ChangeDetail::TextChanged { text: "", count }])
        }
    }
}

/// Returns why no item could be parsed from a file of the palace; `None` if one was.
fn parse_failure(path: &str, text: &str) -> Option<String> {
    let kind = PalacePath::parse(path).ok().filter(|it| *it != PalacePath::Other)?;
    let files = Files::from([(path.to_owned(), text.to_owned())]);
    let (palace, findings) = format::parse_palace(PLACEHOLDER_NAME, &files);
    let is_parsed = match kind {
        PalacePath::Settings => format::parse_settings(text).is_some(),
        _ => palace_item_in_file(&palace, path).is_some(),
    };
    let first = findings.first().map(|it| format!("line {}: {}", it.at.line, it.message));
    (!is_parsed).then(|| first.unwrap_or_default())
}
