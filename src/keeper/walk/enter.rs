//! Coming in, and seeing the place one stands in.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::format::{PalacePath, room_path};
use crate::keeper::error::quote_names;
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::file_states;
use crate::keeper::palace::room_scope::RoomScope;
use crate::keeper::rooms::position::{self, is_entrance_hall, start_position};
use crate::keeper::rooms::scrolls::newest_scroll_ids;
use crate::keeper::walk::drawers::render_drawer_only_room;
use crate::keeper::walk::halls;
use crate::keeper::walk::halls::{available_actions, hall_view};
use crate::keeper::walk::notices;
use crate::keeper::walk::visit_log;
use crate::keeper::workspaces::as_of::{is_as_of_key, present_key};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Code, Diagnostic, Files, ItemId, ItemKind, RoomId, Severity};
use crate::render::{self, Notice, RoomView, WorkspaceSummary};
use crate::search::{Query, query_content_words};
use crate::session::{ChangesSinceVisit, Location, Visit};

/// How many of the latest changes a summary tells of.
const MAX_RECENT_CHANGES: usize = 3;

/// How many broken files a room tells of.
const MAX_BROKEN_FILES: usize = 3;

/// Words in the names of rooms that say nothing of what the rooms are about.
const GENERIC_ROOM_WORDS: &[&str] = &[
    "alcove",
    "archive",
    "archives",
    "attic",
    "cabinet",
    "cellar",
    "chamber",
    "corner",
    "court",
    "garden",
    "gallery",
    "great",
    "hall",
    "house",
    "library",
    "museum",
    "observatory",
    "room",
    "shelf",
    "study",
    "tower",
    "vault",
    "wing",
    "workshop",
];

impl Keeper {
    /// Enters a palace (v1 section 5.1): its entry room, or, where there is no
    /// room yet, what one needs to build the first. `create` makes a palace
    /// that is not there; `as_of` shows the palace as it was at that moment.
    pub fn set_workspace(
        &mut self,
        by: &Caller,
        asked: &str,
        create: bool,
        as_of: Option<&str>,
    ) -> Result<String, Refusal> {
        let key = match self.find_workspace(asked) {
            Ok(workspace) => {
                self.open_workspace(&workspace)?;
                match as_of {
                    Some(said) => self.open_as_of(by, &workspace.key, said)?,
                    None => workspace.key,
                }
            }
            Err(Refusal::NoSuchWorkspace { .. }) if create && as_of.is_some() => {
                let why = "a workspace that is only now made has no past: leave out `as_of`";
                return Err(Refusal::Invalid(why.to_owned()));
            }
            Err(Refusal::NoSuchWorkspace { .. }) if create => {
                self.create_workspace(by, asked, &Files::new())?
            }
            Err(refusal) => return Err(refusal),
        };
        self.enter_palace(by, &key)
    }

    /// Enters the palace that tools act on which name none.
    pub fn enter_default(&mut self, by: &Caller) -> Result<String, Refusal> {
        let key = self.current_workspace(by)?;
        let place = render::one_line(&self.open_palace(&key)?.palace.settings.name);
        Ok(format!("You are in {place} now.\n\n{}", self.enter_palace(by, &key)?))
    }

    /// Enters the palace that changed last, or the only one.
    pub(crate) fn enter_last_changed(&mut self, by: &Caller) -> Result<String, Refusal> {
        let (last, others) = self.last_changed_workspace()?;
        self.open_workspace(&last)?;
        let place = render::one_line(&last.name);
        let why = match others.len() {
            0 => String::new(),
            _ => format!(
                ": no workspace was set, and this one changed last. set_workspace enters another: {}",
                quote_names(&others)
            ),
        };
        Ok(format!("You are in {place} now{why}.\n\n{}", self.enter_palace(by, &last.key)?))
    }

