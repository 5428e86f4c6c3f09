//! What an editor asks about a palace: findings, places, renames, completions.
//!
//! Nothing here writes files. The texts of open files stand for those on disk, so that all answers
//! are about what the user sees.

mod completion;
mod editor_palace;
mod findings;
mod fixes;
mod hover;
mod name_index;
mod neighbours;
mod outline;
mod references;
mod rename;
mod symbol;

pub use completion::{Completion, CompletionKind, CompletionList};
pub use editor_palace::EditorPalace;
pub use findings::EditorFinding;
pub use fixes::Fix;
pub use neighbours::{NamedItem, NeighbourRoom};
pub use outline::{OutlineEntry, OutlineKind};
pub use references::FilePlace;
pub use rename::{FileChange, RenameTarget};
pub use symbol::Symbol;
