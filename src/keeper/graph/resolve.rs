//! How a thing of the palace is named: a room, a scroll, an entity, or a file.

use crate::format::{PalacePath, room_path};
use crate::keeper::Refusal;
use crate::keeper::history::palace_diff::identify_file;
use crate::keeper::palace::OpenPalace;
use crate::model::{
    FileItemKind, Palace, PalaceItem, RoomId, RoomRef, ScrollId, Slug, did_you_mean,
};
use crate::render;
use crate::render::join_names;

/// How many candidates are named where several were meant.
const MAX_CANDIDATES: usize = 8;

/// A thing, and the file that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) thing: PalaceItem,
    pub(crate) file: String,
}

/// Finds what `said` names: a file by its path, a room by slug or name, a scroll by id or title, an
/// entity by name. What is named exactly is meant before what is named in another case, and what
/// is there before what is no more.
pub(crate) fn resolve_item(held: &mut OpenPalace, said: &str) -> Result<Resolved, Refusal> {
    let said = said.trim();
    if let Some(file) = resolve_path(held, said) {
        return Ok(file);
    }
    let lower = said.to_lowercase();
    let mut found = items_named(&held.palace, said, |name| name == said);
    if found.is_empty() {
        found = items_named(&held.palace, &lower, |name| name.to_lowercase() == lower);
    }
    if found.is_empty() {
        found = deleted_items(held, said)?;
    }
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(not_found(held, said)),
        several => Err(ambiguous_name(said, several)),
    }
}

/// Takes what was said for the path of a file that is there.
fn resolve_path(held: &OpenPalace, said: &str) -> Option<Resolved> {
    let is_there = || held.store().read_file(said).is_ok_and(|it| it.is_some());
    let thing = identify_file(&held.palace, said);
    let thing = thing.or_else(|| is_there().then(|| PalaceItem::File(said.to_owned())))?;
    Some(Resolved { thing, file: said.to_owned() })
}

/// Lists the things of a palace that are called so.
fn items_named(palace: &Palace, said: &str, same: impl Fn(&str) -> bool) -> Vec<Resolved> {
    let rooms = rooms_named(palace, said, &same).into_iter();
    let rooms = rooms.map(|id| Resolved { file: room_path(&id), thing: PalaceItem::Room(id) });
    let scrolls = palace.scrolls().filter(|(_, it)| same(&it.title) || same(&it.id.to_string()));
    let scrolls = scrolls.filter_map(|(room, it)| {
        let which = ScrollId { room: room.clone(), id: it.id };
        let file = palace.file_of_scroll(&which)?.to_owned();
        Some(Resolved { thing: PalaceItem::Scroll { which, title: it.title.clone() }, file })
    });
    let entities = palace.graph.iter().filter(|it| same(&it.name));
    let entities = entities.filter_map(|it| {
        let file = palace.graph.file_of_entity(&it.name)?.to_owned();
        Some(Resolved { thing: PalaceItem::Entity(it.name.clone()), file })
    });
    let id = said.parse().ok();
    let drawers = id.into_iter().flat_map(|id| palace.drawers.files_with_id(id));
    let drawers = drawers.map(|file| {
        let file = file.to_owned();
        Resolved {
            thing: PalaceItem::ByFile { what: FileItemKind::Drawer, path: file.clone() },
            file,
        }
    });
    rooms.chain(scrolls).chain(entities).chain(drawers).collect()
}

/// Lists the rooms that are called so: by slug if there is any, else by name.
fn rooms_named(palace: &Palace, said: &str, same: impl Fn(&str) -> bool) -> Vec<RoomId> {
    let called = said.parse::<RoomRef>().ok();
    match called.map(|it| palace.resolve_room(&it, None)) {
        Some(Ok(id)) if palace.room(&id).is_some() => vec![id],
        Some(Err(ambiguous)) => ambiguous.candidates,
        _ => palace.rooms().filter(|(_, it)| same(&it.name)).map(|(id, _)| id.clone()).collect(),
    }
}

/// Lists the files that were called so and are no more, or that nothing else is known of.
fn deleted_items(held: &mut OpenPalace, said: &str) -> Result<Vec<Resolved>, Refusal> {
    held.load_history()?;
    let slug = Slug::from_text(said).map(|it| it.to_string());
    let is_called = |path: &str| match PalacePath::parse(path) {
        _ if path == said => true,
        Ok(PalacePath::Room(id)) => id.to_string() == said || id.slug.as_str() == said,
        Ok(PalacePath::Scroll(_)) => {
            let name = path.rsplit('/').next().unwrap_or_default();
            said.len() == 26 && name.to_lowercase().starts_with(&said.to_lowercase())
        }
        Ok(PalacePath::Entity) => {
            let name = path.rsplit('/').next().unwrap_or_default();
            slug.is_some() && name.strip_suffix(".yaml") == slug.as_deref()
        }
        _ => false,
    };
    let known = held.history().keys().filter(|it| is_called(it));
    let named = |path: &String| {
        let thing = match PalacePath::parse(path) {
            Ok(PalacePath::Room(id)) => PalaceItem::Room(id),
            _ => PalaceItem::File(path.clone()),
        };
        Resolved { thing, file: path.clone() }
    };
    Ok(known.map(named).collect())
}

fn ambiguous_name(said: &str, several: &[Resolved]) -> Refusal {
    let told = |it: &Resolved| {
        format!("{} ({})", render::item_label(&it.thing), render::one_line(&it.file))
    };
    let told: Vec<_> = several.iter().take(MAX_CANDIDATES).map(told).collect();
    let more = several.len() - told.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (said, told) = (said.escape_debug(), told.join(", "));
    Refusal::Invalid(format!("`{said}` could be {told}{more}; say which by its file"))
}

fn not_found(held: &OpenPalace, said: &str) -> Refusal {
    let palace = &held.palace;
    let rooms = palace.rooms().flat_map(|(id, it)| [id.slug.as_str(), it.name.as_str()]);
    let scrolls = palace.scrolls().map(|(_, it)| it.title.as_str());
    let names = rooms.chain(scrolls).chain(palace.graph.iter().map(|it| it.name.as_str()));
    let meant = did_you_mean(said, names);
    let hint = meant.map(|it| format!("; did you mean {}?", join_names(&[it.to_owned()])));
    let when = held.store().as_of_commit().map_or("nothing here is called".to_owned(), |it| {
        format!("at {} nothing here was called", it.short)
    });
    let (said, hint) = (said.escape_debug(), hint.unwrap_or_default());
    Refusal::Invalid(format!("{when} `{said}`, no room, no scroll, no entity, no file{hint}"))
}
