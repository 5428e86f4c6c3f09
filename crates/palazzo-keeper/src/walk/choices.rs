//! What a caller can choose in the current room: the meanings of the numbers of its menu, and their
//! results; names of rooms and scrolls, which a person can type.

use serde_json::{Map, Value};

use crate::walk::current_room::with_menu;
use crate::walk::position_of_caller;
use crate::walk::scrolls::read_scroll;
use crate::walk::show_item::show_item;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::{Action, ActionKind, ItemId, Layout, Palace, RoomId, ScrollId, Slot};
use palazzo_core::render;
use palazzo_core::visit::Visit;

/// What a caller can choose in the current room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompletionCandidates {
    /// The numbers of the actions and scrolls that were shown last, with their labels.
    pub numbers: Vec<(usize, String)>,
    /// The rooms of the palace: the slug, with the wing if there is one, and the name.
    pub rooms: Vec<(String, String)>,
    /// The titles of the scrolls in the room, newest first.
    pub scrolls: Vec<String>,
}

/// The meaning of a number of the menu.
#[derive(Clone, Debug)]
pub enum Choice {
    /// Read on in the last answer, which was cut.
    ReadOn,
    /// Enter the palace that changed last, or the only one: no palace was entered yet.
    Enter,
    /// An action of the room.
    Action(Action),
    /// A scroll that was shown.
    Scroll(ScrollId),
    /// An item of the last list or search.
    Item(ItemId),
    /// An action that every room has.
    Global(Slot),
}

impl Choice {
    /// Returns whether it shows everything that is in front.
    pub fn is_everything(&self) -> bool {
        matches!(self, Self::Global(Slot::Everything))
    }

    /// Returns whether it leads to another room or shows another menu.
    pub fn is_move(&self) -> bool {
        match self {
            Self::Action(action) => {
                matches!(action.kind, ActionKind::Navigate(_) | ActionKind::EnterHall(_))
            }
            Self::Global(slot) => matches!(slot, Slot::More | Slot::Back | Slot::GoTo),
            Self::Item(item) => matches!(item, ItemId::Room(_)),
            Self::Enter => true,
            Self::ReadOn | Self::Scroll(_) => false,
        }
    }
}

/// The result of a choice.
#[derive(Debug)]
pub enum ChoiceOutcome {
    /// A text, below which the menu goes.
    Text(String),
    /// A page that ends with its menu.
    Page(String),
    /// The contents that number 20 shows.
    Everything(Everything),
    /// A tool to run; `narrate_tool_answer` makes a text of its answer.
    RunTool(ActionToolCall),
}

/// The contents that number 20 shows, in order. They may name an item several times.
#[derive(Clone, Debug)]
pub struct Everything {
    /// The key of the palace.
    pub workspace: String,
    /// Where the contents are: `in Great Hall`.
    pub title: String,
    /// The contents.
    pub parts: Vec<EverythingPart>,
}

/// A part of the contents that number 20 shows.
#[derive(Clone, Debug)]
pub enum EverythingPart {
    /// A text.
    Text(String),
    /// An item, to show whole.
    Item(ItemId),
    /// A tool to run.
    RunTool(ActionToolCall),
}

/// A call of a tool by an action.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionToolCall {
    /// The action's label.
    pub label: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the call.
    pub params: Map<String, Value>,
    /// The tools that change things and that actions of this palace may call.
    pub allowed_tools: Vec<String>,
    /// Why actions may not call those tools on this machine; `None` if they may.
    pub missing_consent: Option<String>,
}

/// Lists what the caller can choose in the current room.
pub fn list_completion_candidates(
    keeper: &mut Keeper,
    caller: &Caller,
) -> Result<CompletionCandidates, Refusal> {
    let position = position_of_caller(keeper, caller)?;
    let session = keeper.session_without_refresh(&position.workspace, caller)?;
    let palace = &session.palace.palace;
    let room_name = |it: &RoomId| (it.to_string(), render::one_line(&palace.room_name(it)));
    let titles = palace.scrolls_in_room(&position.room).map(|it| render::one_line(&it.title));
    Ok(CompletionCandidates {
        numbers: list_numbers(palace, session.visit),
        rooms: palace.enterable_rooms().into_iter().map(room_name).collect(),
        scrolls: titles.collect(),
    })
}

