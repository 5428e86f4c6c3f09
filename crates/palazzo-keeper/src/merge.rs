//! Merges two versions of a palace with their common base.
//!
//! A pure function over the files that differ. Items are known by their ids, so that a moved or
//! renamed item is merged with its edited version, and what one side wrote with an old name follows
//! the rename. Of two values for one field, a rule that does not depend on the machine lets one
//! stand; the other is returned as a conflict. Both machines get the same bytes. Files of conflicts are known
//! by their paths alone, and are never the subject of a conflict.

mod body;
mod changes;
mod conflict;
mod conflict_file;
mod deletions;
mod file;
mod items;
mod last_changes;
mod likeness;
mod link_attributes;
mod merged_item;
mod names;
mod outcome;
mod path_choice;
mod renames;
mod unchanged_files;

pub(crate) use body::is_second_name;
pub use changes::{FilePart, MergeInput, RawFiles, UnchangedFiles};
pub use conflict::MergeConflict;
pub(crate) use conflict::path_of_conflict;
pub(crate) use conflict_file::merge_conflict_files;
pub use outcome::{MergeOutcome, merge_palaces};

/// The version of the rules of merging. Machines merge only with machines that have the same rules;
/// an older program waits. The form of what a merge writes is a part of the rules.
pub const MERGE_RULES_VERSION: u32 = 3;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod pair_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod rename_tests;
