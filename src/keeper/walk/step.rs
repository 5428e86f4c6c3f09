//! Walking by number (v1 section 5.2).

use serde_json::{Map, Value};

use crate::format::room_path;
use crate::keeper::rooms::scrolls::newest_scroll_ids;
use crate::keeper::walk::drawers::find_drawer_rooms;
use crate::keeper::workspaces::as_of::{is_as_of_key, present_key};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{
    Action, ActionKind, Layout, NavigationTarget, Palace, RoomId, RoomRef, ScrollId, Slot,
    did_you_mean,
};
use crate::render::{self, MapView};
use crate::session::{Location, Visit};

/// How many rooms are named when none of them was meant.
const MAX_SUGGESTED_ROOMS: usize = 5;

/// What a number led to.
#[derive(Debug)]
pub enum ActOutcome {
    /// A page to read.
    Page(String),
    /// A tool to run; what it answers goes to [`Keeper::render_tool_answer`].
    RunTool(ToolRequest),
}

/// A tool that an action runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRequest {
    /// The action's label.
    pub label: String,
    /// The tool, as the room names it.
    pub tool: String,
    /// Its arguments, as the room gives them.
    pub params: Map<String, Value>,
    /// The tools that change things and that this palace lets actions call.
    pub allowed_tools: Vec<String>,
    /// Why those tools may not be called on this machine, if they may not.
    pub missing_consent: Option<String>,
}

impl Keeper {
    /// Does what `number` stands for in the caller's menu. Without a session,
    /// shows the entry of the palace that is the only one or changed last.
    pub fn choose_number(
        &mut self,
        by: &Caller,
        number: i64,
        said: Option<&str>,
    ) -> Result<ActOutcome, Refusal> {
        if self.visit(by).workspace.is_none() {
            return self.enter_last_changed(by).map(ActOutcome::Page);
        }
        let standing = self.current_position(by)?;
        let held = self.open_palace(&standing.workspace)?;
        held.catch_up()?;
        if self.visit(by).menu.is_empty() {
            self.render_menu(by)?;
        }
        let visit = self.visit(by);
        let layout = visit.layout;
        let actions = visit.menu.len();
        let slot =
            layout.slot_of_number(number, actions).ok_or(Refusal::NoSuchAction { number })?;
        if let Slot::Action(place) = slot {
            let action = visit.menu.get(visit.page * layout.page_size(actions) + place).cloned();
            return self.run_action(by, action.ok_or(Refusal::NoSuchAction { number })?, &standing);
        }
        let page = self.use_global_slot(by, slot, said, &standing)?;
        page.ok_or(Refusal::NoSuchAction { number }).map(ActOutcome::Page)
    }

    /// Tells what a query action's tool found, and what can be done next.
    pub fn render_tool_answer(
        &mut self,
        by: &Caller,
        question: &ToolRequest,
        found: &str,
    ) -> Result<String, Refusal> {
        let told = format!("{}\n{found}", render::narrate_action(&question.label));
        self.with_menu(by, &told)
    }

    /// Adds the caller's menu to a page.
    pub fn with_menu(&mut self, by: &Caller, page: &str) -> Result<String, Refusal> {
        Ok(format!("{}\n\n{}", page.trim_end(), self.render_menu(by)?))
    }

    fn run_action(
        &mut self,
        by: &Caller,
        action: Action,
        at: &Location,
    ) -> Result<ActOutcome, Refusal> {
        let Action { label, kind: deed } = action;
        match deed {
            ActionKind::Navigate(doorway) => {
                self.pass_doorway(by, &doorway, label, at).map(ActOutcome::Page)
            }
            ActionKind::Text { content } => {
                let page = format!(
                    "{}\n{}",
                    render::narrate_action(&label),
                    render::printable_text(&content)
                );
                self.with_menu(by, &page).map(ActOutcome::Page)
            }
            ActionKind::EnterHall(hall) => {
                self.visit(by).go_to(Location { door: None, hall: Some(hall), ..at.clone() });
                self.render_here(by).map(ActOutcome::Page)
            }
            ActionKind::Query { tool, params } => {
                let held = self.open_palace(&at.workspace)?;
                let allowed = held.palace.settings.allow.clone();
                let consent = held.store().check_tools_consent(&allowed);
                let missing_consent = consent.err().map(|it| it.to_string());
                Ok(ActOutcome::RunTool(ToolRequest {
                    label,
                    tool,
                    params,
                    allowed_tools: allowed,
                    missing_consent,
                }))
            }
        }
    }

