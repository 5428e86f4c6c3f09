//! Coming in, and seeing the place one stands in.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::format::{Place, room_file};
use crate::keeper::error::some_of;
use crate::keeper::palace::Held;
use crate::keeper::palace::file_states;
use crate::keeper::walk::drawers::storeroom;
use crate::keeper::walk::halls;
use crate::keeper::walk::halls::{beginning, choices, exhibit, is_entrance};
use crate::keeper::walk::notices;
use crate::keeper::walk::notices::Exhibits;
use crate::keeper::walk::visit_log;
use crate::keeper::workspaces::as_of::{is_past, present};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Code, Diagnostic, Files, Opening, Palace, RoomId, ScrollId, Severity, Sort};
use crate::render::{self, Notice, RoomView, Summary};
use crate::search::{Query, words_asked};
use crate::session::{Since, Standing, Visit};

/// How many of the latest changes a summary tells of.
const RECENT: usize = 3;

/// How many broken files a room tells of.
const BROKEN: usize = 3;

/// Words in the names of rooms that say nothing of what the rooms are about.
const FURNITURE: &[&str] = &[
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
        let key = match self.find(asked) {
            Ok(workspace) => {
                self.open(&workspace)?;
                match as_of {
                    Some(said) => self.open_past(by, &workspace.key, said)?,
                    None => workspace.key,
                }
            }
            Err(Refusal::NoSuchWorkspace { .. }) if create && as_of.is_some() => {
                let why = "a workspace that is only now made has no past: leave out `as_of`";
                return Err(Refusal::Nonsense(why.to_owned()));
            }
            Err(Refusal::NoSuchWorkspace { .. }) if create => {
                self.found(by, asked, &Files::new())?
            }
            Err(refusal) => return Err(refusal),
        };
        self.come_in(by, &key)
    }

    /// Enters the palace that tools act on which name none.
    pub fn enter_usual(&mut self, by: &Caller) -> Result<String, Refusal> {
        let key = self.current(by)?;
        let place = render::line(&self.at(&key)?.palace.settings.name);
        Ok(format!("You are in {place} now.\n\n{}", self.come_in(by, &key)?))
    }

    /// Enters the palace that changed last, or the only one.
    pub(crate) fn enter_last(&mut self, by: &Caller) -> Result<String, Refusal> {
        let (last, others) = self.last()?;
        self.open(&last)?;
        let place = render::line(&last.name);
        let why = match others.len() {
            0 => String::new(),
            _ => format!(
                ": no workspace was set, and this one changed last. set_workspace enters another: {}",
                some_of(&others)
            ),
        };
        Ok(format!("You are in {place} now{why}.\n\n{}", self.come_in(by, &last.key)?))
    }

    /// Begins a walk at the entry of a palace.
    pub(crate) fn come_in(&mut self, by: &Caller, key: &str) -> Result<String, Refusal> {
        let held = self.at(key)?;
        held.catch_up()?;
        let at = beginning(&held.palace, key);
        let summary = if at.is_none() { Some(bootstrap(held, by)?) } else { None };
        let visit = self.visit(by);
        visit.begin(key, at);
        let tutored = std::mem::replace(&mut visit.tutored, true);
        let tutorial = if tutored { String::new() } else { render::tutorial().to_owned() + "\n" };
        let moment = self.moment_told(by, key)?;
        match summary {
            Some(summary) => Ok(tutorial + &moment + &summary),
            None => Ok(tutorial + &moment + &self.here(by)?),
        }
    }

    /// Renders the place the caller stands in, with its newest scrolls.
    pub(crate) fn here(&mut self, by: &Caller) -> Result<String, Refusal> {
        let standing = self.standing(by)?;
        self.recognize(by, &standing.workspace)?;
        let held = self.at(&standing.workspace)?;
        held.glance(&room_file(&standing.room));
        // A hall has no scrolls: they hang in the room above.
        let scrolls = if standing.hall.is_some() { 0 } else { Visit::SCROLLS };
        let newest = scroll_ids(&held.palace, &standing.room, 0, scrolls);
        let preface = match is_entrance(&standing) {
            true => bootstrap(held, by)? + "\n",
            false => String::new(),
        };
        self.visit(by).unroll(0, newest);
        let mut openings = Vec::new();
        let page = self.look(by, |held, view| {
            let listed = view.exhibit.iter().flat_map(|it| &it.listed);
            openings = listed.map(|it| Opening::Entity(it.name.clone())).collect();
            match view.room {
                _ if standing.hall.is_some() => preface + &render::hall(view),
                Some(_) => render::room(view),
                None => storeroom(held, view).unwrap_or_else(|| unfinished(held, view, &standing)),
            }
        })?;
        if !openings.is_empty() {
            self.visit(by).openings = openings;
        }
        Ok(page)
    }

    /// Renders the numbers the caller can choose.
    pub(crate) fn menu(&mut self, by: &Caller) -> Result<String, Refusal> {
        self.look(by, |_, view| render::menu(view))
    }

    /// Returns where the caller stands; somebody who came in before there was a
    /// room stands in the entry as soon as there is one.
    pub(crate) fn standing(&mut self, by: &Caller) -> Result<Standing, Refusal> {
        let visit = self.visit(by);
        let now = visit.standing.clone();
        if let Some(standing) = now.clone().filter(|it| !is_entrance(it)) {
            return Ok(standing);
        }
        let Some(workspace) = visit.workspace.clone() else {
            let known = self.workspaces()?.into_iter().map(|it| it.name).collect();
            return Err(self.none_set(known));
        };
        let held = self.at(&workspace)?;
        held.catch_up()?;
        let palace = &held.palace;
        // Where nothing is built or known, one can at least stand before the cabinets.
        let storeroom = palace.drawers.rooms().next().cloned();
        let storeroom = storeroom.map(|it| Standing::in_room(&workspace, it));
        let standing = beginning(palace, &workspace).or(storeroom).ok_or(Refusal::NoRooms)?;
        if now.as_ref() != Some(&standing) {
            let visit = self.visit(by);
            // Nobody has gone anywhere: what was listed can still be opened.
            let openings = std::mem::take(&mut visit.openings);
            visit.begin(&workspace, Some(standing.clone()));
            visit.openings = openings;
        }
        Ok(standing)
    }

    /// Shows `render` the place the caller stands in, and keeps what its
    /// numbers mean.
    pub(crate) fn look(
        &mut self,
        by: &Caller,
        render: impl FnOnce(&Held, &RoomView<'_>) -> String,
    ) -> Result<String, Refusal> {
        let standing = self.standing(by)?;
        let held = self.at(&standing.workspace)?;
        if notices::has_past(&held.palace) {
            held.recall()?;
        }
        let seen = halls::seen(&held.palace, &standing);
        if let Some(hall) = &seen {
            held.keep_in_order(&hall.arrangement);
        }
        let back = self.visit(by).way_back().cloned();
        let back = back.map(|it| self.name_of(&it, &standing.workspace));
        let (held, visit) = (&self.held[&standing.workspace], &self.visits[&by.name]);
        let (palace, room) = (&held.palace, &standing.room);
        let scrolls = visit.scrolls.iter().filter_map(|it| palace.scroll(it));
        let layout = palace.settings.layout;
        let contents = seen.as_ref().map(|it| halls::contents(palace, &standing, it));
        let listed = contents.as_ref().map_or(0, |it| it.listed.len());
        let actions = choices(palace, &standing, contents.as_ref(), came_from(visit, &standing));
        // Somebody may have taken away the page that was shown.
        let is_there = visit.page * layout.page(actions.len()) < actions.len();
        let total = if standing.hall.is_some() { 0 } else { palace.scrolls_in(room).count() };
        let view = RoomView {
            id: room,
            room: palace.room(room),
            layout,
            scrolls: scrolls.collect(),
            older: total.saturating_sub(visit.scrolls_seen),
            drawers: if standing.hall.is_some() { 0 } else { palace.drawers_at(room) },
            openings: visit.openings.len().max(listed),
            exhibit: seen.zip(contents).map(|(hall, it)| exhibit(palace, &hall, &it)),
            actions,
            page: if is_there { visit.page } else { 0 },
            back,
            notices: notices(held, room, visit.since.get(&standing.workspace), by.now),
            now: by.now,
        };
        let (text, menu, page) = (render(held, &view), view.actions, view.page);
        let visit = self.visit(by);
        (visit.menu, visit.layout, visit.page) = (menu, layout, page);
        Ok(text)
    }

    /// Says what a place is called by somebody who is in the workspace `from`.
    pub(crate) fn name_of(&self, at: &Standing, from: &str) -> String {
        let Some(held) = self.held.get(&at.workspace) else {
            return present(&at.workspace).to_owned();
        };
        let name = match &at.hall {
            Some(hall) if hall.depth > 0 => hall.title.clone(),
            _ => held.palace.name_of(&at.room),
        };
        if at.workspace == from {
            return name;
        }
        let then = if is_past(&at.workspace) { " as it was" } else { "" };
        format!("{name} in {}{then}", held.palace.settings.name)
    }
}

