//! Filing texts and taking them out: two tools.

use serde_json::json;

use crate::keeper::{Caller, FilingOutcome, Keeper, NewDrawer};
use crate::mcp::arguments::{AddDrawer, DeleteDrawer};
use crate::mcp::mempalace_tools::overview::matches;
use crate::mcp::mempalace_tools::{drawer_id, id_in, reply, told};
use crate::mcp::reply::Answer;
use crate::mcp::toolbox::{Effect, Handle, ToolSet, Toolbox};

/// What to do when a text is much like one that is filed.
const CORRECTION: &str = "Nothing was filed: this is filed already, but for what `differs` says. If \
                          it is to be filed here too, call again with `force: true`.";

pub(crate) fn all() -> [Handle; 2] {
    [add_drawer(), delete_drawer()]
}

fn add_drawer() -> Handle {
    let about = (
        "File a drawer",
        "File a text word for word under a wing and a room. A text that is filed already is not \
         filed again: the answer shows where it is, and `force` files it all the same.",
    );
    Handle::new(ToolSet::Mempalace, "mempalace_add_drawer", about, Effect::AddsOnce, add)
}

fn add(_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: AddDrawer) -> Answer {
    Ok(reply(match told(keeper.file_drawer(by, &NewDrawer::from(it)))? {
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
            "matches": matches(&alike),
            "hint": CORRECTION,
        }),
    }))
}

fn delete_drawer() -> Handle {
    let about = ("Delete a drawer", "Take a drawer out, by its id. History in git keeps the text.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: DeleteDrawer| {
        let asked = it.drawer_id.trim();
        let id = id_in(asked).ok_or_else(|| {
            let asked = asked.escape_debug();
            format!("`{asked}` is no drawer's id: those end in 26 digits and letters")
        })?;
        let gone = told(keeper.delete_drawer(by, id))?;
        Ok(reply(json!({ "success": true, "drawer_id": drawer_id(&gone) })))
    };
    Handle::new(ToolSet::Mempalace, "mempalace_delete_drawer", about, Effect::Replaces, run)
}
