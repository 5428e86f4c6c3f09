//! Finds the present names of rooms and entities that were renamed by hand, by the ids in their
//! last committed files.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use ulid::Ulid;

use crate::Refusal;
use crate::palace::loaded_palace::LoadedPalace;
use crate::palace::open_palace::OpenPalace;
use palazzo_core::format::{self, PalacePath, room_path};
use palazzo_core::model::{Entity, Files, Palace, RoomId, Slug};

/// A palace whose history is searched for old names.
pub(crate) struct RenameLookup<'a> {
    palace: &'a LoadedPalace,
    /// The rooms in wings that the history has, by slug.
    wing_rooms: OnceCell<HashMap<Slug, Vec<RoomId>>>,
    /// The files of entities in the history, by the slug in the file's name.
    entity_files: OnceCell<HashMap<String, Vec<&'a str>>>,
    /// The committed entities whose files have uncommitted changes, by name, with their files.
    uncommitted: OnceCell<HashMap<String, (String, Option<Ulid>)>>,
}

impl OpenPalace {
    /// Searches the history for the missing rooms that were renamed by hand. From then on, until a
    /// room changes, doors and the entry lead to their present names.
    pub(crate) fn find_renamed_rooms(&mut self) -> Result<(), Refusal> {
        if self.palace.knows_room_renames() {
            return Ok(());
        }
        let entry = self.palace.settings.entry.as_ref();
        let entry = entry.and_then(|it| self.palace.resolve_room(it, None).ok());
        let entry = entry.filter(|it| !self.palace.is_enterable_room(it));
        let with_scrolls = self.palace.missing_rooms_with_scrolls().cloned();
        let unfinished = self.palace.unfinished_rooms().into_iter();
        let missing: BTreeSet<_> = unfinished.chain(entry).chain(with_scrolls).collect();
        let mut renames = BTreeMap::new();
        if !missing.is_empty() {
            let lookup = RenameLookup::new(self)?;
            let renamed =
                missing.into_iter().filter_map(|old| Some((lookup.find_room(&old)?, old)));
            renames.extend(renamed.map(|(new, old)| (old, new)));
        }
        self.palace.set_room_renames(renames);
        Ok(())
    }

    /// Returns the present name of a room: its own or, if it does not exist and was renamed, the
    /// new one.
    pub(crate) fn present_room_id(&mut self, room: RoomId) -> Result<RoomId, Refusal> {
        if self.palace.is_enterable_room(&room) {
            return Ok(room);
        }
        let renamed = RenameLookup::new(self)?.find_room(&room);
        Ok(renamed.unwrap_or(room))
    }
}

impl<'a> RenameLookup<'a> {
    /// Prepares to search the history of a palace.
    pub(crate) fn new(open: &'a mut OpenPalace) -> Result<Self, Refusal> {
        open.update_file_history_cache()?;
        Ok(Self {
            palace: open,
            wing_rooms: OnceCell::new(),
            entity_files: OnceCell::new(),
            uncommitted: OnceCell::new(),
        })
    }

