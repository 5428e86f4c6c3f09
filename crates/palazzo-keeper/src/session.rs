//! A session: one call of one caller, on a palace that was brought up to date.

mod session_of_call;

use chrono::{DateTime, Utc};
use ulid::{Generator, Ulid};

use crate::caller::Caller;
use crate::palace::OpenPalace;
use crate::semantic::ModelCache;
use palazzo_core::visit::Visit;

/// The palace that a call acts on, up to date when the session began, and the caller's visit.
///
/// Operations are functions of a session: those that only read take `&Session`, those that
/// change the palace or the visit take `&mut Session`.
pub struct Session<'k> {
    /// The name of the palace's directory.
    pub(super) key: String,
    pub(super) palace: &'k mut OpenPalace,
    pub(super) visit: &'k mut Visit,
    pub(super) caller: &'k Caller,
    pub(super) models: &'k ModelCache,
    pub(super) id_generator: &'k mut Generator,
}

impl Session<'_> {
    /// Makes a new id; ids made one after the other sort in that order.
    pub(super) fn new_id(&mut self) -> Ulid {
        new_id(self.id_generator, self.caller.now)
    }

    /// Makes this palace the current one of a caller that has not chosen any.
    pub(super) fn set_current_workspace_if_none(&mut self) {
        self.visit.workspace.get_or_insert_with(|| self.key.clone());
    }
}

/// Makes a new id for the time `now`; ids made one after the other sort in that order.
pub(super) fn new_id(ids: &mut Generator, now: DateTime<Utc>) -> Ulid {
    ids.generate_from_datetime(now.into()).unwrap_or_else(|_| Ulid::from_datetime(now.into()))
}
