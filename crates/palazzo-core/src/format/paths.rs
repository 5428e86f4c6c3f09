//! The kind of a file by its path, and the paths of new files.

use chrono::{DateTime, Utc};

use crate::format::front_matter;
use crate::model::{
    Code, Diagnostic, Diaries, DiaryEntry, DisplayWingRoom, DocumentProperties, Drawer, Drawers,
    Entity, FileKind, Graph, PALACE_FOLDERS, Palace, RoomId, Scroll, SideFile, Slug, SlugError,
    is_editor_file, is_markdown_file, quoted_unless_plain, side_file,
};

/// Maximum number of files in a folder of entity files: changing one file in a flat folder of
/// 10,000 costs twice as much as in one of this size.
const MAX_FOLDER_FILES: usize = 1_000;

/// The wing or the room of drawers that are not in a folder of one.
const TOP_FOLDER: &str = "notes";

/// The kind of a file of a palace, from its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PalacePath {
    /// `palace.toml`.
    Settings,
    /// `rooms/<slug>.yaml` or `rooms/<wing>/<slug>.yaml`.
    Room(RoomId),
    /// A Markdown file below `scrolls/<slug>/` or `scrolls/<wing>/<slug>/`.
    Scroll(RoomId),
    /// A Markdown file below `drawers/<wing>/<slug>/`, or in folders with any names, as of the vault
    /// of another program.
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
    /// A YAML file below `conflicts/`.
    Conflict,
    /// A file that this version does not read.
    Other,
}

impl PalacePath {
    /// The name of the file that makes a folder a palace.
    pub const SETTINGS_FILE: &'static str = "palace.toml";

    /// Returns the kind of the file at `path`, or a finding if its name is invalid for its kind.
    pub fn parse(path: &str) -> Result<Self, Diagnostic> {
        check_is_no_editor_file(path)?;
        let named = |name: &str, is: fn(RoomId) -> Self, hint: &str| match name.parse::<RoomId>() {
            Ok(id) => Ok(is(id)),
            Err(err) => Err(bad_name_finding(path, &err, hint)),
        };
        let misplaced = |message: &str, hint: &str| Err(misplaced_finding(path, message, hint));
        let (file_name, folder_name) = ("rename the file", "rename the folder");
        let (folder, rest) = path.split_once('/').unwrap_or(("", path));
        match (folder, rest.strip_suffix(".yaml"), rest.strip_suffix(".md")) {
            _ if path == Self::SETTINGS_FILE => Ok(Self::Settings),
            ("rooms", Some(room), _) => named(room, Self::Room, file_name),
            ("scrolls", _, Some(scroll)) => match scroll.rsplit_once('/') {
                Some((room, _)) => named(room, Self::Scroll, file_name),
                None => misplaced("a scroll belongs to a room", "move it to `scrolls/<room>/`"),
            },
            ("drawers", ..) if is_markdown_file(rest) => {
                Ok(Self::Drawer(room_of_drawer_path(path)))
            }
            ("diary", _, Some(entry)) => match entry.split_once('/') {
                Some((agent, _)) => {
                    let agent = agent.split('/').next().unwrap_or_default().parse();
                    let refused = |err| bad_name_finding(path, &err, folder_name);
                    agent.map(Self::Diary).map_err(refused)
                }
                None => {
                    misplaced("a diary entry belongs to an agent", "move it to `diary/<agent>/`")
                }
            },
            ("entities", Some(_), _) => Ok(Self::Entity),
            ("genera", Some(_), _) => Ok(Self::Genus),
            ("tasks", Some(_), _) => Ok(Self::Task),
            ("processes", Some(_), _) => Ok(Self::Process),
            ("conflicts", Some(_), _) => Ok(Self::Conflict),
            _ => Ok(Self::Other),
        }
    }
}

/// Returns the kind of the file at `path`; `None` if it is none that this version reads.
pub fn file_kind(path: &str) -> Option<FileKind> {
    Some(match PalacePath::parse(path).ok()? {
        PalacePath::Settings => FileKind::Palace,
        PalacePath::Room(_) => FileKind::Room,
        PalacePath::Scroll(_) => FileKind::Scroll,
        PalacePath::Drawer(_) => FileKind::Drawer,
        PalacePath::Diary(_) => FileKind::Diary,
        PalacePath::Entity => FileKind::Entity,
        PalacePath::Genus => FileKind::Genus,
        PalacePath::Task => FileKind::Task,
        PalacePath::Process => FileKind::Process,
        PalacePath::Conflict => FileKind::Conflict,
        PalacePath::Other => return None,
    })
}

/// Returns whether a path is that of a file with an item, inside the palace: `resolve` may write
/// it, and conflicts may come from other machines.
pub fn is_item_path(path: &str) -> bool {
    let is_name = |it: &str| !it.is_empty() && it != "." && it != "..";
    let is_plain = !path.contains(|it: char| it == '\\' || it.is_control());
    let is_inside = path.split('/').all(is_name) && is_plain;
    let is_item = |it: PalacePath| !matches!(it, PalacePath::Conflict | PalacePath::Other);
    is_inside && PalacePath::parse(path).is_ok_and(is_item)
}

