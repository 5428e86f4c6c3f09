//! The four tools for rooms, actions and scrolls (v1 section 5).

use std::collections::BTreeSet;
use std::iter;

use crate::mcp::arguments::{BuildRoom, PalaceAction, RoomRequest, SetWorkspace, WriteScroll};
use crate::mcp::choices::ChosenPage;
use crate::mcp::effect_hint::EffectHint;
use crate::mcp::reply::{ToolResult, to_tool_result};
use crate::mcp::toolbox::{RegisteredTool, ToolSet, Toolbox};
use palazzo_core::render;
use palazzo_keeper::{
    self as keeper, Blueprint, Caller, Choice, Keeper, Listing, NewScroll, Refusal,
};

/// Maximum number of numbers in one call.
const MAX_NUMBERS: usize = 50;

pub(super) fn palace_tools() -> [RegisteredTool; 4] {
    [set_workspace(), palace_action(), build_room(), write_scroll()]
}

fn set_workspace() -> RegisteredTool {
    let about = (
        "Enter a palace",
        "Enter the memory palace of a workspace. Call this first in every conversation. Returns \
         the newest hand-over and the entry room, or how to build it.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: SetWorkspace| {
        to_tool_result(enter_workspace(keeper, by, &it))
    };
    RegisteredTool::new(ToolSet::Palace, "set_workspace", about, EffectHint::AddsOnce, run)
}

fn palace_action() -> RegisteredTool {
    let about = (
        "Choose an action",
        "Run an action of the current menu by its number: go through a door, run a query, read \
         a text or a scroll. Every answer ends with the current menu. Always: 0 map, 15 back, 16 \
         go to the room in params, 17 search the palace for params, 20 read everything here, 21-29 \
         read a scroll shown, 31-60 open a result.",
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
        "Build a room, or rebuild it: the whole room in one call. An action leads to another \
         room (navigate), runs a read-only tool (query) or shows a text. Doors work in both \
         directions. Git keeps earlier versions.",
    );
    let run = |tools: &Toolbox, keeper: &mut Keeper, by: &Caller, it: BuildRoom| {
        let request = RoomRequest::try_from(it).map_err(|why| Refusal::Invalid(why.to_owned()));
        to_tool_result(request.and_then(|it| run_room_request(tools, keeper, by, it)))
    };
    RegisteredTool::new(ToolSet::Palace, "build_room", about, EffectHint::Replaces, run)
}

fn write_scroll() -> RegisteredTool {
    let about = (
        "Write a scroll",
        "Write a dated note in a room for the next visitor: what you found, what you concluded, \
         what remains to be done. Scrolls never change: to revise one, write another. Before a \
         conversation ends, write a summary in the entry room.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: WriteScroll| {
        let WriteScroll { title, body, room } = it;
        let written = keeper::write_scroll(keeper, by, &NewScroll { title, body, room });
        to_tool_result(written.map(|it| {
            let number = it.number.map(|it| format!(" ({it} reads it)")).unwrap_or_default();
            let replaced = match it.replaced.as_slice() {
                [] => String::new(),
                [(written, _)] => {
                    format!("; it replaces the one of {}", render::ago(*written, by.now))
                }
                all => {
                    let authors: BTreeSet<_> = all.iter().map(|(_, by)| by.clone()).collect();
                    let authors: Vec<_> = authors.into_iter().collect();
                    format!("; it replaces {}, by {}", all.len(), render::join_names(&authors))
                }
            };
            format!(
                "Wrote the scroll {} in {}{number}{}.\n",
                render::in_quotes(&it.title),
                render::name_in_sentence(&it.room_name),
                replaced
            )
        }))
    };
    RegisteredTool::new(ToolSet::Palace, "write_scroll", about, EffectHint::Adds, run)
}

fn enter_workspace(keeper: &mut Keeper, by: &Caller, it: &SetWorkspace) -> Result<String, Refusal> {
    let (create, as_of) = (it.create.unwrap_or_default(), it.as_of.as_deref());
    match &it.template {
        None => keeper::set_workspace(keeper, by, &it.workspace, create, as_of),
        Some(template) if create && as_of.is_none() => {
            keeper::create_workspace_from_template(keeper, by, &it.workspace, template)
        }
        Some(_) => {
            let why = "`template` is for a new workspace: give `create: true`, and no `as_of`";
            Err(Refusal::Invalid(why.to_owned()))
        }
    }
}

fn run_room_request(
    tools: &Toolbox,
    keeper: &mut Keeper,
    caller: &Caller,
    request: RoomRequest,
) -> Result<String, Refusal> {
    match request {
        RoomRequest::Build(blueprint) => build_and_show_room(tools, keeper, caller, &blueprint),
        RoomRequest::Rename { room, new, quiet } => {
            let moved = keeper::rename_room(&mut keeper.session(caller)?, &room, &new)?;
            let name = render::mark_imitations(&render::name_in_sentence(&moved.name));
            let done = format!("{name} is `{}` now{}.\n", moved.room, moved.followed);
            if quiet {
                return Ok(done);
            }
            let (key, room) = (&moved.workspace_key, &moved.room);
            Ok(format!("{done}\n{}", keeper::show_built_room(keeper, caller, key, room)?))
        }
        RoomRequest::Delete { room, scrolls_to } => {
            let mut session = keeper.session(caller)?;
            let gone = keeper::delete_room(&mut session, &room, scrolls_to.as_ref())?;
            let done = format!(
                "Deleted {} (`{}`){}.",
                render::name_in_sentence(&gone.name),
                gone.room,
                gone.followed
            );
            keeper::with_menu(keeper, caller, &done)
        }
    }
}

