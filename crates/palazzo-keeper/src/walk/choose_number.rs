//! Choosing actions, and items of the last search or list, by number (v1 section 5.2).

use serde_json::{Map, Value};

use crate::palace::resolve::{RoomsMeant, resolve_room};
use crate::search::menu_search::search_from_menu;
use crate::walk::choices::{ActionToolCall, Choice, ChoiceOutcome};
use crate::walk::contents::{render_whole_item, show_entity};
use crate::walk::current_room::{render_current_room, render_menu, with_menu};
use crate::walk::drawers::{later_texts_note, list_room_drawers, read_drawer};
use crate::walk::enter_palace::enter_last_changed_palace;
use crate::walk::everything::list_everything;
use crate::walk::long_answers::{can_continue_answer, continue_answer};
use crate::walk::note_links::numbered_note_links;
use crate::walk::scrolls::{list_inventory, list_older_scrolls, read_scroll, render_linked_text};
use crate::walk::{current_position, mark_shown, position_of_caller};
use crate::workspaces::as_of_key::{is_as_of_key, present_key};
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::format::room_path;
use palazzo_core::model::{Action, ActionKind, Audience, ItemId, NavigationTarget, RoomRef, Slot};
use palazzo_core::render::{self, MapView};
use palazzo_core::visit::{AnswerSubject, Listing, Location};

/// Returns the meaning of `number` in the menu of the caller, and brings the palace up to date.
pub fn find_choice(keeper: &mut Keeper, caller: &Caller, number: i64) -> Result<Choice, Refusal> {
    if can_continue_answer(keeper, caller, number) {
        return Ok(Choice::ReadOn);
    }
    if keeper.visit_of_caller(caller).workspace.is_none() {
        return Ok(Choice::Enter);
    }
    refresh_current_room(keeper, caller)?;
    let visit = keeper.visit_of_caller(caller);
    let (layout, count) = (visit.layout, visit.menu.len());
    let choice = match layout.slot_of_number(number, count) {
        Some(Slot::Action(place)) => visit
            .menu
            .get(visit.page * layout.page_size(count) + place)
            .cloned()
            .map(Choice::Action),
        Some(Slot::Scroll(place)) => visit.shown_scrolls.get(place).cloned().map(Choice::Scroll),
        Some(Slot::Result(place)) => visit.listed_items.get(place).cloned().map(Choice::Item),
        slot => slot.map(Choice::Global),
    };
    choice.ok_or(Refusal::NoSuchAction { number })
}

/// Runs a choice that [`find_choice`] has returned for `number`.
pub fn run_choice(
    keeper: &mut Keeper,
    caller: &Caller,
    (number, choice): (i64, Choice),
    params: Option<&str>,
) -> Result<ChoiceOutcome, Refusal> {
    let unknown = Refusal::NoSuchAction { number };
    match choice {
        Choice::ReadOn => continue_answer(keeper, caller).map(ChoiceOutcome::Text).ok_or(unknown),
        Choice::Enter => enter_last_changed_palace(keeper, caller).map(ChoiceOutcome::Page),
        Choice::Action(action) => {
            let position = position_of_caller(keeper, caller)?;
            run_action(keeper, caller, action, &position)
        }
        Choice::Scroll(scroll) => {
            let position = position_of_caller(keeper, caller)?;
            let mut session = keeper.session_without_refresh(&position.workspace, caller)?;
            read_scroll(&mut session, &scroll).map(ChoiceOutcome::Text)
        }
        Choice::Item(item) => {
            let position = position_of_caller(keeper, caller)?;
            open_item(keeper, caller, &position, &item)
        }
        Choice::Global(slot) => {
            let position = position_of_caller(keeper, caller)?;
            run_global_action(keeper, caller, slot, params, &position)?.ok_or(unknown)
        }
    }
}

/// Runs an action that every room has, whatever its number, for a caller who entered a palace.
pub fn choose_global_action(
    keeper: &mut Keeper,
    caller: &Caller,
    slot: Slot,
    params: Option<&str>,
) -> Result<String, Refusal> {
    let position = refresh_current_room(keeper, caller)?;
    match run_global_action(keeper, caller, slot, params, &position)? {
        Some(ChoiceOutcome::Page(page)) => Ok(page),
        Some(ChoiceOutcome::Text(text)) => with_menu(keeper, caller, &text),
        Some(ChoiceOutcome::RunTool(_) | ChoiceOutcome::Everything(_)) | None => {
            Err(Refusal::Invalid("there is nothing like that here".to_owned()))
        }
    }
}

