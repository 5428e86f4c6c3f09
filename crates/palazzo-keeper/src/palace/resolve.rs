//! Resolves names: finds the item of the palace that a name means, be it a room, a scroll, an entity,
//! a task, a drawer or a file. Finds the folders of a wing, too, for the commands about the past.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use crate::Refusal;
use crate::palace::OpenPalace;
use palazzo_core::format::{
    PalacePath, drawer_wing_folder, file_of_item, item_or_settings_in_file, room_path,
};
use palazzo_core::model::{
    ItemId, ItemOrFile, Palace, Room, RoomId, RoomRef, ScrollId, Slug, did_you_mean,
    parse_drawer_id, quoted, quoted_unless_plain,
};
use palazzo_core::render;
use palazzo_core::render::join_names;

/// Maximum number of candidates in the refusal of an ambiguous name.
const MAX_CANDIDATES: usize = 8;

/// Maximum number of rooms in the refusal of a name that no room has.
const MAX_SUGGESTED_ROOMS: usize = 5;

/// The rooms that a name may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoomsMeant<'a> {
    /// Those that are built: they can be changed.
    Built,
    /// Those to which a visitor in this room can go: also rooms with drawers, and rooms that are not
    /// built but have a door. A part of the name is enough.
    WaysFrom(&'a RoomId),
}

/// An item, and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResolvedItem {
    pub(crate) item: ItemOrFile,
    pub(crate) file: String,
}

impl ResolvedItem {
    /// Returns an item with its file; `None` if the palace does not have it.
    pub(crate) fn new(palace: &Palace, id: ItemId) -> Option<Self> {
        let file = file_of_item(palace, &id)?;
        Some(Self { item: ItemOrFile::with_title(palace, id), file })
    }
}

/// Finds an item: a file by its path, in the palace or with the palace's folder, a room by slug or
/// name, a scroll by id or title, an entity by name or former name, a task by title, a process by
/// name, a drawer by id. Exact matches take precedence over matches in another case, these over
/// former names, genera and deleted items.
pub(crate) fn resolve_item(open: &mut OpenPalace, name: &str) -> Result<ResolvedItem, Refusal> {
    let name = name.trim();
    let mut items = present_items_named(open, name);
    if items.is_empty() {
        items = deleted_items_named(open, name)?;
    }
    require_one_item(open, name, &items)
}

/// Finds an item as [`resolve_item`] does, but no deleted one.
pub(crate) fn resolve_present_item(open: &OpenPalace, name: &str) -> Result<ResolvedItem, Refusal> {
    let name = name.trim();
    require_one_item(open, name, &present_items_named(open, name))
}

/// Resolves a reference to a room that is built.
pub(crate) fn require_room(open: &OpenPalace, room: &RoomRef) -> Result<RoomId, Refusal> {
    let id = open.palace.resolve_present_room(room, None)?;
    match open.palace.room(&id) {
        Some(_) => Ok(id),
        None => Err(no_such_room_refusal(open, &id)),
    }
}

