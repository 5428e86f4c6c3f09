//! Changes references in files that no side has changed.
//!
//! Tools change all references to what they rename. A person who renames a room or an entity may
//! leave them; then they lead nowhere after the merge, and follow.

use crate::merge::changes::{MergeInput, RawFiles, Version};
use crate::merge::renames::NameChanges;
use palazzo_core::format::file_kind;
use palazzo_core::model::FileKind;

/// Maximum number of files that are read to find references.
const MAX_SEARCHED_FILES: usize = 5_000;

/// Returns the unchanged files with references that lead nowhere after the merge, with the new
/// names. If only one side has changed anything, or both the same, its version is taken as it is.
pub(super) fn rename_in_unchanged_files(input: &MergeInput<'_>, names: &NameChanges) -> RawFiles {
    let (has_rooms, has_entities) = (names.has_renamed_rooms(), names.has_renamed_entities());
    let [one, other] = input.sides;
    if !has_rooms && !has_entities || one == other || one == input.base || other == input.base {
        return RawFiles::new();
    }
    // Few files are no entities, and these can refer only to entities.
    let may_refer = |path: &&String, are_entities: bool| match file_kind(path) {
        Some(FileKind::Entity) => are_entities && has_entities,
        Some(FileKind::Palace | FileKind::Room | FileKind::Task | FileKind::Process) => {
            !are_entities
        }
        _ => false,
    };
    let paths = input.unchanged.paths.iter();
    let entities = paths.clone().filter(|it| may_refer(it, true));
    let searched = paths.filter(|it| may_refer(it, false)).chain(entities);
    let versions = searched.take(MAX_SEARCHED_FILES).filter_map(|path| {
        Some(Version { path: path.clone(), bytes: (input.unchanged.read)(path)? })
    });
    let renamed = versions.filter_map(|was| {
        let now = names.rename_in_version(&was);
        (now != was).then_some((now.path, now.bytes))
    });
    renamed.collect()
}
