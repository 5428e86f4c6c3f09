//! The tools for what synchronizing and merging leave to a reader, and their arguments.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::arguments::NoArguments;
use crate::mcp::reply::{WorkWithoutKeeper, render_warnings, to_tool_result};
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use palazzo_core::model::ConflictChoice;
use palazzo_core::render;
use palazzo_keeper::{self as keeper, Caller, ChangeMode, Keeper, SyncReport};

/// The arguments of `resolve`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Resolve {
    /// The first digits of its name, as the notice gives them.
    conflict: Option<String>,
    /// The value to keep.
    take: Option<Take>,
}

/// Which value of a conflict is taken.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Take {
    Stands,
    Other,
}

impl From<Take> for ConflictChoice {
    fn from(take: Take) -> Self {
        match take {
            Take::Stands => Self::Stands,
            Take::Other => Self::Other,
        }
    }
}

pub(super) fn sync_tools() -> [RegisteredTool; 2] {
    [resolve(), sync_palace()]
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

/// Synchronizes outside of the keeper, so that other calls are answered meanwhile.
fn sync_palace() -> RegisteredTool {
    let about = (
        "Sync with the remote",
        "Exchange commits with the git remote now: fetch, merge, push. A server does so by itself \
         every minute and after writes.",
    );
    let begin = |keeper: &mut Keeper, caller: &Caller, NoArguments {}| {
        let answer = keeper.request_sync(caller).map_err(|it| it.to_string())?;
        let wait: WorkWithoutKeeper = Box::new(move || {
            let ended = "the server is shutting down: the sync was not finished";
            let answer = answer.recv().map_err(|_| ended.to_owned())?;
            to_tool_result(answer.map(|it| describe_sync(&it)))
        });
        Ok(wait)
    };
    RegisteredTool::new_detached(ToolSet::Sync, "sync_palace", about, EffectHint::Replaces, begin)
}

fn describe_sync(it: &SyncReport) -> String {
    let count = render::count_with_noun;
    let mut text = format!("In sync with {}.\n", it.upstream);
    if it.is_rewritten {
        text.push_str("The history of the remote was rewritten; nothing of yours was dropped.\n");
    }
    if it.received > 0 {
        let [added, changed, deleted] = it.files;
        let verb = if it.is_merged { "Merged" } else { "Received" };
        let commits = count(it.received, "commit");
        text.push_str(&format!(
            "{verb} {commits}: {added} added, {changed} changed, {deleted} deleted files.\n"
        ));
    }
    if it.sent > 0 {
        text.push_str(&format!("Pushed {}.\n", count(it.sent, "commit")));
    }
    if it.conflicts > 0 {
        let new = match it.new_conflicts {
            0 => String::new(),
            new => format!(", {new} of them new"),
        };
        let conflicts = count(it.conflicts, "conflict");
        text.push_str(&format!("{conflicts}{new}: `resolve` lists and settles them.\n"));
    }
    text + &render_warnings(&it.warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_is_described_in_sentences() {
        let report = SyncReport {
            upstream: "`main` of origin (https://example.org/a)".to_owned(),
            received: 3,
            sent: 1,
            is_merged: true,
            files: [1, 4, 0],
            new_conflicts: 1,
            conflicts: 2,
            ..SyncReport::default()
        };
        insta::assert_snapshot!(describe_sync(&report), @"
        In sync with `main` of origin (https://example.org/a).
        Merged 3 commits: 1 added, 4 changed, 0 deleted files.
        Pushed 1 commit.
        2 conflicts, 1 of them new: `resolve` lists and settles them.
        ");
    }
}
