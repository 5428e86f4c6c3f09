//! The tools for tasks and processes, and their arguments.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::arguments::{PageNumber, ParsedText};
use crate::mcp::reply::to_tool_result;
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use palazzo_core::model::RoomRef;
use palazzo_core::render;
use palazzo_keeper::{self as keeper, Caller, Keeper, NewProcess, NewTask, WorkPage, WorkQuery};

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
struct ListTasks {
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

pub(super) fn work_tools() -> [RegisteredTool; 5] {
    [list_tasks(), create_task(), complete_task(), start_process(), advance_process()]
}

fn list_tasks() -> RegisteredTool {
    let about = ("List tasks and processes", "List running processes and open tasks, 30 per page.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: ListTasks| {
        to_tool_result(keeper.session(caller).and_then(|mut session| {
            let WorkPage { heading, items, contents, total, page } =
                keeper::list_tasks(&mut session, &WorkQuery::from(it))?;
            Ok(render::work_list(&heading, (&items, &contents), (page, total), caller.now))
        }))
    };
    RegisteredTool::new(ToolSet::Graph, "list_tasks", about, EffectHint::Reads, run)
}

fn create_task() -> RegisteredTool {
    let about = (
        "Create a task",
        "Create a task for the next visitor. The rooms that it concerns show it.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: CreateTask| {
        to_tool_result(keeper::create_task(keeper, caller, &NewTask::from(it)).map(|it| {
            let note = it.note.map(|it| format!("Note: {it}.\n")).unwrap_or_default();
            match it.is_changed {
                true => format!("Created the task {}.\n{note}", render::in_quotes(&it.title)),
                false => format!(
                    "The task {} exists already: nothing changed.\n",
                    render::in_quotes(&it.title)
                ),
            }
        }))
    };
    RegisteredTool::new(ToolSet::Graph, "create_task", about, EffectHint::AddsOnce, run)
}

fn complete_task() -> RegisteredTool {
    let about = ("Complete a task", "Mark a task as done. Rooms no longer show it.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: CompleteTask| {
        let done = keeper.session(caller).and_then(|mut session| {
            keeper::complete_task(&mut session, &it.task, it.note.as_deref())
        });
        to_tool_result(done.map(|it| match it.is_changed {
            true => format!("The task {} is done.\n", render::in_quotes(&it.title)),
            false => format!(
                "The task {} was done already: nothing changed.\n",
                render::in_quotes(&it.title)
            ),
        }))
    };
    RegisteredTool::new(ToolSet::Graph, "complete_task", about, EffectHint::AddsOnce, run)
}

fn start_process() -> RegisteredTool {
    let about = (
        "Start a process",
        "Start work of several steps. The rooms that it concerns show its current step.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: StartProcess| {
        let change = keeper::start_process(keeper, caller, &NewProcess::from(it));
        to_tool_result(change.map(|it| match it.is_changed {
            true => render::process_status(&it.process, true) + "\n",
            false => {
                let name = render::mark_imitations(&render::name_in_sentence(&it.process.name));
                format!("{name} is running already: nothing changed.\n")
            }
        }))
    };
    RegisteredTool::new(ToolSet::Graph, "start_process", about, EffectHint::AddsOnce, run)
}

fn advance_process() -> RegisteredTool {
    let about =
        ("Advance a process", "Move a process to its next step; after the last step it is done.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: AdvanceProcess| {
        let AdvanceProcess { process, note, step } = it;
        let step = step.map(|it| it.0);
        let change = keeper.session(caller).and_then(|mut session| {
            keeper::advance_process(&mut session, &process, note.as_deref(), step)
        });
        to_tool_result(change.map(|it| render::process_status(&it.process, it.is_changed) + "\n"))
    };
    RegisteredTool::new(ToolSet::Graph, "advance_process", about, EffectHint::Adds, run)
}