    /// Returns the searched palace.
    pub(crate) fn palace(&self) -> &'a LoadedPalace {
        self.palace
    }

    /// Returns the only room that has the id which the missing room `old` had. A name without a wing
    /// may also be the slug of a room that was in a wing.
    pub(crate) fn find_room(&self, old: &RoomId) -> Option<RoomId> {
        if self.palace.palace.room(old).is_some() {
            return None;
        }
        if self.palace.file_histories().contains_key(&room_path(old)) {
            return self.find_room_of_file(old);
        }
        let is_slug = old.wing.is_none();
        let in_wings = is_slug.then(|| self.wing_rooms().get(&old.slug)).flatten();
        let found: BTreeSet<_> =
            in_wings.into_iter().flatten().filter_map(|it| self.find_room_of_file(it)).collect();
        let mut found = found.into_iter();
        found.next().filter(|_| found.next().is_none())
    }

    /// Returns the rooms in wings that the history has, by slug.
    fn wing_rooms(&self) -> &HashMap<Slug, Vec<RoomId>> {
        self.wing_rooms.get_or_init(|| {
            let mut rooms: HashMap<Slug, Vec<RoomId>> = HashMap::new();
            let files = self.palace.file_histories().range("rooms/".to_owned()..);
            for path in files.map(|it| it.0).take_while(|it| it.starts_with("rooms/")) {
                if let Ok(PalacePath::Room(id)) = PalacePath::parse(path)
                    && id.wing.is_some()
                {
                    rooms.entry(id.slug.clone()).or_default().push(id);
                }
            }
            rooms
        })
    }

    /// Returns the only room that has the id which the room in the past file of `old` had.
    fn find_room_of_file(&self, old: &RoomId) -> Option<RoomId> {
        let (path, palace) = (room_path(old), &self.palace.palace);
        let text = self.palace.store().find_past_text(&path, |_| true)?;
        let id = parse_one_file(&path, &text).room(old)?.id?;
        let mut holders = palace.rooms().filter(|(_, it)| it.id == Some(id));
        let (holder, _) = holders.next()?;
        holders.next().is_none().then(|| holder.clone())
    }

    /// Returns the present name of the only entity that has the id, or else the file, of the
    /// missing entity `old`.
    pub(crate) fn find_entity(&self, old: &str) -> Option<&'a str> {
        if self.palace.palace.graph.get(old).is_some() {
            return None;
        }
        let slug = Slug::from_text(old).map(|it| it.to_string());
        let files = slug.and_then(|it| self.entity_files().get(&it));
        let by_slug = files.into_iter().flatten().find_map(|path| {
            let is_old = |text: &str| entity_of(path, text).is_some_and(|it| it.name == old);
            let text = self.palace.store().find_past_text(path, is_old)?;
            self.find_present_entity(path, entity_of(path, &text)?.id)
        });
        by_slug.or_else(|| {
            let (path, id) = self.uncommitted().get(old)?;
            self.find_present_entity(path, *id)
        })
    }

    fn find_present_entity(&self, file: &str, id: Option<Ulid>) -> Option<&'a str> {
        let graph = &self.palace.palace.graph;
        let Some(id) = id else {
            return graph
                .entity_in_file(file)
                .filter(|it| it.is_defined)
                .map(|it| it.name.as_str());
        };
        let mut holders = graph.iter().filter(|it| it.id == Some(id));
        let holder = holders.next().filter(|_| holders.next().is_none())?;
        // Somebody is still writing the name.
        (!holder.name.trim().is_empty()).then_some(holder.name.as_str())
    }

    fn entity_files(&self) -> &HashMap<String, Vec<&'a str>> {
        self.entity_files.get_or_init(|| {
            let mut files: HashMap<String, Vec<&str>> = HashMap::new();
            let paths = self.palace.file_histories().keys();
            for path in paths.filter(|it| PalacePath::parse(it) == Ok(PalacePath::Entity)) {
                let name = path.rsplit('/').next().unwrap_or_default();
                let slug = name.trim_end_matches(".yaml");
                let unnumbered = slug.trim_end_matches(|it: char| it.is_ascii_digit());
                files.entry(slug.to_owned()).or_default().push(path);
                if let Some(slug) = unnumbered.strip_suffix('-') {
                    files.entry(slug.to_owned()).or_default().push(path);
                }
            }
            files
        })
    }

    fn uncommitted(&self) -> &HashMap<String, (String, Option<Ulid>)> {
        self.uncommitted.get_or_init(|| {
            let store = self.palace.store();
            let head = self.palace.head.as_ref().filter(|_| store.as_of_commit().is_none());
            let diffs = head.and_then(|it| store.diff_since(Some(it)).ok()).unwrap_or_default();
            let entities = diffs.iter().filter_map(|it| {
                let entity = entity_of(&it.path, it.was.text()?)?;
                Some((entity.name, (it.path.clone(), entity.id)))
            });
            entities.collect()
        })
    }
}