/// Finds a room by its slug or full name, else by its display name, else by the words of a name.
pub(crate) fn resolve_room(
    open: &OpenPalace,
    name: &str,
    meant: RoomsMeant<'_>,
) -> Result<RoomId, Refusal> {
    let (palace, name) = (&open.palace, name.trim());
    let reference = name.parse::<RoomRef>().ok();
    let by_slug = match meant {
        RoomsMeant::Built => reference.map(|it| palace.resolve_present_room(&it, None)),
        RoomsMeant::WaysFrom(here) => reference.map(|it| palace.resolve_room(&it, Some(here))),
    };
    if let Some(Ok(room)) = &by_slug
        && meant.include(palace, room)
    {
        return Ok(room.clone());
    }
    let mut named = rooms_with_name(palace, name);
    if named.is_empty() && meant != RoomsMeant::Built {
        named = find_drawer_rooms(palace, name);
    }
    if named.is_empty() && meant != RoomsMeant::Built {
        named.extend(only_room_with_words(palace, name));
    }
    match (named.as_slice(), by_slug) {
        ([only], _) => Ok(only.clone()),
        ([], Some(Err(ambiguous))) => Err(ambiguous.into()),
        ([], Some(Ok(room))) => match open.file_error(&room_path(&room)) {
            Some(finding) => Err(Refusal::UnreadableFile(finding.clone().into())),
            None => Err(meant.unknown_room_refusal(palace, room.to_string())),
        },
        ([], None) => Err(meant.unknown_room_refusal(palace, name.to_owned())),
        (several, _) => Err(Refusal::AmbiguousName {
            sentence: "several rooms are called",
            name: name.to_owned(),
            advice: ": write one of ",
            candidates: several.iter().map(|it| format!("`{it}`")).collect(),
        }),
    }
}

impl RoomsMeant<'_> {
    /// Returns whether the slug of a room can mean it.
    fn include(self, palace: &Palace, room: &RoomId) -> bool {
        match self {
            Self::Built => palace.room(room).is_some(),
            Self::WaysFrom(_) => {
                palace.is_enterable_room(room) || palace.rooms_linking_to(room).next().is_some()
            }
        }
    }

    /// Returns the refusal of a name that no room has, with the most similar one and the first rooms.
    fn unknown_room_refusal(self, palace: &Palace, asked: String) -> Refusal {
        let rooms = match self {
            Self::Built => palace.rooms().map(|(id, _)| id).collect(),
            Self::WaysFrom(_) => palace.enterable_rooms(),
        };
        let names = rooms.iter().flat_map(|it| [it.slug.to_string(), palace.room_name(it)]);
        let names: Vec<_> = names.collect();
        let meant = did_you_mean(&asked, names.iter().map(String::as_str)).map(str::to_owned);
        let rooms = rooms.iter().take(MAX_SUGGESTED_ROOMS).map(ToString::to_string).collect();
        Refusal::NoSuchRoom { asked, meant, rooms }
    }
}

/// Returns the built rooms with this display name, whatever its case. Without one, returns those
/// whose display name or slug has the same words, in any order and with any punctuation.
pub(crate) fn rooms_with_name(palace: &Palace, name: &str) -> Vec<RoomId> {
    let words = sorted_words(name);
    let has_words = |text: &str| !words.is_empty() && sorted_words(text) == words;
    let rooms_such_that = |is_named: &dyn Fn(&RoomId, &Room) -> bool| {
        let rooms = palace.rooms().filter(|(id, room)| is_named(id, room));
        rooms.map(|(id, _)| id.clone()).collect::<Vec<_>>()
    };
    let same = rooms_such_that(&|_, room| room.name.to_lowercase() == name.to_lowercase());
    match same.is_empty() {
        true => rooms_such_that(&|id, room| has_words(&room.name) || has_words(&id.to_string())),
        false => same,
    }
}

/// Returns the only built room whose display name or slug has all these words, and maybe others.
fn only_room_with_words(palace: &Palace, name: &str) -> Option<RoomId> {
    let words = sorted_words(name);
    let has_words = |text: &str| {
        let all = sorted_words(text);
        words.iter().all(|it| all.contains(it))
    };
    let mut rooms =
        palace.rooms().filter(|(id, it)| has_words(&it.name) || has_words(&id.to_string()));
    let only = rooms.next().filter(|_| !words.is_empty())?.0.clone();
    rooms.next().is_none().then_some(only)
}

fn sorted_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let mut words: Vec<_> = words.map(str::to_owned).collect();
    words.sort_unstable();
    words
}

