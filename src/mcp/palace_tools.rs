//! The four tools of the palace (v1 section 5).

use crate::keeper::{self, ActOutcome, Blueprint, Caller, Keeper, NewScroll, Refusal};
use crate::mcp::arguments::{BuildRoom, PalaceAction, SetWorkspace, WriteScroll};
use crate::mcp::reply::{ToolResult, to_tool_result};
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};

pub(super) fn palace_tools() -> [RegisteredTool; 4] {
    [set_workspace(), palace_action(), build_room(), write_scroll()]
}

fn set_workspace() -> RegisteredTool {
    let about = (
        "Enter a palace",
        "Enter the memory palace of a workspace. Call this first in every conversation. Shows \
         the entry room with its numbered actions, the latest scrolls left there, and how long \
         ago; where nothing is built yet, what the workspace holds and how to begin. With \
         `as_of` it is the palace as it was then, which can be walked and asked, not changed.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: SetWorkspace| {
        let (create, as_of) = (it.create.unwrap_or_default(), it.as_of.as_deref());
        to_tool_result(keeper::set_workspace(keeper, by, &it.workspace, create, as_of))
    };
    RegisteredTool::new(ToolSet::Palace, "set_workspace", about, EffectHint::AddsOnce, run)
}

fn palace_action() -> RegisteredTool {
    let about = (
        "Choose an action",
        "Do what a number of the current menu stands for: walk through a door, examine an \
         exhibit (a query on the knowledge graph), read a text or a scroll, see the map (0). \
         Every answer ends with the menu as it then is. Numbers not listed work too: 15 back, \
         16 go to the room named in params, 17 search the palace for params, 21-29 read a \
         scroll shown, 31-60 open a result.",
    );
    RegisteredTool::new(
        ToolSet::Palace,
        "palace_action",
        about,
        EffectHint::Adds,
        run_palace_action,
    )
}

fn build_room() -> RegisteredTool {
    let about = (
        "Build a room",
        "Build a room, or rebuild it: the whole room in one call. Describe it vividly: what \
         can be pictured is remembered. Actions are numbered in the order given: navigate leads \
         to another room (which need not exist yet), query runs a tool that reads \
         (list_entities, search_entities, get_entity …), text shows a text. Doors work both \
         ways. Each change is a commit in git, so what was there before is never lost.",
    );
    let run = |tools: &Toolbox, keeper: &mut Keeper, by: &Caller, it: BuildRoom| {
        to_tool_result(build_and_show_room(tools, keeper, by, &Blueprint::from(it)))
    };
    RegisteredTool::new(ToolSet::Palace, "build_room", about, EffectHint::Replaces, run)
}

fn write_scroll() -> RegisteredTool {
    let about = (
        "Leave a scroll",
        "Leave a dated note in the current room for the next visitor: what you found, what \
         you concluded, what remains to be done. Scrolls are never changed; to revise one, \
         write another. Before a conversation ends, leave a summary in the entry room.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: WriteScroll| {
        let WriteScroll { title, body, room } = it;
        let room = room.map(|it| it.0);
        let written = keeper::write_scroll(keeper, by, &NewScroll { title, body, room });
        to_tool_result(written.map(|it| {
            let number = it.number.map(|it| format!(" ({it} reads it)")).unwrap_or_default();
            format!("The scroll \"{}\" hangs in {} now{number}.\n", it.title, it.room_name)
        }))
    };
    RegisteredTool::new(ToolSet::Palace, "write_scroll", about, EffectHint::Adds, run)
}

fn build_and_show_room(
    tools: &Toolbox,
    keeper: &mut Keeper,
    caller: &Caller,
    blueprint: &Blueprint,
) -> Result<String, Refusal> {
    let built = keeper::build_room(keeper, caller, blueprint, &tools.action_tools())?;
    let page = match (blueprint.quiet, built.is_changed) {
        (false, _) => keeper::show_built_room(keeper, caller, &built)?,
        (true, is_changed) => {
            keeper::update_menu_in_built_room(keeper, caller, &built)?;
            match is_changed {
                true => format!("Built {} ({}).\n", built.name, built.room),
                false => format!(
                    "{} ({}) was like that already: nothing changed.\n",
                    built.name, built.room
                ),
            }
        }
    };
    Ok(match built.findings.is_empty() {
        true => page,
        false => format!("{}\n\n{}", page.trim_end(), built.findings),
    })
}

fn run_palace_action(
    tools: &Toolbox,
    keeper: &mut Keeper,
    by: &Caller,
    PalaceAction { action, params }: PalaceAction,
) -> ToolResult {
    let said = params.as_deref().map(str::trim).filter(|it| !it.is_empty());
    let done = match keeper::choose_number(keeper, by, action.0, said) {
        Ok(ActOutcome::Page(page)) => return Ok(page.into()),
        Ok(ActOutcome::RunTool(question)) => {
            match tools.run_query_action(keeper, by, &question, said) {
                Ok(found) => {
                    return to_tool_result(keeper::render_tool_answer(
                        keeper,
                        by,
                        &question,
                        &found.text,
                    ));
                }
                Err(refusal) => refusal,
            }
        }
        Err(refusal) => refusal.to_string(),
    };
    // Whoever chose wrong sees what can be chosen.
    Err(keeper::with_menu(keeper, by, &done).unwrap_or(done))
}
