//! Entering a palace.

use std::collections::BTreeMap;

use crate::error::quote_names;
use crate::proposals::proposal_notice;
use crate::templates::find_template;
use crate::walk::current_room::render_current_room;
use crate::walk::hand_over::render_hand_over;
use crate::walk::notices::has_unbuilt_entry_room;
use crate::walk::start_position;
use crate::walk::unbuilt_rooms::render_roomless_palace;
use crate::workspaces::as_of_key::present_key;
use crate::workspaces::{Workspace, open_as_of, workspace_names};
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::{Audience, Files, quoted};
use palazzo_core::render::{self, ItemCounts};

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
    let note = namesake_note(keeper, name, present_key(&key))?;
    Ok(note + &enter_palace(keeper, caller, &key)?)
}

/// Returns a note on another palace that has this name: somebody may have added it to be taken for this
/// one.
fn namesake_note(keeper: &Keeper, name: &str, key: &str) -> Result<String, Refusal> {
    let is_called = |it: &str| it.trim().eq_ignore_ascii_case(name.trim());
    let mut others = keeper.workspaces()?.into_iter().filter(|it| it.key != key);
    let namesake = others.find(|it| is_called(&it.name) || is_called(&it.key));
    let note = |it: Workspace| {
        let [name, folder, here] = [name, &it.key, key].map(quoted);
        format!(
            "Note: {name} is also a name of the palace in the folder {folder}; this is {here}.\n\n"
        )
    };
    Ok(namesake.map(note).unwrap_or_default())
}

/// Creates a palace from a template that is called `template`, and enters it.
pub fn create_workspace_from_template(
    keeper: &mut Keeper,
    caller: &Caller,
    name: &str,
    template: &str,
) -> Result<String, Refusal> {
    keeper.check_not_snapshot()?;
    match keeper.find_workspace(name) {
        Err(Refusal::NoSuchWorkspace { .. }) => {}
        Ok(existing) => {
            let name = quoted(&existing.name);
            let why = format!("the workspace {name} exists already: leave out `template`");
            return Err(Refusal::Invalid(why));
        }
        Err(refusal) => return Err(refusal),
    }
    let template = find_template(keeper, template)?;
    let files = template.new_palace_files(&BTreeMap::new(), caller)?;
    let key = keeper.create_workspace(caller, name, &files)?;
    enter_palace(keeper, caller, &key)
}

/// Enters the palace that the caller acts on.
pub fn enter_current_palace(keeper: &mut Keeper, caller: &Caller) -> Result<String, Refusal> {
    let key = keeper.current_workspace(caller)?;
    let name = render::name_in_sentence(&keeper.open_palace(&key)?.palace.settings.name);
    Ok(format!("You are in {name} now.\n\n{}", enter_palace(keeper, caller, &key)?))
}

