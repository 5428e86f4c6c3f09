//! Entering a palace.

use crate::keeper::error::quote_names;
use crate::keeper::rooms::position::start_position;
use crate::keeper::walk::current_room::render_current_room;
use crate::keeper::walk::unbuilt_rooms::render_roomless_palace;
use crate::keeper::workspaces::as_of::open_as_of;
use crate::keeper::workspaces::{Workspace, workspace_names};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::Files;
use crate::render;

/// Enters a palace (v1 section 5.1), and renders its entry room, or, where no room is built, how to
/// build the first. `is_create` creates a palace that does not exist; `as_of` is a past revision.
pub fn set_workspace(
    keeper: &mut Keeper,
    caller: &Caller,
    name: &str,
    is_create: bool,
    as_of: Option<&str>,
) -> Result<String, Refusal> {
    let key = match keeper.find_workspace(name) {
        Ok(workspace) => {
            keeper.open_workspace(&workspace)?;
            match as_of {
                Some(revision) => open_as_of(keeper, caller, &workspace.key, revision)?,
                None => workspace.key,
            }
        }
        Err(Refusal::NoSuchWorkspace { .. }) if is_create && as_of.is_some() => {
            let why = "a new workspace has no history: leave out `as_of`";
            return Err(Refusal::Invalid(why.to_owned()));
        }
        Err(Refusal::NoSuchWorkspace { .. }) if is_create => {
            keeper.create_workspace(caller, name, &Files::new())?
        }
        Err(refusal) => return Err(refusal),
    };
    enter_palace(keeper, caller, &key)
}

/// Enters the palace that the caller acts on.
pub fn enter_current_palace(keeper: &mut Keeper, caller: &Caller) -> Result<String, Refusal> {
    let key = keeper.current_workspace(caller)?;
    let name = render::one_line(&keeper.open_palace(&key)?.palace.settings.name);
    Ok(format!("You are in {name} now.\n\n{}", enter_palace(keeper, caller, &key)?))
}

/// Enters the palace that changed last, or the only one.
pub(crate) fn enter_last_changed_palace(
    keeper: &mut Keeper,
    caller: &Caller,
) -> Result<String, Refusal> {
    let (last, others) = last_changed_workspace(keeper)?;
    keeper.open_workspace(&last)?;
    let name = render::one_line(&last.name);
    let why = match others.len() {
        0 => String::new(),
        _ => format!(
            ": no workspace was set, and this one changed last. set_workspace enters another: {}",
            quote_names(&others)
        ),
    };
    Ok(format!("You are in {name} now{why}.\n\n{}", enter_palace(keeper, caller, &last.key)?))
}

/// Returns the palace that changed last, or the preferred or only one, and the names of the others.
fn last_changed_workspace(keeper: &Keeper) -> Result<(Workspace, Vec<String>), Refusal> {
    if let Some(preferred) = &keeper.preferred_workspace {
        return Ok((keeper.find_workspace(preferred)?, Vec::new()));
    }
    let mut all = keeper.workspaces()?;
    if all.len() == 1 {
        return Ok((all.remove(0), Vec::new()));
    }
    let last_change = |it: &Workspace| {
        let commits = keeper.store_of(it).recent_commits(1).ok();
        commits.and_then(|it| it.first().map(|it| it.at))
    };
    let dated = all.iter().enumerate().filter_map(|(i, it)| Some((last_change(it)?, i)));
    match dated.max_by_key(|it| it.0) {
        Some((_, i)) => {
            let last = all.remove(i);
            Ok((last, workspace_names(&all)))
        }
        None => Err(keeper.no_workspace_refusal(workspace_names(&all))),
    }
}

/// Begins a visit in the entry room of the palace with the key `key`.
fn enter_palace(keeper: &mut Keeper, caller: &Caller, key: &str) -> Result<String, Refusal> {
    let session = keeper.session_in(key, caller)?;
    let open = &*session.palace;
    let start = start_position(&open.palace, key);
    let summary = match start {
        None => Some(render_roomless_palace(open, caller.now)?),
        Some(_) => None,
    };
    session.visit.enter_palace(key, start);
    let has_seen_it = std::mem::replace(&mut session.visit.has_seen_tutorial, true);
    let tutorial = if has_seen_it { String::new() } else { render::tutorial().to_owned() + "\n" };
    let name = &open.palace.settings.name;
    let notice = open.store().as_of_commit().map(|it| render::as_of_notice(name, it, caller.now));
    let head = tutorial + &notice.unwrap_or_default();
    match summary {
        Some(summary) => Ok(head + &summary),
        None => Ok(head + &render_current_room(keeper, caller)?),
    }
}
