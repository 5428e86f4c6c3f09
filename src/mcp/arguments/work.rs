//! What the tools for tasks and processes are told.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::keeper::{NewProcess, NewTask, WorkQuery};
use crate::mcp::arguments::{PageNumber, ParsedText};
use crate::model::RoomRef;

/// What `create_task` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CreateTask {
    /// What is to be done, in one line.
    title: String,
    /// The entity it is about, by name.
    entity: Option<String>,
    /// The room it is about, by slug.
    room: Option<ParsedText<RoomRef>>,
    /// Who is to do it.
    who: Option<String>,
    /// What else is to be said.
    note: Option<String>,
}

impl From<CreateTask> for NewTask {
    fn from(it: CreateTask) -> Self {
        let room = it.room.map(|it| it.0);
        Self { title: it.title, entity: it.entity, room, who: it.who, note: it.note }
    }
}

/// What `complete_task` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CompleteTask {
    /// The task, by title or id.
    pub(in crate::mcp) task: String,
    /// What came of it.
    pub(in crate::mcp) note: Option<String>,
}

/// What `list_tasks` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListTasks {
    /// Only what is about this entity, by name.
    entity: Option<String>,
    /// Only what is about this room, by slug.
    room: Option<ParsedText<RoomRef>>,
    /// What is done instead of what is not.
    done: Option<bool>,
    /// The page, from 1, of thirty.
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

/// What `start_process` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct StartProcess {
    /// What it is called.
    name: String,
    /// What is to be done, step by step.
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

/// What `advance_process` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct AdvanceProcess {
    /// The process, by name or id.
    pub(in crate::mcp) process: String,
    /// What came of the step it was at.
    pub(in crate::mcp) note: Option<String>,
    /// The step to go to, from 1, if not the next.
    pub(in crate::mcp) step: Option<PageNumber>,
}