/// Returns the path of a drawer below the folder of its room.
pub fn drawer_path_in_room(path: &str) -> &str {
    split_drawer_path(path).2
}

/// Returns the folder of a drawer's wing, or the path if it is in none.
pub fn drawer_wing_folder(path: &str) -> String {
    match split_drawer_path(path) {
        (Some(wing), ..) => format!("drawers/{wing}/"),
        (None, ..) => path.to_owned(),
    }
}

fn room_of_drawer_path(path: &str) -> RoomId {
    let (wing, room, _) = split_drawer_path(path);
    let slug = |name: Option<&str>, kind| {
        let name = name.unwrap_or(TOP_FOLDER);
        name.parse().unwrap_or_else(|_| Slug::from_text_or_kind(name, kind))
    };
    RoomId { wing: Some(slug(wing, "wing")), slug: slug(room, "room") }
}

/// Splits the path of a drawer into the folders of wing and room and the rest.
fn split_drawer_path(path: &str) -> (Option<&str>, Option<&str>, &str) {
    let below = path.strip_prefix("drawers/").unwrap_or(path);
    match below.splitn(3, '/').collect::<Vec<_>>()[..] {
        [wing, room, rest] => (Some(wing), Some(room), rest),
        [wing, rest] => (Some(wing), None, rest),
        _ => (None, None, below),
    }
}

/// Returns the path of a room.
pub fn room_path(id: &RoomId) -> String {
    format!("rooms/{id}.yaml")
}

/// Returns the path of a new scroll.
pub fn new_scroll_path(room: &RoomId, it: &Scroll) -> String {
    let title = if Slug::from_text(&it.title).is_some() { it.title.as_str() } else { "scroll" };
    format!("scrolls/{room}/{}", front_matter::filename_from_id_and_title(it.id, title))
}

/// Returns the room in whose folder drawers of a wing and room are stored: the one they are in
/// already, else a new one. `code` and `Code` are two wings, and two wings never share a folder
/// that was made here.
pub fn choose_drawer_room(palace: &Palace, wing_room: &DisplayWingRoom) -> RoomId {
    let drawers = &palace.drawers;
    let existing = drawers.wing_room_counts().find(|(it, ..)| it == wing_room);
    if let Some((_, room, _)) = existing {
        return room.clone();
    }
    let wing = Slug::from_text_or_kind(&wing_room.wing, "wing");
    let wing = wing
        .first_free_variant(|it| drawers.wing_name(it).is_none_or(|name| name == wing_room.wing));
    let id = |slug: &Slug| RoomId { wing: Some(wing.clone()), slug: slug.clone() };
    // A built room with this name is the right one.
    let mut built = palace.rooms().filter(|(it, _)| it.wing.as_ref() == Some(&wing));
    if let Some((built, _)) = built.find(|(_, it)| it.name == wing_room.room) {
        return built.clone();
    }
    let is_free = |it: &Slug| drawers.room_name(&id(it)).is_none_or(|name| name == wing_room.room);
    id(&Slug::from_text_or_kind(&wing_room.room, "room").first_free_variant(is_free))
}

/// Returns the path of a new drawer in the folder of `room`; `joining` returns the number of other
/// new files for a folder.
pub fn new_drawer_path(
    drawers: &Drawers,
    room: &RoomId,
    it: &Drawer,
    joining: impl Fn(&str) -> usize,
) -> String {
    let at = it.filed.unwrap_or_else(|| it.id.datetime().into());
    let folder = first_folder_below_limit(&format!("drawers/{room}"), at, |it| {
        drawers.count_in_folder(it) + joining(it)
    });
    let properties = DocumentProperties::parse(&it.text);
    let title = it.title.as_deref().or(properties.title()).unwrap_or(properties.body);
    format!("{folder}/{}", front_matter::filename_from_id_and_title(it.id, title))
}

/// Returns the path of a new entry in the diary of `agent`; `joining` returns the number of other
/// new files for a folder.
pub fn new_diary_entry_path(
    diaries: &Diaries,
    agent: &str,
    it: &DiaryEntry,
    joining: impl Fn(&str) -> usize,
) -> String {
    let own = diaries.folder_of_newest_entry(agent).cloned();
    let free =
        || Slug::from_text_or_kind(agent, "agent").first_free_variant(|it| !diaries.has_folder(it));
    let folder = own.unwrap_or_else(free);
    let at = it.written.unwrap_or_else(|| it.id.datetime().into());
    let is_in = |file: &str, folder: &str| file.rsplit_once('/').is_some_and(|it| it.0 == folder);
    let files_in =
        |folder: &str| diaries.entries_of_agent(agent).filter(|(it, _)| is_in(it, folder)).count();
    let folder =
        first_folder_below_limit(&format!("diary/{folder}"), at, |it| files_in(it) + joining(it));
    format!("{folder}/{}", front_matter::filename_from_id_and_title(it.id, &it.topic))
}

