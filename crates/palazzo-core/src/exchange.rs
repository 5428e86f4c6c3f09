//! Converts the files of other programs to values of the model and back.
//!
//! Nothing here reads or writes files. A part that cannot be parsed is reported and does
//! not stop the rest from being read.

mod agent_transcripts;
mod chat_exports;
mod conversation;
mod extraction_result;
mod hook_input;
mod json_records;
mod memory_server_file;
mod mempalace;
mod mine;

pub use chat_exports::without_citations;
pub use extraction_result::{ExtractedText, ExtractionResult, OlderText};
pub use hook_input::{FileWrite, HookInput, TextEdit};
pub use memory_server_file::{
    MemoryServerFile, parse_memory_server_file, serialize_memory_server_file,
};
pub use mempalace::{
    ImportedDiaryEntry, ImportedDrawer, ImportedFact, MempalaceData, MempalaceRow, MempalaceTables,
    convert_mempalace_tables,
};
pub use mine::SourceKind;
