//! The tools for what synchronizing and merging leave to a reader.

use crate::keeper::{self, Caller, ChangeMode, Keeper};
use crate::mcp::arguments::Resolve;
use crate::mcp::reply::to_tool_result;
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use crate::render;

pub(super) fn sync_tools() -> [RegisteredTool; 1] {
    [resolve()]
}

fn resolve() -> RegisteredTool {
    let about = (
        "Settle a conflict",
        "Settle a conflict from a merge: keep the value that stands, or write the other one. \
         Without arguments, list the open conflicts.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: Resolve| {
        to_tool_result(keeper.session(caller).and_then(|mut session| {
            let Some((conflict, take)) = it.conflict.zip(it.take) else {
                let conflicts = keeper::list_conflicts(&session);
                return Ok(render::conflict_list(&conflicts, caller.now));
            };
            let mode = ChangeMode::Commit;
            let resolved = keeper::resolve_conflict(&mut session, &conflict, take.into(), mode)?;
            Ok(render::resolved_conflict(&resolved.conflict, resolved.choice, false))
        }))
    };
    RegisteredTool::new(ToolSet::Sync, "resolve", about, EffectHint::Replaces, run)
}