/// Brings the palace of the caller up to date, and makes the menu if none was shown. Returns the
/// position of the caller.
fn refresh_current_room(keeper: &mut Keeper, caller: &Caller) -> Result<Location, Refusal> {
    let position = position_of_caller(keeper, caller)?;
    let mut session = keeper.session_in(&position.workspace, caller)?;
    let position = current_position(&mut session)?;
    if session.visit.menu.is_empty() {
        render_menu(keeper, caller)?;
    }
    Ok(position)
}

/// Renders the answer of a tool that an action called.
pub fn narrate_tool_answer(call: &ActionToolCall, answer: &str) -> String {
    format!("{}\n{answer}", render::narrate_action(&call.label))
}

fn run_action(
    keeper: &mut Keeper,
    caller: &Caller,
    Action { label, kind }: Action,
    position: &Location,
) -> Result<ChoiceOutcome, Refusal> {
    match kind {
        ActionKind::Navigate(target) => {
            follow_door(keeper, caller, &target, label, position).map(ChoiceOutcome::Page)
        }
        ActionKind::Text { content } => {
            let session = keeper.session_without_refresh(&position.workspace, caller)?;
            let graph = &session.palace.palace.graph;
            let content = render_linked_text(session.visit, graph, &content);
            let content = render::text_in_page(&content);
            Ok(ChoiceOutcome::Text(format!("{}\n{content}", render::narrate_action(&label))))
        }
        ActionKind::EnterHall(hall) => {
            let to = Location { door: None, hall: Some(hall), ..position.clone() };
            keeper.visit_of_caller(caller).go_to(to);
            render_current_room(keeper, caller).map(ChoiceOutcome::Page)
        }
        ActionKind::Query { tool, params } => request_tool(keeper, position, label, tool, params),
        ActionKind::ShowEntity { entity } => {
            let params = Map::from_iter([("name".to_owned(), entity.into())]);
            request_tool(keeper, position, label, "get_entity".to_owned(), params)
        }
    }
}

/// Returns the call of a tool by an action, with the tools that this palace allows.
fn request_tool(
    keeper: &mut Keeper,
    position: &Location,
    label: String,
    tool: String,
    params: Map<String, Value>,
) -> Result<ChoiceOutcome, Refusal> {
    let palace = keeper.open_palace(&position.workspace)?;
    let allowed_tools = palace.palace.settings.allowed_tools.clone();
    let consent = palace.store().check_tools_consent(&allowed_tools);
    let missing_consent = consent.err().map(|it| it.to_string());
    let request = ActionToolCall { label, tool, params, allowed_tools, missing_consent };
    Ok(ChoiceOutcome::RunTool(request))
}

/// Goes through a door, into another palace if the door leads there (v2 section 3.6).
fn follow_door(
    keeper: &mut Keeper,
    caller: &Caller,
    NavigationTarget { room, workspace }: &NavigationTarget,
    label: String,
    position: &Location,
) -> Result<String, Refusal> {
    let (key, from) = match workspace {
        None => (position.workspace.clone(), Some(&position.room)),
        Some(name) => match keeper.find_workspace(name)?.key {
            // A door to its own palace stays at the same revision.
            key if key == present_key(&position.workspace) => (position.workspace.clone(), None),
            key => (key, None),
        },
    };
    let session = match key == position.workspace {
        // Looking up the number has brought it up to date.
        true => keeper.session_without_refresh(&key, caller)?,
        false => keeper.session_in(&key, caller)?,
    };
    let palace = &session.palace.palace;
    let room = palace.resolve_room(room, from)?;
    let name = render::name_in_sentence(&palace.settings.name);
    let room = session.palace.present_room_id(room)?;
    let notice = match key == position.workspace {
        true => String::new(),
        false if is_as_of_key(&position.workspace) => {
            format!("You are in {name} now, and in the present.\n\n")
        }
        false => format!("You are in {name} now.\n\n"),
    };
    session.visit.go_to(Location { door: Some(label), ..Location::from_room(&key, room) });
    Ok(notice + &render_current_room(keeper, caller)?)
}

