//! The names of the palaces of a home.

use crate::keeper::{Keeper, Refusal};

impl Keeper {
    /// Returns the names by which doors can lead to the palaces of the home: those of their
    /// directories, and those in their settings.
    pub(in crate::keeper) fn workspace_keys_and_names(&self) -> Result<Vec<String>, Refusal> {
        Ok(self.workspaces()?.into_iter().flat_map(|it| [it.key, it.name]).collect())
    }
}
