//! What a file is by where it lies, and where a thing's file lies.

use chrono::{DateTime, Utc};

use crate::format::front_matter;
use crate::model::{
    Code, Diagnostic, Diaries, Drawer, Drawers, Entity, Entry, Graph, Palace, RoomId, Scroll,
    Shelf, Slug, SlugError,
};

/// No folder of entity files grows past this: a change to one file of a flat
/// folder of ten thousand costs twice what it costs here.
const FULL: usize = 1_000;

/// What a file of a palace is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `palace.toml`.
    Settings,
    /// `rooms/<slug>.yaml` or `rooms/<wing>/<slug>.yaml`.
    Room(RoomId),
    /// A Markdown file below `scrolls/<slug>/` or `scrolls/<wing>/<slug>/`.
    Scroll(RoomId),
    /// A Markdown file below `drawers/<wing>/<slug>/`.
    Drawer(RoomId),
    /// A Markdown file below `diary/<agent>/`.
    Diary(Slug),
    /// A YAML file below `entities/`.
    Entity,
    /// A YAML file below `genera/`.
    Genus,
    /// A YAML file below `tasks/`.
    Task,
    /// A YAML file below `processes/`.
    Process,
    /// Something this version does not read.
    Other,
}

impl Place {
    /// The file that makes a folder a palace.
    pub const SETTINGS: &'static str = "palace.toml";

    /// Tells what the file at `path` is; a finding if its name is none such a
    /// file may have.
    pub fn of(path: &str) -> Result<Self, Diagnostic> {
        if path == Self::SETTINGS {
            return Ok(Self::Settings);
        }
        let named = |name: &str, is: fn(RoomId) -> Self, hint: &str| match name.parse::<RoomId>() {
            Ok(id) => Ok(is(id)),
            Err(err) => Err(misnamed(path, &err).with_hint(hint)),
        };
        let (file_name, folder_name) = ("rename the file", "rename the folder");
        let (folder, rest) = path.split_once('/').unwrap_or(("", path));
        match (folder, rest.strip_suffix(".yaml"), rest.strip_suffix(".md")) {
            ("rooms", Some(room), _) => named(room, Self::Room, file_name),
            ("scrolls", _, Some(scroll)) => match scroll.rsplit_once('/') {
                Some((room, _)) => named(room, Self::Scroll, file_name),
                None => Err(lost(path, "a scroll hangs in a room", "move it to `scrolls/<room>/`")),
            },
            ("drawers", _, Some(drawer)) => match drawer.splitn(3, '/').collect::<Vec<_>>()[..] {
                [wing, room, _] => named(&format!("{wing}/{room}"), Self::Drawer, folder_name),
                _ => Err(lost(
                    path,
                    "a drawer is filed under a wing and a room",
                    "move it to `drawers/<wing>/<room>/`",
                )),
            },
            ("diary", _, Some(entry)) => match entry.split_once('/') {
                Some((agent, _)) => {
                    let agent = agent.split('/').next().unwrap_or_default().parse();
                    let refused = |err| misnamed(path, &err).with_hint(folder_name);
                    agent.map(Self::Diary).map_err(refused)
                }
                None => Err(lost(path, "a diary is somebody's", "move it to `diary/<agent>/`")),
            },
            ("entities", Some(_), _) => Ok(Self::Entity),
            ("genera", Some(_), _) => Ok(Self::Genus),
            ("tasks", Some(_), _) => Ok(Self::Task),
            ("processes", Some(_), _) => Ok(Self::Process),
            _ => Ok(Self::Other),
        }
    }
}

/// Returns the file of a room.
pub fn room_file(id: &RoomId) -> String {
    format!("rooms/{id}.yaml")
}

/// Returns the file of a new scroll.
pub fn scroll_file(room: &RoomId, it: &Scroll) -> String {
    let title = if Slug::of(&it.title).is_some() { it.title.as_str() } else { "scroll" };
    format!("scrolls/{room}/{}", front_matter::file_name(it.id, title))
}

/// Returns the room whose folder a shelf's drawers lie in: the one they lie in
/// already, else one of its own. `code` and `Code` are two wings, and two wings
/// never share a folder that was made here.
pub fn drawer_room(palace: &Palace, shelf: &Shelf) -> RoomId {
    let drawers = &palace.drawers;
    let known = drawers.shelves().find(|(it, ..)| it == shelf);
    if let Some((_, room, _)) = known {
        return room.clone();
    }
    let wing = Slug::named(&shelf.wing, "wing");
    let wing = wing.first_that(|it| drawers.wing_name(it).is_none_or(|name| name == shelf.wing));
    let id = |slug: &Slug| RoomId { wing: Some(wing.clone()), slug: slug.clone() };
    // A room that somebody has built and named so is the one that is meant.
    let mut built = palace.rooms().filter(|(it, _)| it.wing.as_ref() == Some(&wing));
    if let Some((built, _)) = built.find(|(_, it)| it.name == shelf.room) {
        return built.clone();
    }
    let is_free = |it: &Slug| drawers.room_name(&id(it)).is_none_or(|name| name == shelf.room);
    id(&Slug::named(&shelf.room, "room").first_that(is_free))
}