fn build_and_show_room(
    tools: &Toolbox,
    keeper: &mut Keeper,
    caller: &Caller,
    blueprint: &Blueprint,
) -> Result<String, Refusal> {
    let built = keeper::build_room(keeper, caller, blueprint, &tools.action_tools())?;
    let name = render::mark_imitations(&render::name_in_sentence(&built.name));
    let unchanged =
        || format!("{name} ({}) is already in that state: nothing changed.\n", built.room);
    let page = match (blueprint.quiet, built.is_changed) {
        (true, is_changed) => {
            keeper::update_menu_in_built_room(keeper, caller, &built)?;
            match is_changed {
                true => {
                    format!("Built {} ({}).\n", render::name_in_sentence(&built.name), built.room)
                }
                false => unchanged(),
            }
        }
        (false, is_changed) => {
            let (key, room) = (&built.workspace_key, &built.room);
            let page = keeper::show_built_room(keeper, caller, key, room)?;
            if is_changed { page } else { format!("{}\n{page}", unchanged()) }
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
    PalaceAction { action, also, params }: PalaceAction,
) -> ToolResult {
    let words = params.as_deref().map(str::trim).filter(|it| !it.is_empty());
    match also {
        Some(also) if !also.is_empty() => {
            let numbers: Vec<_> = iter::once(action.0).chain(also.iter().map(|it| it.0)).collect();
            run_choices(tools, keeper, by, &numbers, words)
        }
        _ => {
            let choice = keeper::find_choice(keeper, by, action.0).map_err(|it| it.to_string());
            let done = choice.and_then(|it| tools.run_choice(keeper, by, (action.0, it), words));
            match done {
                Ok(ChosenPage::WithMenu(page)) => Ok(page.into()),
                Ok(ChosenPage::WithoutMenu(page)) => Ok(add_menu(keeper, by, page).into()),
                Err(refusal) => Err(add_menu(keeper, by, refusal)),
            }
        }
    }
}

/// Runs several choices of the menu in front, one after the other; a move only as the last. Refused
/// if each is refused.
fn run_choices(
    tools: &Toolbox,
    keeper: &mut Keeper,
    by: &Caller,
    numbers: &[i64],
    words: Option<&str>,
) -> ToolResult {
    if numbers.len() > MAX_NUMBERS {
        let given = numbers.len();
        return Err(format!("give at most {MAX_NUMBERS} numbers at once; these are {given}"));
    }
    let mut choices: Vec<(i64, Result<Choice, String>)> = Vec::new();
    for number in numbers {
        if choices.iter().all(|(it, _)| it != number) {
            let choice = keeper::find_choice(keeper, by, *number).map_err(|it| it.to_string());
            choices.push((*number, choice));
        }
    }
    let is_used = choices.iter().flat_map(|it| &it.1).any(|it| tools.takes_words(it));
    let front = keeper::copy_listing(keeper, by);
    let (mut page, mut has_succeeded, last) = (String::new(), false, choices.len() - 1);
    let (mut listed, mut is_list_replaced) = (keeper::listed_items(keeper, by), false);
    for (place, (number, choice)) in choices.into_iter().enumerate() {
        let choice = choice.and_then(|it| match it.is_move() && place != last {
            true => Err("a move can only be the last of several numbers".to_owned()),
            false => Ok(it),
        });
        let done = choice.and_then(|it| {
            // Words go to the choices that take some. If there is none, each refuses them.
            let words = words.filter(|_| !is_used || tools.takes_words(&it));
            run_one_of_several(tools, keeper, by, &front, (number, it), words)
        });
        has_succeeded |= done.is_ok();
        let listed_now = keeper::listed_items(keeper, by);
        is_list_replaced |= place > 0 && !listed_now.starts_with(&listed);
        listed = listed_now;
        match done {
            Ok(ChosenPage::WithMenu(it)) => return Ok(format!("{page}{it}").into()),
            // The frame divides the texts of the palace from the answers of the server.
            Ok(ChosenPage::WithoutMenu(it)) | Err(it) => {
                page.push_str(&format!("── Number {number} ──\n{}\n\n", it.trim_end()));
            }
        }
    }
    if is_list_replaced {
        page.push_str("Note: numbers from 31 are those of the last list.");
    }
    let page = add_menu(keeper, by, page);
    if has_succeeded { Ok(page.into()) } else { Err(page) }
}

/// Runs one of several choices. Number 20 means what was in front before all of them.
fn run_one_of_several(
    tools: &Toolbox,
    keeper: &mut Keeper,
    by: &Caller,
    front: &Listing,
    choice: (i64, Choice),
    words: Option<&str>,
) -> Result<ChosenPage, String> {
    if !choice.1.is_everything() {
        return tools.run_choice(keeper, by, choice, words);
    }
    let listing = keeper::take_listing(keeper, by);
    keeper::restore_listing(keeper, by, front.clone());
    let done = tools.run_choice(keeper, by, choice, words);
    keeper::restore_listing(keeper, by, listing);
    done
}

/// Adds the menu to a page. There is none before a palace was entered.
fn add_menu(keeper: &mut Keeper, by: &Caller, page: String) -> String {
    keeper::with_menu(keeper, by, &page).unwrap_or(page)
}
