//! The arguments of the tools for tasks and processes.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::keeper::{NewProcess, NewTask, WorkQuery};
use crate::mcp::arguments::{PageNumber, ParsedText};
use crate::model::RoomRef;

/// The arguments of `create_task`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CreateTask {
    /// What to do, in one line.
    title: String,
    /// The entity it is about, by name.
    entity: Option<String>,
    /// The room it is about, by slug.
    room: Option<ParsedText<RoomRef>>,
    /// Who should do it.
    who: Option<String>,
    /// More details.
    note: Option<String>,
}

impl From<CreateTask> for NewTask {
    fn from(it: CreateTask) -> Self {
        let room = it.room.map(|it| it.0);
        Self { title: it.title, entity: it.entity, room, who: it.who, note: it.note }
    }
}

/// The arguments of `complete_task`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CompleteTask {
    /// The task, by title or id.
    pub(in crate::mcp) task: String,
    /// The result.
    pub(in crate::mcp) note: Option<String>,
}

/// The arguments of `list_tasks`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListTasks {
    /// Only tasks about this entity, by name.
    entity: Option<String>,
    /// Only tasks about this room, by slug.
    room: Option<ParsedText<RoomRef>>,
    /// List done tasks instead of open ones.
    done: Option<bool>,
    /// Page number, 30 per page.
    page: Option<PageNumber>,
}

impl From<ListTasks> for WorkQuery {
    fn from(it: ListTasks) -> Self {
        Self {
            entity: it.entity,
            room: it.room.map(|it| it.0),
            done: it.done.unwrap_or_default(),
            page: it.page.map_or(1, |it| it.0),
        }
    }
}

/// The arguments of `start_process`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct StartProcess {
    /// Its name.
    name: String,
    /// The steps, in order.
    steps: Vec<String>,
    /// The entity it is about, by name.
    entity: Option<String>,
    /// The room it is about, by slug.
    room: Option<ParsedText<RoomRef>>,
}

impl From<StartProcess> for NewProcess {
    fn from(it: StartProcess) -> Self {
        let room = it.room.map(|it| it.0);
        Self { name: it.name, steps: it.steps, entity: it.entity, room }
    }
}

/// The arguments of `advance_process`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct AdvanceProcess {
    /// The process, by name or id.
    pub(in crate::mcp) process: String,
    /// The result of the current step.
    pub(in crate::mcp) note: Option<String>,
    /// The step to go to, if not the next.
    pub(in crate::mcp) step: Option<PageNumber>,
}
