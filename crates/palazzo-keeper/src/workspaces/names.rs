//! The names of the palaces of a home, and whether one of them has to be given.

use crate::workspaces::as_of_key::{is_as_of_key, present_key};
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::quoted;
use palazzo_core::render;
use palazzo_core::visit::VisitKey;

impl Keeper {
    /// Returns the names by which doors can lead to the palaces of the home: those of their
    /// directories, and those in their settings.
    pub(crate) fn workspace_keys_and_names(&self) -> Result<Vec<String>, Refusal> {
        Ok(self.workspaces()?.into_iter().flat_map(|it| [it.key, it.name]).collect())
    }

    /// Refuses if a caller who has entered no palace would have to choose one, or if the preferred
    /// one does not exist.
    pub fn require_default_workspace(&self) -> Result<(), Refusal> {
        self.default_workspace().map(drop)
    }

    /// Adds the name of the palace to the answer of a tool that was called before the caller
    /// entered one; from now on the caller acts on that palace. Where a process serves many visits,
    /// every answer names the palace in another place.
    pub fn with_workspace_note(&mut self, caller: &Caller, answer: String) -> String {
        if self.visit_of_caller(caller).workspace.is_some() {
            return answer;
        }
        let Ok(key) = self.current_workspace(caller) else { return answer };
        let name = quoted(&self.workspace_name(&key));
        self.remember_workspace(caller, &key);
        match caller.visit {
            VisitKey::Client(_) => {
                format!("{answer}No workspace was set: the call used {name}.\n")
            }
            VisitKey::Handle(_) => answer,
        }
    }

    /// Returns the name of the palace that the caller acts on, in one line; `None` if there is
    /// none.
    pub fn current_workspace_name(&mut self, caller: &Caller) -> Option<String> {
        let key = self.current_workspace(caller).ok()?;
        let past = if is_as_of_key(&key) { " as it was" } else { "" };
        Some(self.workspace_name(&key) + past)
    }

    fn workspace_name(&self, key: &str) -> String {
        let open = self.open_palaces.get(key);
        render::one_line(open.map_or(present_key(key), |it| &it.palace.settings.name))
    }
}
