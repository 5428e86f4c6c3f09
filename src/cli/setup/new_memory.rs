//! The memory of Claude Code that `palazzo setup` puts into a palace.

use std::path::PathBuf;

use crate::cli::home::HomeArgs;
use crate::cli::hook::memory_setup::{MemorySetup, describe_memory_setup};
use crate::cli::outcome::Failure;
use crate::cli::terminal;
use palazzo_keeper::Keeper;

/// The memory of the project in the current folder.
pub(super) struct NewMemory {
    keeper: Keeper,
    /// The settings that are changed.
    pub(super) settings: PathBuf,
    /// The lines that tell the user what is done.
    pub(super) description: String,
}

impl NewMemory {
    /// Plans it; `None`: the memory is in a palace already. Fails if it cannot be put there, or if the
    /// palace has a remote and nobody `is_asked`.
    pub(super) fn new(home: &HomeArgs, is_asked: bool) -> Result<Option<Self>, Failure> {
        let keeper = home.keeper();
        let planned = describe_memory_setup(&keeper, is_asked)?;
        Ok(planned.map(|(settings, description)| Self { keeper, settings, description }))
    }

    /// Does it. The palace may have been created since it was planned.
    pub(super) fn install(self) -> Result<(), Failure> {
        let lines = MemorySetup::new(self.keeper)?.install()?;
        Ok(terminal::print_page(&lines.join("\n"))?)
    }
}