/// Returns the file of a new drawer in the folder of `room`; `joining` says how
/// many others join a folder with it.
pub fn drawer_file(
    drawers: &Drawers,
    room: &RoomId,
    it: &Drawer,
    joining: impl Fn(&str) -> usize,
) -> String {
    let at = it.filed.unwrap_or_else(|| it.id.datetime().into());
    let folder = roomy(&format!("drawers/{room}"), at, |it| drawers.files_in(it) + joining(it));
    format!("{folder}/{}", front_matter::file_name(it.id, &it.text))
}

/// Returns the file of a new entry in the diary of `agent`; `joining` tells how
/// many others are about to join a folder.
pub fn diary_file(
    diaries: &Diaries,
    agent: &str,
    it: &Entry,
    joining: impl Fn(&str) -> usize,
) -> String {
    let own = diaries.folder_of(agent).cloned();
    let free = || Slug::named(agent, "agent").first_that(|it| !diaries.has_folder(it));
    let folder = own.unwrap_or_else(free);
    let at = it.written.unwrap_or_else(|| it.id.datetime().into());
    let lies_in = |file: &str, folder: &str| file.rsplit_once('/').is_some_and(|it| it.0 == folder);
    let files_in = |folder: &str| diaries.of(agent).filter(|(it, _)| lies_in(it, folder)).count();
    let folder = roomy(&format!("diary/{folder}"), at, |it| files_in(it) + joining(it));
    format!("{folder}/{}", front_matter::file_name(it.id, &it.topic))
}

/// Returns `folder`, or when it is full one of the month below it: `2026-03`,
/// then `2026-03-2`.
fn roomy(folder: &str, at: DateTime<Utc>, files_in: impl Fn(&str) -> usize) -> String {
    let month = format!("{folder}/{}", at.format("%Y-%m"));
    let more = (2..).map(|it: usize| format!("{month}-{it}"));
    let mut folders = [folder.to_owned(), month.clone()].into_iter().chain(more);
    folders.find(|it| files_in(it) < FULL).unwrap_or_else(|| folder.to_owned())
}

/// Returns the file of a new entity: named for it, and no file of another's.
/// `taken` tells of files that exist besides those the graph knows, `joining`
/// how many are about to join a folder.
pub fn entity_file(
    graph: &Graph,
    entity: &Entity,
    taken: impl Fn(&str) -> bool,
    joining: impl Fn(&str) -> usize,
) -> String {
    let flat = genus_folder(entity);
    // When a genus outgrows its folder, further entities go into 256 sub-folders.
    let folder = if graph.files_in(&flat) + joining(&flat) < FULL {
        flat
    } else {
        format!("{flat}/{}", shard(&entity.name))
    };
    let name = stem(entity);
    let free = |it: &String| !graph.has_file(it) && !taken(it);
    let first = format!("{folder}/{name}.yaml");
    // A few twins are told apart by number. Where thousands have names that no
    // slug tells apart, counting on would cost each the number of all.
    let counted = (2..10).map(|it| format!("{folder}/{name}-{it}.yaml"));
    let summed = (1..).map(|it| format!("{folder}/{name}-{:08x}.yaml", sum(it, &entity.name)));
    let mut others = counted.chain(summed);
    if free(&first) { first } else { others.find(free).unwrap_or(first) }
}

/// Tells whether a file is one of those that [`entity_file`] would choose for an
/// entity.
pub fn is_entity_file(file: &str, entity: &Entity) -> bool {
    let name = file.strip_prefix(&genus_folder(entity)).and_then(|it| it.strip_prefix('/'));
    let shard = format!("{}/", shard(&entity.name));
    let name = name.map(|it| it.strip_prefix(&shard).unwrap_or(it));
    let Some(rest) = name.and_then(|it| it.strip_prefix(&stem(entity))) else { return false };
    let is_number = |it: &str| {
        let digits = it.strip_prefix('-').unwrap_or_default();
        matches!(digits.len(), 1 | 8) && digits.bytes().all(|it| it.is_ascii_hexdigit())
    };
    rest.strip_suffix(".yaml").is_some_and(|it| it.is_empty() || is_number(it))
}

fn genus_folder(entity: &Entity) -> String {
    if !entity.is_defined {
        return "entities/undefined".to_owned();
    }
    let genus = Slug::of(&entity.genus).map(|it| it.to_string());
    format!("entities/{}", genus.unwrap_or_else(|| "other".to_owned()))
}

fn stem(entity: &Entity) -> String {
    let name = Slug::of(&entity.name).map_or_else(|| "entity".to_owned(), |it| it.to_string());
    name.chars().take(60).collect()
}

fn shard(name: &str) -> String {
    format!("{:02x}", sum(0, name) % 256)
}

/// Returns a number that another name seldom has, another for each `seed`.
fn sum(seed: u32, name: &str) -> u32 {
    name.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
}

fn misnamed(path: &str, err: &SlugError) -> Diagnostic {
    Diagnostic::of_file(Code::FileName, path, err.to_string())
}

fn lost(path: &str, why: &str, hint: &str) -> Diagnostic {
    Diagnostic::of_file(Code::Misplaced, path, why).with_hint(hint)
}
