//! Renames or moves one item: `palazzo mv`.

use std::collections::BTreeMap;

use crate::graph::update::{EntityChange, plan_update};
use crate::items::{
    ItemChangeReport, ItemChangeVerb, WingOrItem, find_wing_or_item, rooms_of_wing,
};
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeMode, ChangeOptions, ChangePlan};
use crate::palace::resolve::path_in_palace;
use crate::palace::resolve::{RoomsMeant, resolve_room};
use crate::rooms::room_plans::{plan_drawer_move, plan_room_moves};
use crate::{Refusal, Session};
use palazzo_core::format::{PalacePath, choose_drawer_room};
use palazzo_core::model::{
    DisplayWingRoom, FileEdit, ItemId, RoomDestination, RoomId, ScrollId, Slug, escape_unprintable,
};
use palazzo_core::render;

/// A planned move, and its description.
pub(crate) type PlannedMove = (ChangePlan, ItemChangeVerb, String);

/// Gives an item another name or place: a room another slug or wing, a wing another slug, a scroll
/// another room, an entity another name, a drawer another wing and room. Everything that refers to
/// it follows.
pub fn move_item(
    session: &mut Session<'_>,
    name: &str,
    new: &str,
    mode: ChangeMode,
) -> Result<ItemChangeReport, Refusal> {
    let mut done = None;
    let edits = session.palace.change_files(
        session.caller,
        &ChangeOptions::exclusive_in_mode(mode),
        |open| {
            let (plan, verb, description) = plan_move(open, name, new)?;
            done = Some((verb, description));
            Ok(plan)
        },
    )?;
    let (verb, description) = done.ok_or(Refusal::Contended)?;
    Ok(ItemChangeReport { verb, description, mode, edits })
}

fn plan_move(open: &mut OpenPalace, name: &str, new: &str) -> Result<PlannedMove, Refusal> {
    let item = match find_wing_or_item(open, name)? {
        WingOrItem::Wing(wing) => return plan_wing_rename(open, &wing, new),
        WingOrItem::Item(item) => item,
    };
    match item.item.id() {
        Some(ItemId::Room(id)) => plan_room_rename(open, id, new),
        Some(ItemId::Scroll(which)) => plan_scroll_move(open, which, &item.file, new),
        Some(ItemId::Entity(entity)) => plan_entity_rename(open, entity, new),
        Some(ItemId::Drawer(path)) => plan_drawer_refiling(open, path, new),
        _ => Err(Refusal::Invalid(format!(
            "{} cannot be moved: its name is in its file, {}; edit that file",
            render::item_label(&item.item),
            item.file
        ))),
    }
}

pub(crate) fn plan_room_rename(
    open: &mut OpenPalace,
    id: &RoomId,
    new: &str,
) -> Result<PlannedMove, Refusal> {
    let path = path_in_palace(open, new).unwrap_or_else(|| new.to_owned());
    let to = match PalacePath::parse(&path) {
        Ok(PalacePath::Room(to)) => to,
        _ => parse_destination(new)?.of_room(id),
    };
    let moves = BTreeMap::from([(id.clone(), to.clone())]);
    let (edits, counts) = plan_room_moves(open, &moves)?;
    let body = render::one_line(&open.palace.room_name(id));
    let plan = ChangePlan { edits, subject: format!("room {id}: rename to {to}"), body };
    let description = format!("room `{id}` to `{to}`{}", with_followed(&counts.describe()));
    Ok((plan, ItemChangeVerb::Rename, description))
}

pub(crate) fn plan_wing_rename(
    open: &mut OpenPalace,
    wing: &Slug,
    new: &str,
) -> Result<PlannedMove, Refusal> {
    let name = new.trim().trim_end_matches('/');
    if name.is_empty() || name.contains('/') {
        return Err(Refusal::Invalid(format!(
            "`{wing}/` is a wing, and its new name is a slug such as `west`; to move a room out of \
             it, name the room: `palazzo mv {wing}/ROOM /`"
        )));
    }
    let to: Slug = name.parse().map_err(|err| Refusal::Invalid(format!("{err}")))?;
    let moved = |it: &RoomId| RoomId { wing: Some(to.clone()), ..it.clone() };
    let rooms = rooms_of_wing(&open.palace, wing);
    let moves: BTreeMap<_, _> = rooms.iter().map(|it| (it.clone(), moved(it))).collect();
    let (edits, counts) = plan_room_moves(open, &moves)?;
    let body = format!("Renamed the wing with {}", render::count_with_noun(moves.len(), "room"));
    let plan = ChangePlan { edits, subject: format!("wing {wing}: rename to {to}"), body };
    let rooms = render::count_with_noun(moves.len(), "room");
    let followed = match counts.describe().as_str() {
        "" => rooms,
        more => format!("{rooms}, {more}"),
    };
    let description = format!("wing `{wing}` to `{to}`{}", with_followed(&followed));
    Ok((plan, ItemChangeVerb::Rename, description))
}