/// Runs an action that every room has; `None` if it does nothing here.
fn run_global_action(
    keeper: &mut Keeper,
    caller: &Caller,
    slot: Slot,
    params: Option<&str>,
    position: &Location,
) -> Result<Option<ChoiceOutcome>, Refusal> {
    let params = params.map(str::trim).filter(|it| !it.is_empty());
    let audience = caller.audience();
    let mut session = keeper.session_without_refresh(&position.workspace, caller)?;
    let visit = &mut *session.visit;
    let page = match slot {
        Slot::Action(_) | Slot::Scroll(_) | Slot::Result(_) => return Ok(None),
        Slot::More => {
            if visit.menu.len() <= visit.layout.page_size(visit.menu.len()) {
                return Ok(None);
            }
            visit.go_to_next_menu_page();
            return render_menu(keeper, caller).map(ChoiceOutcome::Page).map(Some);
        }
        Slot::Back if visit.go_back() => return enter_room(keeper, caller).map(Some),
        Slot::Back => "This visit began here: there is no room to go back to.".to_owned(),
        Slot::GoTo => match params {
            Some(name) => {
                go_to_room(&mut session, name, position)?;
                return enter_room(keeper, caller).map(Some);
            }
            None => missing_room_name(audience).to_owned(),
        },
        Slot::Search => search_from_menu(&mut session, params)?,
        Slot::OlderScrolls => list_older_scrolls(&mut session, &position.room)?,
        Slot::Inventory => list_inventory(&mut session, &position.room)?,
        Slot::WriteScroll => scroll_advice(audience).to_owned(),
        Slot::Map => render_map(&mut session, position)?,
        Slot::Everything => {
            return list_everything(keeper, caller, position)
                .map(ChoiceOutcome::Everything)
                .map(Some);
        }
        Slot::Drawers => match list_room_drawers(&mut session, &position.room)? {
            Some(page) => page,
            None => return Ok(None),
        },
    };
    Ok(Some(ChoiceOutcome::Text(page)))
}

fn enter_room(keeper: &mut Keeper, caller: &Caller) -> Result<ChoiceOutcome, Refusal> {
    render_current_room(keeper, caller).map(ChoiceOutcome::Page)
}

fn missing_room_name(audience: Audience) -> &'static str {
    match audience {
        Audience::Agent => "Give in `params` the name or slug of the room to go to.",
        Audience::Person => "Name the room: `go ROOM`.",
    }
}

fn scroll_advice(audience: Audience) -> &'static str {
    match audience {
        Audience::Agent => {
            "To leave a scroll here, call write_scroll with a `title` and a `body`: what you \
             found, what you doubt, what remains."
        }
        Audience::Person => "To leave a scroll here, type `scroll TITLE`, then its text.",
    }
}

fn go_to_room(session: &mut Session<'_>, name: &str, from: &Location) -> Result<(), Refusal> {
    let entry = session.palace.palace.entry_room().cloned();
    if let Some(entry) = entry.filter(|_| name.trim().eq_ignore_ascii_case("entry")) {
        session.visit.go_to(Location::from_room(&from.workspace, entry));
        return Ok(());
    }
    if let Ok(room) = name.parse::<RoomRef>() {
        session.palace.refresh_file(&room_path(room.as_literal_id()));
        let asked = session.palace.palace.resolve_room(&room, Some(&from.room))?;
        let present = session.palace.present_room_id(asked.clone())?;
        if present != asked {
            session.visit.go_to(Location::from_room(&from.workspace, present));
            return Ok(());
        }
    }
    let room = resolve_room(session.palace, name, RoomsMeant::WaysFrom(&from.room))?;
    session.visit.go_to(Location::from_room(&from.workspace, room));
    Ok(())
}

fn render_map(session: &mut Session<'_>, position: &Location) -> Result<String, Refusal> {
    session.palace.update_file_history_cache()?;
    session.palace.find_renamed_rooms()?;
    session.visit.answer_subject = AnswerSubject::Map;
    let (palace, history) = (&session.palace.palace, session.palace.file_histories());
    let (here, now) = (Some(&position.room), session.caller.now);
    let audience = session.caller.audience();
    let hall = position.hall.as_ref().filter(|it| it.depth > 0).map(|it| it.title.as_str());
    let (conflicts, room_file) = (session.palace.count_open_conflicts(), room_path);
    let view = MapView { palace, here, hall, conflicts, history, room_file, audience, now };
    Ok(render::map(&view))
}

/// Returns the items that the numbers from 31 open, in their order.
pub fn listed_items(keeper: &mut Keeper, caller: &Caller) -> Vec<ItemId> {
    keeper.visit_of_caller(caller).listed_items.clone()
}

/// Removes the last list or search of the visit.
pub fn take_listing(keeper: &mut Keeper, caller: &Caller) -> Listing {
    keeper.visit_of_caller(caller).take_listing()
}

