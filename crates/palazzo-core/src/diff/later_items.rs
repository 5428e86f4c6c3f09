//! Where the items of an earlier state of a palace are in a later one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use ulid::Ulid;

use crate::model::{Entity, Graph, ItemId, ItemKind, Palace, Room, RoomId, ScrollId};

/// The name of an entity, and whether it is defined: a loose end may have the same name.
pub(super) type EntityName<'a> = (&'a str, bool);

/// Where the items of an earlier state of a palace are in a later one.
///
/// A room, a scroll or an entity is at the same place, or has the same name; else it has the same id.
/// One without an id is known otherwise: a new room is an equal one that is gone, and an entity that
/// somebody renames by hand keeps its file. Other items are identified by their files.
pub struct LaterItems<'a> {
    pub(super) was: &'a Palace,
    pub(super) now: &'a Palace,
    /// The rooms, scrolls and entities that have another place or name.
    pub(super) rooms: BTreeMap<&'a RoomId, &'a RoomId>,
    pub(super) scrolls: BTreeMap<&'a ScrollId, &'a ScrollId>,
    pub(super) entities: BTreeMap<EntityName<'a>, EntityName<'a>>,
    /// The present names of the entities that are gone by name, by id; another entity may have had
    /// the name before.
    names_by_id: BTreeMap<Ulid, &'a str>,
}

impl<'a> LaterItems<'a> {
    /// Compares two states. `was` may lack items that have not changed: `is_new` returns whether a
    /// room or an entity that it lacks is new. It is asked only where there is no id.
    pub fn new(was: &'a Palace, now: &'a Palace, is_new: impl Fn(&ItemId) -> bool) -> Self {
        let gone = was.rooms().filter(|(id, _)| now.room(id).is_none());
        let new = now.rooms().filter(|(id, _)| was.room(id).is_none());
        let new = new.filter(|(id, it)| it.id.is_some() || is_new(&ItemId::Room((*id).clone())));
        let identity = |(id, it): (&'a RoomId, &'a Room)| (id, it.id.ok_or(it));
        let rooms = pair_items(gone.map(identity), new.map(identity));
        let gone = was.scroll_files().filter(|(_, it)| now.scroll(it).is_none());
        let new = now.scroll_files().filter(|(_, it)| was.scroll(it).is_none());
        let identity = |(_, it): (&str, &'a ScrollId)| (it, it.id);
        let scrolls = pair_items(gone.map(identity), new.map(identity));
        let all = was.graph.entities_and_loose_ends();
        let gone: Vec<_> = all.filter(|it| now.graph.file_of(it).is_none()).collect();
        let with_ids = entities_with_ids_of(&gone, &now.graph);
        let names_by_id = with_ids.iter().filter(|it| it.is_defined);
        let names_by_id = names_by_id.filter_map(|it| Some((it.id?, it.name.as_str()))).collect();
        let entities = find_renamed_entities((&was.graph, &gone), (&now.graph, &with_ids), is_new);
        Self { was, now, rooms, scrolls, entities, names_by_id }
    }

    /// Returns where an item is now; `None` if it is gone.
    pub fn find(&self, item: &ItemId) -> Option<ItemId> {
        let (was, now) = (self.was, self.now);
        match item {
            ItemId::Room(id) if now.room(id).is_some() => Some(item.clone()),
            ItemId::Room(id) => Some(ItemId::Room((*self.rooms.get(id)?).clone())),
            ItemId::Scroll(which) if now.scroll(which).is_some() => Some(item.clone()),
            ItemId::Scroll(which) => Some(ItemId::Scroll((*self.scrolls.get(which)?).clone())),
            ItemId::Entity(name) if now.graph.get(name).is_some() => Some(item.clone()),
            ItemId::Entity(name) => {
                let renamed = self.entities.get(&(name.as_str(), true)).map(|it| it.0);
                let by_id = || self.names_by_id.get(&was.graph.get(name)?.id?).copied();
                Some(ItemId::Entity(renamed.or_else(by_id)?.to_owned()))
            }
            ItemId::Genus(name) => {
                let file = was.graph.file_of_genus_definition(name)?;
                now.item_of_kind_in_file(ItemKind::Genus, file)
            }
            ItemId::Drawer(file)
            | ItemId::Diary(file)
            | ItemId::Task(file)
            | ItemId::Process(file) => now.item_of_kind_in_file(item.kind(), file),
        }
    }
}

/// Lists the entities of `now` that have the id of one that is gone. Only if there is one, all are
/// searched.
fn entities_with_ids_of<'a>(gone: &[&Entity], now: &'a Graph) -> Vec<&'a Entity> {
    let ids: BTreeSet<Ulid> = gone.iter().filter_map(|it| it.id).collect();
    if ids.is_empty() {
        return Vec::new();
    }
    let has_known_id = |it: &&Entity| it.id.is_some_and(|it| ids.contains(&it));
    now.entities_and_loose_ends().filter(has_known_id).collect()
}

