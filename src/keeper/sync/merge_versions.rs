//! Merges two versions of a palace for the store, with the files of the conflicts.

use crate::keeper::conflict_file;
use crate::keeper::merge::{MergeInput, MergeOutcome, UnchangedFiles, merge_palaces};
use crate::merge::Side;
use crate::store::{MergedPalace, PalaceVersions};

/// The folder with files that Palazzo makes again when they are out of date.
const GENERATED_FOLDER: &str = ".palazzo/";

/// Merges two versions of a palace.
pub(super) fn merge_versions(versions: &PalaceVersions<'_>) -> MergedPalace {
    let last_change = |side: usize, path: &str| {
        let change = (versions.last_change)(side, path);
        Side {
            author: change.author,
            at: change.at,
            is_by_hand: change.is_by_hand,
            commit: change.commit,
        }
    };
    let [one, other] = &versions.sides;
    let MergeOutcome { mut files, mut conflicts } = merge_palaces(&MergeInput {
        base: &versions.base,
        sides: [one, other],
        unchanged: UnchangedFiles { paths: &versions.unchanged, read: versions.read_unchanged },
        last_change: &last_change,
    });
    conflicts.retain(|it| !it.path.starts_with(GENERATED_FOLDER));
    for conflict in &conflicts {
        let (path, text) = conflict_file(conflict);
        files.insert(path, text.into_bytes());
    }
    MergedPalace { files, conflicts: conflicts.len() }
}
