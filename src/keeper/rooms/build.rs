//! Building rooms (v1 section 5.3; merging, v2 section 3.1).

use std::collections::BTreeSet;

use ulid::Ulid;

use crate::format::{self, PalacePath, room_path};
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::position::{current_position, is_entrance_hall, place_name};
use crate::keeper::rooms::room_findings::summarize_room_findings;
use crate::keeper::session::new_id;
use crate::keeper::walk::current_room::{render_current_room, render_menu, with_menu};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Action, Edit, Grouping, Room, RoomId, RoomRef, Slug, Tool, normalize_prose};
use crate::render;
use crate::session::Location;

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
    pub generate: Option<Grouping>,
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
        let key = match self.current_workspace(by) {
            Ok(key) => key,
            Err(_) => {
                // No workspace is made for a room that cannot be built.
                room_from_blueprint(blueprint, None)?;
                self.current_or_new_workspace(by)?
            }
        };
        let id = new_id(&mut self.id_generator, by.now);
        let held = self.open_palace(&key)?;
        let mut built = None;
        let changed = held.change(by, |held| {
            let room = resolve_target_room(held, blueprint)?;
            let plan = plan_room_change(held, blueprint, &room, id)?;
            let beside: Vec<_> = held.palace.neighbouring_rooms(&room).into_iter().collect();
            built = Some((room, beside));
            Ok(plan)
        })?;
        let (room, beside) = built.ok_or(Refusal::NoRooms)?;
        let told = self.render_build_reply(by, &key, &room, (changed, blueprint.quiet))?;
        let remarks = summarize_room_findings(self.open_palace(&key)?, &room, &beside, tools);
        Ok(match remarks.is_empty() {
            true => told,
            false => format!("{}\n\n{remarks}", told.trim_end()),
        })
    }

    fn render_build_reply(
        &mut self,
        by: &Caller,
        key: &str,
        room: &RoomId,
        (changed, quiet): (bool, bool),
    ) -> Result<String, Refusal> {
        if !quiet {
            let told = self.with_workspace_note(by, String::new());
            return Ok(told + &self.show_built_room(by, key, room)?);
        }
        // Who builds the room they stand in knows its new numbers.
        if current_position(self, by).is_ok_and(|it| it.room == *room && it.workspace == key) {
            render_menu(self, by)?;
        }
        let name = render::one_line(&self.open_palace(key)?.palace.room_name(room));
        Ok(match changed {
            true => format!("Built {name} ({room}).\n"),
            false => format!("{name} ({room}) was like that already: nothing changed.\n"),
        })
    }

    /// Shows a room that was just built: the caller is in it if they stood
    /// there, finished or not, or nowhere; else they only look.
    fn show_built_room(
        &mut self,
        by: &Caller,
        key: &str,
        room: &RoomId,
    ) -> Result<String, Refusal> {
        let there = Location::in_room(key, room.clone());
        let visit = self.visit(by);
        match &visit.location {
            // Whoever was where no room was yet is in the first one now.
            None => visit.enter_palace(key, Some(there)),
            Some(at) if is_entrance_hall(at) => visit.enter_palace(key, Some(there)),
            Some(at) if at.is_same_place(&there) => visit.page = 0,
            Some(at) if at.room == *room && at.workspace == key => visit.go_to(there),
            Some(_) => {
                let palace = &self.open_palace(key)?.palace;
                let Some(it) = palace.room(room) else { return Err(Refusal::NoRooms) };
                let page = render::room_built_elsewhere(it, room);
                let standing = current_position(self, by)?;
                let here = place_name(self, &standing, key);
                return with_menu(self, by, &format!("{page}\nYou are still in {here}."));
            }
        }
        render_current_room(self, by)
    }
}

/// Says which room is to be built.
fn resolve_target_room(held: &OpenPalace, blueprint: &Blueprint) -> Result<RoomId, Refusal> {
    let literal = blueprint.room.as_id();
    match (&blueprint.wing, &literal.wing) {
        (Some(wing), None) => Ok(RoomId { wing: Some(wing.clone()), slug: literal.slug.clone() }),
        (Some(wing), Some(said)) if wing != said => Err(Refusal::Invalid(format!(
            "the `slug` says the room stands in the wing `{said}`, and `wing` says `{wing}`"
        ))),
        _ => Ok(held.palace.resolve_room(&blueprint.room, None)?),
    }
}