fn plan_scroll_move(
    open: &mut OpenPalace,
    which: &ScrollId,
    file: &str,
    new: &str,
) -> Result<PlannedMove, Refusal> {
    let to = resolve_room(open, new, RoomsMeant::Built)?;
    if to == which.room {
        return Err(Refusal::Invalid(format!("the scroll is in the room `{to}` already")));
    }
    if open.palace.scroll(&ScrollId { room: to.clone(), id: which.id }).is_some() {
        let why = format!("the room `{to}` has a scroll with the same id already");
        return Err(Refusal::Invalid(why));
    }
    let was = open.read_file_for_change(file)?;
    let rest = file.strip_prefix(&format!("scrolls/{}/", which.room)).unwrap_or(file);
    let edits = vec![
        FileEdit { path: format!("scrolls/{to}/{rest}"), was: None, now: was.clone() },
        FileEdit { path: file.to_owned(), was, now: None },
    ];
    let title = open.palace.scroll(which).map(|it| render::in_quotes(&it.title));
    let title = title.unwrap_or_default();
    let subject = format!("scroll {}: move to {to}", which.room);
    let plan = ChangePlan { edits, subject, body: format!("Moved the scroll {title}") };
    let description = format!("scroll {title} from room `{}` to `{to}`", which.room);
    Ok((plan, ItemChangeVerb::Move, description))
}

fn plan_entity_rename(
    open: &mut OpenPalace,
    entity: &str,
    new: &str,
) -> Result<PlannedMove, Refusal> {
    let (name, new_name) = (entity.to_owned(), Some(new.trim().to_owned()));
    let (plan, summary) =
        plan_update(open, &EntityChange { name, new_name, ..Default::default() })?;
    let [was, now] = [entity, new].map(render::one_line);
    let description = format!("entity {was} to {now}{}", with_followed(&summary.references()));
    Ok((plan, ItemChangeVerb::Rename, description))
}

/// Plans to file a drawer under another wing and room: an existing room by `wing/slug`, or the
/// names of a wing and a room.
fn plan_drawer_refiling(
    open: &mut OpenPalace,
    file: &str,
    new: &str,
) -> Result<PlannedMove, Refusal> {
    let (to, names) = find_shelf(open, new)?;
    let edits = plan_drawer_move(open, file, &to, &names)?;
    let title = open.palace.drawers.drawer_in_file(file).map(render::drawer_title);
    let title = title.unwrap_or_default();
    let label = render::one_line(&format!("{}/{}", names.wing, names.room));
    let short = render::truncate(&title, 60);
    let plan = ChangePlan {
        edits,
        subject: format!("drawer '{short}': move to {to}"),
        body: format!("Moved {} to {label}", render::in_quotes(&title)),
    };
    Ok((plan, ItemChangeVerb::Move, format!("drawer {} to {label}", render::in_quotes(&title))))
}

fn find_shelf(open: &OpenPalace, new: &str) -> Result<(RoomId, DisplayWingRoom), Refusal> {
    let missing = || {
        let new = escape_unprintable(new);
        Refusal::Invalid(format!("a drawer is filed under `WING/ROOM`, not `{new}`"))
    };
    let (wing, room) = new.trim().split_once('/').ok_or_else(missing)?;
    let (wing, room) = (wing.trim(), room.trim());
    if wing.is_empty() || room.is_empty() || room.contains('/') {
        return Err(missing());
    }
    let drawers = &open.palace.drawers;
    let existing = new.trim().parse::<RoomId>().ok();
    if let Some(id) = existing.filter(|it| open.palace.is_enterable_room(it)) {
        let slug = id.wing.as_ref().ok_or_else(missing)?;
        let wing = drawers.wing_name(slug).unwrap_or(slug.as_str()).to_owned();
        let room = drawers.room_name(&id).unwrap_or(id.slug.as_str()).to_owned();
        return Ok((id, DisplayWingRoom { wing, room }));
    }
    let known_wing = wing.parse::<Slug>().ok();
    let known_wing = known_wing.as_ref().and_then(|it| drawers.wing_name(it)).unwrap_or(wing);
    let names = DisplayWingRoom { wing: known_wing.to_owned(), room: room.to_owned() };
    Ok((choose_drawer_room(&open.palace, &names), names))
}

