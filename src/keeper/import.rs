//! Import from other memories: the memory server, MemPalace, conversations and notes.

pub(crate) mod memory;
pub(crate) mod mempalace;
pub(crate) mod mine;