/// Pairs the entities of `was` that are gone with new ones: those of `now` with the id of one, and
/// those in the file of one without an id.
fn find_renamed_entities<'a>(
    (was, gone): (&'a Graph, &[&'a Entity]),
    (now, with_ids): (&'a Graph, &[&'a Entity]),
    is_new: impl Fn(&ItemId) -> bool,
) -> BTreeMap<EntityName<'a>, EntityName<'a>> {
    let known_ids: BTreeSet<Ulid> = gone.iter().filter_map(|it| it.id).collect();
    let identity = |graph: &'a Graph, it: &'a Entity| {
        let id = it.id.filter(|it| known_ids.contains(it));
        (entity_name(it), id.ok_or_else(|| graph.file_of(it)))
    };
    let without_ids = gone.iter().filter(|it| it.id.is_none());
    let in_files = without_ids.filter_map(|it| now.entity_in_file(was.file_of(it)?));
    let in_files = in_files.filter(|it| is_new(&ItemId::Entity(it.name.clone())));
    let new = with_ids.iter().copied().chain(in_files).filter(|it| was.file_of(it).is_none());
    pair_items(gone.iter().map(|it| identity(was, it)), new.map(|it| identity(now, it)))
}

/// Returns what identifies an entity or a loose end in its palace.
pub(super) fn entity_name(it: &Entity) -> EntityName<'_> {
    (&it.name, it.is_defined)
}