/// Returns `folder`, or if it is full a subfolder for the month: `2026-03`, then `2026-03-2`.
fn first_folder_below_limit(
    folder: &str,
    at: DateTime<Utc>,
    files_in: impl Fn(&str) -> usize,
) -> String {
    let month = format!("{folder}/{}", at.format("%Y-%m"));
    let more = (2..).map(|it: usize| format!("{month}-{it}"));
    let mut folders = [folder.to_owned(), month.clone()].into_iter().chain(more);
    folders.find(|it| files_in(it) < MAX_FOLDER_FILES).unwrap_or_else(|| folder.to_owned())
}

/// Returns the path of a new entity, named after it and not yet used. `taken` tells whether a file
/// exists that the graph does not know; `joining` returns the number of other new files for a
/// folder.
pub fn new_entity_path(
    graph: &Graph,
    entity: &Entity,
    taken: impl Fn(&str) -> bool,
    joining: impl Fn(&str) -> usize,
) -> String {
    let flat = entity_genus_folder(entity);
    // If a genus outgrows its folder, further entities go into 256 subfolders.
    let folder = if graph.count_in_folder(&flat) + joining(&flat) < MAX_FOLDER_FILES {
        flat
    } else {
        format!("{flat}/{}", entity_shard(&entity.name))
    };
    let name = entity_file_stem(entity);
    let free = |it: &String| !graph.is_entity_file(it) && !taken(it);
    let first = format!("{folder}/{name}.yaml");
    // A few equal slugs are numbered. If thousands of names have the same slug, counting on would
    // cost each entity as many steps as there are others.
    let counted = (2..10).map(|it| format!("{folder}/{name}-{it}.yaml"));
    let summed =
        (1..).map(|it| format!("{folder}/{name}-{:08x}.yaml", hash_name(it, &entity.name)));
    let mut others = counted.chain(summed);
    if free(&first) { first } else { others.find(free).unwrap_or(first) }
}

/// Returns whether a path is one that [`new_entity_path`] could choose for an entity.
pub fn is_standard_entity_path(file: &str, entity: &Entity) -> bool {
    let name = file.strip_prefix(&entity_genus_folder(entity)).and_then(|it| it.strip_prefix('/'));
    let shard = format!("{}/", entity_shard(&entity.name));
    let name = name.map(|it| it.strip_prefix(&shard).unwrap_or(it));
    let Some(rest) = name.and_then(|it| it.strip_prefix(&entity_file_stem(entity))) else {
        return false;
    };
    let is_number = |it: &str| {
        let digits = it.strip_prefix('-').unwrap_or_default();
        matches!(digits.len(), 1 | 8) && digits.bytes().all(|it| it.is_ascii_hexdigit())
    };
    rest.strip_suffix(".yaml").is_some_and(|it| it.is_empty() || is_number(it))
}

fn entity_genus_folder(entity: &Entity) -> String {
    if !entity.is_defined {
        return "entities/undefined".to_owned();
    }
    let genus = Slug::from_text(&entity.genus).map(|it| it.to_string());
    format!("entities/{}", genus.unwrap_or_else(|| "other".to_owned()))
}

fn entity_file_stem(entity: &Entity) -> String {
    let name =
        Slug::from_text(&entity.name).map_or_else(|| "entity".to_owned(), |it| it.to_string());
    name.chars().take(60).collect()
}

fn entity_shard(name: &str) -> String {
    format!("{:02x}", hash_name(0, name) % 256)
}

/// Returns a hash of a name, a different one for each `seed`.
fn hash_name(seed: u32, name: &str) -> u32 {
    name.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
}

/// Reports a name that is no slug, or that other programs give to copies.
fn bad_name_finding(path: &str, err: &SlugError, hint: &str) -> Diagnostic {
    let finding = |message| Diagnostic::for_file(Code::FileName, path, message);
    match side_file(path) {
        Some(SideFile::CopyOf(original)) => {
            let original = quoted_unless_plain(&original);
            let message = format!("the name is that of a copy of {original}");
            let what = "move what is missing into the original, and delete this file";
            finding(message).with_hint(format!("{what}; if it is no copy, {hint}"))
        }
        _ => finding(err.to_string()).with_hint(hint),
    }
}

fn check_is_no_editor_file(path: &str) -> Result<(), Diagnostic> {
    let is_palace_file = path.split_once('/').is_some_and(|it| PALACE_FOLDERS.contains(&it.0))
        && [".yaml", ".md"].iter().any(|it| path.ends_with(it));
    if !is_palace_file || !is_editor_file(path) {
        return Ok(());
    }
    let message = "this is a lock file, or the unsaved text of an editor";
    let hint = "close the file there; if no program has it open, delete this one";
    Err(Diagnostic::for_file(Code::FileName, path, message).with_hint(hint))
}

fn misplaced_finding(path: &str, why: &str, hint: &str) -> Diagnostic {
    Diagnostic::for_file(Code::Misplaced, path, why).with_hint(hint)
}
