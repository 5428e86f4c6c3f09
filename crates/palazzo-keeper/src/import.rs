//! Import from other memories: the memory server, MemPalace, conversations and notes.

pub(crate) mod earlier_texts;
pub(crate) mod memory;
pub(crate) mod mempalace;
pub(crate) mod mempalace_redaction;
pub(crate) mod mine;
pub(crate) mod redactions;
pub(crate) mod source_index;