/// Finds rooms with drawers by the room's slug or name, or by `wing/room`, in any case.
fn find_drawer_rooms(palace: &Palace, text: &str) -> Vec<RoomId> {
    let text = text.to_lowercase();
    let same = |it: &str| it.to_lowercase() == text;
    let drawers = &palace.drawers;
    let is_named = |id: &&RoomId| {
        let (wing, name) = (id.wing.as_ref(), drawers.room_name(id).unwrap_or_default());
        let wing = wing.and_then(|it| drawers.wing_name(it)).unwrap_or_default();
        same(id.slug.as_str()) || same(name) || same(&format!("{wing}/{name}"))
    };
    drawers.rooms().filter(is_named).cloned().collect()
}

/// Returns the refusal for a room that does not exist, or whose file is broken. It suggests slugs,
/// for callers that take nothing else.
pub(crate) fn no_such_room_refusal(open: &OpenPalace, id: &RoomId) -> Refusal {
    match open.file_error(&room_path(id)) {
        Some(finding) => Refusal::UnreadableFile(finding.clone().into()),
        None => {
            let rooms = || open.palace.rooms().map(|(id, _)| id);
            let meant = did_you_mean(id.slug.as_str(), rooms().map(|it| it.slug.as_str()));
            let meant = meant.map(str::to_owned);
            let rooms = rooms().take(MAX_SUGGESTED_ROOMS).map(ToString::to_string).collect();
            Refusal::NoSuchRoom { asked: id.to_string(), meant, rooms }
        }
    }
}

fn require_one_item(
    open: &OpenPalace,
    name: &str,
    items: &[ResolvedItem],
) -> Result<ResolvedItem, Refusal> {
    match items {
        [only] => Ok(only.clone()),
        [] => Err(item_not_found_refusal(open, name)),
        several => Err(ambiguous_name_refusal(name, several)),
    }
}

/// Lists the existing items that a name can mean.
fn present_items_named(open: &OpenPalace, name: &str) -> Vec<ResolvedItem> {
    if let Some(file) = find_item_by_path(open, name) {
        return vec![file];
    }
    let mut items = items_with_name(&open.palace, name);
    let by_path = || find_item_by_path(open, &path_in_palace(open, name)?);
    if items.is_empty() {
        items = by_path().into_iter().collect();
    }
    if items.is_empty() && !open.palace.settings.note_folders.is_empty() {
        let notes = open.note_links().notes_named(name);
        let notes = notes.map(|it| ItemId::Drawer(it.to_owned()));
        items = notes.filter_map(|it| ResolvedItem::new(&open.palace, it)).collect();
    }
    items
}

/// Returns whether an existing item has this name.
pub(crate) fn is_item(open: &OpenPalace, name: &str) -> bool {
    !present_items_named(open, name.trim()).is_empty()
}

/// Lists the items of a palace with a name: exact matches, else matches in another case, else
/// entities that had the name before, else genera.
pub(crate) fn items_with_name(palace: &Palace, name: &str) -> Vec<ResolvedItem> {
    let lower = name.to_lowercase();
    let mut items = items_named(palace, name, |it| it == name);
    if items.is_empty() {
        items = items_named(palace, &lower, |it| it.to_lowercase() == lower);
    }
    if items.is_empty() {
        items = entities_formerly_named(palace, name);
    }
    if items.is_empty() {
        items = genera_named(palace, &lower);
    }
    items
}

/// Finds an existing file by its path.
fn find_item_by_path(open: &OpenPalace, name: &str) -> Option<ResolvedItem> {
    let exists = || open.store().read_file(name).is_ok_and(|it| it.is_some());
    let item = item_or_settings_in_file(&open.palace, name);
    let item = item.or_else(|| exists().then(|| ItemOrFile::File(name.to_owned())))?;
    Some(ResolvedItem { item, file: name.to_owned() })
}

