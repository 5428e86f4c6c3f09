//! Converts the files of other programs to values of the model and back.
//!
//! Nothing here reads or writes files. A part that cannot be parsed is reported and does
//! not stop the rest from being read.

mod agent_transcripts;
mod chat_exports;
mod conversation;
mod extracted;
mod memory_file;
mod mempalace;
mod mempalace_chunks;
mod mempalace_tables;
mod mine;

pub use extracted::{Extracted, ExtractedText};
pub use memory_file::{MemoryFile, read_memory_file, write_memory_file};
pub use mempalace::{
    ImportedDiaryEntry, ImportedDrawer, ImportedFact, MempalaceData, read_mempalace,
};
pub use mempalace_tables::{MempalaceTables, Row};
pub use mine::SourceKind;
