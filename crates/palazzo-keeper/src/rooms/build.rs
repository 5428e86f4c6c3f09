//! Builds rooms (v1 section 5.3; merging, v2 section 3.1).

use std::collections::BTreeSet;

use ulid::Ulid;

use crate::name_check::{reject_hidden_chars, reject_hidden_chars_in_line};
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::palace::findings::{explain_findings, prepare_checks, resolve_diagnostic_positions};
use crate::palace::reference_edits::plan_room_edit;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::format::{self, PalacePath, room_path};
use palazzo_core::model::{
    Action, Code, Diagnostic, FileEdit, Grouping, Room, RoomId, RoomRef, Severity, Slug, Tool,
    normalize_prose, quoted,
};
use palazzo_core::render;

/// Maximum number of findings that the answer lists.
const MAX_ROOM_FINDINGS: usize = 5;

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
    /// The labels of the actions to remove from the existing room.
    pub remove_actions: Vec<String>,
    /// True to change the existing room, false to replace it.
    pub merge: bool,
    /// True to answer in one line instead of showing the room.
    pub quiet: bool,
}

impl Blueprint {
    /// Returns whether it names a room and nothing to build or change.
    pub fn is_empty(&self) -> bool {
        let Self { wing, name, description, entry, actions, portals, generate, .. } = self;
        let texts = [name, description].iter().all(|it| it.is_none());
        let doors = actions.is_none() && portals.is_none() && self.remove_actions.is_empty();
        texts && doors && wing.is_none() && entry.is_none() && generate.is_none()
    }
}

/// A room that was built.
#[derive(Clone, Debug)]
pub struct BuiltRoom {
    /// The name of the palace's directory.
    pub workspace_key: String,
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
    reject_hidden_chars_in_labels(blueprint)?;
    if keeper.current_workspace(caller).is_err() {
        // Do not create a palace for a room that cannot be built.
        room_from_blueprint(blueprint, None)?;
    }
    let key = keeper.current_or_new_workspace(caller)?;
    let workspaces = keeper.workspace_keys_and_names()?;
    let mut session = keeper.session_in(&key, caller)?;
    let id = session.new_id();
    let mut target = None;
    let mut is_new = false;
    let edits = session.palace.change_files(caller, &ChangeOptions::default(), |open| {
        let room = resolve_target_room(open, blueprint)?;
        is_new = open.palace.room(&room).is_none();
        let plan = plan_room_change(open, blueprint, &room, id)?;
        let neighbours: Vec<_> = open.palace.neighbouring_rooms(&room).into_iter().collect();
        target = Some((room, neighbours));
        Ok(plan)
    })?;
    let is_changed = !edits.is_empty();
    let (room, neighbours) = target.ok_or(Refusal::NoRooms)?;
    let name = render::one_line(&session.palace.palace.room_name(&room));
    let mut findings =
        summarize_room_findings(session.palace, &room, &neighbours, (tools, &workspaces))?;
    if is_new && let Some(other) = namesakes(session.palace, &room).next() {
        findings.push_str(&format!(
            "Note: `{other}` is another room with this slug. To move a room to another wing, call \
             build_room with its slug and `rename`.\n"
        ));
    }
    Ok(BuiltRoom { workspace_key: session.key, room, name, is_changed, findings })
}

