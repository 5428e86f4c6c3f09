//! The links that lead nowhere after a change.

use std::collections::BTreeMap;

use crate::palace::OpenPalace;
use crate::palace::findings::{prepare_checks, resolve_positions_in_text};
use palazzo_core::check::{CheckFinding, PalaceCheck};
use palazzo_core::format;
use palazzo_core::model::{ChangeDetail, ChangeKind, Code, Diagnostic, FileEdit, ItemDiff, Palace};

/// The findings about links that lead nowhere.
const CODES: [Code; 5] = [
    Code::UnfinishedRoom,
    Code::UndefinedEntity,
    Code::UnresolvedLink,
    Code::LostScroll,
    Code::UnknownScroll,
];

/// Lists the links that lead nowhere after edits and not before, each with its line; `changes` is what
/// the edits change.
pub(crate) fn find_new_broken_links(
    palace: &OpenPalace,
    changes: &[ItemDiff],
    edits: &[FileEdit],
) -> Vec<Diagnostic> {
    if !can_break_links(changes) {
        return Vec::new();
    }
    let before = find_broken_links(palace, &palace.palace);
    let after = palace_after_edits(&palace.palace, edits);
    let mut by_file = BTreeMap::<_, Vec<_>>::new();
    for it in find_broken_links(palace, &after).into_iter().filter(|it| !before.contains(it)) {
        let of_file = by_file.entry(it.diagnostic.file.clone()).or_default();
        of_file.push((it.diagnostic, Some(it.value_path)));
    }
    let edited = |file: &str| edits.iter().find(|it| it.path == file)?.now.clone();
    let text = |file: &str| edited(file).or_else(|| palace.store().read_file(file).ok().flatten());
    let findings = by_file.into_iter().flat_map(|(file, it)| {
        resolve_positions_in_text(&file, &text(&file).unwrap_or_default(), it)
    });
    findings.map(|it| it.diagnostic).collect()
}

/// Returns whether links can lead nowhere after these changes: an item is removed, renamed or moved.
fn can_break_links(changes: &[ItemDiff]) -> bool {
    let is_new_name =
        |it: &ChangeDetail| matches!(it, ChangeDetail::Renamed { .. } | ChangeDetail::Moved { .. });
    changes.iter().any(|it| match &it.change {
        ChangeKind::Removed(_) => true,
        ChangeKind::Changed(details) => details.iter().any(is_new_name),
        ChangeKind::Added(_) => false,
    })
}

/// Lists the links that lead nowhere in a state of a palace.
fn find_broken_links(open: &OpenPalace, state: &Palace) -> Vec<CheckFinding> {
    let silenced = &state.settings.silenced_codes;
    let check = PalaceCheck { palace: state, ..prepare_checks(open, &[], &[]) };
    let mut findings = check.findings();
    findings.retain(|it| {
        CODES.contains(&it.diagnostic.code) && !silenced.contains(&it.diagnostic.code)
    });
    findings
}

/// Returns a palace as it is after edits.
fn palace_after_edits(palace: &Palace, edits: &[FileEdit]) -> Palace {
    let mut after = palace.clone();
    // A name is free for one file when another has given it up.
    for it in edits {
        format::remove_item_of_file(&mut after, &it.path);
    }
    for FileEdit { path, now, .. } in edits {
        if let Some(text) = now {
            let parsed = format::parse_file(path, text);
            format::insert_parsed_file(&mut after, path, parsed, || text.clone());
        }
    }
    after
}
