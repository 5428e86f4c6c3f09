//! Replaces the references to rooms that get another slug or wing.

use std::collections::BTreeMap;

use palazzo_core::format::ReferenceKind;
use palazzo_core::model::{Palace, RoomId, RoomRef, Settings};

/// Rooms that get other names, and the palace before and after.
pub(crate) struct RoomRename<'a> {
    before: &'a Palace,
    /// The rooms afterwards; their files may still contain the old references.
    after: Palace,
    /// The new name of each renamed room.
    renamed: &'a BTreeMap<RoomId, RoomId>,
}

impl<'a> RoomRename<'a> {
    /// Prepares the rename of rooms. A room that does not exist is a name that has only references.
    pub(crate) fn new(before: &'a Palace, renamed: &'a BTreeMap<RoomId, RoomId>) -> Self {
        let mut after = Palace::new(Settings::with_name(&before.settings.name));
        for (id, room) in before.rooms() {
            after.set_room(renamed.get(id).unwrap_or(id), Some(room.clone()));
        }
        Self { before, after, renamed }
    }

    /// Changes a value that names a room in the room `at`, if there is one.
    pub(crate) fn rename(&self, kind: &ReferenceKind, at: Option<&RoomId>, text: &mut String) {
        let at = match kind {
            ReferenceKind::RoomFromHere => at,
            ReferenceKind::Room => None,
            _ => return,
        };
        let Ok(mut reference) = text.parse::<RoomRef>() else { return };
        let before = reference.clone();
        self.rename_reference(&mut reference, at);
        if reference != before {
            *text = reference.to_string();
        }
    }

    /// Returns the new name of the entry room, if it is renamed.
    pub(crate) fn renamed_entry(&self) -> Option<&RoomId> {
        let entry = self.before.settings.entry.as_ref()?;
        self.renamed.get(&self.before.resolve_room(entry, None).ok()?)
    }

    /// Replaces a reference in the room `at`, if it leads to a renamed room, or would lead
    /// elsewhere after the rename. A bare slug stays one between rooms of the same wing.
    fn rename_reference(&self, reference: &mut RoomRef, at: Option<&RoomId>) {
        let Ok(target) = self.before.resolve_room(reference, at) else { return };
        let new_at = at.map(|it| self.renamed.get(it).unwrap_or(it));
        let is_bare = reference.as_literal_id().wing.is_none();
        let leads_to =
            |it: &RoomRef, to: &RoomId| self.after.resolve_room(it, new_at).as_ref() == Ok(to);
        let Some(new_target) = self.renamed.get(&target) else {
            if !leads_to(reference, &target) {
                *reference = RoomRef::from(target);
            }
            return;
        };
        let bare = RoomRef::from(RoomId { wing: None, slug: new_target.slug.clone() });
        let is_same_wing = new_at.is_some_and(|it| it.wing == new_target.wing);
        *reference = match is_bare && is_same_wing && leads_to(&bare, new_target) {
            true => bare,
            false => RoomRef::from(new_target.clone()),
        };
    }
}
