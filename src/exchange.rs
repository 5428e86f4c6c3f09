//! Between a palace and the files of other programs.
//!
//! What others keep is turned into values of ours and back. Nothing here meets
//! a disk, and nothing that can be read is given up for something that cannot.

mod conversation;
mod exports;
mod memory;
mod mempalace;
mod mined;
mod pieces;
mod transcripts;

pub use memory::{Memory, read_memory, write_memory};
pub use mempalace::{Estate, Fact, Kept, Noted, Row, Tables, read_mempalace};
pub use mined::{Haul, Lode, Mined};
