//! Begins a session, and brings its palace up to date.

use crate::{Caller, Keeper, Refusal, Session};

impl Keeper {
    /// Begins a session on the palace that the caller acts on, and brings it up to date.
    pub fn session<'k>(&'k mut self, caller: &'k Caller) -> Result<Session<'k>, Refusal> {
        let key = self.current_workspace(caller)?;
        self.session_in(&key, caller)
    }

    /// Begins a session as [`Keeper::session`] does; `None` where the first write would create
    /// the palace.
    pub fn session_if_any<'k>(
        &'k mut self,
        caller: &'k Caller,
    ) -> Result<Option<Session<'k>>, Refusal> {
        match self.current_workspace_if_any(caller)? {
            Some(key) => self.session_in(&key, caller).map(Some),
            None => Ok(None),
        }
    }

    /// Begins a session for a change, and creates the first palace if there is none.
    pub fn session_for_writing<'k>(
        &'k mut self,
        caller: &'k Caller,
    ) -> Result<Session<'k>, Refusal> {
        let key = self.current_or_new_workspace(caller)?;
        self.session_in(&key, caller)
    }

    /// Begins a session on the palace with the directory name `key`.
    pub(crate) fn session_in<'k>(
        &'k mut self,
        key: &str,
        caller: &'k Caller,
    ) -> Result<Session<'k>, Refusal> {
        self.open_palace(key)?.begin_session()?;
        self.session_without_refresh(key, caller)
    }

    /// Begins a session for a later step of a call, on a palace that an earlier step brought up to
    /// date.
    pub(crate) fn session_without_refresh<'k>(
        &'k mut self,
        key: &str,
        caller: &'k Caller,
    ) -> Result<Session<'k>, Refusal> {
        self.open_palace(key)?;
        self.visit_of_caller(caller);
        let no_workspace = self.no_workspace_refusal(Vec::new());
        let palace = self.open_palaces.get_mut(key);
        let visit = self.visits.get_mut(&caller.visit);
        let (Some(palace), Some(visit)) = (palace, visit) else { return Err(no_workspace) };
        let (models, id_generator) = (&self.models, &mut self.id_generator);
        Ok(Session { key: key.to_owned(), palace, visit, caller, models, id_generator })
    }
}
