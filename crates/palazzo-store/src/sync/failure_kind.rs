//! Decides what can end a failure of a synchronization: time, or a person.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::remote::git_process::GitProcessError;
use crate::sync::error::SyncError;

/// What can end a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SyncFailureKind {
    /// The remote cannot be reached; time can.
    Unreachable,
    /// A person has to do something.
    Blocked,
}

impl Error {
    /// Returns what can end the failure of a synchronization; `None`: it passes by itself.
    pub fn sync_failure_kind(&self) -> Option<SyncFailureKind> {
        match self {
            Self::GitProcess(GitProcessError::Cancelled { .. })
            | Self::Sync(SyncError::Busy | SyncError::RemoteKeepsMoving { .. })
            | Self::WriteLocked { .. }
            | Self::GitLocked(_)
            | Self::Cancelled => None,
            Self::GitProcess(GitProcessError::TimedOut { .. }) => {
                Some(SyncFailureKind::Unreachable)
            }
            Self::GitProcess(GitProcessError::Failed { why, .. }) if !needs_person(why) => {
                Some(SyncFailureKind::Unreachable)
            }
            _ => Some(SyncFailureKind::Blocked),
        }
    }
}

/// Returns whether git's message is about something that time does not end.
fn needs_person(why: &str) -> bool {
    let signs = [
        "Authentication failed",
        "Host key verification failed",
        "Permission denied",
        "Repository not found",
        "failed to push some refs",
        "fsck error",
        "prompts disabled",
        "returned error: 401",
        "returned error: 403",
        "returned error: 404",
    ];
    signs.iter().any(|it| why.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_failures_need_a_person() {
        let failed = |why: &str| {
            let (operation, why) = ("fetch".to_owned(), why.to_owned());
            Error::from(GitProcessError::Failed { operation, why }).sync_failure_kind()
        };
        assert_eq!(
            failed("ssh: Could not resolve hostname example.org"),
            Some(SyncFailureKind::Unreachable)
        );
        assert_eq!(failed("git@a: Permission denied (publickey)"), Some(SyncFailureKind::Blocked));
        assert_eq!(Error::from(SyncError::Busy).sync_failure_kind(), None);
        assert_eq!(
            Error::from(SyncError::MergeInProgress).sync_failure_kind(),
            Some(SyncFailureKind::Blocked)
        );
    }
}
