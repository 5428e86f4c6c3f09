//! The two tools that add and delete drawers.

use serde_json::json;

use crate::mcp::arguments::{AddDrawer, DeleteDrawer};
use crate::mcp::mempalace_tools::overview::similar_drawers_json;
use crate::mcp::mempalace_tools::reply::{format_drawer_id, json_reply, refusal_to_text};
use crate::mcp::reply::ToolResult;
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use palazzo_core::model::{escape_unprintable, parse_drawer_id};
use palazzo_keeper::{self as keeper, Caller, FilingOutcome, Keeper, NewDrawer, Refusal};

/// The hint when a similar text is filed already.
const DUPLICATE_HINT: &str = "\
Nothing was filed: the texts in `matches` are the same except for what `differs` lists. To file \
this text too, call again with `force: true`.";

pub(crate) fn drawer_tools() -> [RegisteredTool; 2] {
    [add_drawer(), delete_drawer()]
}

fn add_drawer() -> RegisteredTool {
    let about = (
        "Add a drawer",
        "File a text word for word under a wing and a room. If it or a similar text is filed \
         already, nothing is filed and the answer shows where it is; `force` files it anyway.",
    );
    RegisteredTool::new(
        ToolSet::Mempalace,
        "mempalace_add_drawer",
        about,
        EffectHint::AddsOnce,
        run_add_drawer,
    )
}

fn run_add_drawer(_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: AddDrawer) -> ToolResult {
    Ok(json_reply(
        match refusal_to_text(keeper::file_drawer(keeper, caller, &NewDrawer::from(it)))? {
            FilingOutcome::Filed(it) => json!({
                "success": true,
                "drawer_id": format_drawer_id(&it),
                "wing": it.shelf.wing,
                "room": it.shelf.room,
            }),
            FilingOutcome::AlreadyFiled(it) => json!({
                "success": true,
                "reason": "already_exists",
                "drawer_id": format_drawer_id(&it),
                "wing": it.shelf.wing,
                "room": it.shelf.room,
            }),
            FilingOutcome::SimilarFound(similar) => json!({
                "success": false,
                "reason": "duplicate",
                "matches": similar_drawers_json(&similar),
                "hint": DUPLICATE_HINT,
            }),
        },
    ))
}

fn delete_drawer() -> RegisteredTool {
    let about = ("Delete a drawer", "Delete a drawer by its id. The git history keeps the text.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: DeleteDrawer| {
        let name = it.drawer_id.trim();
        let id = parse_drawer_id(name).ok_or_else(|| {
            let name = escape_unprintable(name);
            format!("`{name}` is not a drawer id: drawer ids end in 26 digits and letters")
        })?;
        let missing = || Refusal::NoSuchDrawer { asked: id.to_string() };
        let session = keeper.session_if_any(caller).and_then(|it| it.ok_or_else(missing));
        let deleted =
            refusal_to_text(session.and_then(|mut it| keeper::delete_drawer(&mut it, id)))?;
        Ok(json_reply(json!({ "success": true, "drawer_id": format_drawer_id(&deleted) })))
    };
    RegisteredTool::new(
        ToolSet::Mempalace,
        "mempalace_delete_drawer",
        about,
        EffectHint::Replaces,
        run,
    )
}