fn plan_room_change(
    held: &mut OpenPalace,
    blueprint: &Blueprint,
    id: &RoomId,
    new: Ulid,
) -> Result<ChangePlan, Refusal> {
    let path = room_path(id);
    let text = held.read_for_change(&path)?;
    let old = held.palace.room(id).cloned();
    let now = match (&old, blueprint.merge) {
        (Some(old), true) => merge_blueprint(old, blueprint),
        (None, true) if blueprint.name.is_none() => {
            let why = format!(
                "there is no room `{id}` to merge into; with a `name` and a `description` it is built"
            );
            return Err(Refusal::Invalid(why));
        }
        (old, _) => room_from_blueprint(blueprint, old.as_ref().map_or(Some(new), |it| it.id))?,
    };
    let written = match (&text, &old) {
        (Some(text), Some(old)) if *old == now => text.clone(),
        (Some(text), Some(old)) => format::edit_room_text(&path, text, old, &now)
            .ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?,
        _ => format::new_room_text(&path, &now)
            .ok_or_else(|| Refusal::Unrepresentable { file: path.clone() })?,
    };
    let mut edits = vec![Edit { path, was: text, now: Some(written) }];
    edits.extend(plan_portal_removals(held, blueprint, id, &now)?);
    edits.extend(plan_entry_change(held, blueprint, id)?);
    let verb = match (&old, blueprint.merge) {
        (None, _) => "build",
        (Some(_), true) => "change",
        (Some(_), false) => "rebuild",
    };
    let actions = render::pluralize(now.actions.len(), "action");
    Ok(ChangePlan {
        edits,
        subject: format!("room {id}: {verb}"),
        body: format!("{}, with {actions}", render::one_line(&now.name)),
    })
}

/// The room as the blueprint has it, whole.
fn room_from_blueprint(blueprint: &Blueprint, id: Option<Ulid>) -> Result<Room, Refusal> {
    let (Some(name), Some(description)) = (&blueprint.name, &blueprint.description) else {
        let why = "a room needs a `name` and a `description`; `merge: true` changes only what \
                   is given in a room that stands";
        return Err(Refusal::Invalid(why.to_owned()));
    };
    Ok(Room {
        id,
        name: validate_room_name(name)?,
        description: normalize_prose(description),
        actions: blueprint.actions.clone().unwrap_or_default(),
        portals: dedup_portals(blueprint.portals.iter().flatten()),
        generate: blueprint.generate.clone(),
    })
}

/// The room that stands, with what the blueprint gives: actions of the same
/// label in place, new ones after them, portals united.
fn merge_blueprint(old: &Room, blueprint: &Blueprint) -> Room {
    let mut room = old.clone();
    if let Some(name) = blueprint.name.as_ref().and_then(|it| validate_room_name(it).ok()) {
        room.name = name;
    }
    if let Some(description) = &blueprint.description {
        room.description = normalize_prose(description);
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
    room.portals = dedup_portals(room.portals.iter().chain(blueprint.portals.iter().flatten()));
    room
}

fn validate_room_name(name: &str) -> Result<String, Refusal> {
    let name = render::one_line(name);
    match name.is_empty() {
        true => Err(Refusal::Invalid("the `name` of a room cannot be empty".to_owned())),
        false => Ok(name),
    }
}

fn dedup_portals<'a>(portals: impl Iterator<Item = &'a RoomRef>) -> Vec<RoomRef> {
    let mut seen = BTreeSet::new();
    portals.filter(|it| seen.insert(*it)).cloned().collect()
}

/// The portals that other rooms have to this one, and that a complete set of
/// its portals leaves out, go on their side too.
fn plan_portal_removals(
    held: &mut OpenPalace,
    blueprint: &Blueprint,
    id: &RoomId,
    now: &Room,
) -> Result<Vec<Edit>, Refusal> {
    if blueprint.portals.is_none() || blueprint.merge {
        return Ok(Vec::new());
    }
    let kept: BTreeSet<_> =
        now.linked_rooms().filter_map(|it| held.palace.resolve_room(it, Some(id)).ok()).collect();
    let callers: Vec<_> = held
        .palace
        .rooms_linking_to(id)
        .filter(|it| *it != id && !kept.contains(it))
        .cloned()
        .collect();
    let mut edits = Vec::new();
    for caller in callers {
        let path = room_path(&caller);
        let text = held.read_for_change(&path)?;
        let (Some(text), Some(old)) = (text, held.palace.room(&caller).cloned()) else { continue };
        let mut room = old.clone();
        let leads_here =
            |it: &RoomRef| held.palace.resolve_room(it, Some(&caller)).as_ref() == Ok(id);
        room.portals.retain(|it| !leads_here(it));
        if room != old {
            let now = format::edit_room_text(&path, &text, &old, &room)
                .ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?;
            edits.push(Edit { path, was: Some(text), now: Some(now) });
        }
    }
    Ok(edits)
}

/// The first room becomes the entry; `entry: true` moves it.
fn plan_entry_change(
    held: &mut OpenPalace,
    blueprint: &Blueprint,
    id: &RoomId,
) -> Result<Option<Edit>, Refusal> {
    let first = held.palace.rooms().len() == 0 && blueprint.entry != Some(false);
    let moves = blueprint.entry == Some(true) || first && held.palace.settings.entry.is_none();
    let is_entry = held.palace.settings.entry.as_ref().map(RoomRef::as_id) == Some(id);
    if !moves || is_entry {
        return Ok(None);
    }
    let was = held.read_for_change(PalacePath::SETTINGS_FILE)?;
    let mut settings = held.palace.settings.clone();
    settings.entry = Some(RoomRef::from(id.clone()));
    let now = match &was {
        None => format::write_settings(&settings),
        Some(text) => format::edit_settings_text(text, &settings).ok_or_else(|| {
            Refusal::UneditableFormatting { file: PalacePath::SETTINGS_FILE.to_owned() }
        })?,
    };
    Ok(Some(Edit { path: PalacePath::SETTINGS_FILE.to_owned(), was, now: Some(now) }))
}
