//! Changes the references of one version to the names that rooms and entities have after the merge.
//! Attributes are references too if their genus defines them as links.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::merge::items::room_of_path;
use crate::merge::{MergeInput, Version};
use palazzo_core::format::{
    FieldsAndBody, PalacePath, ReferenceKind, add_missing_comments, change_references,
    edit_fields_and_body, file_kind, parse_fields_and_body, parse_palace,
};
use palazzo_core::merge::Fields;
use palazzo_core::model::{
    AttributeKind, FileKind, Files, Palace, RoomId, RoomRef, fold_name, rename_in_entity_links,
};

/// Maximum number of changed names for which texts are searched before they are parsed.
const MAX_SEARCHED_NAMES: usize = 100;

/// The rooms and entities that are called otherwise after the merge than in one version.
pub(super) struct NameChanges {
    /// The rooms of the version, and those after the merge, without their contents.
    before: Palace,
    after: Palace,
    rooms: BTreeMap<RoomId, RoomId>,
    entities: BTreeMap<String, String>,
    /// The entities by names without regard to case; `None` if several have one.
    entities_by_folded_name: BTreeMap<String, Option<String>>,
    links: LinkAttributes,
    /// Whether references change only if they lead nowhere after the merge.
    changes_only_broken: bool,
}

impl NameChanges {
    pub(super) fn new(before: Palace, after: Palace, links: LinkAttributes) -> Self {
        let (rooms, entities) = (BTreeMap::new(), BTreeMap::new());
        Self {
            before,
            after,
            rooms,
            entities,
            entities_by_folded_name: BTreeMap::new(),
            links,
            changes_only_broken: false,
        }
    }

    /// Changes only references to rooms that lead nowhere after the merge.
    pub(super) fn only_broken(self) -> Self {
        Self { changes_only_broken: true, ..self }
    }

    /// Returns whether there is a room after the merge.
    pub(super) fn has_room_after(&self, room: &RoomId) -> bool {
        self.after.room(room).is_some()
    }

    /// Returns whether a room is renamed.
    pub(super) fn has_renamed_rooms(&self) -> bool {
        self.rooms.iter().any(|(old, new)| old != new)
    }

    /// Returns whether an entity is renamed.
    pub(super) fn has_renamed_entities(&self) -> bool {
        self.entities.iter().any(|(old, new)| old != new)
    }

    /// Adds the name of a room after the merge. The first name that is added stands, but another
    /// room of the version has precedence over `old`, if that is no name of the version itself.
    pub(super) fn add_room(&mut self, old: &RoomId, new: RoomId, is_own: bool) {
        if is_own || self.before.room(old).is_none() {
            self.rooms.entry(old.clone()).or_insert(new);
        }
    }

    /// Adds the name of an entity after the merge. The first name that is added stands.
    pub(super) fn add_entity(&mut self, old: &str, new: &str) {
        if self.entities.contains_key(old) {
            return;
        }
        self.entities.insert(old.to_owned(), new.to_owned());
        let same = self.entities_by_folded_name.entry(fold_name(old));
        same.and_modify(|it| *it = None).or_insert_with(|| Some(old.to_owned()));
    }

    /// Returns the new name of a room, if it is renamed.
    pub(super) fn renamed_room(&self, old: &RoomId) -> Option<&RoomId> {
        self.rooms.get(old).filter(|it| *it != old)
    }

    /// Returns the new folder of the drawers in a folder, as for a rename by a tool: a room without
    /// a wing shows the drawers of its slug in each wing, and these stay in their wings.
    pub(super) fn renamed_drawer_folder(&self, folder: &RoomId) -> Option<RoomId> {
        let has_room = self.rooms.contains_key(folder) || self.before.room(folder).is_some();
        let wing = if has_room { folder.wing.clone() } else { None };
        let from = RoomId { wing, slug: folder.slug.clone() };
        let to = self.renamed_room(&from)?;
        let moved = match (&from.wing, &to.wing) {
            (_, None) => RoomId { wing: folder.wing.clone(), slug: to.slug.clone() },
            (None, Some(wing)) if folder.wing.as_ref() != Some(wing) => return None,
            _ => to.clone(),
        };
        (moved != *folder).then_some(moved)
    }

    fn renamed_entity(&self, old: &str) -> Option<&str> {
        self.entities.get(old).filter(|it| *it != old).map(String::as_str)
    }

    /// Yields the names that change, as they may occur in a text.
    fn old_names(&self) -> impl Iterator<Item = &str> {
        let rooms = self.rooms.iter().filter(|(old, new)| old != new);
        let entities = self.entities.iter().filter(|(old, new)| old != new);
        rooms.map(|(old, _)| old.slug.as_str()).chain(entities.map(|(old, _)| old.as_str()))
    }

    /// Returns whether a text may contain a name that changes. If many change, it is parsed anyway.
    fn may_have_old_name(&self, text: &str) -> bool {
        let folded = text.to_lowercase();
        self.old_names().nth(MAX_SEARCHED_NAMES).is_some()
            || self.old_names().any(|it| folded.contains(&it.to_lowercase()))
    }

    /// Returns a version with the new names in its references.
    pub(super) fn rename_in_version(&self, version: &Version) -> Version {
        self.renamed_text(version).map_or_else(
            || version.clone(),
            |text| Version { path: version.path.clone(), bytes: text.into_bytes() },
        )
    }

    fn renamed_text(&self, version: &Version) -> Option<String> {
        // A drawer names its room as people write it.
        let is_drawer = file_kind(&version.path) == Some(FileKind::Drawer);
        let text = version.text().filter(|it| is_drawer || self.may_have_old_name(it))?;
        let tree = parse_fields_and_body(&version.path, text)?;
        let renamed = self.rename_in_tree(&version.path, &tree)?;
        if renamed == tree {
            return None;
        }
        // If a relation gets another target, its lines are written again, without their comments.
        let edited = edit_fields_and_body(&version.path, text, &renamed)?;
        Some(add_missing_comments(&version.path, &edited, "", text))
    }