    /// Begins a walk at the entry of a palace.
    pub(crate) fn enter_palace(&mut self, by: &Caller, key: &str) -> Result<String, Refusal> {
        let held = self.open_palace(key)?;
        held.catch_up()?;
        let at = start_position(&held.palace, key);
        let summary = if at.is_none() { Some(palace_summary(held, by)?) } else { None };
        let visit = self.visit(by);
        visit.enter_palace(key, at);
        let tutored = std::mem::replace(&mut visit.has_seen_tutorial, true);
        let tutorial = if tutored { String::new() } else { render::tutorial().to_owned() + "\n" };
        let moment = self.as_of_notice(by, key)?;
        match summary {
            Some(summary) => Ok(tutorial + &moment + &summary),
            None => Ok(tutorial + &moment + &self.render_here(by)?),
        }
    }

    /// Renders the place the caller stands in, with its newest scrolls.
    pub(crate) fn render_here(&mut self, by: &Caller) -> Result<String, Refusal> {
        let standing = self.current_position(by)?;
        self.load_visit(by, &standing.workspace)?;
        let held = self.open_palace(&standing.workspace)?;
        held.refresh_file(&room_path(&standing.room));
        // A hall has no scrolls: they hang in the room above.
        let scrolls = if standing.hall.is_some() { 0 } else { Visit::SCROLLS_PER_ROOM };
        let newest = newest_scroll_ids(&held.palace, &standing.room, 0, scrolls);
        let preface = match is_entrance_hall(&standing) {
            true => palace_summary(held, by)? + "\n",
            false => String::new(),
        };
        self.visit(by).show_scrolls(0, newest);
        let mut openings = Vec::new();
        let page = self.render_room_view(by, |held, view| {
            let listed = view.entity_listing.iter().flat_map(|it| &it.entities);
            openings = listed.map(|it| ItemId::Entity(it.name.clone())).collect();
            match view.room {
                _ if standing.hall.is_some() => preface + &render::hall(view),
                Some(_) => render::room(view),
                None => render_drawer_only_room(held, view)
                    .unwrap_or_else(|| render_unbuilt_room(held, view, &standing)),
            }
        })?;
        if !openings.is_empty() {
            self.visit(by).listed_items = openings;
        }
        Ok(page)
    }

    /// Renders the numbers the caller can choose.
    pub(crate) fn render_menu(&mut self, by: &Caller) -> Result<String, Refusal> {
        self.render_room_view(by, |_, view| render::menu(view))
    }

    /// Returns where the caller stands; somebody who came in before there was a
    /// room stands in the entry as soon as there is one.
    pub(crate) fn current_position(&mut self, by: &Caller) -> Result<Location, Refusal> {
        let visit = self.visit(by);
        if let Some(standing) = visit.location.clone().filter(|it| !is_entrance_hall(it)) {
            return Ok(standing);
        }
        let Some(workspace) = visit.workspace.clone() else {
            let known = self.workspaces()?.into_iter().map(|it| it.name).collect();
            return Err(self.no_workspace_refusal(known));
        };
        position::current_position(&mut self.session_in(workspace, by)?)
    }

