//! A lock file of git: its age, its probable owner, and the command that removes it.

use std::path::PathBuf;
use std::time::Duration;

use palazzo_core::model::quote_for_shell;

/// A git lock file in the palace's repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitLock {
    /// The lock file.
    pub path: PathBuf,
    /// Its age; `None`: unknown because of the clock.
    pub age: Option<Duration>,
    /// Its probable owner.
    pub owner: LockOwner,
}

/// The probable owner of a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockOwner {
    /// A running process that has the file open, or whose id is in it.
    Process {
        /// The process id.
        id: u32,
        /// The program name.
        name: String,
    },
    /// A git process that runs in the repository; whether the lock is its own is unknown.
    RunningGit {
        /// The process id.
        id: u32,
    },
    /// A process that has ended.
    EndedProcess {
        /// The process id.
        id: u32,
    },
    /// A write of Palazzo that was interrupted. The next write takes it back.
    InterruptedWrite,
    /// No owner was found.
    Unknown,
}

impl GitLock {
    /// Returns true if a running process probably holds the lock.
    pub fn is_held_by_process(&self) -> bool {
        matches!(self.owner, LockOwner::Process { .. })
    }

    /// Returns true if a person may remove the lock: no running process holds it, and it does not
    /// belong to an interrupted write of Palazzo, which needs it to take the write back.
    pub fn is_removable(&self) -> bool {
        !matches!(self.owner, LockOwner::Process { .. } | LockOwner::InterruptedWrite)
    }

    /// Describes the lock's age and owner.
    pub fn description(&self) -> String {
        let age = self.age.map_or_else(|| "of unknown age".to_owned(), format_age);
        let owner = match &self.owner {
            LockOwner::Process { id, name } => format!("held by process {id} ({name})"),
            LockOwner::RunningGit { id } => format!("perhaps held by git, process {id}"),
            LockOwner::EndedProcess { id } => format!("left by process {id}, which has ended"),
            LockOwner::InterruptedWrite => {
                "left by a write of Palazzo that was interrupted".to_owned()
            }
            LockOwner::Unknown => "no process is known to hold it".to_owned(),
        };
        format!("{age}, {owner}")
    }

    /// Returns what to do about the lock.
    pub fn advice(&self) -> String {
        match &self.owner {
            LockOwner::Process { .. } => "wait for that process to end".to_owned(),
            LockOwner::InterruptedWrite => {
                "the next change by Palazzo takes that write back and removes the lock".to_owned()
            }
            _ => format!(
                "wait for it to end, or if no git is running here, remove the lock with `{}`",
                self.removal_command()
            ),
        }
    }

    /// Returns the command that removes the lock.
    pub fn removal_command(&self) -> String {
        let path = quote_for_shell(&self.path.display().to_string());
        format!("palazzo doctor --remove-lock {path}")
    }
}

fn format_age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ ..120 => format!("{seconds} s old"),
        seconds @ 120..7_200 => format!("{} minutes old", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} hours old", seconds / 3_600),
        seconds => format!("{} days old", seconds / 86_400),
    }
}
