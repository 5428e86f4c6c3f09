//! Between a palace and the files of other programs.
//!
//! What others keep is turned into values of ours and back. Nothing here meets
//! a disk, and nothing that can be read is given up for something that cannot.

mod agent_transcripts;
mod chat_exports;
mod conversation;
mod memory_file;
mod mempalace;
mod mempalace_chunks;
mod mine;

pub use memory_file::{MemoryFile, read_memory_file, write_memory_file};
pub use mempalace::{
    ImportedDiaryEntry, ImportedDrawer, ImportedFact, MempalaceData, MempalaceTables, Row,
    read_mempalace,
};
pub use mine::{Extracted, ExtractedText, SourceKind};
