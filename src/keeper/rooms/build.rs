//! Building rooms (v1 section 5.3; merging, v2 section 3.1).

use std::collections::BTreeSet;

use ulid::Ulid;

use crate::format::{self, Place, room_file};
use crate::keeper::maintain::check;
use crate::keeper::palace::{Held, Plan};
use crate::keeper::walk::halls::is_entrance;
use crate::keeper::{Caller, Keeper, Refusal, fresh_id};
use crate::model::{Action, Arrangement, Edit, Room, RoomId, RoomRef, Slug, Tool, prose};
use crate::render;
use crate::session::Standing;

/// What a room is to be like.
#[derive(Clone, Debug)]
pub struct Blueprint {
    /// The room to build, or to build anew.
    pub room: RoomRef,
    /// The wing it stands in.
    pub wing: Option<Slug>,
    /// The name shown.
    pub name: Option<String>,
    /// What a visitor sees.
    pub description: Option<String>,
    /// Whether visits shall start here.
    pub entry: Option<bool>,
    /// The numbered choices.
    pub actions: Option<Vec<Action>>,
    /// The complete set of doors that no action leads through; when merging,
    /// more of them.
    pub portals: Option<Vec<RoomRef>>,
    /// What the room shows of the graph besides.
    pub generate: Option<Arrangement>,
    /// Whether to change the room that stands instead of replacing it.
    pub merge: bool,
    /// Whether to answer in one line.
    pub quiet: bool,
}

impl Keeper {
    /// Builds a room, shows it, and tells what is wrong with it, and with those it led
    /// to; `tools` are those that actions can ask.
    pub fn build_room(
        &mut self,
        by: &Caller,
        blueprint: &Blueprint,
        tools: &[Tool],
    ) -> Result<String, Refusal> {
        let key = match self.current(by) {
            Ok(key) => key,
            Err(_) => {
                // No workspace is made for a room that cannot be built.
                fresh(blueprint, None)?;
                self.current_or_first(by)?
            }
        };
        let id = fresh_id(&mut self.ids, by.now);
        let held = self.at(&key)?;
        let mut built = None;
        let changed = held.change(by, |held| {
            let room = which(held, blueprint)?;
            let plan = plan(held, blueprint, &room, id)?;
            let beside: Vec<_> = held.palace.neighbours(&room).into_iter().collect();
            built = Some((room, beside));
            Ok(plan)
        })?;
        let (room, beside) = built.ok_or(Refusal::NoRooms)?;
        let told = self.tell_built(by, &key, &room, (changed, blueprint.quiet))?;
        let remarks = check::remarks_on(self.at(&key)?, &room, &beside, tools);
        Ok(match remarks.is_empty() {
            true => told,
            false => format!("{}\n\n{remarks}", told.trim_end()),
        })
    }

    fn tell_built(
        &mut self,
        by: &Caller,
        key: &str,
        room: &RoomId,
        (changed, quiet): (bool, bool),
    ) -> Result<String, Refusal> {
        if !quiet {
            let told = self.placed(by, String::new());
            return Ok(told + &self.show_built(by, key, room)?);
        }
        // Who builds the room they stand in knows its new numbers.
        if self.standing(by).is_ok_and(|it| it.room == *room && it.workspace == key) {
            self.menu(by)?;
        }
        let name = render::line(&self.at(key)?.palace.name_of(room));
        Ok(match changed {
            true => format!("Built {name} ({room}).\n"),
            false => format!("{name} ({room}) was like that already: nothing changed.\n"),
        })
    }

    /// Shows a room that was just built: the caller is in it if they stood
    /// there, finished or not, or nowhere; else they only look.
    fn show_built(&mut self, by: &Caller, key: &str, room: &RoomId) -> Result<String, Refusal> {
        let there = Standing::in_room(key, room.clone());
        let visit = self.visit(by);
        match &visit.standing {
            // Whoever was where no room was yet is in the first one now.
            None => visit.begin(key, Some(there)),
            Some(at) if is_entrance(at) => visit.begin(key, Some(there)),
            Some(at) if at.is_at(&there) => visit.page = 0,
            Some(at) if at.room == *room && at.workspace == key => visit.go(there),
            Some(_) => {
                let palace = &self.at(key)?.palace;
                let Some(it) = palace.room(room) else { return Err(Refusal::NoRooms) };
                let page = render::from_afar(it, room);
                let standing = self.standing(by)?;
                let here = self.name_of(&standing, key);
                return self.with_menu(by, &format!("{page}\nYou are still in {here}."));
            }
        }
        self.here(by)
    }
}

/// Says which room is to be built.
fn which(held: &Held, blueprint: &Blueprint) -> Result<RoomId, Refusal> {
    let literal = blueprint.room.as_id();
    match (&blueprint.wing, &literal.wing) {
        (Some(wing), None) => Ok(RoomId { wing: Some(wing.clone()), slug: literal.slug.clone() }),
        (Some(wing), Some(said)) if wing != said => Err(Refusal::Nonsense(format!(
            "the `slug` says the room stands in the wing `{said}`, and `wing` says `{wing}`"
        ))),
        _ => Ok(held.palace.resolve(&blueprint.room, None)?),
    }
}

