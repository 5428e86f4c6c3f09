//! The links that lead nowhere after an undo.

use std::collections::BTreeMap;

use crate::check::CheckFinding;
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::findings::{prepare_checks, resolve_diagnostic_positions};
use crate::model::{ChangeDetail, ChangeKind, Code, Diagnostic, ItemDiff};

/// The findings about links that lead nowhere.
const CODES: [Code; 5] = [
    Code::UnfinishedRoom,
    Code::UndefinedEntity,
    Code::UnresolvedLink,
    Code::LostScroll,
    Code::UnknownScroll,
];

/// Returns whether links can lead nowhere after these changes: an item is removed, renamed or moved.
pub(crate) fn can_break_links(changes: &[ItemDiff]) -> bool {
    let is_new_name =
        |it: &ChangeDetail| matches!(it, ChangeDetail::Renamed { .. } | ChangeDetail::Moved { .. });
    changes.iter().any(|it| match &it.change {
        ChangeKind::Removed(_) => true,
        ChangeKind::Changed(details) => details.iter().any(is_new_name),
        ChangeKind::Added(_) => false,
    })
}

/// Lists the links of a palace that lead nowhere.
pub(crate) fn find_broken_links(palace: &OpenPalace) -> Vec<CheckFinding> {
    let silenced = &palace.palace.settings.silenced_codes;
    let mut findings = prepare_checks(palace, &[], &[]).findings();
    findings.retain(|it| {
        CODES.contains(&it.diagnostic.code) && !silenced.contains(&it.diagnostic.code)
    });
    findings
}

/// Lists the links that lead nowhere now and are not among those `before`, each with its line.
pub(crate) fn find_new_broken_links(
    palace: &OpenPalace,
    before: &[CheckFinding],
) -> Vec<Diagnostic> {
    let mut by_file = BTreeMap::<_, Vec<_>>::new();
    for it in find_broken_links(palace).into_iter().filter(|it| !before.contains(it)) {
        let of_file = by_file.entry(it.diagnostic.file.clone()).or_default();
        of_file.push((it.diagnostic, Some(it.value_path)));
    }
    let findings =
        by_file.into_iter().flat_map(|(file, it)| resolve_diagnostic_positions(palace, &file, it));
    findings.map(|it| it.diagnostic).collect()
}
