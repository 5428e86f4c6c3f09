//! Asking the user for what a palace that may come from somebody else needs, and remembering it.

use std::path::{Path, PathBuf};

use crate::format::{self, PalacePath};
use crate::keeper::{Keeper, Refusal};
use crate::model::Consent;
use crate::store::{self, Consents};

impl Keeper {
    /// Looks up what the user has allowed in `state`, the folder for the state of this program;
    /// without one, nothing is allowed.
    #[must_use]
    pub fn with_consent_folder(mut self, state: Option<PathBuf>) -> Self {
        self.consents = Consents::new(state);
        self
    }

    /// Lists what the home and its palaces need the user's consent for, and do not have.
    pub fn missing_consents(&self) -> Result<Vec<Consent>, Refusal> {
        let mut wanted: Vec<_> = store::repository_consent(&self.home)?.into_iter().collect();
        for workspace in self.workspaces()? {
            let store = self.store_of(&workspace);
            wanted.extend(store::repository_consent(store.root())?);
            let text =
                store.read_file(PalacePath::SETTINGS_FILE).ok().flatten().unwrap_or_default();
            let allow = format::parse_settings(&text).map(|it| it.allow).unwrap_or_default();
            wanted.extend(store.tools_consent(&allow)?);
        }
        wanted.sort();
        wanted.dedup();
        let mut missing = Vec::new();
        for consent in wanted {
            if !self.consents.is_allowed(&consent)? {
                missing.push(consent);
            }
        }
        Ok(missing)
    }

    /// Lists what the user has allowed on this machine.
    pub fn consents(&self) -> Result<Vec<Consent>, Refusal> {
        Ok(self.consents.list()?)
    }

    /// Allows what `consent` describes.
    pub fn give_consent(&self, consent: &Consent) -> Result<(), Refusal> {
        Ok(self.consents.add(consent)?)
    }

    /// Removes every consent for `folder` and what is below it, and returns them.
    pub fn remove_consents(&self, folder: &Path) -> Result<Vec<Consent>, Refusal> {
        Ok(self.consents.remove(folder)?)
    }
}
