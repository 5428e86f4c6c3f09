//! Converts the files of other programs to values of the model and back.
//!
//! Nothing here reads or writes files. A part that cannot be parsed is reported and does
//! not stop the rest from being read.

mod agent_transcripts;
mod chat_exports;
mod citations;
mod conversation;
mod document;
mod extraction_result;
mod json_records;
mod large_texts;
mod machine_text;
mod memory_server_file;
mod mempalace;
mod mempalace_chunks;
mod mempalace_tables;
mod message_parts;
mod mine;
mod same_titles;

pub use citations::without_citations;
pub use extraction_result::{ExtractedText, ExtractionResult, OlderText};
pub use memory_server_file::{
    MemoryServerFile, parse_memory_server_file, serialize_memory_server_file,
};
pub use mempalace::{
    ImportedDiaryEntry, ImportedDrawer, ImportedFact, MempalaceData, convert_mempalace_tables,
};
pub use mempalace_tables::{MempalaceTables, Row};
pub use mine::SourceKind;