/// Pairs each item that is gone with a new one of the same identity, both in order; an item is its
/// place and its identity.
fn pair_items<K: Ord, I: Eq + Hash>(
    gone: impl Iterator<Item = (K, I)>,
    new: impl Iterator<Item = (K, I)>,
) -> BTreeMap<K, K> {
    let mut left: HashMap<I, BTreeSet<K>> = HashMap::new();
    for (place, identity) in gone {
        left.entry(identity).or_default().insert(place);
    }
    if left.is_empty() {
        return BTreeMap::new();
    }
    let new: BTreeMap<K, I> = new.filter(|(_, it)| left.contains_key(it)).collect();
    let pairs = new.into_iter();
    pairs.filter_map(|(place, it)| Some((left.get_mut(&it)?.pop_first()?, place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{self, file_of_item, item_in_file};
    use crate::model::Files;

    const ID: &str = "id: 01K8ZC6V8A4S6C2E3N1R5T7W9X\n";
    const ROOM: &str = "name: Attic\n";

    fn palace(files: &[(&str, &str)]) -> Palace {
        let file = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        format::parse_palace("test", &files.iter().map(file).collect::<Files>()).0
    }

    /// Returns where the item in each file of `was` is in `now`.
    fn later_files(
        was: &[(&str, &str)],
        now: &[(&str, &str)],
        is_new: impl Fn(&ItemId) -> bool,
    ) -> Vec<Option<String>> {
        let (before, after) = (palace(was), palace(now));
        let later = LaterItems::new(&before, &after, is_new);
        let items = was.iter().map(|(file, _)| item_in_file(&before, file).unwrap());
        items.map(|it| file_of_item(&after, &later.find(&it)?)).collect()
    }

    #[test]
    fn a_moved_room_without_an_id_is_the_new_room_that_is_equal() {
        let was = [("rooms/a.yaml", ROOM), ("rooms/b.yaml", ROOM)];
        let now = [("rooms/east/a.yaml", ROOM), ("rooms/east/b.yaml", ROOM)];
        let new = now.map(|it| Some(it.0.to_owned()));
        assert_eq!(later_files(&was, &now, |_| true), new);
        assert_eq!(later_files(&was[..1], &now, |_| false), [None]);
        let is_new = |it: &ItemId| *it == ItemId::Room("east/b".parse().unwrap());
        assert_eq!(later_files(&was[..1], &now, is_new), [new[1].clone()]);
        assert_eq!(later_files(&was[..1], &[("rooms/c.yaml", "name: C\n")], |_| true), [None]);
    }

    #[test]
    fn an_entity_that_had_an_id_is_known_by_it_and_another_one_by_its_file() {
        let text = |id: &str, name: &str| format!("{id}name: {name}\ngenus: Claim\n");
        let found = |was: [&str; 2], now: [&str; 2]| {
            let was = [("entities/a.yaml", &*text(was[0], was[1]))];
            let now = ["entities/a.yaml", "entities/b.yaml"].into_iter().zip(now);
            let now = now.map(|(file, id)| (file, text(id, file))).collect::<Vec<_>>();
            let now: Vec<_> = now.iter().map(|(file, text)| (*file, &**text)).collect();
            later_files(&was, &now, |_| true).remove(0)
        };
        assert_eq!(found([ID, "A"], ["", ID]).as_deref(), Some("entities/b.yaml"));
        assert_eq!(found([ID, "A"], ["", ""]), None);
        assert_eq!(found(["", "A"], ["", ID]).as_deref(), Some("entities/a.yaml"));
        assert_eq!(found(["", "A"], [ID, ""]).as_deref(), Some("entities/a.yaml"));
        assert_eq!(found(["", "entities/b.yaml"], ["", ID]).as_deref(), Some("entities/b.yaml"));
    }

    #[test]
    fn an_entity_that_loses_its_genus_is_the_same() {
        for id in [ID, ""] {
            let text = format!("{id}name: A\nrelations: [{{ type: of, to: B }}]\n");
            let defined = format!("{text}genus: Claim\n");
            let was = palace(&[("entities/a.yaml", &defined)]);
            let now = palace(&[("entities/a.yaml", &text)]);
            let item = ItemId::Entity("A".to_owned());
            assert_eq!(LaterItems::new(&was, &now, |_| true).find(&item), Some(item));
        }
    }

    #[test]
    fn an_entity_keeps_its_id_under_a_name_that_another_had_before() {
        let other = ID.replace('X', "Y");
        let was = [("entities/a.yaml", format!("{ID}name: A\ngenus: Claim\n"))];
        let was = [was[0].clone(), ("entities/b.yaml", format!("{other}name: B\ngenus: Claim\n"))];
        let now = ("entities/a.yaml", format!("{ID}name: B\ngenus: Claim\n"));
        let (was, now) =
            (was.each_ref().map(|it| (it.0, it.1.as_str())), [(now.0, now.1.as_str())]);
        let (was, now) = (palace(&was), palace(&now));
        let later = LaterItems::new(&was, &now, |_| true);
        let entity = |name: &str| ItemId::Entity(name.to_owned());
        assert_eq!(later.find(&entity("A")), Some(entity("B")));
        assert_eq!(later.find(&entity("B")), Some(entity("B")));
    }
}
