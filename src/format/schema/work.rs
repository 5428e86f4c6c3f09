//! `tasks/<ULID>.yaml` and `processes/<ULID>.yaml`.

use schemars::JsonSchema;

use crate::format::schema::scalars::{Moment, RoomName, Text, Words};

/// Something that is to be done.
#[derive(JsonSchema)]
#[schemars(title = "Task", deny_unknown_fields)]
pub(super) struct Task {
    /// What is to be done.
    #[schemars(example = &"Ask Ada about the seam")]
    title: Words,
    /// The entity it is about.
    entity: Option<Text>,
    /// The room it is about.
    room: Option<RoomName>,
    /// Who is to do it.
    who: Option<Text>,
    /// Whether it is done.
    #[schemars(extend("default" = "open"))]
    status: Option<TaskStatus>,
    /// When it was done: a time in UTC, or a day.
    #[schemars(example = &"2026-03-01T12:00:00Z", example = &"2026-03-01")]
    done: Option<Moment>,
    /// What else is to be said of it.
    note: Option<Text>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum TaskStatus {
    Open,
    Done,
}

/// Something that is done step by step.
#[derive(JsonSchema)]
#[schemars(title = "Process", deny_unknown_fields)]
pub(super) struct Process {
    /// What is being done.
    #[schemars(example = &"Read the old maps")]
    name: Words,
    /// The entity it is about.
    entity: Option<Text>,
    /// The room it is about.
    room: Option<RoomName>,
    /// The steps, in their order.
    #[schemars(length(min = 1), example = ["Find them", "Read them"])]
    steps: Vec<Stage>,
    /// The number of the step it is at.
    #[schemars(range(min = 1), extend("default" = 1))]
    step: Option<usize>,
    /// Whether it is done.
    #[schemars(extend("default" = "running"))]
    status: Option<ProcessStatus>,
    /// When it was done: a time in UTC, or a day.
    #[schemars(example = &"2026-03-01T12:00:00Z", example = &"2026-03-01")]
    done: Option<Moment>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum ProcessStatus {
    Running,
    Done,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum Stage {
    /// What is done in this step.
    Word(Text),
    /// What is done in this step, and what came of it.
    Noted(Noted),
}

/// A step with a note.
#[derive(JsonSchema)]
#[schemars(title = "Step", deny_unknown_fields)]
struct Noted {
    /// What is done in this step.
    step: Words,
    /// What came of it.
    note: Option<Text>,
}
