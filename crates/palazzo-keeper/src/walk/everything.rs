//! Number 20: everything that the last answer named, in full.

use std::collections::BTreeSet;

use crate::palace::OpenPalace;
use crate::walk::choices::{ActionToolCall, Everything, EverythingPart};
use crate::walk::contents::{mark_item_read, render_whole_item};
use crate::walk::halls::visible_hall;
use crate::walk::long_answers::MIN_SHOWN_CHARS;
use crate::walk::show_item::text_actions;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::format::room_path;
use palazzo_core::halls::entity_names_in_hall;
use palazzo_core::model::{
    Action, ActionKind, FileHistories, Hall, ItemId, Palace, ScrollId, Tool, WorkStatus, quoted,
};
use palazzo_core::render;
use palazzo_core::visit::{AnswerSubject, Location, Visit};

/// Above this number of characters the page takes no more items: about twenty answers.
const MAX_CHARS: usize = 500_000;

/// Maximum number of queries, each page of a list counted: a search over a thousand entities takes up to
/// 20 ms.
const MAX_QUERIES: usize = 60;

/// Maximum number of items that are looked at: each takes some characters.
const MAX_ITEMS: usize = 10_000;

/// The page of number 20, which shows each item once.
#[derive(Debug)]
pub struct EverythingPage {
    workspace: String,
    text: String,
    chars: usize,
    shown: BTreeSet<ItemId>,
    left_out: BTreeSet<ItemId>,
    queries: usize,
}

/// Lists everything in the room or hall of the caller, on the map, or in the last list, as the last
/// answer was about one of them. Calls no tool.
pub(crate) fn list_everything(
    keeper: &mut Keeper,
    caller: &Caller,
    position: &Location,
) -> Result<Everything, Refusal> {
    let session = keeper.session_without_refresh(&position.workspace, caller)?;
    match session.visit.answer_subject {
        AnswerSubject::List if !session.visit.listed_items.is_empty() => Ok(Everything {
            workspace: position.workspace.clone(),
            title: "that was listed".to_owned(),
            parts: shown_results(session.visit),
        }),
        AnswerSubject::Map => {
            session.palace.update_file_history_cache()?;
            let (palace, history) = (&session.palace.palace, session.palace.file_histories());
            let items = items_newest_first(palace, history);
            Ok(Everything {
                workspace: position.workspace.clone(),
                title: format!("in {}", render::name_in_sentence(&palace.settings.name)),
                parts: items.into_iter().take(MAX_ITEMS).map(EverythingPart::Item).collect(),
            })
        }
        AnswerSubject::List | AnswerSubject::Place => {
            let hall = visible_hall(&session.palace.palace, position);
            if let Some(hall) = &hall {
                session.palace.keep_grouping_sorted(&hall.grouping);
            }
            Ok(everything_in_place(session.palace, position, hall.as_ref()))
        }
    }
}

/// Returns the items of the last list or search that were shown.
fn shown_results(visit: &Visit) -> Vec<EverythingPart> {
    let shown = visit.listed_items.iter().take(visit.shown_results);
    shown.cloned().map(EverythingPart::Item).collect()
}

/// Lists the scrolls, the texts, the queries and the entities of a room, or the entities of a hall.
fn everything_in_place(open: &OpenPalace, position: &Location, hall: Option<&Hall>) -> Everything {
    let (palace, workspace) = (&open.palace, position.workspace.clone());
    let entity = |it: &str| EverythingPart::Item(ItemId::Entity(it.to_owned()));
    let names = |hall: &Hall| {
        entity_names_in_hall(&palace.graph.grouped_entities(&hall.grouping), hall, MAX_ITEMS)
    };
    let grouped: Vec<_> = hall.into_iter().flat_map(names).map(|it| entity(&it)).collect();
    if let Some(hall) = &position.hall {
        return Everything { workspace, title: format!("in {}", hall.title), parts: grouped };
    }
    let id = &position.room;
    let (replaced, scrolls): (Vec<_>, Vec<_>) =
        palace.scrolls_in_room(id).partition(|it| palace.replacement_of_scroll(id, it).is_some());
    let scroll = |it| EverythingPart::Item(ItemId::Scroll(ScrollId { room: id.clone(), id: it }));
    let mut parts: Vec<_> = scrolls.into_iter().map(|it| scroll(it.id)).collect();
    if let Some(room) = palace.room(id) {
        parts.extend(room.actions.iter().flat_map(|it| parts_of_action(open, it)));
        let linked = |text: &str| palace.graph.linked_entities(text).into_iter().map(entity);
        parts.extend(linked(&room.description));
        parts.extend(text_actions(room).flat_map(|(_, it)| linked(it).collect::<Vec<_>>()));
    }
    parts.extend(grouped);
    if !replaced.is_empty() {
        let count = render::count_with_noun(replaced.len(), "replaced scroll");
        parts.push(EverythingPart::Text(format!("{count}: 14 lists older ones.")));
    }
    let drawers = palace.count_drawers_shown_in(id);
    if drawers > 0 {
        let count = render::count_with_noun(drawers, "drawer");
        parts.push(EverythingPart::Text(format!("{count}: 30 lists them.")));
    }
    Everything { workspace, title: format!("in {}", palace.room_name(id)), parts }
}

