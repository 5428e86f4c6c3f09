//! Remembers which conflicts are open, by the contents of the files that decide it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Which conflicts are open, as far as it was asked.
#[derive(Debug, Default)]
pub(crate) struct ConflictStates {
    known: Mutex<HashMap<String, KnownState>>,
}

/// The files that decide whether a conflict is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConflictInputs {
    /// The digest of the file of the conflict.
    pub(crate) conflict_digest: Option<u64>,
    /// The file of its item.
    pub(crate) item_file: String,
    /// The digest of that file; `None`: there is no such item.
    pub(crate) item_digest: Option<u64>,
}

#[derive(Debug)]
struct KnownState {
    inputs: ConflictInputs,
    is_open: bool,
}

impl ConflictStates {
    /// Returns whether the conflict in the file `path` is open, if that was recorded for the same
    /// contents.
    pub(crate) fn recorded(&self, path: &str, inputs: &ConflictInputs) -> Option<bool> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(path).filter(|it| it.inputs == *inputs).map(|it| it.is_open)
    }

    /// Records whether a conflict is open.
    pub(crate) fn record(&self, path: &str, inputs: ConflictInputs, is_open: bool) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(path.to_owned(), KnownState { inputs, is_open });
    }
}