    /// Passes a doorway, into another palace if it says so (v2 section 3.6).
    fn pass_doorway(
        &mut self,
        by: &Caller,
        NavigationTarget { room, workspace }: &NavigationTarget,
        label: String,
        at: &Location,
    ) -> Result<String, Refusal> {
        let (key, from) = match workspace {
            None => (at.workspace.clone(), Some(&at.room)),
            Some(workspace) => match self.find_workspace(workspace)?.key {
                // A door to the palace it is in leads to no other time either.
                key if key == present_key(&at.workspace) => (at.workspace.clone(), None),
                key => (key, None),
            },
        };
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let room = held.palace.resolve_room(room, from)?;
        let place = render::one_line(&held.palace.settings.name);
        let told = match key == at.workspace {
            true => String::new(),
            false if is_as_of_key(&at.workspace) => {
                format!("You are in {place} now, and in the present.\n\n")
            }
            false => format!("You are in {place} now.\n\n"),
        };
        self.visit(by).go_to(Location { door: Some(label), ..Location::in_room(&key, room) });
        Ok(told + &self.render_here(by)?)
    }

    fn use_global_slot(
        &mut self,
        by: &Caller,
        slot: Slot,
        said: Option<&str>,
        at: &Location,
    ) -> Result<Option<String>, Refusal> {
        let said = said.map(str::trim).filter(|it| !it.is_empty());
        let page = match slot {
            Slot::Action(_) => return Ok(None),
            Slot::More => {
                let visit = self.visit(by);
                if visit.menu.len() <= visit.layout.page_size(visit.menu.len()) {
                    return Ok(None);
                }
                visit.next_menu_page();
                return self.render_menu(by).map(Some);
            }
            Slot::Back if self.visit(by).go_back() => return self.render_here(by).map(Some),
            Slot::Back => "You came in here: there is no way back.".to_owned(),
            Slot::GoTo => return self.go_to(by, said, at).map(Some),
            Slot::Search => self.search_from_menu(by, said, at)?,
            Slot::OlderScrolls => self.render_older_scrolls(by, at)?,
            Slot::Inventory => self.render_inventory(by, at)?,
            Slot::WriteScroll => "To leave a scroll here, call write_scroll with a `title` and a \
                 `body`: what you found, what you doubt, what remains."
                .to_owned(),
            Slot::Map => self.render_map(by, at)?,
            Slot::Scroll(place) => match self.visit(by).shown_scrolls.get(place).cloned() {
                Some(which) => self.read_scroll(by, &at.workspace, &which)?,
                None => return Ok(None),
            },
            Slot::Drawers => match self.list_room_drawers(by, at)? {
                Some(page) => page,
                None => return Ok(None),
            },
            Slot::Result(place) => return self.open_search_result(by, at, place),
        };
        self.with_menu(by, &page).map(Some)
    }

    fn go_to(&mut self, by: &Caller, said: Option<&str>, at: &Location) -> Result<String, Refusal> {
        let Some(said) = said else {
            return self.with_menu(by, "Say in `params` which room to go to, by name or slug.");
        };
        if let Ok(called) = said.parse::<RoomRef>() {
            let file = room_path(called.as_id());
            self.open_palace(&at.workspace)?.refresh_file(&file);
        }
        let palace = &self.open_palace(&at.workspace)?.palace;
        let room = resolve_room_name(palace, said, &at.room)?;
        self.visit(by).go_to(Location::in_room(&at.workspace, room));
        self.render_here(by)
    }

