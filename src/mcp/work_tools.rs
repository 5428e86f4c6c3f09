//! The tools for tasks and processes.

use crate::keeper::{Caller, Keeper, NewProcess, NewTask, WorkQuery};
use crate::mcp::arguments::{AdvanceProcess, CompleteTask, CreateTask, ListTasks, StartProcess};
use crate::mcp::reply::answer;
use crate::mcp::toolbox::{Effect, Handle, ToolSet, Toolbox};

pub(super) fn all() -> [Handle; 5] {
    [list_tasks(), create_task(), complete_task(), start_process(), advance_process()]
}

fn list_tasks() -> Handle {
    let about = ("List what is to be done", "Processes under way and open tasks, thirty a page.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: ListTasks| {
        answer(keeper.list_tasks(by, &WorkQuery::from(it)))
    };
    Handle::new(ToolSet::Graph, "list_tasks", about, Effect::Reads, run)
}

fn create_task() -> Handle {
    let about = (
        "Set a task",
        "Leave something to be done for whoever comes next. The rooms it concerns tell of it.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: CreateTask| {
        answer(keeper.create_task(by, &NewTask::from(it)))
    };
    Handle::new(ToolSet::Graph, "create_task", about, Effect::AddsOnce, run)
}

fn complete_task() -> Handle {
    let about = ("Complete a task", "Note that a task is done: rooms no longer tell of it.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: CompleteTask| {
        answer(keeper.complete_task(by, &it.task, it.note.as_deref()))
    };
    Handle::new(ToolSet::Graph, "complete_task", about, Effect::AddsOnce, run)
}

fn start_process() -> Handle {
    let about = (
        "Start a process",
        "Begin work of several steps that outlasts this conversation. The rooms it concerns \
         tell which step it is at.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: StartProcess| {
        answer(keeper.start_process(by, &NewProcess::from(it)))
    };
    Handle::new(ToolSet::Graph, "start_process", about, Effect::AddsOnce, run)
}

fn advance_process() -> Handle {
    let about =
        ("Advance a process", "Bring a process to its next step; after the last it is done.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: AdvanceProcess| {
        let AdvanceProcess { process, note, step } = it;
        let step = step.map(|it| it.0);
        answer(keeper.advance_process(by, &process, note.as_deref(), step))
    };
    Handle::new(ToolSet::Graph, "advance_process", about, Effect::Adds, run)
}
