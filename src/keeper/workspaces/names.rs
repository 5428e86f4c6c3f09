//! The names of the palaces of a home, and whether one of them has to be given.

use crate::keeper::{Keeper, Refusal};

impl Keeper {
    /// Returns the names by which doors can lead to the palaces of the home: those of their
    /// directories, and those in their settings.
    pub(in crate::keeper) fn workspace_keys_and_names(&self) -> Result<Vec<String>, Refusal> {
        Ok(self.workspaces()?.into_iter().flat_map(|it| [it.key, it.name]).collect())
    }

    /// Refuses if a caller who has entered no palace would have to choose one, or if the preferred
    /// one does not exist.
    pub fn require_default_workspace(&self) -> Result<(), Refusal> {
        self.default_workspace().map(drop)
    }
}
