//! The four tools for rooms, actions and scrolls (v1 section 5), and their arguments.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::iter;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::mcp::arguments::{ActionNumber, ParsedText};
use crate::mcp::choices::ChosenPage;
use crate::mcp::reply::{ToolResult, to_tool_result};
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use palazzo_core::model::{
    Action, ActionKind, Grouping, NavigationTarget, RoomDestination, RoomRef, Slug,
    normalize_prose, quoted,
};
use palazzo_core::render;
use palazzo_keeper::{
    self as keeper, Blueprint, Caller, Choice, Keeper, Listing, NewScroll, Refusal,
};

/// Maximum number of numbers in one call.
const MAX_NUMBERS: usize = 50;

/// The arguments of `set_workspace`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetWorkspace {
    /// Its name or directory.
    workspace: String,
    /// Create it if it is missing.
    create: Option<bool>,
    /// With `create`: a template to begin with, like `codebase`.
    template: Option<String>,
    /// Show its past, read-only: a day, a time, an age like `3 weeks`, or a git revision.
    as_of: Option<String>,
}

/// The arguments of `palace_action`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PalaceAction {
    /// A number from the current menu.
    action: ActionNumber,
    /// More numbers of the same menu, answered together; a move only as the last.
    also: Option<Vec<ActionNumber>>,
    /// Text for actions that need it: a room to go to, words to search for, each
    /// search on its own line (also `kind:drawer`, `wing:`, `room:`, `since:`, `until:`).
    params: Option<String>,
}

/// The arguments of `build_room`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BuildRoom {
    /// Its name in files and doors: a-z, 0-9, - and _, like `hall-of-geology`.
    slug: ParsedText<RoomRef>,
    name: Option<String>,
    /// Vivid prose: what a visitor sees, hears, can touch; `[[Name]]` links an entity.
    description: Option<String>,
    /// Start visits here; default: in the first room.
    entry: Option<bool>,
    /// A wing (a named part of the palace), by slug.
    wing: Option<ParsedText<Slug>>,
    /// The numbered choices, in order.
    actions: Option<Vec<ValidAction>>,
    /// Slugs of rooms linked both ways without an action: all, or with `merge` those to add.
    portals: Option<Vec<ParsedText<RoomRef>>>,
    /// Besides the actions, show doors to the entities of a genus.
    generate: Option<ValidGrouping>,
    /// Change only given fields; actions with the same label are replaced, others added.
    merge: Option<bool>,
    /// Their labels.
    remove_actions: Option<Vec<String>>,
    /// A new slug, or `wing/slug`; doors, scrolls and tasks follow.
    rename: Option<ParsedText<RoomDestination>>,
    /// Delete the room and the doors to it.
    delete: Option<bool>,
    /// With `delete`: the room that gets its scrolls; default: they are deleted.
    scrolls_to: Option<ParsedText<RoomRef>>,
    /// Answer in one line, without going there.
    quiet: Option<bool>,
}

/// What `build_room` is asked to do.
enum RoomRequest {
    Build(Blueprint),
    Rename { room: RoomRef, new: RoomDestination, quiet: bool },
    Delete { room: RoomRef, scrolls_to: Option<RoomRef> },
}

impl TryFrom<BuildRoom> for RoomRequest {
    type Error = &'static str;

    fn try_from(mut it: BuildRoom) -> Result<Self, Self::Error> {
        let (is_delete, quiet) = (it.delete.unwrap_or_default(), it.quiet.unwrap_or_default());
        let (rename, scrolls_to) = (it.rename.take(), it.scrolls_to.take());
        let blueprint = Blueprint::from(it);
        let is_alone = blueprint.is_empty();
        match (rename, is_delete) {
            (None, false) if scrolls_to.is_some() => {
                Err("`scrolls_to` needs `delete: true`: it names the room that gets the scrolls")
            }
            (None, false) => Ok(Self::Build(blueprint)),
            (Some(new), false) if is_alone => {
                Ok(Self::Rename { room: blueprint.room, new: new.0, quiet })
            }
            (None, true) if is_alone => {
                Ok(Self::Delete { room: blueprint.room, scrolls_to: scrolls_to.map(|it| it.0) })
            }
            _ => Err("`rename` and `delete` are calls of their own: give only `slug` with them"),
        }
    }
}