/// Enters the palace that changed last, or the only one.
pub(crate) fn enter_last_changed_palace(
    keeper: &mut Keeper,
    caller: &Caller,
) -> Result<String, Refusal> {
    let (last, others) = last_changed_workspace(keeper)?;
    keeper.open_workspace(&last)?;
    let name = render::name_in_sentence(&last.name);
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
    if has_unbuilt_entry_room(&session.palace.palace) {
        session.palace.find_renamed_rooms()?;
    }
    let open = &*session.palace;
    let start = start_position(&open.palace, key);
    let summary = match start {
        None => Some(render_roomless_palace(open, caller)?),
        Some(_) => None,
    };
    session.visit.enter_palace(key, start);
    // Drawers without rooms are only searched.
    let is_for_search = summary.is_some() && !open.palace.drawers.is_empty();
    let tutorial = match caller.audience() {
        Audience::Agent if !session.visit.has_seen_tutorial && !is_for_search => {
            session.visit.has_seen_tutorial = true;
            render::tutorial().to_owned() + "\n"
        }
        Audience::Agent | Audience::Person => String::new(),
    };
    let name = &open.palace.settings.name;
    let notice = open.store().as_of_commit().map(|it| render::as_of_notice(name, it, caller.now));
    let head = match notice {
        Some(notice) => tutorial + &notice,
        None => tutorial + &proposal_notice(keeper, key),
    };
    match summary {
        Some(summary) => Ok(head + &summary),
        None => {
            let mut session = keeper.session_without_refresh(key, caller)?;
            let palace = &session.palace.palace;
            let counts = ItemCounts::of(palace);
            // A palace without rooms shows it with its summary.
            let line = match counts.rooms {
                0 => String::new(),
                _ => render::workspace_line(&palace.settings.name, &counts) + "\n",
            };
            let hand_over = render_hand_over(&mut session)?;
            Ok(head + &line + &hand_over + &render_current_room(keeper, caller)?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{NOW, TestHome, ada};
    use crate::work::tasks::{NewTask, create_task};

    const HALL: (&str, &str) = ("rooms/hall.yaml", "name: Hall\ndescription: Stone.\n");
    const GARDEN: (&str, &str) = ("../garden/palace.toml", "name = \"Garden\"\n");

    fn enter(home: &mut TestHome, name: &str, is_create: bool) -> Result<String, Refusal> {
        set_workspace(&mut home.keeper, &ada(), name, is_create, None)
    }

    #[test]
    fn the_tutorial_is_shown_at_the_first_entry_only() {
        let mut home = TestHome::new(&[HALL]);
        let tutorial = render::tutorial();
        let page = "Workspace: Keep (1 room, 0 scrolls, 0 entities)\n\n── Hall ──\nStone.\n";
        assert!(home.enter().unwrap().starts_with(&format!("{tutorial}\n{page}")));
        assert!(home.enter().unwrap().starts_with(page));
    }

    #[test]
    fn a_palace_without_rooms_shows_how_to_build_the_first() {
        let page = TestHome::new(&[]).enter().unwrap();
        assert!(page.contains("Build an entry room with build_room"), "{page}");
        assert!(!page.contains("Actions:"), "{page}");
    }

    #[test]
    fn an_unknown_palace_is_refused_with_the_names_of_the_others() {
        let mut home = TestHome::new(&[GARDEN]);
        assert_eq!(
            enter(&mut home, "Attic", false).unwrap_err().to_string(),
            "there is no workspace `Attic`. Workspaces: `Garden`, `Keep`. To make a new one, call \
             set_workspace with `create: true`."
        );
    }

    #[test]
    fn a_palace_is_created_unless_it_exists() {
        let mut home = TestHome::new(&[HALL]);
        enter(&mut home, "Großer Speicher", true).unwrap();
        let settings = home.read("../grosser-speicher/palace.toml").unwrap();
        assert!(settings.contains("name = \"Großer Speicher\""), "{settings}");
        assert!(enter(&mut home, "KEEP", true).unwrap().contains("── Hall ──"));
    }

    #[test]
    fn a_palace_is_created_from_a_template_by_its_name() {
        let mut home = TestHome::new(&[HALL]);
        home.keeper.built_in_templates = || {
            let settings = "name = \"T\"\nentry = \"hall\"\n[template]\ndescription = \"D\"\n";
            let room = "name: Architecture Hall\ndescription: Stone.\n";
            let files = [("palace.toml", settings), ("rooms/hall.yaml", room)];
            let files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
            [("codebase".to_owned(), files)].into()
        };
        let mut create = |name, template| {
            create_workspace_from_template(&mut home.keeper, &ada(), name, template)
        };
        let page = create("Code", "codebase").unwrap();
        assert!(page.contains("── Architecture Hall ──"), "{page}");
        let refused = create("keep", "codebase").unwrap_err().to_string();
        assert_eq!(refused, "the workspace `Keep` exists already: leave out `template`");
        let refused = create("Attic", "../keep").unwrap_err().to_string();
        assert!(refused.starts_with("there is no template `../keep`."), "{refused}");
        assert_eq!(home.read("../attic/palace.toml"), None);
        let settings = home.read("../code/palace.toml").unwrap();
        assert!(settings.contains("name = \"Code\"") && !settings.contains("[template"));
    }

    #[test]
    fn a_new_palace_cannot_be_entered_as_of_the_past() {
        let mut home = TestHome::new(&[]);
        let refusal = set_workspace(&mut home.keeper, &ada(), "Attic", true, Some("2020"));
        let why = "a new workspace has no history: leave out `as_of`";
        assert_eq!(refusal.unwrap_err().to_string(), why);
        assert_eq!(home.read("../attic/palace.toml"), None);
    }

    #[test]
    fn a_name_that_no_palace_can_have_is_refused() {
        let mut home = TestHome::new(&[]);
        for (name, why) in [
            ("a/b", "it may not contain slashes or control characters"),
            (".git", "it may not begin with a dot"),
            ("", "it is empty"),
        ] {
            let refusal = enter(&mut home, name, true).unwrap_err().to_string();
            assert_eq!(refusal, format!("`{name}` cannot be the name of a workspace: {why}"));
        }
    }

    #[test]
    fn of_several_palaces_the_one_that_changed_last_is_entered() {
        let mut home = TestHome::new(&[HALL, GARDEN]);
        let bob = Caller::for_client("bob", NOW.parse().unwrap());
        set_workspace(&mut home.keeper, &bob, "keep", false, None).unwrap();
        let title = "Dust".to_owned();
        let task = NewTask { title, ..NewTask::default() };
        create_task(&mut home.keeper, &bob, &task).unwrap();
        let page = enter_last_changed_palace(&mut home.keeper, &ada()).unwrap();
        let notice = "You are in Keep now: no workspace was set, and this one changed last. \
                      set_workspace enters another: `Garden`.\n\n";
        assert!(page.starts_with(notice), "{page}");
    }

    #[test]
    fn of_several_palaces_without_history_none_is_entered() {
        let mut home = TestHome::new(&[GARDEN]);
        assert_eq!(
            enter_last_changed_palace(&mut home.keeper, &ada()).unwrap_err().to_string(),
            "no workspace is set: call set_workspace first (or start the server with `--workspace \
             NAME`). Workspaces: `Garden`, `Keep`."
        );
    }
}
