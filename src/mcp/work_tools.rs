//! The tools for tasks and processes.

use crate::mcp::arguments::{AdvanceProcess, CompleteTask, CreateTask, ListTasks, StartProcess};
use crate::mcp::effect_hint::EffectHint;
use crate::mcp::reply::to_tool_result;
use crate::mcp::toolbox::{RegisteredTool, ToolSet, Toolbox};
use palazzo_core::render;
use palazzo_keeper::{self as keeper, Caller, Keeper, NewProcess, NewTask, WorkPage, WorkQuery};

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
