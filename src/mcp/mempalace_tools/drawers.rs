//! Filing texts and taking them out: two tools.

use serde_json::json;

use crate::keeper::{Caller, FilingOutcome, Keeper, NewDrawer};
use crate::mcp::arguments::{AddDrawer, DeleteDrawer};
use crate::mcp::mempalace_tools::overview::matches_json;
use crate::mcp::mempalace_tools::{drawer_id, json_reply, parse_drawer_id, refusal_to_text};
use crate::mcp::reply::ToolResult;
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};

/// What to do when a text is much like one that is filed.
const DUPLICATE_HINT: &str = "Nothing was filed: this is filed already, but for what `differs` says. If \
                          it is to be filed here too, call again with `force: true`.";

pub(crate) fn drawer_tools() -> [RegisteredTool; 2] {
    [add_drawer(), delete_drawer()]
}

fn add_drawer() -> RegisteredTool {
    let about = (
        "File a drawer",
        "File a text word for word under a wing and a room. A text that is filed already is not \
         filed again: the answer shows where it is, and `force` files it all the same.",
    );
    RegisteredTool::new(
        ToolSet::Mempalace,
        "mempalace_add_drawer",
        about,
        EffectHint::AddsOnce,
        run_add_drawer,
    )
}

fn run_add_drawer(_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: AddDrawer) -> ToolResult {
    Ok(json_reply(match refusal_to_text(keeper.file_drawer(by, &NewDrawer::from(it)))? {
        FilingOutcome::Filed(it) => json!({
            "success": true,
            "drawer_id": drawer_id(&it),
            "wing": it.shelf.wing,
            "room": it.shelf.room,
        }),
        FilingOutcome::AlreadyFiled(it) => json!({
            "success": true,
            "reason": "already_exists",
            "drawer_id": drawer_id(&it),
            "wing": it.shelf.wing,
            "room": it.shelf.room,
        }),
        FilingOutcome::SimilarFound(alike) => json!({
            "success": false,
            "reason": "duplicate",
            "matches": matches_json(&alike),
            "hint": DUPLICATE_HINT,
        }),
    }))
}

fn delete_drawer() -> RegisteredTool {
    let about = ("Delete a drawer", "Take a drawer out, by its id. History in git keeps the text.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: DeleteDrawer| {
        let asked = it.drawer_id.trim();
        let id = parse_drawer_id(asked).ok_or_else(|| {
            let asked = asked.escape_debug();
            format!("`{asked}` is no drawer's id: those end in 26 digits and letters")
        })?;
        let gone = refusal_to_text(keeper.delete_drawer(by, id))?;
        Ok(json_reply(json!({ "success": true, "drawer_id": drawer_id(&gone) })))
    };
    RegisteredTool::new(
        ToolSet::Mempalace,
        "mempalace_delete_drawer",
        about,
        EffectHint::Replaces,
        run,
    )
}
