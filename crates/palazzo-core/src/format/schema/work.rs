//! Schemas of `tasks/<ULID>.yaml` and `processes/<ULID>.yaml`.

use schemars::JsonSchema;
use serde_json::json;

use crate::format::schema::scalars::{
    NonEmptyTextSchema, ReferenceSchema, RoomNameSchema, TextSchema, TimeSchema,
};

/// A task: something to be done once.
#[derive(JsonSchema)]
#[schemars(title = "Task", deny_unknown_fields)]
pub(super) struct TaskSchema {
    /// What to do.
    #[schemars(example = &"Ask Ada about the seam")]
    title: NonEmptyTextSchema,
    /// The entity it is about.
    entity: Option<ReferenceSchema>,
    /// The room it is about.
    room: Option<RoomNameSchema>,
    /// The person or client to do it.
    who: Option<TextSchema>,
    /// Whether it is done.
    #[schemars(extend("default" = "open"))]
    status: Option<TaskStatusSchema>,
    /// When it was done: a time in UTC, or a day.
    #[schemars(example = &"2026-03-01T12:00:00Z", example = &"2026-03-01")]
    done: Option<TimeSchema>,
    /// A note.
    note: Option<TextSchema>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum TaskStatusSchema {
    Open,
    Done,
}

/// A process: work with several steps.
#[derive(JsonSchema)]
#[schemars(title = "Process", deny_unknown_fields)]
pub(super) struct ProcessSchema {
    /// The name.
    #[schemars(example = &"Read the old maps")]
    name: NonEmptyTextSchema,
    /// The entity it is about.
    entity: Option<ReferenceSchema>,
    /// The room it is about.
    room: Option<RoomNameSchema>,
    /// The steps, in their order.
    #[schemars(length(min = 1), example = json!(["Find them", "Read them"]))]
    steps: Vec<StepSchema>,
    /// The number of the current step.
    #[schemars(range(min = 1), extend("default" = 1))]
    step: Option<usize>,
    /// Whether it is done.
    #[schemars(extend("default" = "running"))]
    status: Option<ProcessStatusSchema>,
    /// When it was done: a time in UTC, or a day.
    #[schemars(example = &"2026-03-01T12:00:00Z", example = &"2026-03-01")]
    done: Option<TimeSchema>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum ProcessStatusSchema {
    Running,
    Done,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum StepSchema {
    /// What to do in this step.
    Word(TextSchema),
    /// What to do in this step, with a note.
    Noted(StepWithNoteSchema),
}

/// A step with a note.
#[derive(JsonSchema)]
#[schemars(title = "Step", deny_unknown_fields)]
struct StepWithNoteSchema {
    /// What to do in this step.
    step: NonEmptyTextSchema,
    /// The result of the step.
    note: Option<TextSchema>,
}