/// Lists the items of a palace with a matching name.
fn items_named(palace: &Palace, name: &str, same: impl Fn(&str) -> bool) -> Vec<ResolvedItem> {
    let rooms = rooms_named(palace, name, &same).into_iter().map(ItemId::Room);
    let scrolls = palace.scrolls().filter(|(_, it)| same(&it.title) || same(&it.id.to_string()));
    let scrolls =
        scrolls.map(|(room, it)| ItemId::Scroll(ScrollId { room: room.clone(), id: it.id }));
    let entities = palace.graph.iter().filter(|it| same(&it.name));
    let entities = entities.map(|it| ItemId::Entity(it.name.clone()));
    let id = parse_drawer_id(name);
    let drawers = id.into_iter().flat_map(|id| palace.drawers.files_with_id(id));
    let drawers = drawers.map(|file| ItemId::Drawer(file.to_owned()));
    let tasks = palace.tasks.iter().filter(|(_, it)| same(&it.title));
    let tasks = tasks.map(|(file, _)| ItemId::Task(file.clone()));
    let processes = palace.processes.iter().filter(|(_, it)| same(&it.name));
    let processes = processes.map(|(file, _)| ItemId::Process(file.clone()));
    let items = rooms.chain(scrolls).chain(entities).chain(drawers).chain(tasks).chain(processes);
    items.filter_map(|it| ResolvedItem::new(palace, it)).collect()
}

/// Lists the entities that had a name before.
fn entities_formerly_named(palace: &Palace, name: &str) -> Vec<ResolvedItem> {
    let entities = palace.graph.entities_formerly_named(name);
    let entities = entities.map(|it| ItemId::Entity(it.name.clone()));
    entities.filter_map(|it| ResolvedItem::new(palace, it)).collect()
}

/// Lists the genera with a definition whose name, in lower case, is `lower`.
fn genera_named(palace: &Palace, lower: &str) -> Vec<ResolvedItem> {
    let genera = palace.graph.genus_definitions().filter(|it| it.name.to_lowercase() == lower);
    let genera = genera.map(|it| ItemId::Genus(it.name.clone()));
    genera.filter_map(|it| ResolvedItem::new(palace, it)).collect()
}

/// Lists the rooms with a matching slug or, if there is none, with a matching name.
fn rooms_named(palace: &Palace, name: &str, same: impl Fn(&str) -> bool) -> Vec<RoomId> {
    let reference = name.parse::<RoomRef>().ok();
    match reference.map(|it| palace.resolve_room(&it, None)) {
        Some(Ok(id)) if palace.room(&id).is_some() => vec![id],
        Some(Err(ambiguous)) => ambiguous.candidates,
        _ => palace.rooms().filter(|(_, it)| same(&it.name)).map(|(id, _)| id.clone()).collect(),
    }
}

/// Lists the files of the history with a matching name: deleted ones, and files without an item.
fn deleted_items_named(open: &mut OpenPalace, name: &str) -> Result<Vec<ResolvedItem>, Refusal> {
    open.update_file_history_cache()?;
    let slug = Slug::from_text(name).map(|it| it.to_string());
    let path_inside = path_in_palace(open, name);
    let id = parse_drawer_id(name).map(|it| it.to_string().to_lowercase());
    let is_match = |path: &str| match PalacePath::parse(path) {
        _ if path == name || Some(path) == path_inside.as_deref() => true,
        Ok(PalacePath::Room(id)) => id.to_string() == name || id.slug.as_str() == name,
        Ok(PalacePath::Scroll(_) | PalacePath::Drawer(_)) => {
            let file_name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
            id.as_ref().is_some_and(|it| file_name.starts_with(it))
        }
        Ok(PalacePath::Entity) => {
            let file_name = path.rsplit('/').next().unwrap_or_default();
            slug.is_some() && file_name.strip_suffix(".yaml") == slug.as_deref()
        }
        _ => false,
    };
    let paths = open.file_histories().keys().filter(|it| is_match(it));
    let resolved = |path: &String| {
        let item = match PalacePath::parse(path) {
            Ok(PalacePath::Room(id)) => ItemOrFile::Item { id: ItemId::Room(id), title: None },
            _ => ItemOrFile::File(path.clone()),
        };
        ResolvedItem { item, file: path.clone() }
    };
    Ok(paths.map(resolved).collect())
}

