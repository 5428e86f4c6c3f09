//! The commits of a call and the errors that came after them, for its answer.

use crate::Keeper;
use crate::palace::OpenPalace;
use palazzo_core::model::CommitId;

/// The commits of a call, and the errors that came after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallCommits {
    /// The commits, in order.
    pub commits: Vec<CommitId>,
    /// The errors that came after the commits, each once.
    pub warnings: Vec<String>,
}

impl Keeper {
    /// Returns the commits made since the last call of this method; the background synchronization
    /// pushes them soon.
    pub fn take_commits(&mut self) -> CallCommits {
        let mut committed = CallCommits::default();
        for report in self.open_palaces.values_mut().flat_map(OpenPalace::take_commit_reports) {
            committed.commits.extend(report.commit);
            for warning in report.warnings.iter().map(ToString::to_string) {
                if !committed.warnings.contains(&warning) {
                    committed.warnings.push(warning);
                }
            }
        }
        if let Some(sync) = self.background_sync.as_ref().filter(|_| !committed.commits.is_empty())
        {
            sync.note_commits();
        }
        committed
    }
}