fn parse_destination(new: &str) -> Result<RoomDestination, Refusal> {
    new.trim().parse().map_err(|err| {
        let forms = "a slug, `wing/slug`, `wing/` to move the room into a wing, or `/` to move it \
                     out of its wing";
        Refusal::Invalid(format!("{err}; the new name of a room is {forms}"))
    })
}

fn with_followed(followed: &str) -> String {
    if followed.is_empty() { String::new() } else { format!(", with {followed}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    const HALL: &str = "name: Hall\ndescription: Stone.\nactions:\n- {label: Go, type: navigate, room: code/auth}\n- {label: List, type: query, tool: list_tasks, tool_params: {room: code/auth}}\n";
    const AUTH: &str = "name: Auth\ndescription: Keys.\nportals: [crypt]\n";
    const DRAWER: &str = "---\nwing: code\nroom: auth # here\nfiled: 2026-03-01\n---\n\nWords.\n";
    const DRAWER_NAME: &str = "01KJMM4N00F2JXHH4DQ7YF03TN-words.md";
    const SCROLL_NAME: &str = "01KJMM4N00F2JXHH4DQ7YF03TP-moss.md";

    fn home() -> TestHome {
        TestHome::new(&[
            ("palace.toml", "format = 1\nname = \"Keep\"\nentry = \"hall\"\n"),
            ("rooms/hall.yaml", HALL),
            ("rooms/code/auth.yaml", AUTH),
            ("rooms/code/crypt.yaml", "name: Crypt\ndescription: Dark.\nportals: [auth]\n"),
            (&format!("drawers/code/auth/{DRAWER_NAME}"), DRAWER),
            (&format!("scrolls/code/auth/{SCROLL_NAME}"), "---\ntitle: Moss\n---\n\nGreen.\n"),
            ("tasks/a.yaml", "title: Sweep\nroom: auth\n"),
            ("entities/person/ada.yaml", "name: Ada\ngenus: Person\n"),
        ])
    }

    fn move_to(home: &mut TestHome, name: &str, new: &str) -> Result<String, Refusal> {
        home.run(|it| move_item(it, name, new, ChangeMode::Commit)).map(|it| it.description)
    }

    #[test]
    fn drawers_queries_and_references_follow_a_renamed_room_in_its_wing() {
        let mut home = home();
        insta::assert_snapshot!(move_to(&mut home, "auth", "keys").unwrap(), @"room `code/auth` to `code/keys`, with 2 other rooms, 1 scroll, 1 drawer, 1 task");
        assert_eq!(home.read("rooms/hall.yaml").unwrap(), HALL.replace("auth", "keys"));
        assert_eq!(home.read("rooms/code/keys.yaml").unwrap(), AUTH);
        assert!(home.read("rooms/code/crypt.yaml").unwrap().contains("portals: [keys]"));
        let drawer = home.read(&format!("drawers/code/keys/{DRAWER_NAME}")).unwrap();
        assert_eq!(drawer, DRAWER.replace("auth", "keys"));
        assert!(home.read(&format!("scrolls/code/keys/{SCROLL_NAME}")).is_some());
        assert_eq!(home.read("tasks/a.yaml").unwrap(), "title: Sweep\nroom: code/keys\n");
    }

    #[test]
    fn a_renamed_wing_keeps_the_bare_slugs_between_its_rooms() {
        let mut home = home();
        insta::assert_snapshot!(move_to(&mut home, "code/", "software").unwrap(), @"wing `code` to `software`, with 2 rooms, 1 other room, 1 scroll, 1 drawer, 1 task");
        assert_eq!(home.read("rooms/software/auth.yaml").unwrap(), AUTH);
        assert!(home.read("rooms/software/crypt.yaml").unwrap().contains("portals: [auth]"));
        assert_eq!(home.read("rooms/hall.yaml").unwrap(), HALL.replace("code/", "software/"));
        let drawer = home.read(&format!("drawers/software/auth/{DRAWER_NAME}")).unwrap();
        assert_eq!(drawer, DRAWER.replace("code", "software"));
    }

    #[test]
    fn a_room_leaves_its_wing_and_its_drawers_stay_there() {
        let mut home = home();
        move_to(&mut home, "code/auth", "/").unwrap();
        assert_eq!(home.read("rooms/auth.yaml").unwrap(), AUTH);
        assert!(home.read(&format!("drawers/code/auth/{DRAWER_NAME}")).is_some());
    }

    #[test]
    fn a_scroll_an_entity_and_a_drawer_move() {
        let mut home = home();
        insta::assert_snapshot!(move_to(&mut home, "Moss", "Hall").unwrap(), @r#"scroll "Moss" from room `code/auth` to `hall`"#);
        assert!(home.read(&format!("scrolls/hall/{SCROLL_NAME}")).is_some());
        insta::assert_snapshot!(move_to(&mut home, "Ada", "Lovelace").unwrap(), @"entity Ada to Lovelace");
        assert!(home.read("entities/person/lovelace.yaml").is_some());
        insta::assert_snapshot!(move_to(&mut home, &DRAWER_NAME[..26], "code/crypt").unwrap(), @r#"drawer "Words." to code/crypt"#);
        let drawer = home.read(&format!("drawers/code/crypt/{DRAWER_NAME}")).unwrap();
        assert_eq!(drawer, DRAWER.replace("auth", "crypt"));
    }

    #[test]
    fn items_are_named_by_paths_with_the_folder_of_the_palace_and_by_the_ids_of_clients() {
        let mut home = home();
        move_to(&mut home, "keep/rooms/hall.yaml", "./rooms/code/hall.yaml").unwrap();
        assert!(home.read("rooms/code/hall.yaml").is_some());
        let id = format!("drawer_code_auth_{}", &DRAWER_NAME[..26]);
        move_to(&mut home, &id, "code/crypt").unwrap();
        assert!(home.read(&format!("drawers/code/crypt/{DRAWER_NAME}")).is_some());
    }

    #[test]
    fn a_dry_run_lists_the_edits_and_writes_nothing() {
        let mut home = home();
        let change = home.run(|it| move_item(it, "auth", "keys", ChangeMode::DryRun)).unwrap();
        assert_eq!(change.edits.len(), 9);
        assert_eq!(home.read("rooms/code/auth.yaml").unwrap(), AUTH);
    }

    #[test]
    fn an_impossible_move_is_refused_with_what_is_possible() {
        let mut home = home();
        home.write("rooms/code.yaml", "name: Code\n");
        let refused =
            |home: &mut TestHome, name, new| move_to(home, name, new).unwrap_err().to_string();
        let lines = [
            refused(&mut home, "code", "x"),
            refused(&mut home, "nope/", "x"),
            refused(&mut home, "code/", "/"),
            refused(&mut home, "attic", "x"),
            refused(&mut home, "auth", "Keys"),
            refused(&mut home, "auth", "crypt"),
            refused(&mut home, "hall", "hall"),
            refused(&mut home, "Moss", "attic"),
            refused(&mut home, &DRAWER_NAME[..26], "code"),
            refused(&mut home, "Sweep", "Dust"),
            refused(&mut home, "palace.toml", "x"),
        ];
        insta::assert_snapshot!(lines.join("\n"), @"
        `code` could be the wing (`code/`) or room code (`rooms/code.yaml`); write one of these two
        there is no wing `nope/`; there are `code/`
        `code/` is a wing, and its new name is a slug such as `west`; to move a room out of it, name the room: `palazzo mv code/ROOM /`
        no room, scroll, entity, task or file is called `attic`
        `Keys` is not a slug: it contains 'K', and only a-z, 0-9, _ and - may appear; try `keys`; the new name of a room is a slug, `wing/slug`, `wing/` to move the room into a wing, or `/` to move it out of its wing
        there is a room `code/crypt` already: choose another slug, or delete that room first
        the room is called `hall` already
        no room is called `attic`; existing rooms include `code`, `hall`, `code/auth`, `code/crypt`
        a drawer is filed under `WING/ROOM`, not `code`
        task 'Sweep' cannot be moved: its name is in its file, tasks/a.yaml; edit that file
        settings cannot be moved: its name is in its file, palace.toml; edit that file
        ");
    }
}
