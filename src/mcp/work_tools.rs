//! The tools for tasks and processes.

use crate::keeper::{self, Caller, Keeper, NewProcess, NewTask, WorkQuery};
use crate::mcp::arguments::{AdvanceProcess, CompleteTask, CreateTask, ListTasks, StartProcess};
use crate::mcp::reply::to_tool_result;
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};

pub(super) fn work_tools() -> [RegisteredTool; 5] {
    [list_tasks(), create_task(), complete_task(), start_process(), advance_process()]
}

fn list_tasks() -> RegisteredTool {
    let about = ("List what is to be done", "Processes under way and open tasks, thirty a page.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: ListTasks| {
        to_tool_result(keeper.list_tasks(by, &WorkQuery::from(it)))
    };
    RegisteredTool::new(ToolSet::Graph, "list_tasks", about, EffectHint::Reads, run)
}

fn create_task() -> RegisteredTool {
    let about = (
        "Set a task",
        "Leave something to be done for whoever comes next. The rooms it concerns tell of it.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: CreateTask| {
        to_tool_result(keeper::create_task(keeper, by, &NewTask::from(it)).map(|it| {
            match it.is_changed {
                true => format!("The task \"{}\" is set.\n", it.title),
                false => format!("The task \"{}\" is set already: nothing changed.\n", it.title),
            }
        }))
    };
    RegisteredTool::new(ToolSet::Graph, "create_task", about, EffectHint::AddsOnce, run)
}

fn complete_task() -> RegisteredTool {
    let about = ("Complete a task", "Note that a task is done: rooms no longer tell of it.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: CompleteTask| {
        let done = keeper.session(by).and_then(|mut session| {
            keeper::complete_task(&mut session, &it.task, it.note.as_deref())
        });
        to_tool_result(done.map(|it| match it.is_changed {
            true => format!("The task \"{}\" is done.\n", it.title),
            false => format!("The task \"{}\" was done already: nothing changed.\n", it.title),
        }))
    };
    RegisteredTool::new(ToolSet::Graph, "complete_task", about, EffectHint::AddsOnce, run)
}

fn start_process() -> RegisteredTool {
    let about = (
        "Start a process",
        "Begin work of several steps that outlasts this conversation. The rooms it concerns \
         tell which step it is at.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: StartProcess| {
        to_tool_result(keeper.start_process(by, &NewProcess::from(it)))
    };
    RegisteredTool::new(ToolSet::Graph, "start_process", about, EffectHint::AddsOnce, run)
}

fn advance_process() -> RegisteredTool {
    let about =
        ("Advance a process", "Bring a process to its next step; after the last it is done.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: AdvanceProcess| {
        let AdvanceProcess { process, note, step } = it;
        let step = step.map(|it| it.0);
        to_tool_result(keeper.advance_process(by, &process, note.as_deref(), step))
    };
    RegisteredTool::new(ToolSet::Graph, "advance_process", about, EffectHint::Adds, run)
}
