//! Work to be done in a palace: single tasks, and processes of several steps.

use chrono::{DateTime, Utc};

use crate::model::RoomRef;

/// Something that is to be done once.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// What is to be done, in one line.
    pub title: String,
    /// What it is about.
    pub subject: WorkSubject,
    /// Who is to do it, if that is said.
    pub who: Option<String>,
    /// How far it is.
    pub status: WorkStatus,
    /// What else is to be said, without a final line break.
    pub note: Option<String>,
    /// When it was set, if its file's name says so.
    pub created: Option<DateTime<Utc>>,
}

/// Something that is done step by step.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// What it is called.
    pub name: String,
    /// What it is about.
    pub subject: WorkSubject,
    /// Its steps in order, of which there is at least one.
    pub steps: Vec<ProcessStep>,
    /// The step it is at, counted from one, never past the last.
    pub step_number: usize,
    /// How far it is.
    pub status: WorkStatus,
    /// When it was started, if its file's name says so.
    pub started: Option<DateTime<Utc>>,
}

/// One step of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStep {
    /// What is to be done.
    pub text: String,
    /// What was found while doing it, without a final line break.
    pub note: Option<String>,
}

/// What a task or a process is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkSubject {
    /// An entity, by name; need not be defined.
    pub entity: Option<String>,
    /// A room, built or not.
    pub room: Option<RoomRef>,
}

/// How far a task or a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStatus {
    /// It waits, or is under way.
    Open,
    /// It is done, at the time that is given.
    Done(Option<DateTime<Utc>>),
}

impl WorkStatus {
    /// Tells whether it is not done yet.
    pub fn is_open(self) -> bool {
        self == Self::Open
    }
}

impl Process {
    /// Returns the step it is at.
    pub fn current_step(&self) -> Option<&ProcessStep> {
        self.steps.get(self.step_number.checked_sub(1)?)
    }
}