    fn rename_in_tree(&self, path: &str, tree: &FieldsAndBody) -> Option<FieldsAndBody> {
        let (kind, at, mut tree) = (file_kind(path)?, room_of_path(path), tree.clone());
        let genus = tree.fields.get("genus").and_then(Value::as_str).map(str::to_owned);
        let is_link = |key: &str| match (kind, &genus) {
            (FileKind::Entity, genus) => self.links.has(genus.as_deref().unwrap_or_default(), key),
            _ => self.links.has_in_any_genus(key),
        };
        change_references(kind, &mut tree.fields, &mut |reference, text| match reference {
            ReferenceKind::Room => self.rename_room_reference(text, None),
            ReferenceKind::RoomFromHere => self.rename_room_reference(text, at.as_ref()),
            ReferenceKind::Attribute(key) if is_link(key) => self.rename_entity_reference(text),
            ReferenceKind::Entity => self.rename_entity_reference(text),
            ReferenceKind::RelationTarget => {
                if let Some(new) = self.renamed_entity(text) {
                    *text = new.to_owned();
                }
            }
            ReferenceKind::TextWithLinks => self.rename_links(text),
            _ => {}
        });
        if kind == FileKind::Drawer {
            self.rename_drawer_folder(path, &mut tree.fields);
        }
        Some(tree)
    }

    /// Changes the names of wing and room in a drawer; a part that stays keeps its name.
    fn rename_drawer_folder(&self, path: &str, fields: &mut Fields) {
        let Ok(PalacePath::Drawer(folder)) = PalacePath::parse(path) else { return };
        let Some(new) = self.renamed_drawer_folder(&folder) else { return };
        if let Some(name) = fields.get_mut("room").filter(|_| new.slug != folder.slug) {
            *name = Value::from(new.slug.as_str());
        }
        let new_wing = new.wing.as_ref().filter(|it| Some(*it) != folder.wing.as_ref());
        if let Some((name, wing)) = fields.get_mut("wing").zip(new_wing) {
            *name = Value::from(wing.as_str());
        }
    }

    fn rename_links(&self, text: &mut String) {
        for (old, new) in self.entities.iter().filter(|(old, new)| old != new) {
            if text.contains(old) {
                *text = rename_in_entity_links(text, |it| it == old, new);
            }
        }
    }

    fn rename_entity_reference(&self, text: &mut String) {
        let folded = self.entities_by_folded_name.get(&fold_name(text)).and_then(Option::as_ref);
        let old = if self.entities.contains_key(text) { Some(&*text) } else { folded };
        if let Some(new) = old.and_then(|it| self.renamed_entity(it)) {
            *text = new.to_owned();
        }
    }

    /// Changes a reference in the room `at`. A bare slug stays one if it leads to the same room.
    fn rename_room_reference(&self, text: &mut String, at: Option<&RoomId>) {
        let Ok(reference) = text.parse::<RoomRef>() else { return };
        let Ok(target) = self.before.resolve_room(&reference, at) else { return };
        let Some(new) = self.renamed_room(&target) else { return };
        let leads_somewhere = || {
            let target = self.after.resolve_room(&reference, at);
            target.is_ok_and(|it| self.after.room(&it).is_some())
        };
        if self.changes_only_broken && leads_somewhere() {
            return;
        }
        let bare = RoomRef::from(RoomId { wing: None, slug: new.slug.clone() });
        let new_at = at.map(|it| self.rooms.get(it).unwrap_or(it));
        let is_bare = reference.as_literal_id().wing.is_none();
        let leads_there = self.after.resolve_room(&bare, new_at).as_ref() == Ok(new);
        *text = if is_bare && leads_there { bare.to_string() } else { new.to_string() };
    }
}

/// The attributes that genera define as links, in any version of the palace.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkAttributes {
    by_genus: BTreeMap<String, BTreeSet<String>>,
}

impl LinkAttributes {
    /// Reads the definitions of all versions.
    pub(super) fn read(input: &MergeInput<'_>) -> Self {
        let mut links = Self::default();
        let is_genus = |path: &str| file_kind(path) == Some(FileKind::Genus);
        let changed = std::iter::once(input.base).chain(input.sides).flatten();
        for (path, bytes) in changed.filter(|(path, _)| is_genus(path)) {
            links.add_genus(path, bytes);
        }
        for path in input.unchanged.paths.iter().filter(|it| is_genus(it)) {
            links.add_genus(path, &(input.unchanged.read)(path).unwrap_or_default());
        }
        links
    }

    fn add_genus(&mut self, path: &str, bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let file = Files::from([(path.to_owned(), text.to_owned())]);
        for genus in parse_palace("merge", &file).0.graph.genus_definitions() {
            let links = genus.attributes.iter();
            let links = links.filter(|(_, it)| matches!(it.kind, AttributeKind::Link(_)));
            let keys = links.map(|(key, _)| key.clone());
            self.by_genus.entry(genus.name.clone()).or_default().extend(keys);
        }
    }

    /// Returns whether an attribute of the entities of a genus is a link.
    pub(super) fn has(&self, genus: &str, key: &str) -> bool {
        self.by_genus.get(genus).is_some_and(|it| it.contains(key))
    }

    /// Returns whether an attribute is a link in any genus.
    fn has_in_any_genus(&self, key: &str) -> bool {
        self.by_genus.values().any(|it| it.contains(key))
    }
}