    /// Shows `render` the place the caller stands in, and keeps what its
    /// numbers mean.
    pub(crate) fn render_room_view(
        &mut self,
        by: &Caller,
        render: impl FnOnce(&OpenPalace, &RoomView<'_>) -> String,
    ) -> Result<String, Refusal> {
        let standing = self.current_position(by)?;
        let held = self.open_palace(&standing.workspace)?;
        if notices::needs_history(&held.palace) {
            held.load_history()?;
        }
        let seen = halls::visible_hall(&held.palace, &standing);
        if let Some(hall) = &seen {
            held.keep_arrangement_sorted(&hall.grouping);
        }
        let back = self.visit(by).previous_location().cloned();
        let back = back.map(|it| self.place_name(&it, &standing.workspace));
        let (held, visit) = (&self.open_palaces[&standing.workspace], &self.visits[&by.name]);
        let (palace, room) = (&held.palace, &standing.room);
        let scrolls = visit.shown_scrolls.iter().filter_map(|it| palace.scroll(it));
        let layout = palace.settings.layout;
        let contents = seen.as_ref().map(|it| halls::hall_contents(palace, &standing, it));
        let listed = contents.as_ref().map_or(0, |it| it.entity_names.len());
        let actions = available_actions(
            palace,
            &standing,
            contents.as_ref(),
            previous_room(visit, &standing),
        );
        // Somebody may have taken away the page that was shown.
        let is_there = visit.page * layout.page_size(actions.len()) < actions.len();
        let total = if standing.hall.is_some() { 0 } else { palace.scrolls_in_room(room).count() };
        let view = RoomView {
            id: room,
            room: palace.room(room),
            layout,
            scrolls: scrolls.collect(),
            older_scroll_count: total.saturating_sub(visit.scrolls_seen),
            drawer_count: if standing.hall.is_some() { 0 } else { palace.drawer_count_in(room) },
            listed_item_count: visit.listed_items.len().max(listed),
            entity_listing: seen.zip(contents).map(|(hall, it)| hall_view(palace, &hall, &it)),
            actions,
            page: if is_there { visit.page } else { 0 },
            back,
            notices: room_notices(
                held,
                room,
                visit.changes_since_visit.get(&standing.workspace),
                by.now,
            ),
            now: by.now,
        };
        let (text, menu, page) = (render(held, &view), view.actions, view.page);
        let visit = self.visit(by);
        (visit.menu, visit.layout, visit.page) = (menu, layout, page);
        Ok(text)
    }

    /// Says what a place is called by somebody who is in the workspace `from`.
    pub(crate) fn place_name(&self, at: &Location, from: &str) -> String {
        let Some(held) = self.open_palaces.get(&at.workspace) else {
            return present_key(&at.workspace).to_owned();
        };
        let name = match &at.hall {
            Some(hall) if hall.depth > 0 => hall.title.clone(),
            _ => held.palace.room_name(&at.room),
        };
        if at.workspace == from {
            return name;
        }
        let then = if is_as_of_key(&at.workspace) { " as it was" } else { "" };
        format!("{name} in {}{then}", held.palace.settings.name)
    }
}

/// Returns the room the visitor came from, if it is in the same palace.
pub(crate) fn previous_room<'a>(visit: &'a Visit, at: &Location) -> Option<&'a RoomId> {
    visit.previous_location().filter(|it| it.workspace == at.workspace).map(|it| &it.room)
}

/// What the server says of a room by itself; `since` is what others did before
/// the visitor came.
pub(crate) fn room_notices(
    held: &OpenPalace,
    room: &RoomId,
    since: Option<&ChangesSinceVisit>,
    now: DateTime<Utc>,
) -> Vec<Notice> {
    let exhibits = RoomScope::for_room(&held.palace, room);
    let news = since.map(|it| visit_log::change_notices(&held.palace, &exhibits, it, now));
    let work = notices::work_notices(held, &exhibits, now);
    let told = news
        .into_iter()
        .flatten()
        .chain(work)
        .chain(held.entity_faults().room_notice(&held.palace.graph, &exhibits));
    let mut notices: Vec<_> = told.map(Notice).collect();
    notices.extend(held.store().write_warning().map(Notice));
    notices.extend(missing_entry_notice(held).filter(|_| held.palace.entry_room() == Some(room)));
    notices.extend(broken_file_notices(held).into_iter().map(Notice));
    notices
}

/// Says of files that cannot be read what is wrong, and what is shown instead.
pub(crate) fn broken_file_notices(held: &OpenPalace) -> Vec<String> {
    let broken: Vec<_> = held.findings().filter(|it| it.severity() == Severity::Error).collect();
    let mut told: Vec<_> = broken
        .iter()
        .take(MAX_BROKEN_FILES)
        .map(|it| diagnostic_line(it) + fallback_note(held, it))
        .collect();
    if broken.len() > MAX_BROKEN_FILES {
        told.push(format!(
            "and {} more that `palazzo check` lists",
            broken.len() - MAX_BROKEN_FILES
        ));
    }
    told
}