/// Returns the scrolls of a room after the first `from`, newest first, at most
/// `most`.
pub(crate) fn scroll_ids(
    palace: &Palace,
    room: &RoomId,
    from: usize,
    most: usize,
) -> Vec<ScrollId> {
    let shown = palace.scrolls_in(room).skip(from).take(most);
    shown.map(|it| ScrollId { room: room.clone(), id: it.id }).collect()
}

/// Returns the room the visitor came from, if it is in the same palace.
pub(crate) fn came_from<'a>(visit: &'a Visit, at: &Standing) -> Option<&'a RoomId> {
    visit.way_back().filter(|it| it.workspace == at.workspace).map(|it| &it.room)
}

/// What the server says of a room by itself; `since` is what others did before
/// the visitor came.
pub(crate) fn notices(
    held: &Held,
    room: &RoomId,
    since: Option<&Since>,
    now: DateTime<Utc>,
) -> Vec<Notice> {
    let exhibits = Exhibits::of(&held.palace, room);
    let news = since.map(|it| visit_log::notices(&held.palace, &exhibits, it, now));
    let work = notices::notices(held, &exhibits, now);
    let told = news
        .into_iter()
        .flatten()
        .chain(work)
        .chain(held.health().notice(&held.palace.graph, &exhibits));
    let mut notices: Vec<_> = told.map(Notice).collect();
    notices.extend(held.store().condition().map(Notice));
    notices.extend(lost_entry(held).filter(|_| held.palace.entry() == Some(room)));
    notices.extend(broken(held).into_iter().map(Notice));
    notices
}

