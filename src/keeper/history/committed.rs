//! Collects the commits of a call and the errors that came after them, for its answer.

use crate::keeper::Keeper;
use crate::keeper::palace::OpenPalace;
use crate::model::CommitId;

/// The commits of a call, and the errors that came after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallCommits {
    /// The commits, in order.
    pub commits: Vec<CommitId>,
    /// The errors that came after the commits, each once.
    pub warnings: Vec<String>,
}

impl Keeper {
    /// Returns what was committed since this was asked last.
    pub fn take_commits(&mut self) -> CallCommits {
        let mut committed = CallCommits::default();
        for done in self.open_palaces.values_mut().flat_map(OpenPalace::take_finished_changes) {
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