/// Says that visits were to begin elsewhere. What is wrong with the file of a room
/// that stands is told with the file.
fn missing_entry_notice(held: &OpenPalace) -> Option<Notice> {
    let named = held.palace.settings.entry.as_ref()?;
    let is_there = held.palace.resolve_room(named, None).is_ok_and(|it| {
        held.palace.room(&it).is_some() || held.file_error(&room_path(&it)).is_some()
    });
    let lost = format!(
        "{}: the entry room `{named}` is not there, so visits begin here: build it, or name \
         another room as `entry`",
        PalacePath::SETTINGS_FILE
    );
    (!is_there).then_some(Notice(lost))
}

fn diagnostic_line(Diagnostic { file, at, message, .. }: &Diagnostic) -> String {
    format!("{file}:{}:{}: {}", at.line, at.column, render::one_line(message))
}

/// Says what is shown instead of a file that cannot be read.
fn fallback_note(held: &OpenPalace, of: &Diagnostic) -> &'static str {
    if of.code == Code::Repository {
        return "";
    }
    match held.file_states.state(&of.file) {
        file_states::FileState::Stale => " (shown is what it said before)",
        file_states::FileState::Absent => " (nothing of it is shown)",
        // Only a part of it is not understood.
        file_states::FileState::Present => "",
    }
}

fn palace_summary(held: &OpenPalace, by: &Caller) -> Result<String, Refusal> {
    let palace = &held.palace;
    let summary = WorkspaceSummary {
        rooms: 0,
        scrolls: palace.scrolls().count(),
        entities: palace.graph.len(),
        genera: palace
            .graph
            .genus_counts()
            .map(|(genus, number)| (genus.to_owned(), number))
            .collect(),
        recent_commits: held.recent_commits(MAX_RECENT_CHANGES)?,
    };
    let summary = render::workspace_summary(&palace.settings.name, &summary, by.now);
    if held.store().as_of_commit().is_some() {
        return Ok(summary + "\nNo palace stood here yet.\n");
    }
    Ok(format!(
        "{summary}\nNo palace stands here yet. Build an entry room with build_room: a place that \
         tells whoever comes in what is here, with a navigate action to each main area. The rooms \
         behind its doors need not exist yet.\n{}",
        if palace.graph.is_empty() {
            ""
        } else {
            "Until then, walk by number through what is known.\n"
        },
    ))
}

fn render_unbuilt_room(held: &OpenPalace, view: &RoomView<'_>, standing: &Location) -> String {
    let name = held.palace.room_name(&standing.room);
    let door = standing.door.as_deref().unwrap_or(&name);
    let sealed = held.file_error(&room_path(&standing.room));
    let context = match sealed {
        Some(finding) => format!(
            "Its file is there but cannot be read: {}. Mend it, or ask its author to.\n",
            diagnostic_line(finding)
        ),
        None => unbuilt_room_context(held, &name),
    };
    render::unfinished_room(view, door, &context)
}

/// Says what this workspace knows that the name of an unbuilt room could be
/// about (v1 section 9; v2 section 3.2).
fn unbuilt_room_context(held: &OpenPalace, name: &str) -> String {
    let graph = &held.palace.graph;
    if graph.is_empty() {
        return "Workspace context:\n  This workspace is empty. Create entities to begin.\n"
            .to_owned();
    }
    let words = query_content_words(name)
        .into_iter()
        .filter(|it| !GENERIC_ROOM_WORDS.contains(&it.as_str()));
    let topic = words.collect::<Vec<_>>().join(" ");
    let asked =
        Query { text: &topic, limit: usize::MAX, kinds: &[ItemKind::Entity], ..Query::default() };
    let hits = held.index().find(&asked, |_| true);
    let mut related: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entity in hits.best.iter().filter_map(|it| graph.entity_for_item(&it.item)) {
        related.entry(&entity.genus).or_default().push(&entity.name);
    }
    render::unbuilt_room_context(&topic, &related, &graph.genus_counts().collect::<Vec<_>>())
}