    /// Shows the scrolls behind those shown; after the oldest come the newest.
    fn render_older_scrolls(&mut self, by: &Caller, at: &Location) -> Result<String, Refusal> {
        let total = self.open_palace(&at.workspace)?.palace.scrolls_in_room(&at.room).count();
        if total <= Visit::SCROLLS_PER_ROOM {
            return Ok("No older scrolls hang here.".to_owned());
        }
        let seen = self.visit(by).scrolls_seen;
        let from = if seen < total { seen } else { 0 };
        let palace = &self.open_palace(&at.workspace)?.palace;
        let ids = newest_scroll_ids(palace, &at.room, from, Layout::MAX_SCROLLS);
        let shown: Vec<_> = ids.iter().filter_map(|it| palace.scroll(it)).collect();
        let left = total.saturating_sub(from + ids.len());
        let page = render::older_scrolls(&palace.room_name(&at.room), &shown, left, by.now);
        self.visit(by).show_scrolls(from, ids);
        Ok(page)
    }

    /// Lists what is at hand: in this design, the scrolls of the room and the
    /// things that always work (v1 section 7).
    fn render_inventory(&mut self, by: &Caller, at: &Location) -> Result<String, Refusal> {
        let palace = &self.open_palace(&at.workspace)?.palace;
        let ids = newest_scroll_ids(palace, &at.room, 0, Layout::MAX_SCROLLS);
        let shown: Vec<_> = ids.iter().filter_map(|it| palace.scroll(it)).collect();
        let page = render::inventory(&shown, palace.scrolls_in_room(&at.room).count(), by.now);
        self.visit(by).show_scrolls(0, ids);
        Ok(page)
    }

    fn render_map(&mut self, by: &Caller, at: &Location) -> Result<String, Refusal> {
        let held = self.open_palace(&at.workspace)?;
        held.load_history()?;
        let (palace, history, here) = (&held.palace, held.history(), Some(&at.room));
        let hall = at.hall.as_ref().filter(|it| it.depth > 0).map(|it| it.title.as_str());
        let view = MapView { palace, here, hall, history, room_file: room_path, now: by.now };
        Ok(render::map(&view))
    }

    /// Reads a scroll.
    pub(crate) fn read_scroll(
        &mut self,
        by: &Caller,
        key: &str,
        which: &ScrollId,
    ) -> Result<String, Refusal> {
        self.mark_scroll_read(by, key, which);
        let palace = &self.open_palace(key)?.palace;
        Ok(match palace.scroll(which) {
            Some(scroll) => render::scroll(scroll, &palace.room_name(&which.room), by.now),
            None => "That scroll has been taken down since.".to_owned(),
        })
    }
}

/// Finds the room a visitor names: by slug, by full name, or by the name shown.
fn resolve_room_name(palace: &Palace, said: &str, from: &RoomId) -> Result<RoomId, Refusal> {
    if let Ok(called) = said.parse::<RoomRef>() {
        let id = palace.resolve_room(&called, Some(from))?;
        if palace.is_enterable(&id) || palace.rooms_linking_to(&id).next().is_some() {
            return Ok(id);
        }
    }
    let same = |name: &str| name.to_lowercase() == said.to_lowercase();
    let named: Vec<_> =
        palace.rooms().filter(|(_, it)| same(&it.name)).map(|(id, _)| id.clone()).collect();
    let named = if named.is_empty() { find_drawer_rooms(palace, said) } else { named };
    let asked = said.to_owned();
    match named.as_slice() {
        [only] => Ok(only.clone()),
        [] => {
            let names = palace.rooms().flat_map(|(id, it)| [id.slug.as_str(), it.name.as_str()]);
            let stored = palace.drawers.rooms().filter_map(|it| palace.drawers.room_name(it));
            let meant = did_you_mean(said, names.chain(stored)).map(str::to_owned);
            let rooms = palace
                .enterable_rooms()
                .into_iter()
                .take(MAX_SUGGESTED_ROOMS)
                .map(RoomId::to_string)
                .collect();
            Err(Refusal::NoSuchRoom { asked, meant, rooms })
        }
        _ => {
            let rooms: Vec<_> = named.iter().map(|it| format!("`{it}`")).collect();
            let why = format!("several rooms are named `{asked}`; say which: {}", rooms.join(", "));
            Err(Refusal::Invalid(why))
        }
    }
}
