//! What a call has committed, for an answer that says what is true.

use crate::keeper::Keeper;
use crate::keeper::held::Held;
use crate::model::CommitId;

/// What a call has committed, and what went wrong after that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// The commits, in order.
    pub commits: Vec<CommitId>,
    /// What went wrong although they are made, each once.
    pub warnings: Vec<String>,
}

impl Keeper {
    /// Returns what was committed since this was asked last.
    pub fn take_committed(&mut self) -> Committed {
        let mut committed = Committed::default();
        for done in self.held.values_mut().flat_map(Held::take_done) {
            committed.commits.extend(done.commit);
            for warning in done.warnings.iter().map(ToString::to_string) {
                if !committed.warnings.contains(&warning) {
                    committed.warnings.push(warning);
                }
            }
        }
        committed
    }
}