/// Returns the room that a blueprint names.
fn resolve_target_room(open: &mut OpenPalace, blueprint: &Blueprint) -> Result<RoomId, Refusal> {
    let literal = blueprint.room.as_literal_id();
    match (&blueprint.wing, &literal.wing) {
        (Some(wing), None) => Ok(RoomId { wing: Some(wing.clone()), slug: literal.slug.clone() }),
        (Some(wing), Some(other)) if wing != other => Err(Refusal::Invalid(format!(
            "the `slug` names the wing `{other}`, and `wing` names `{wing}`: leave one of them out"
        ))),
        _ => {
            let asked = open.palace.resolve_room(&blueprint.room, None)?;
            let is_mentioned = blueprint.merge || open.palace.has_door_to_slug(&asked.slug);
            if open.palace.room(&asked).is_some() || !is_mentioned {
                return Ok(asked);
            }
            match open.present_room_id(asked.clone())? {
                present if present == asked || blueprint.merge => Ok(present),
                present => Err(Refusal::Invalid(format!(
                    "`{asked}` is the old name of the room `{present}`, and doors still lead there \
                     by it: use `{present}`, or another slug"
                ))),
            }
        }
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
        (Some(old), true) => merge_blueprint(old, blueprint)?,
        (None, true) if has_namesake(open, id) => return Err(namesake_refusal(open, id)),
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

/// Yields the rooms with the slug of `id` in other wings.
fn namesakes<'a>(open: &'a OpenPalace, id: &'a RoomId) -> impl Iterator<Item = &'a RoomId> {
    open.palace.rooms().map(|(it, _)| it).filter(move |it| it.slug == id.slug && *it != id)
}

fn has_namesake(open: &OpenPalace, id: &RoomId) -> bool {
    namesakes(open, id).next().is_some()
}

/// Returns the refusal to merge into a room that does not exist, while one with its slug exists in
/// another wing.
fn namesake_refusal(open: &OpenPalace, id: &RoomId) -> Refusal {
    let rooms: Vec<_> = namesakes(open, id).map(|it| format!("`{it}`")).collect();
    let first = rooms.first().cloned().unwrap_or_default();
    Refusal::Invalid(format!(
        "there is no room `{id}` to merge into, but there is {}: to move it, call build_room with \
         slug {first} and `rename` `{id}`; to build another room, leave out `merge`",
        rooms.join(", ")
    ))
}

/// Returns the room that a complete blueprint describes.
/// Refuses labels with characters that nobody sees.
fn reject_hidden_chars_in_labels(blueprint: &Blueprint) -> Result<(), Refusal> {
    let mut labels = blueprint.actions.iter().flatten().map(|it| &it.label);
    labels.try_for_each(|it| reject_hidden_chars("label", it))
}

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
fn merge_blueprint(old: &Room, blueprint: &Blueprint) -> Result<Room, Refusal> {
    let mut room = old.clone();
    if let Some(name) = &blueprint.name {
        room.name = validate_room_name(name)?;
    }
    if let Some(description) = &blueprint.description {
        room.description = normalize_prose(description);
    }
    if let Some(generate) = &blueprint.generate {
        room.generate = Some(generate.clone());
    }
    for label in &blueprint.remove_actions {
        let Some(at) = room.actions.iter().position(|it| it.label == *label) else {
            return Err(no_such_label_refusal(label, old));
        };
        room.actions.remove(at);
    }
    for action in blueprint.actions.iter().flatten() {
        match room.actions.iter_mut().find(|it| it.label == action.label) {
            Some(old) => *old = action.clone(),
            None => room.actions.push(action.clone()),
        }
    }
    room.portals = dedup_portals(room.portals.iter().chain(blueprint.portals.iter().flatten()));
    Ok(room)
}

fn no_such_label_refusal(label: &str, room: &Room) -> Refusal {
    let labels: Vec<_> = room.actions.iter().map(|it| quoted(&it.label)).collect();
    let known = match labels.is_empty() {
        true => "it has none; a door that leads back from another room is a portal".to_owned(),
        false => format!("its actions are: {}", labels.join(", ")),
    };
    Refusal::Invalid(format!("the room has no action {} to remove; {known}", quoted(label)))
}

fn validate_room_name(name: &str) -> Result<String, Refusal> {
    reject_hidden_chars_in_line("name", name)?;
    let name = render::storable_line(name);
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
    let palace = open.palace.clone();
    let mut edits = Vec::new();
    for other in linking {
        let leads_here = |it: &RoomRef| palace.resolve_room(it, Some(&other)).as_ref() == Ok(id);
        edits.extend(plan_room_edit(open, &other, |room| {
            let mut room = room.clone();
            room.portals.retain(|it| !leads_here(it));
            room
        })?);
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
    plan_entry_edit(open, id).map(Some)
}

/// Plans to name a room as the entry in the settings.
pub(crate) fn plan_entry_edit(open: &mut OpenPalace, id: &RoomId) -> Result<FileEdit, Refusal> {
    let was = open.read_file_for_change(PalacePath::SETTINGS_FILE)?;
    let mut settings = open.palace.settings.clone();
    settings.entry = Some(RoomRef::from(id.clone()));
    let now = match &was {
        None => format::serialize_settings(&settings),
        Some(text) => format::edit_settings_name_and_entry(text, &settings).ok_or_else(|| {
            Refusal::UneditableFormatting { file: PalacePath::SETTINGS_FILE.to_owned() }
        })?,
    };
    Ok(FileEdit { path: PalacePath::SETTINGS_FILE.to_owned(), was, now: Some(now) })
}

/// Lists the findings about a room that was just built, and those of its `neighbours` that cannot
/// be reached any more; empty if there are none. `workspaces` are the directories and names of the
/// palaces that doors can lead to.
fn summarize_room_findings(
    open: &mut OpenPalace,
    room: &RoomId,
    neighbours: &[RoomId],
    (tools, workspaces): (&[Tool], &[String]),
) -> Result<String, Refusal> {
    let (check, file) = (prepare_checks(open, tools, workspaces), room_path(room));
    let mut room_findings = check.room_findings(room);
    let unreachable: Vec<_> =
        neighbours.iter().filter_map(|it| check.check_reachable(it)).collect();
    explain_findings(open, &mut room_findings)?;
    let palace = &*open;
    let file_diagnostics = palace.findings_in(&file).map(|it| (it.clone(), None));
    let room_diagnostics = room_findings.into_iter().map(|it| (it.diagnostic, Some(it.value_path)));
    // An undefined name in a room may be a spelling mistake.
    let is_listed = |it: &Diagnostic| {
        it.severity() < Severity::Info
            || matches!(
                it.code,
                Code::UndefinedEntity
                    | Code::UnresolvedLink
                    | Code::UndefinedGenus
                    | Code::UndefinedAttribute
            )
    };
    let silenced = &palace.palace.settings.silenced_codes;
    let is_listed = |it: &Diagnostic| is_listed(it) && !silenced.contains(&it.code);
    let diagnostics = file_diagnostics.chain(room_diagnostics).filter(|(it, _)| is_listed(it));
    let mut findings = resolve_diagnostic_positions(palace, &file, diagnostics.collect());
    for unreachable in unreachable.into_iter().filter(|it| is_listed(&it.diagnostic)) {
        let file = unreachable.diagnostic.file.clone();
        let diagnostic = (unreachable.diagnostic, Some(unreachable.value_path));
        findings.extend(resolve_diagnostic_positions(palace, &file, vec![diagnostic]));
    }
    findings.sort_by_key(|it| it.diagnostic.severity());
    let listed = findings.iter().take(MAX_ROOM_FINDINGS);
    let lines: Vec<_> = listed.map(|it| format!("\n  {}", it.diagnostic)).collect();
    let has_problems = findings.iter().any(|it| it.diagnostic.severity() < Severity::Info);
    let head = if has_problems { "Problems found" } else { "Worth knowing" };
    Ok(match findings.len().saturating_sub(MAX_ROOM_FINDINGS) {
        _ if findings.is_empty() => String::new(),
        0 => format!("{head}:{}\n", lines.concat()),
        more => format!("{head}:{}\n  and {more} more\n", lines.concat()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada, blueprint};
    use palazzo_core::model::ActionKind;

    const HALL: (&str, &str) =
        ("rooms/hall.yaml", "name: Hall\ndescription: Stone.\nportals: [crypt]\n");
    const CRYPT: (&str, &str) =
        ("rooms/crypt.yaml", "name: Crypt\ndescription: Dark.\nportals: [hall, well]\n");

    /// A blueprint that changes nothing of an existing room.
    fn merge_of(room: &str) -> Blueprint {
        Blueprint { name: None, description: None, merge: true, ..blueprint(room) }
    }

    fn build(home: &mut TestHome, blueprint: &Blueprint) -> Result<BuiltRoom, Refusal> {
        build_room(&mut home.keeper, &ada(), blueprint, &[])
    }

    fn text_action(label: &str, content: &str) -> Action {
        let kind = ActionKind::Text { content: content.to_owned() };
        Action { label: label.to_owned(), kind }
    }

    #[test]
    fn the_first_room_becomes_the_entry_and_the_second_does_not() {
        let mut home = TestHome::new(&[]);
        build(&mut home, &blueprint("porch")).unwrap();
        build(&mut home, &blueprint("hall")).unwrap();
        assert!(home.read("palace.toml").unwrap().contains("entry = \"porch\"\n"));
    }

    #[test]
    fn the_first_room_is_not_the_entry_if_the_blueprint_forbids_it() {
        let mut home = TestHome::new(&[]);
        build(&mut home, &Blueprint { entry: Some(false), ..blueprint("porch") }).unwrap();
        assert!(!home.read("palace.toml").unwrap().contains("entry"));
    }

    #[test]
    fn a_later_room_can_become_the_entry() {
        let mut home = TestHome::new(&[HALL]);
        let porch = Blueprint { entry: Some(true), ..blueprint("porch") };
        assert!(build(&mut home, &porch).unwrap().is_changed);
        assert!(home.read("palace.toml").unwrap().contains("entry = \"porch\"\n"));
    }

    #[test]
    fn building_the_same_room_again_changes_nothing() {
        let mut home = TestHome::new(&[]);
        assert!(build(&mut home, &blueprint("hall")).unwrap().is_changed);
        let text = home.read("rooms/hall.yaml");
        assert!(!build(&mut home, &blueprint("hall")).unwrap().is_changed);
        assert_eq!(home.read("rooms/hall.yaml"), text);
    }

    #[test]
    fn merging_into_another_wing_is_refused_and_names_the_room_to_move() {
        let mut home = TestHome::new(&[HALL]);
        let wing = Some("north".parse().unwrap());
        let merge = Blueprint { wing: wing.clone(), merge: true, ..blueprint("hall") };
        let refusal = build(&mut home, &merge).unwrap_err().to_string();
        insta::assert_snapshot!(refusal, @"there is no room `north/hall` to merge into, but there is `hall`: to move it, call build_room with slug `hall` and `rename` `north/hall`; to build another room, leave out `merge`");
        let built = build(&mut home, &Blueprint { wing, ..blueprint("hall") }).unwrap();
        let note = "Note: `hall` is another room with this slug.";
        assert!(built.findings.contains(note), "{}", built.findings);
    }

    #[test]
    fn a_complete_set_of_portals_removes_the_portals_of_other_rooms() {
        let mut home = TestHome::new(&[HALL, CRYPT]);
        build(&mut home, &Blueprint { portals: Some(Vec::new()), ..blueprint("hall") }).unwrap();
        let crypt = "name: Crypt\ndescription: Dark.\nportals: [well]\n";
        assert_eq!(home.read("rooms/crypt.yaml").unwrap(), crypt);
    }

    #[test]
    fn merging_no_portals_keeps_all_portals() {
        let mut home = TestHome::new(&[HALL, CRYPT]);
        let merge = Blueprint { portals: Some(Vec::new()), ..merge_of("hall") };
        assert!(!build(&mut home, &merge).unwrap().is_changed);
        assert_eq!(home.read("rooms/crypt.yaml").unwrap(), CRYPT.1);
    }

    #[test]
    fn merging_replaces_actions_by_label_and_appends_new_ones() {
        let actions = vec![text_action("Listen", "Drip."), text_action("Look", "Moss.")];
        let old = Blueprint { actions: Some(actions), ..blueprint("hall") };
        let old = room_from_blueprint(&old, None).unwrap();
        let actions = vec![text_action("Listen", "Silence."), text_action("listen", "Echo.")];
        let new = merge_blueprint(&old, &Blueprint { actions: Some(actions), ..merge_of("hall") })
            .unwrap();
        let expected = [
            text_action("Listen", "Silence."),
            text_action("Look", "Moss."),
            text_action("listen", "Echo."),
        ];
        assert_eq!(new.actions, expected);
        assert_eq!((new.name.as_str(), new.description.as_str()), ("Hall", "Stone."));
    }

    #[test]
    fn a_portal_that_is_given_twice_is_kept_once() {
        let portals = ["well", "crypt", "well"].map(|it| it.parse().unwrap());
        let room = Blueprint { portals: Some(portals.to_vec()), ..blueprint("hall") };
        let room = room_from_blueprint(&room, None).unwrap();
        assert_eq!(room.portals, ["well", "crypt"].map(|it| it.parse().unwrap()));
    }

    #[test]
    fn merging_into_a_missing_room_without_a_name_is_refused() {
        let mut home = TestHome::new(&[HALL]);
        assert_eq!(
            build(&mut home, &merge_of("crypt")).unwrap_err().to_string(),
            "there is no room `crypt` to merge into; to build it, give a `name` and a `description`"
        );
        assert_eq!(home.read("rooms/crypt.yaml"), None);
    }

    #[test]
    fn a_room_needs_a_name_that_is_not_blank() {
        let room = Blueprint { name: Some(" \n ".to_owned()), ..blueprint("hall") };
        let refusal = room_from_blueprint(&room, None).unwrap_err();
        assert_eq!(refusal.to_string(), "the `name` of a room cannot be empty");
        let old = room_from_blueprint(&blueprint("hall"), None).unwrap();
        assert_eq!(merge_blueprint(&old, &room).unwrap_err().to_string(), refusal.to_string());
        let room = Blueprint { name: Some("Große\nHalle".to_owned()), ..room };
        assert_eq!(room_from_blueprint(&room, None).unwrap().name, "Große Halle");
    }

    #[test]
    fn a_refused_room_creates_no_palace() {
        let dir = tempfile::tempdir().unwrap();
        let mut keeper = Keeper::new(dir.path().join("home"), None);
        let refusal = build_room(&mut keeper, &ada(), &merge_of("hall"), &[]).unwrap_err();
        let why = "a room needs a `name` and a `description`; to change only parts of an existing \
                   room, use `merge: true`";
        assert_eq!(refusal.to_string(), why);
        assert!(!dir.path().join("home").exists());
        build_room(&mut keeper, &ada(), &blueprint("hall"), &[]).unwrap();
        assert!(dir.path().join("home/palace/rooms/hall.yaml").exists());
    }

    #[test]
    fn the_wing_can_be_given_beside_the_slug_but_not_twice() {
        let mut home = TestHome::new(&[HALL]);
        let wing = Some("east".parse().unwrap());
        let well = Blueprint { wing: wing.clone(), ..blueprint("well") };
        assert_eq!(build(&mut home, &well).unwrap().room.to_string(), "east/well");
        let twice = Blueprint { wing, ..blueprint("west/well") };
        assert_eq!(
            build(&mut home, &twice).unwrap_err().to_string(),
            "the `slug` names the wing `west`, and `wing` names `east`: leave one of them out"
        );
    }

    #[test]
    fn a_slug_that_several_rooms_have_is_refused() {
        let (east, west) = ("rooms/east/well.yaml", "rooms/west/well.yaml");
        let mut home = TestHome::new(&[(east, "name: East\n"), (west, "name: West\n")]);
        let refusal = build(&mut home, &blueprint("well")).unwrap_err().to_string();
        assert!(refusal.starts_with("several rooms are called `well`; "), "{refusal}");
        assert!(refusal.ends_with("`east/well`, `west/well`"), "{refusal}");
        assert_eq!(home.read(east).unwrap(), "name: East\n");
    }
}