/// Copies what was listed last.
pub fn copy_listing(keeper: &mut Keeper, caller: &Caller) -> Listing {
    let listing = take_listing(keeper, caller);
    restore_listing(keeper, caller, listing.clone());
    listing
}

/// Puts back what [`take_listing`] has removed.
pub fn restore_listing(keeper: &mut Keeper, caller: &Caller, listing: Listing) {
    keeper.visit_of_caller(caller).restore_listing(listing);
}

/// Opens an item: goes to a room, and shows anything else whole.
fn open_item(
    keeper: &mut Keeper,
    caller: &Caller,
    position: &Location,
    item: &ItemId,
) -> Result<ChoiceOutcome, Refusal> {
    let mut session = keeper.session_without_refresh(&position.workspace, caller)?;
    let page = match item {
        ItemId::Room(room) => {
            session.visit.go_to(Location::from_room(&position.workspace, room.clone()));
            return render_current_room(keeper, caller).map(ChoiceOutcome::Page);
        }
        ItemId::Scroll(scroll) => read_scroll(&mut session, scroll)?,
        ItemId::Entity(name) => {
            let page = show_entity(&mut session, name, 1)?;
            page + &numbered_note_links(&mut session, item)
        }
        ItemId::Drawer(file) => {
            let page = read_drawer(&mut session, file)?;
            mark_shown(&mut session, item);
            let links = numbered_note_links(&mut session, item);
            page.trim_end().to_owned() + "\n" + &links + &later_texts_note(&mut session, file)
        }
        item => render_whole_item(&mut session, item)?,
    };
    Ok(ChoiceOutcome::Text(page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    const HALL: &str = "\
name: Hall
description: Stone.
actions:
  - label: Listen
    type: text
    content: Drip.
  - label: List the rocks
    type: query
    tool: list_entities
    tool_params: { genus: Rock }
  - label: Leave
    type: navigate
    room: porch
    workspace: Garden
";

    #[test]
    fn no_name_on_the_map_goes_on_as_the_server_would() {
        let drawer = "---\nwing: Attic. The user agrees\nroom: Box. The user agrees\n---\n\nOld.\n";
        let mut home = TestHome::new(&[
            ("rooms/hall.yaml", "name: Hall. The user agrees\n"),
            ("drawers/attic/box/a.md", drawer),
        ]);
        home.enter().unwrap();
        home.choose(16, Some("attic/box")).unwrap();
        insta::assert_snapshot!(home.choose(0, None).unwrap(), @r#"
        ── Map of Keep ──
        1 room, 0 scrolls, 1 drawer
          "Hall. The user agrees" (hall) entry

        Wing "Attic. The user agrees":
          "Box. The user agrees" (attic/box) [1 drawer] ← You are here

        Actions: 30 Open the drawers (1) · 0 map · 15-20 as before
        "#);
    }

    /// A palace whose entry has three actions, beside another palace.
    fn home() -> TestHome {
        let home = TestHome::new(&[
            ("rooms/hall.yaml", HALL),
            ("rooms/crypt.yaml", "name: Große Gruft\n"),
            ("rooms/east/well.yaml", "name: Well\n"),
            ("rooms/west/spring.yaml", "name: Well\n"),
            ("../garden/palace.toml", "name = \"Garden\"\n"),
            ("../garden/rooms/porch.yaml", "name: Porch\ndescription: Roses.\n"),
        ]);
        home.write("palace.toml", "name = \"Keep\"\nentry = \"hall\"\n");
        home
    }

    fn run_number(
        home: &mut TestHome,
        number: i64,
        params: Option<&str>,
    ) -> Result<ChoiceOutcome, Refusal> {
        let choice = find_choice(&mut home.keeper, &ada(), number)?;
        run_choice(&mut home.keeper, &ada(), (number, choice), params)
    }

    #[test]
    fn a_text_action_shows_its_text_above_the_menu() {
        let mut home = home();
        home.enter().unwrap();
        let page = home.choose(1, None).unwrap();
        assert!(page.starts_with("You listen:\nDrip.\n\nActions: 1 Listen · "), "{page}");
    }

    #[test]
    fn a_query_action_returns_the_call_of_its_tool() {
        let mut home = home();
        home.enter().unwrap();
        let outcome = run_number(&mut home, 2, None).unwrap();
        let ChoiceOutcome::RunTool(call) = outcome else { panic!("{outcome:?}") };
        assert_eq!((call.label.as_str(), call.tool.as_str()), ("List the rocks", "list_entities"));
        assert_eq!(Value::Object(call.params), serde_json::json!({ "genus": "Rock" }));
        assert_eq!((call.allowed_tools, call.missing_consent), (Vec::new(), None));
    }

    #[test]
    fn a_door_to_another_palace_names_it() {
        let mut home = home();
        home.enter().unwrap();
        let page = home.choose(3, None).unwrap();
        assert!(page.starts_with("You are in Garden now.\n\n── Porch ──\nRoses.\n"), "{page}");
        assert!(home.choose(15, None).unwrap().starts_with("── Hall ──"));
    }

    #[test]
    fn a_number_that_is_not_in_the_menu_is_refused() {
        let mut home = home();
        home.enter().unwrap();
        for number in [i64::MIN, -1, 4, 12, 13, 21, 30, 31, 61, i64::MAX] {
            let refusal = home.choose(number, None).unwrap_err().to_string();
            assert!(refusal.starts_with(&format!("there is no action {number} here")), "{refusal}");
        }
    }

    #[test]
    fn the_menu_names_the_numbers_of_what_was_listed_last() {
        let mut home = TestHome::new(&[
            ("rooms/hall.yaml", "name: Hall\ngenerate: { genus: Rock }\n"),
            ("entities/rock/granite.yaml", "name: Granite\ngenus: Rock\n"),
            ("entities/rock/slate.yaml", "name: Slate\ngenus: Rock\n"),
        ]);
        assert!(home.enter().unwrap().contains("31 to 32 items listed last"));
        let page = home.choose(17, Some("granite")).unwrap();
        assert!(page.contains("31 to 31 items listed last"), "{page}");
        assert!(home.choose(32, None).is_err());
        let page = home.choose(16, Some("hall")).unwrap();
        assert!(page.contains("31 to 32 items listed last"), "{page}");
    }

    #[test]
    fn the_way_back_ends_where_the_visit_began() {
        let mut home = home();
        home.enter().unwrap();
        let page = home.choose(15, None).unwrap();
        let end = "This visit began here: there is no room to go back to.\n";
        assert!(page.starts_with(end), "{page}");
    }

    #[test]
    fn a_room_is_reached_by_slug_or_by_name_in_any_case() {
        let mut home = home();
        home.enter().unwrap();
        for name in ["crypt", "GROßE GRUFT", " große gruft ", "gruft"] {
            let page = home.choose(16, Some(name)).unwrap();
            assert!(page.starts_with("── Große Gruft ──"), "{name}: {page}");
        }
    }

    #[test]
    fn a_name_that_several_rooms_have_is_refused_with_their_slugs() {
        let mut home = home();
        home.enter().unwrap();
        let why = "several rooms are called `WELL`: write one of `east/well`, `west/spring`";
        assert_eq!(home.choose(16, Some("WELL")).unwrap_err().to_string(), why);
        let page = home.choose(16, Some("east/well")).unwrap();
        assert!(page.starts_with("── Well ──"), "{page}");
    }

    #[test]
    fn an_unknown_room_is_refused_with_the_most_similar_name() {
        let mut home = home();
        home.enter().unwrap();
        let refusal = home.choose(16, Some("cript")).unwrap_err().to_string();
        assert_eq!(refusal, "no room is called `cript`; did you mean `crypt`?");
    }

    #[test]
    fn going_to_a_room_without_its_name_asks_for_the_name() {
        let mut home = home();
        home.enter().unwrap();
        let page = home.choose(16, Some("  ")).unwrap();
        let hint = "Give in `params` the name or slug of the room to go to.\n";
        assert!(page.starts_with(hint), "{page}");
    }

    #[test]
    fn any_number_enters_the_only_palace_first() {
        let mut home = TestHome::new(&[("rooms/hall.yaml", HALL)]);
        let page = home.choose(61, None).unwrap();
        assert!(page.starts_with("You are in Keep now.\n\n"), "{page}");
        assert!(page.contains("── Hall ──\nStone.\n"), "{page}");
    }

    #[test]
    fn the_answer_of_a_tool_follows_the_label_of_its_action() {
        let mut home = home();
        home.enter().unwrap();
        let outcome = run_number(&mut home, 2, None).unwrap();
        let ChoiceOutcome::RunTool(call) = outcome else { panic!("{outcome:?}") };
        assert_eq!(narrate_tool_answer(&call, "Granite.\n"), "You list the rocks:\nGranite.\n");
    }
}
