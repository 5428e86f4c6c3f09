//! Answers to editors about a palace: findings, definitions, references, renames, completions.
//!
//! Nothing here writes files. The texts of open files stand for those on disk, so that all answers
//! are about what the user sees.

mod annotations;
mod completion;
mod doors;
mod editor_palace;
mod find_items;
mod findings;
mod fixes;
mod hover;
mod name_index;
mod occurrences;
mod outline;
mod references;
mod rename;
mod symbol;

pub use completion::{Completion, CompletionKind, CompletionList};
pub use doors::NeighbourRoom;
pub use editor_palace::EditorPalace;
pub use find_items::NamedItem;
pub use findings::EditorFinding;
pub use fixes::Fix;
pub use outline::{OutlineEntry, OutlineKind};
pub use references::FilePlace;
pub use rename::FileChange;
pub use symbol::Symbol;