fn plan(held: &mut Held, blueprint: &Blueprint, id: &RoomId, new: Ulid) -> Result<Plan, Refusal> {
    let path = room_file(id);
    let text = held.text(&path)?;
    let old = held.palace.room(id).cloned();
    let now = match (&old, blueprint.merge) {
        (Some(old), true) => merged(old, blueprint),
        (None, true) if blueprint.name.is_none() => {
            let why = format!(
                "there is no room `{id}` to merge into; with a `name` and a `description` it is built"
            );
            return Err(Refusal::Nonsense(why));
        }
        (old, _) => fresh(blueprint, old.as_ref().map_or(Some(new), |it| it.id))?,
    };
    let written = match (&text, &old) {
        (Some(text), Some(old)) if *old == now => text.clone(),
        (Some(text), Some(old)) => format::edit_room(&path, text, old, &now)
            .ok_or_else(|| Refusal::Entangled { file: path.clone() })?,
        _ => format::new_room(&path, &now)
            .ok_or_else(|| Refusal::Unwritable { file: path.clone() })?,
    };
    let mut edits = vec![Edit { path, was: text, now: Some(written) }];
    edits.extend(closed_doors(held, blueprint, id, &now)?);
    edits.extend(new_entry(held, blueprint, id)?);
    let verb = match (&old, blueprint.merge) {
        (None, _) => "build",
        (Some(_), true) => "change",
        (Some(_), false) => "rebuild",
    };
    let actions = render::count(now.actions.len(), "action");
    Ok(Plan {
        edits,
        subject: format!("room {id}: {verb}"),
        body: format!("{}, with {actions}", render::line(&now.name)),
    })
}

/// The room as the blueprint has it, whole.
fn fresh(blueprint: &Blueprint, id: Option<Ulid>) -> Result<Room, Refusal> {
    let (Some(name), Some(description)) = (&blueprint.name, &blueprint.description) else {
        let why = "a room needs a `name` and a `description`; `merge: true` changes only what \
                   is given in a room that stands";
        return Err(Refusal::Nonsense(why.to_owned()));
    };
    Ok(Room {
        id,
        name: named(name)?,
        description: prose(description),
        actions: blueprint.actions.clone().unwrap_or_default(),
        portals: unique(blueprint.portals.iter().flatten()),
        generate: blueprint.generate.clone(),
    })
}

/// The room that stands, with what the blueprint gives: actions of the same
/// label in place, new ones after them, portals united.
fn merged(old: &Room, blueprint: &Blueprint) -> Room {
    let mut room = old.clone();
    if let Some(name) = blueprint.name.as_ref().and_then(|it| named(it).ok()) {
        room.name = name;
    }
    if let Some(description) = &blueprint.description {
        room.description = prose(description);
    }
    if let Some(generate) = &blueprint.generate {
        room.generate = Some(generate.clone());
    }
    for action in blueprint.actions.iter().flatten() {
        match room.actions.iter_mut().find(|it| it.label == action.label) {
            Some(old) => *old = action.clone(),
            None => room.actions.push(action.clone()),
        }
    }
    room.portals = unique(room.portals.iter().chain(blueprint.portals.iter().flatten()));
    room
}

fn named(name: &str) -> Result<String, Refusal> {
    let name = render::line(name);
    match name.is_empty() {
        true => Err(Refusal::Nonsense("the `name` of a room cannot be empty".to_owned())),
        false => Ok(name),
    }
}

fn unique<'a>(portals: impl Iterator<Item = &'a RoomRef>) -> Vec<RoomRef> {
    let mut seen = BTreeSet::new();
    portals.filter(|it| seen.insert(*it)).cloned().collect()
}

/// The portals that other rooms have to this one, and that a complete set of
/// its portals leaves out, go on their side too.
fn closed_doors(
    held: &mut Held,
    blueprint: &Blueprint,
    id: &RoomId,
    now: &Room,
) -> Result<Vec<Edit>, Refusal> {
    if blueprint.portals.is_none() || blueprint.merge {
        return Ok(Vec::new());
    }
    let kept: BTreeSet<_> =
        now.ways_out().filter_map(|it| held.palace.resolve(it, Some(id)).ok()).collect();
    let callers: Vec<_> =
        held.palace.callers(id).filter(|it| *it != id && !kept.contains(it)).cloned().collect();
    let mut edits = Vec::new();
    for caller in callers {
        let path = room_file(&caller);
        let text = held.text(&path)?;
        let (Some(text), Some(old)) = (text, held.palace.room(&caller).cloned()) else { continue };
        let mut room = old.clone();
        let leads_here = |it: &RoomRef| held.palace.resolve(it, Some(&caller)).as_ref() == Ok(id);
        room.portals.retain(|it| !leads_here(it));
        if room != old {
            let now = format::edit_room(&path, &text, &old, &room)
                .ok_or_else(|| Refusal::Entangled { file: path.clone() })?;
            edits.push(Edit { path, was: Some(text), now: Some(now) });
        }
    }
    Ok(edits)
}

/// The first room becomes the entry; `entry: true` moves it.
fn new_entry(held: &mut Held, blueprint: &Blueprint, id: &RoomId) -> Result<Option<Edit>, Refusal> {
    let first = held.palace.rooms().len() == 0 && blueprint.entry != Some(false);
    let moves = blueprint.entry == Some(true) || first && held.palace.settings.entry.is_none();
    let is_entry = held.palace.settings.entry.as_ref().map(RoomRef::as_id) == Some(id);
    if !moves || is_entry {
        return Ok(None);
    }
    let was = held.text(Place::SETTINGS)?;
    let mut settings = held.palace.settings.clone();
    settings.entry = Some(RoomRef::from(id.clone()));
    let now = match &was {
        None => format::write_settings(&settings),
        Some(text) => format::edit_settings(text, &settings)
            .ok_or_else(|| Refusal::Entangled { file: Place::SETTINGS.to_owned() })?,
    };
    Ok(Some(Edit { path: Place::SETTINGS.to_owned(), was, now: Some(now) }))
}
