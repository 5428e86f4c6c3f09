//! Asks the background synchronization of a server to synchronize a palace now.

use std::sync::mpsc::Receiver;

use crate::sync::background::SyncAnswer;
use crate::{Caller, Keeper, Refusal};

impl Keeper {
    /// Asks to synchronize the repository of the palace that the caller acts on, and returns a
    /// receiver of the answer. It is closed if the server ends before.
    pub fn request_sync(&mut self, caller: &Caller) -> Result<Receiver<SyncAnswer>, Refusal> {
        self.check_not_snapshot()?;
        let key = self.current_workspace(caller)?;
        let folder = self.open_palace(&key)?.store().palace_folder().to_owned();
        let not_running = || Refusal::Invalid("only `palazzo serve` runs this tool".to_owned());
        Ok(self.background_sync.as_ref().ok_or_else(not_running)?.request(&folder))
    }
}