fn ambiguous_name_refusal(name: &str, several: &[ResolvedItem]) -> Refusal {
    let describe = |it: &ResolvedItem| {
        format!("{} ({})", render::item_label(&it.item), quoted_unless_plain(&it.file))
    };
    let listed: Vec<_> = several.iter().take(MAX_CANDIDATES).map(describe).collect();
    let more = several.len() - listed.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (name, listed) = (quoted(name), listed.join(", "));
    Refusal::Invalid(format!("{name} could be {listed}{more}; give the path of the file instead"))
}

fn item_not_found_refusal(open: &OpenPalace, name: &str) -> Refusal {
    let palace = &open.palace;
    let rooms = palace.rooms().flat_map(|(id, it)| [id.slug.as_str(), it.name.as_str()]);
    let scrolls = palace.scrolls().map(|(_, it)| it.title.as_str());
    let tasks = palace.tasks.values().map(|it| it.title.as_str());
    let work = tasks.chain(palace.processes.values().map(|it| it.name.as_str()));
    let entities = palace.graph.iter().map(|it| it.name.as_str());
    let names = rooms.chain(scrolls).chain(entities).chain(work);
    let meant = did_you_mean(name, names);
    let hint = meant.map(|it| format!("; did you mean {}?", join_names(&[it.to_owned()])));
    let commit = open.store().as_of_commit().map(|it| format!(" at {}", it.short));
    let (commit, hint) = (commit.unwrap_or_default(), hint.unwrap_or_default());
    let name = quoted(name);
    Refusal::Invalid(format!(
        "no room, scroll, entity, task or file is called {name}{commit}{hint}"
    ))
}

/// Returns the path in the palace that `name` can mean besides itself: `survey/rooms/hall.yaml` and
/// `./rooms/hall.yaml` mean `rooms/hall.yaml` in the palace `survey`, as an absolute path does.
pub(crate) fn path_in_palace(open: &OpenPalace, name: &str) -> Option<String> {
    let path = Path::new(name.trim());
    let inside = match path.is_absolute() {
        true => open.store().path_below_palace(path)?,
        false => path_below_folder(open.store().palace_folder(), path)?,
    };
    Some(inside).filter(|it| !it.is_empty() && it != name)
}

/// Returns a relative path without the last folders of `folder` that it begins with.
fn path_below_folder(folder: &Path, path: &Path) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_str()?),
            Component::ParentDir => drop(names.pop()),
            _ => {}
        }
    }
    let begins_with_folder =
        |it: &usize| folder.ends_with(names[..*it].iter().collect::<std::path::PathBuf>());
    let named = (1..names.len()).rev().find(begins_with_folder);
    Some(names[named.unwrap_or(0)..].join("/"))
}

/// Returns the folders with the files of the wing that `name` names, as `code/`, each with a slash
/// at its end; `None` if `name` is no name of a wing, or no file was ever in such a wing.
pub(crate) fn folders_of_wing(
    open: &mut OpenPalace,
    name: &str,
) -> Result<Option<BTreeSet<String>>, Refusal> {
    let wing = name.trim().strip_suffix('/').and_then(|it| it.parse::<Slug>().ok());
    let Some(wing) = wing else { return Ok(None) };
    open.update_file_history_cache()?;
    let present = open.palace.scroll_files().map(|(path, _)| path);
    let paths = open.file_histories().keys().map(String::as_str).chain(present);
    let is_room = |it: &RoomId| it.wing.as_ref() == Some(&wing);
    let texts = paths.filter_map(|it| match PalacePath::parse(it) {
        Ok(PalacePath::Scroll(room)) if is_room(&room) => Some(format!("scrolls/{room}/")),
        Ok(PalacePath::Drawer(room)) if is_room(&room) => Some(drawer_wing_folder(it)),
        _ => None,
    });
    let mut folders: BTreeSet<_> = texts.collect();
    folders.extend(["rooms", "drawers"].map(|it| format!("{it}/{wing}/")));
    let is_known = open.palace.rooms().any(|(id, _)| is_room(id))
        || open.file_histories().keys().any(|path| is_in_folders(path, &folders));
    Ok(is_known.then_some(folders))
}