/// Parses the entity in a file.
pub(crate) fn entity_of(path: &str, text: &str) -> Option<Entity> {
    if PalacePath::parse(path) != Ok(PalacePath::Entity) {
        return None;
    }
    parse_one_file(path, text).graph.entity_in_file(path).filter(|it| it.is_defined).cloned()
}

/// Parses a palace of one file.
pub(crate) fn parse_one_file(path: &str, text: &str) -> Palace {
    let files = Files::from([(path.to_owned(), text.to_owned())]);
    format::parse_palace("past", &files).0
}

#[cfg(test)]
mod tests {
    use crate::rooms::build::build_room;
    use crate::rooms::scrolls::{NewScroll, write_scroll};
    use crate::test_home::{TestHome, ada, blueprint};
    use crate::{Blueprint, show_item};

    #[test]
    fn doors_scrolls_and_the_entry_lead_to_a_room_that_was_renamed_by_hand() {
        let mut home = TestHome::new(&[]);
        for (room, portal) in [("hall", "attic"), ("attic", "hall")] {
            let mut room = blueprint(room);
            room.portals = Some(vec![portal.parse().unwrap()]);
            room.name = Some(if portal == "hall" { "Attic" } else { "Hall" }.to_owned());
            build_room(&mut home.keeper, &ada(), &room, &[]).unwrap();
        }
        home.write("palace.toml", "name = \"Keep\"\nentry = \"attic\"\n");
        home.rename("rooms/attic.yaml", "rooms/loft.yaml");
        home.restart();
        let entry = home.enter().unwrap();
        assert!(entry.contains("The entry room `attic` is `loft` now"), "{entry}");
        let map = home.choose(0, None).unwrap();
        insta::assert_snapshot!(map, @"
        ── Map of Keep ──
        2 rooms, 0 scrolls
          Hall (hall) [v1, just now]
              ↔ Attic
          Attic (loft) entry ← You are here
              ↔ Hall

        Actions: 1 Go to Hall · 0 map · 16-20 as before
        ");
        let room = Some("attic".to_owned());
        let scroll = NewScroll { title: "Dust".to_owned(), body: "Much.".to_owned(), room };
        write_scroll(&mut home.keeper, &ada(), &scroll).unwrap();
        assert!(show_item(&mut home.keeper, &ada(), Some("attic"), None).unwrap().contains("Dust"));
    }

    #[test]
    fn a_room_that_was_moved_by_hand_shows_its_scrolls_and_is_not_built_again() {
        let mut home = TestHome::new(&[]);
        for (room, portal) in [("hall", "attic"), ("attic", "hall")] {
            let portals = Some(vec![portal.parse().unwrap()]);
            let room = Blueprint { portals, ..blueprint(room) };
            build_room(&mut home.keeper, &ada(), &room, &[]).unwrap();
        }
        let (title, room) = ("Dust".to_owned(), Some("attic".parse().unwrap()));
        let scroll = NewScroll { title, body: "Much.".to_owned(), room };
        write_scroll(&mut home.keeper, &ada(), &scroll).unwrap();
        home.rename("rooms/attic.yaml", "rooms/east/loft.yaml");
        home.restart();
        home.enter().unwrap();
        let loft = home.choose(16, Some("attic")).unwrap();
        assert!(loft.contains("Dust"), "{loft}");
        let scroll = home.choose(21, None).unwrap();
        assert!(scroll.contains("Much."), "{scroll}");
        let again = build_room(&mut home.keeper, &ada(), &blueprint("attic"), &[]).unwrap_err();
        insta::assert_snapshot!(again, @"`attic` is the old name of the room `east/loft`, and doors still lead there by it: use `east/loft`, or another slug");
        let merge = Blueprint { merge: true, ..blueprint("attic") };
        let merged = build_room(&mut home.keeper, &ada(), &merge, &[]).unwrap();
        assert_eq!(merged.room.to_string(), "east/loft");
    }
}