/// Says of files that cannot be read what is wrong, and what is shown instead.
pub(crate) fn broken(held: &Held) -> Vec<String> {
    let broken: Vec<_> = held.findings().filter(|it| it.severity() == Severity::Error).collect();
    let mut told: Vec<_> =
        broken.iter().take(BROKEN).map(|it| placed(it) + instead(held, it)).collect();
    if broken.len() > BROKEN {
        told.push(format!("and {} more that `palazzo check` lists", broken.len() - BROKEN));
    }
    told
}

/// Says that visits were to begin elsewhere. What is wrong with the file of a room
/// that stands is told with the file.
fn lost_entry(held: &Held) -> Option<Notice> {
    let named = held.palace.settings.entry.as_ref()?;
    let is_there = held
        .palace
        .resolve(named, None)
        .is_ok_and(|it| held.palace.room(&it).is_some() || held.broken(&room_file(&it)).is_some());
    let lost = format!(
        "{}: the entry room `{named}` is not there, so visits begin here: build it, or name \
         another room as `entry`",
        Place::SETTINGS
    );
    (!is_there).then_some(Notice(lost))
}

fn placed(Diagnostic { file, at, message, .. }: &Diagnostic) -> String {
    format!("{file}:{}:{}: {}", at.line, at.column, render::line(message))
}

/// Says what is shown instead of a file that cannot be read.
fn instead(held: &Held, of: &Diagnostic) -> &'static str {
    if of.code == Code::Repository {
        return "";
    }
    match held.ledger.standing(&of.file) {
        file_states::Standing::Outlived => " (shown is what it said before)",
        file_states::Standing::Absent => " (nothing of it is shown)",
        // Only a part of it is not understood.
        file_states::Standing::Present => "",
    }
}

fn bootstrap(held: &Held, by: &Caller) -> Result<String, Refusal> {
    let palace = &held.palace;
    let summary = Summary {
        rooms: 0,
        scrolls: palace.scrolls().count(),
        entities: palace.graph.len(),
        genera: palace.graph.genera().map(|(genus, number)| (genus.to_owned(), number)).collect(),
        recent: held.recent(RECENT)?,
    };
    let summary = render::summary(&palace.settings.name, &summary, by.now);
    if held.store().moment().is_some() {
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

fn unfinished(held: &Held, view: &RoomView<'_>, standing: &Standing) -> String {
    let name = held.palace.name_of(&standing.room);
    let door = standing.door.as_deref().unwrap_or(&name);
    let sealed = held.broken(&room_file(&standing.room));
    let context = match sealed {
        Some(finding) => format!(
            "Its file is there but cannot be read: {}. Mend it, or ask its author to.\n",
            placed(finding)
        ),
        None => context(held, &name),
    };
    render::unfinished(view, door, &context)
}

/// Says what this workspace knows that the name of an unbuilt room could be
/// about (v1 section 9; v2 section 3.2).
fn context(held: &Held, name: &str) -> String {
    let graph = &held.palace.graph;
    if graph.is_empty() {
        return "Workspace context:\n  This workspace is empty. Create entities to begin.\n"
            .to_owned();
    }
    let words = words_asked(name).into_iter().filter(|it| !FURNITURE.contains(&it.as_str()));
    let topic = words.collect::<Vec<_>>().join(" ");
    let asked =
        Query { words: &topic, most: usize::MAX, sorts: &[Sort::Entity], ..Query::default() };
    let hits = held.index().find(&asked, |_| true);
    let mut related: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entity in hits.best.iter().filter_map(|it| graph.get_opening(&it.opening)) {
        related.entry(&entity.genus).or_default().push(&entity.name);
    }
    render::context(&topic, &related, &graph.genera().collect::<Vec<_>>())
}