/// Returns whether a file is in one of these folders, or is one of these files.
pub(crate) fn is_in_folders<'p>(file: &str, paths: impl IntoIterator<Item = &'p String>) -> bool {
    let mut paths = paths.into_iter();
    paths.any(|it| it == file || (it.ends_with('/') && file.starts_with(it.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    const ROOM: &str = "name: Well\ndescription: Deep.\n";
    const WELLS: [(&str, &str); 4] = [
        ("rooms/east/well.yaml", ROOM),
        ("rooms/west/well.yaml", ROOM),
        ("rooms/old-well.yaml", "name: The old well\ndescription: Dry.\n"),
        ("rooms/hall.yaml", "name: Hall\ndescription: Stone.\nportals: [attic]\n"),
    ];

    /// Returns the room that a name means, or the refusal: for a change, and for a visitor.
    fn meant(name: &str) -> [String; 2] {
        TestHome::new(&WELLS).run(|session| {
            let here = "west/cellar".parse().unwrap();
            [RoomsMeant::Built, RoomsMeant::WaysFrom(&here)].map(|it| {
                let room = resolve_room(session.palace, name, it);
                room.map_or_else(|it| it.to_string(), |it| it.to_string())
            })
        })
    }

    #[test]
    fn a_room_is_found_by_slug_then_by_name_then_by_the_words_of_its_name() {
        for name in ["old-well", " The OLD well ", "well, old the"] {
            assert_eq!(meant(name), ["old-well"; 2]);
        }
        let [change, visit] = meant("old");
        assert!(change.starts_with("no room is called `old`"), "{change}");
        assert_eq!(visit, "old-well");
    }

    #[test]
    fn a_visitor_means_the_room_of_the_own_wing_and_may_go_to_a_room_that_is_not_built() {
        let [change, visit] = meant("well");
        let ambiguous = "several rooms are called `well`: write one of `east/well`, `west/well`";
        assert_eq!((change.as_str(), visit.as_str()), (ambiguous, "west/well"));
        let [change, visit] = meant("attic");
        assert!(change.starts_with("no room is called `attic`"), "{change}");
        assert_eq!(visit, "attic");
    }

    #[test]
    fn a_caller_that_takes_only_slugs_gets_only_slugs_suggested() {
        let rooms = [("rooms/ren.yaml", "name: Attic\ndescription: Dusty.\n")];
        let refusal = TestHome::new(&rooms)
            .run(|it| require_room(it.palace, &"attic".parse().unwrap()).unwrap_err().to_string());
        assert_eq!(refusal, "no room is called `attic`; existing rooms include `ren`");
    }

    fn inside(path: &str) -> String {
        path_below_folder(Path::new("/home/ada/survey"), Path::new(path)).unwrap()
    }

    #[test]
    fn the_folders_of_the_palace_are_left_out() {
        let hall = "rooms/hall.yaml";
        for before in ["", "./", "survey/", "ada/survey/", "../survey/", "../", "x/../survey/"] {
            assert_eq!(inside(&format!("{before}{hall}")), hall);
        }
        assert_eq!(inside("home/survey/rooms/hall.yaml"), "home/survey/rooms/hall.yaml");
        assert_eq!(inside("other/rooms/hall.yaml"), "other/rooms/hall.yaml");
        assert_eq!(inside("survey"), "survey");
    }
}
