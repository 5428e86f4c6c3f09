//! Work to be done: single tasks, and processes with several steps.

use chrono::{DateTime, Utc};

use crate::model::RoomRef;

/// A task: something to be done once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    /// What to do, in one line.
    pub title: String,
    /// The subject.
    pub subject: WorkSubject,
    /// The person or client to do it, if given.
    pub who: Option<String>,
    /// The progress.
    pub status: WorkStatus,
    /// A note, without a final line break.
    pub note: Option<String>,
    /// The time of creation, if the file name contains it.
    pub created: Option<DateTime<Utc>>,
}

/// A process: work with several steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// The name.
    pub name: String,
    /// The subject.
    pub subject: WorkSubject,
    /// The steps in order; at least one.
    pub steps: Vec<ProcessStep>,
    /// The number of the current step, from one, never past the last.
    pub step_number: usize,
    /// The progress.
    pub status: WorkStatus,
    /// The time of its start, if the file name contains it.
    pub started: Option<DateTime<Utc>>,
}

/// One step of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStep {
    /// What to do.
    pub text: String,
    /// The result, without a final line break.
    pub note: Option<String>,
}

/// The subject of a task or a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkSubject {
    /// An entity, by name; it need not be defined.
    pub entity: Option<String>,
    /// A room, built or not.
    pub room: Option<RoomRef>,
}

/// The progress of a task or a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkStatus {
    /// Not started, or in progress.
    #[default]
    Open,
    /// Done; with the time, if known.
    Done(Option<DateTime<Utc>>),
}

impl WorkStatus {
    /// Returns whether it is not done.
    pub fn is_open(self) -> bool {
        self == Self::Open
    }
}

impl Process {
    /// Returns the current step.
    pub fn current_step(&self) -> Option<&ProcessStep> {
        self.steps.get(self.step_number.checked_sub(1)?)
    }
}