/// Reads the scroll in the current room with this title, or the only one whose title begins so;
/// else shows the item of the palace with this name.
pub fn read_by_name(keeper: &mut Keeper, caller: &Caller, name: &str) -> Result<String, Refusal> {
    let position = position_of_caller(keeper, caller)?;
    let mut session = keeper.session_in(&position.workspace, caller)?;
    let page = match find_scroll(&session.palace.palace, &position.room, name) {
        Some(scroll) => read_scroll(&mut session, &scroll)?,
        None => show_item(keeper, caller, Some(name), None)?,
    };
    with_menu(keeper, caller, &page)
}

fn list_numbers(palace: &Palace, visit: &Visit) -> Vec<(usize, String)> {
    let Visit { layout, menu, .. } = visit;
    let size = layout.page_size(menu.len());
    let actions = menu.iter().skip(visit.page * size).take(size).enumerate();
    let actions = actions.map(|(place, it)| (Slot::Action(place), it.label.as_str()));
    let scrolls = visit.shown_scrolls.iter().take(Layout::MAX_SCROLLS).enumerate();
    let scrolls = scrolls
        .filter_map(|(place, it)| Some((Slot::Scroll(place), palace.scroll(it)?.title.as_str())));
    let numbered = |(slot, label)| (layout.number_of_slot(slot), render::one_line(label));
    actions.chain(scrolls).map(numbered).collect()
}

/// Finds the scroll in a room with this title in any case, else the only one whose title begins so.
fn find_scroll(palace: &Palace, room: &RoomId, title: &str) -> Option<ScrollId> {
    let title = title.trim().to_lowercase();
    let lower = |it: &str| render::one_line(it).to_lowercase();
    let scrolls = || palace.scrolls_in_room(room);
    let mut beginning = scrolls().filter(|it| lower(&it.title).starts_with(&title));
    let only = beginning.next().filter(|_| beginning.next().is_none());
    let found = scrolls().find(|it| lower(&it.title) == title).or(only)?;
    Some(ScrollId { room: room.clone(), id: found.id })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rooms::scrolls::{NewScroll, write_scroll};
    use crate::test_home::{TestHome, ada};

    const HALL: &str = "\
name: Hall
description: Stone.
actions:
  - label: Listen
    type: text
    content: Drip.
";

    /// A palace with two scrolls in its entry, and an entity.
    fn home() -> TestHome {
        let mut home = TestHome::new(&[
            ("rooms/hall.yaml", HALL),
            ("rooms/east/well.yaml", "name: Old Well\n"),
            ("entities/rock/granite.yaml", "name: Granite\ngenus: Rock\n"),
        ]);
        home.write("palace.toml", "name = \"Keep\"\nentry = \"hall\"\n");
        home.enter().unwrap();
        for title in ["On snow", "On rain"] {
            let body = format!("Body of {title}.");
            let new = NewScroll { title: title.to_owned(), body, room: None };
            write_scroll(&mut home.keeper, &ada(), &new).unwrap();
        }
        home
    }

    #[test]
    fn the_choices_are_the_numbers_shown_and_the_names_of_rooms_and_scrolls() {
        let choices = list_completion_candidates(&mut home().keeper, &ada()).unwrap();
        let numbers: Vec<_> = choices.numbers.iter().map(|(n, it)| format!("{n} {it}")).collect();
        assert_eq!(numbers, ["1 Listen", "21 On rain", "22 On snow"]);
        let rooms = [("east/well", "Old Well"), ("hall", "Hall")];
        let mut found = choices.rooms.clone();
        found.sort();
        assert_eq!(found, rooms.map(|(id, name)| (id.to_owned(), name.to_owned())));
        assert_eq!(choices.scrolls, ["On rain", "On snow"]);
    }

    #[test]
    fn a_scroll_is_read_by_its_title_or_an_unambiguous_beginning() {
        let mut home = home();
        let mut read = |name| read_by_name(&mut home.keeper, &ada(), name);
        for name in ["on SNOW", "On s"] {
            let page = read(name).unwrap();
            assert!(page.starts_with("── On snow ──\n"), "{name}: {page}");
            assert!(page.contains("Body of On snow.\n\nActions: 1 Listen "), "{page}");
        }
        let refusal = read("On").unwrap_err().to_string();
        assert!(refusal.contains("is called `On`"), "{refusal}");
    }

    #[test]
    fn what_is_no_scroll_of_the_room_is_found_in_the_palace() {
        let mut home = home();
        let page = read_by_name(&mut home.keeper, &ada(), "granite").unwrap();
        assert!(page.contains("Granite") && page.contains("\n\nActions: 1 Listen "), "{page}");
    }
}
