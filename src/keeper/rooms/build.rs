//! Builds rooms (v1 section 5.3; merging, v2 section 3.1).

use std::collections::BTreeSet;

use ulid::Ulid;

use crate::format::{self, PalacePath, room_path};
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::rooms::room_findings::summarize_room_findings;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{
    Action, FileEdit, Grouping, Room, RoomId, RoomRef, Slug, Tool, normalize_prose,
};
use crate::render;

/// A room to build or to change.
#[derive(Clone, Debug)]
pub struct Blueprint {
    /// The room.
    pub room: RoomRef,
    /// Its wing.
    pub wing: Option<Slug>,
    /// Its name.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// True to make it the entry room; false not to, even if it is the first room.
    pub entry: Option<bool>,
    /// Its actions, in order.
    pub actions: Option<Vec<Action>>,
    /// All its portals that no action leads through; with `merge`, portals to add.
    pub portals: Option<Vec<RoomRef>>,
    /// The entities that it shows.
    pub generate: Option<Grouping>,
    /// True to change the existing room, false to replace it.
    pub merge: bool,
    /// True to answer in one line instead of showing the room.
    pub quiet: bool,
}

/// A room that was built.
#[derive(Clone, Debug)]
pub struct BuiltRoom {
    /// The name of the palace's directory.
    pub(crate) workspace_key: String,
    /// The room.
    pub room: RoomId,
    /// Its name, in one line.
    pub name: String,
    /// False if the room did not change.
    pub is_changed: bool,
    /// The findings about the room and about those that it led to; may be empty.
    pub findings: String,
}

/// Builds a room; `tools` are those that actions can call. Creates the first palace if there is
/// none.
pub fn build_room(
    keeper: &mut Keeper,
    caller: &Caller,
    blueprint: &Blueprint,
    tools: &[Tool],
) -> Result<BuiltRoom, Refusal> {
    if keeper.current_workspace(caller).is_err() {
        // Do not create a palace for a room that cannot be built.
        room_from_blueprint(blueprint, None)?;
    }
    let mut session = keeper.session_for_writing(caller)?;
    let id = session.new_id();
    let mut target = None;
    let is_changed = session.palace.change_files(caller, |open| {
        let room = resolve_target_room(open, blueprint)?;
        let plan = plan_room_change(open, blueprint, &room, id)?;
        let neighbours: Vec<_> = open.palace.neighbouring_rooms(&room).into_iter().collect();
        target = Some((room, neighbours));
        Ok(plan)
    })?;
    let (room, neighbours) = target.ok_or(Refusal::NoRooms)?;
    let name = render::one_line(&session.palace.palace.room_name(&room));
    let findings = summarize_room_findings(session.palace, &room, &neighbours, tools);
    Ok(BuiltRoom { workspace_key: session.key, room, name, is_changed, findings })
}

/// Returns the room that a blueprint names.
fn resolve_target_room(open: &OpenPalace, blueprint: &Blueprint) -> Result<RoomId, Refusal> {
    let literal = blueprint.room.as_literal_id();
    match (&blueprint.wing, &literal.wing) {
        (Some(wing), None) => Ok(RoomId { wing: Some(wing.clone()), slug: literal.slug.clone() }),
        (Some(wing), Some(other)) if wing != other => Err(Refusal::Invalid(format!(
            "the `slug` names the wing `{other}`, and `wing` names `{wing}`: leave one of them out"
        ))),
        _ => Ok(open.palace.resolve_room(&blueprint.room, None)?),
    }
}