/// Returns what an action shows; nothing if it leads somewhere.
fn parts_of_action(open: &OpenPalace, action: &Action) -> Vec<EverythingPart> {
    let graph = &open.palace.graph;
    let entity = |name: &str| match graph.find_entity(name) {
        Some(found) => EverythingPart::Item(ItemId::Entity(found.name.clone())),
        None => EverythingPart::Text(format!("Note: there is no entity {}.", quoted(name))),
    };
    match &action.kind {
        ActionKind::Navigate(_) | ActionKind::EnterHall(_) => Vec::new(),
        ActionKind::Text { content } => {
            let content = render::resolve_entity_links(content, graph);
            let content = render::text_in_page(&content);
            vec![EverythingPart::Text(format!(
                "{}\n{content}",
                render::action_heading(&action.label)
            ))]
        }
        ActionKind::ShowEntity { entity: name } => vec![entity(name)],
        ActionKind::Query { tool, .. } if shows_named_entities(tool, action) => {
            let label = EverythingPart::Text(render::action_heading(&action.label));
            let label = Some(label).filter(|_| action.named_entities().nth(1).is_some());
            label.into_iter().chain(action.named_entities().map(entity)).collect()
        }
        ActionKind::Query { tool, params } => vec![EverythingPart::RunTool(ActionToolCall {
            label: action.label.clone(),
            tool: tool.clone(),
            params: params.clone(),
            allowed_tools: Vec::new(),
            missing_consent: None,
        })],
    }
}

/// Returns whether an action shows the entities that it names, whatever the visitor says.
fn shows_named_entities(tool: &str, action: &Action) -> bool {
    let mut named = action.named_entities().peekable();
    Tool::bare_name(tool) == "get_entity"
        && named.peek().is_some()
        && !named.any(|it| it.contains(Action::PLACEHOLDER))
}

/// Lists the rooms, scrolls, entities and open tasks of a palace; those that changed last first, and
/// before them those that are in no commit yet.
fn items_newest_first(palace: &Palace, history: &FileHistories) -> Vec<ItemId> {
    let rooms = palace.rooms().map(|(id, _)| (room_path(id), ItemId::Room(id.clone())));
    let scrolls =
        palace.scroll_files().map(|(file, it)| (file.to_owned(), ItemId::Scroll(it.clone())));
    let entities = palace.graph.entities_with_files();
    let entities = entities.map(|(file, it)| (file.to_owned(), ItemId::Entity(it.name.clone())));
    let is_open = |status: WorkStatus| status.is_open();
    let tasks = palace.tasks.iter().filter(|it| is_open(it.1.status));
    let tasks = tasks.map(|(file, _)| (file.clone(), ItemId::Task(file.clone())));
    let processes = palace.processes.iter().filter(|it| is_open(it.1.status));
    let processes = processes.map(|(file, _)| (file.clone(), ItemId::Process(file.clone())));
    let mut items: Vec<_> =
        rooms.chain(scrolls).chain(entities).chain(tasks).chain(processes).collect();
    items.sort_by_cached_key(|(file, _)| {
        let updated = history.get(file).map(|it| (it.updated, it.last_commit));
        (updated.is_some(), std::cmp::Reverse(updated), file.clone())
    });
    items.into_iter().map(|(_, it)| it).collect()
}

impl EverythingPage {
    /// Begins a page.
    pub fn new(about: &Everything) -> Self {
        let mut page = Self {
            workspace: about.workspace.clone(),
            text: String::new(),
            chars: 0,
            shown: BTreeSet::new(),
            left_out: BTreeSet::new(),
            queries: 0,
        };
        page.add_text(&format!("── Everything {} ──", render::title_in_heading(&about.title)));
        page
    }

    /// Returns whether the page takes no more items.
    pub fn is_full(&self) -> bool {
        self.chars > MAX_CHARS
    }

    /// Counts a query that is about to be run; returns false if the page takes no more of them.
    pub fn start_query(&mut self) -> bool {
        self.queries += 1;
        self.queries <= MAX_QUERIES && !self.is_full()
    }

    /// Returns whether the page has an item already.
    pub fn has_item(&self, item: &ItemId) -> bool {
        self.shown.contains(item)
    }

    /// Adds a text.
    pub fn add_text(&mut self, text: &str) {
        let text = text.trim_end();
        if !text.is_empty() {
            self.chars += text.chars().count();
            self.text.push_str(text);
            self.text.push_str("\n\n");
        }
    }

    /// Adds an item, unless it is there already.
    pub fn show_once(
        &mut self,
        keeper: &mut Keeper,
        caller: &Caller,
        item: &ItemId,
    ) -> Result<(), Refusal> {
        if self.is_full() {
            self.left_out.insert(item.clone());
        } else if self.shown.insert(item.clone()) {
            let mut session = keeper.session_without_refresh(&self.workspace, caller)?;
            let text = render_whole_item(&mut session, item)?;
            self.add_text(&text);
            // Nobody may read on in a page that is cut.
            if self.chars <= MIN_SHOWN_CHARS {
                mark_item_read(&mut session, item);
            }
        }
        Ok(())
    }

    /// Ends the page.
    pub fn into_text(mut self) -> String {
        if self.text.matches("\n\n").count() == 1 {
            self.add_text("There is nothing here yet.");
        }
        if self.queries > MAX_QUERIES {
            self.add_text(
                "Note: the queries of the last actions were left out: choose their numbers.",
            );
        }
        let left_out = self.left_out.difference(&self.shown).count();
        if left_out > 0 {
            let count = render::count_with_noun(left_out, "item");
            self.add_text(&format!("{count} more: find them with 17 and words."));
        }
        self.text
    }
}