impl From<BuildRoom> for Blueprint {
    fn from(it: BuildRoom) -> Self {
        let remove_actions = it.remove_actions.unwrap_or_default();
        Self {
            merge: it.merge.unwrap_or_default() || !remove_actions.is_empty(),
            remove_actions,
            room: it.slug.0,
            wing: it.wing.map(|it| it.0),
            name: it.name,
            description: it.description,
            entry: it.entry,
            actions: it.actions.map(|it| it.into_iter().map(|it| it.0).collect()),
            portals: it.portals.map(|it| it.into_iter().map(|it| it.0).collect()),
            generate: it.generate.map(|it| it.0),
            quiet: it.quiet.unwrap_or_default(),
        }
    }
}

/// The grouping of `generate`, checked.
#[derive(Debug, Deserialize)]
#[serde(try_from = "GroupingInput")]
struct ValidGrouping(Grouping);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object with `genus` and `by`")]
struct GroupingInput {
    genus: Option<String>,
    /// status, name, date or an attribute; without a genus, `genus` shows all genera.
    by: Option<String>,
}

impl JsonSchema for ValidGrouping {
    fn schema_name() -> Cow<'static, str> {
        GroupingInput::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        GroupingInput::json_schema(generator)
    }
}

impl TryFrom<GroupingInput> for ValidGrouping {
    type Error = &'static str;

    fn try_from(it: GroupingInput) -> Result<Self, Self::Error> {
        Grouping::parse(it.genus, it.by.as_deref()).map(Self)
    }
}

/// An action, checked.
#[derive(Debug, Deserialize)]
#[serde(try_from = "ActionInput")]
struct ValidAction(Action);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an action: an object with `label` and `type`")]
struct ActionInput {
    /// An imperative: "Examine the fossil cabinet".
    label: String,
    r#type: ActionKindInput,
    /// navigate: the target, by slug; it need not exist yet.
    room: Option<ParsedText<RoomRef>>,
    /// navigate: the target's workspace, if another.
    workspace: Option<String>,
    /// query: the tool to run, like `list_entities`.
    tool: Option<String>,
    /// query: an entity to show, instead of `tool`.
    entity: Option<String>,
    /// query: its arguments; `{params}` in a string becomes the visitor's text.
    tool_params: Option<Map<String, Value>>,
    /// text: the text to show.
    content: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ActionKindInput {
    Navigate,
    Query,
    Text,
}

impl JsonSchema for ValidAction {
    fn schema_name() -> Cow<'static, str> {
        ActionInput::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ActionInput::json_schema(generator)
    }
}

impl TryFrom<ActionInput> for ValidAction {
    type Error = String;

    fn try_from(words: ActionInput) -> Result<Self, String> {
        let label = words.label.split_whitespace().collect::<Vec<_>>().join(" ");
        if label.is_empty() {
            return Err("an action needs a `label`".to_owned());
        }
        let needs = |what: &str| format!("the action {} needs `{what}`", quoted(&label));
        let kind = match words.r#type {
            ActionKindInput::Navigate => {
                let room = words.room.ok_or_else(|| needs("room"))?.0;
                ActionKind::Navigate(NavigationTarget { room, workspace: words.workspace })
            }
            ActionKindInput::Query => match (words.entity, words.tool, words.tool_params) {
                (Some(entity), None, None) if !entity.trim().is_empty() => {
                    ActionKind::ShowEntity { entity }
                }
                (Some(_), _, _) => {
                    return Err(format!(
                        "the action {} shows an `entity`: give its name, and no `tool` or \
                         `tool_params`",
                        quoted(&label)
                    ));
                }
                (None, tool, params) => ActionKind::Query {
                    tool: tool.ok_or_else(|| needs("tool"))?,
                    params: params.unwrap_or_default(),
                },
            },
            ActionKindInput::Text => {
                let content = words.content.ok_or_else(|| needs("content"))?;
                ActionKind::Text { content: normalize_prose(&content) }
            }
        };
        Ok(Self(Action { label, kind }))
    }
}

/// The arguments of `write_scroll`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteScroll {
    title: String,
    /// Markdown.
    body: String,
    /// By slug or name; `entry`: the entry room; default: the current one.
    room: Option<String>,
}

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
            Ok(format!("{done}\n{}", keeper::enter_built_room(keeper, caller, key, room)?))
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
            let page = keeper::enter_built_room(keeper, caller, key, room)?;
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
            run_number_among_several(tools, keeper, by, &front, (number, it), words)
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
fn run_number_among_several(
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