fn plan_room_change(
    open: &mut OpenPalace,
    blueprint: &Blueprint,
    id: &RoomId,
    new: Ulid,
) -> Result<ChangePlan, Refusal> {
    let path = room_path(id);
    let text = open.read_file_for_change(&path)?;
    let old = open.palace.room(id).cloned();
    let now = match (&old, blueprint.merge) {
        (Some(old), true) => merge_blueprint(old, blueprint),
        (None, true) if blueprint.name.is_none() => {
            let why = format!(
                "there is no room `{id}` to merge into; to build it, give a `name` and a \
                 `description`"
            );
            return Err(Refusal::Invalid(why));
        }
        (old, _) => room_from_blueprint(blueprint, old.as_ref().map_or(Some(new), |it| it.id))?,
    };
    let new_text = match (&text, &old) {
        (Some(text), Some(old)) if *old == now => text.clone(),
        (Some(text), Some(old)) => format::edit_room_text(&path, text, old, &now)
            .ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?,
        _ => format::new_room_text(&path, &now)
            .ok_or_else(|| Refusal::Unrepresentable { file: path.clone() })?,
    };
    let mut edits = vec![FileEdit { path, was: text, now: Some(new_text) }];
    edits.extend(plan_portal_removals(open, blueprint, id, &now)?);
    edits.extend(plan_entry_change(open, blueprint, id)?);
    let verb = match (&old, blueprint.merge) {
        (None, _) => "build",
        (Some(_), true) => "change",
        (Some(_), false) => "rebuild",
    };
    let actions = render::count_with_noun(now.actions.len(), "action");
    Ok(ChangePlan {
        edits,
        subject: format!("room {id}: {verb}"),
        body: format!("{}, with {actions}", render::one_line(&now.name)),
    })
}

/// Returns the room that a complete blueprint describes.
fn room_from_blueprint(blueprint: &Blueprint, id: Option<Ulid>) -> Result<Room, Refusal> {
    let (Some(name), Some(description)) = (&blueprint.name, &blueprint.description) else {
        let why = "a room needs a `name` and a `description`; to change only parts of an existing \
                   room, use `merge: true`";
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

/// Returns the existing room with the changes of the blueprint: it replaces actions with the same
/// label, appends new actions, and adds portals.
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

/// Plans to remove the portals of other rooms to this one that the blueprint, with its complete set
/// of portals, leaves out.
fn plan_portal_removals(
    open: &mut OpenPalace,
    blueprint: &Blueprint,
    id: &RoomId,
    now: &Room,
) -> Result<Vec<FileEdit>, Refusal> {
    if blueprint.portals.is_none() || blueprint.merge {
        return Ok(Vec::new());
    }
    let kept: BTreeSet<_> =
        now.linked_rooms().filter_map(|it| open.palace.resolve_room(it, Some(id)).ok()).collect();
    let linking: Vec<_> = open
        .palace
        .rooms_linking_to(id)
        .filter(|it| *it != id && !kept.contains(it))
        .cloned()
        .collect();
    let mut edits = Vec::new();
    for other in linking {
        let path = room_path(&other);
        let text = open.read_file_for_change(&path)?;
        let (Some(text), Some(old)) = (text, open.palace.room(&other).cloned()) else { continue };
        let mut room = old.clone();
        let leads_here =
            |it: &RoomRef| open.palace.resolve_room(it, Some(&other)).as_ref() == Ok(id);
        room.portals.retain(|it| !leads_here(it));
        if room != old {
            let now = format::edit_room_text(&path, &text, &old, &room)
                .ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?;
            edits.push(FileEdit { path, was: Some(text), now: Some(now) });
        }
    }
    Ok(edits)
}

/// Plans to make the room the entry room: the first room, or any with `entry: true`.
fn plan_entry_change(
    open: &mut OpenPalace,
    blueprint: &Blueprint,
    id: &RoomId,
) -> Result<Option<FileEdit>, Refusal> {
    let first = open.palace.rooms().len() == 0 && blueprint.entry != Some(false);
    let becomes_entry =
        blueprint.entry == Some(true) || first && open.palace.settings.entry.is_none();
    let is_entry = open.palace.settings.entry.as_ref().map(RoomRef::as_literal_id) == Some(id);
    if !becomes_entry || is_entry {
        return Ok(None);
    }
    let was = open.read_file_for_change(PalacePath::SETTINGS_FILE)?;
    let mut settings = open.palace.settings.clone();
    settings.entry = Some(RoomRef::from(id.clone()));
    let now = match &was {
        None => format::serialize_settings(&settings),
        Some(text) => format::edit_settings_text(text, &settings).ok_or_else(|| {
            Refusal::UneditableFormatting { file: PalacePath::SETTINGS_FILE.to_owned() }
        })?,
    };
    Ok(Some(FileEdit { path: PalacePath::SETTINGS_FILE.to_owned(), was, now: Some(now) }))
}
