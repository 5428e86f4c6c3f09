//! The commits of a call and the errors that came after them, for its answer.

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

/// Collects the commits of `palaces` since the last call of this function.
pub(crate) fn take_commits<'a>(palaces: impl Iterator<Item = &'a mut OpenPalace>) -> CallCommits {
    let mut committed = CallCommits::default();
    for report in palaces.flat_map(OpenPalace::take_commit_reports) {
        committed.commits.extend(report.commit);
        for warning in report.warnings.iter().map(ToString::to_string) {
            if !committed.warnings.contains(&warning) {
                committed.warnings.push(warning);
            }
        }
    }
    committed
}
