//! The arguments of the tools for tasks and processes.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::arguments::{PageNumber, ParsedText};
use palazzo_core::model::RoomRef;
use palazzo_keeper::{NewProcess, NewTask, WorkQuery};

/// The arguments of `create_task`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CreateTask {
    /// What to do, in one line.
    #[serde(alias = "task")]
    title: String,
    /// What it is about.
    entity: Option<String>,
    /// By slug.
    room: Option<ParsedText<RoomRef>>,
    who: Option<String>,
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
    /// Its title or id.
    #[serde(alias = "title")]
    pub(in crate::mcp) task: String,
    /// The result.
    pub(in crate::mcp) note: Option<String>,
}

/// The arguments of `list_tasks`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListTasks {
    entity: Option<String>,
    /// By slug.
    room: Option<ParsedText<RoomRef>>,
    /// List done tasks, not open ones.
    done: Option<bool>,
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
    #[serde(alias = "process")]
    name: String,
    steps: Vec<String>,
    entity: Option<String>,
    /// By slug.
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
    /// Its name or id.
    #[serde(alias = "name")]
    pub(in crate::mcp) process: String,
    /// The result.
    pub(in crate::mcp) note: Option<String>,
    /// The step to go to, if not the next.
    pub(in crate::mcp) step: Option<PageNumber>,
}
