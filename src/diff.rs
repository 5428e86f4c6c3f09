//! Differences between two states of a palace: by item, and by line.
//!
//! Pure functions: the caller has read both states, and may have omitted files that are the same in
//! both.

mod entity;
mod lines;
mod room;
mod value_changes;

use crate::diff::value_changes::{name_change, text_change, value_change};
use std::collections::{BTreeMap, BTreeSet};

use ulid::Ulid;

use crate::model::{
    ChangeDetail, ChangeKind, Entity, ItemDiff, Palace, PalaceItem, Room, RoomId, Scroll, ScrollId,
    Settings,
};

pub use entity::diff_entity;
pub use lines::{count_changed_lines, unified_diff};

/// Returns the differences between `was` and `now`: settings, rooms, scrolls, entities.
///
/// A moved or renamed room, scroll or entity is recognized by its id; a room without an id by
/// equality.
pub fn diff_palaces(was: &Palace, now: &Palace) -> Vec<ItemDiff> {
    let settings = diff_settings(&was.settings, &now.settings);
    let settings = item_diff_if_changed(PalaceItem::Settings, settings).into_iter();
    settings
        .chain(diff_rooms(was, now))
        .chain(diff_scrolls(was, now))
        .chain(diff_entities(was, now))
        .collect()
}

fn diff_rooms(was: &Palace, now: &Palace) -> Vec<ItemDiff> {
    let gone = || was.rooms().filter(|(id, _)| now.room(id).is_none());
    let mut homeless: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (id, room) in gone() {
        homeless.entry(room_identity(room)).or_default().push((id, room));
    }
    let mut differences = Vec::new();
    for (id, room) in now.rooms() {
        let item = PalaceItem::Room(id.clone());
        if let Some(old) = was.room(id) {
            differences.extend(item_diff_if_changed(item, room::diff_room(old, room)));
            continue;
        }
        let twins = homeless.get_mut(&room_identity(room));
        let origin = twins.and_then(|them| {
            let at = them.iter().position(|(_, it)| room.id.is_some() || *it == room)?;
            Some(them.remove(at))
        });
        match origin {
            Some((from, old)) => {
                let moved = ChangeDetail::Moved { from: from.clone() };
                let details = [moved].into_iter().chain(room::diff_room(old, room));
                differences.extend(item_diff_if_changed(item, details.collect()));
            }
            None => differences.push(ItemDiff { item, change: ChangeKind::Added }),
        }
    }
    let left: BTreeSet<_> = homeless.values().flatten().map(|(id, _)| *id).collect();
    let gone = gone().filter(|(id, _)| left.contains(id));
    differences.extend(gone.map(|(id, _)| removed_item_diff(PalaceItem::Room(id.clone()))));
    differences
}

/// Returns what identifies a room wherever it is: its id, else its name.
fn room_identity(room: &Room) -> Result<Ulid, &str> {
    room.id.ok_or(&room.name)
}

fn diff_scrolls(was: &Palace, now: &Palace) -> Vec<ItemDiff> {
    let (before, after) = (scrolls_by_id(was), scrolls_by_id(now));
    let item = |(room, it): &(&RoomId, &Scroll)| PalaceItem::Scroll {
        which: ScrollId { room: (*room).clone(), id: it.id },
        title: it.title.clone(),
    };
    let mut differences = Vec::new();
    for (id, scroll) in &after {
        match before.get(id) {
            Some(old) => {
                differences.extend(item_diff_if_changed(item(scroll), diff_scroll(*old, *scroll)));
            }
            None => differences.push(ItemDiff { item: item(scroll), change: ChangeKind::Added }),
        }
    }
    let gone = before.iter().filter(|(id, _)| !after.contains_key(id));
    differences.extend(gone.map(|(_, it)| removed_item_diff(item(it))));
    differences
}

fn scrolls_by_id(palace: &Palace) -> BTreeMap<Ulid, (&RoomId, &Scroll)> {
    palace.scrolls().map(|(room, it)| (it.id, (room, it))).collect()
}

fn diff_scroll(was: (&RoomId, &Scroll), now: (&RoomId, &Scroll)) -> Vec<ChangeDetail> {
    let ((from, old), (room, new)) = (was, now);
    let moved = (from != room).then(|| ChangeDetail::Moved { from: from.clone() });
    let written = |it: &Scroll| it.written.to_rfc3339();
    let details = [
        moved,
        name_change(&old.title, &new.title),
        value_change("by", Some(&old.by), Some(&new.by)),
        value_change("written", Some(&written(old)), Some(&written(new))),
        text_change("text", &old.body, &new.body),
    ];
    details.into_iter().flatten().collect()
}

fn diff_entities(was: &Palace, now: &Palace) -> Vec<ItemDiff> {
    let (before, after) = (entities_by_name(was), entities_by_name(now));
    let gone = || before.iter().filter(|(key, _)| !after.contains_key(*key));
    let mut nameless: BTreeMap<Ulid, &Entity> =
        gone().filter_map(|(_, it)| Some((it.id?, *it))).collect();
    let mut renamed = BTreeSet::new();
    let mut differences = Vec::new();
    for (key, entity) in &after {
        let item = PalaceItem::Entity(entity.name.clone());
        let by_id = || nameless.remove(&entity.id?);
        match before.get(key).copied().or_else(by_id) {
            Some(old) => {
                renamed.insert(&old.name);
                differences.extend(item_diff_if_changed(item, entity::diff_entity(old, entity)));
            }
            None => differences.push(ItemDiff { item, change: ChangeKind::Added }),
        }
    }
    let gone = gone().filter(|(_, it)| !renamed.contains(&it.name));
    differences.extend(gone.map(|(_, it)| removed_item_diff(PalaceItem::Entity(it.name.clone()))));
    differences
}

/// Returns entities by name; a loose end and an entity may have the same name.
fn entities_by_name(palace: &Palace) -> BTreeMap<(&str, bool), &Entity> {
    palace
        .graph
        .entities_and_loose_ends()
        .map(|it| ((it.name.as_str(), it.is_defined), it))
        .collect()
}

fn diff_settings(was: &Settings, now: &Settings) -> Vec<ChangeDetail> {
    let entry = |it: &Settings| it.entry.as_ref().map(ToString::to_string);
    let allow = |it: &Settings| (!it.allow.is_empty()).then(|| it.allow.join(", "));
    let word = |it: &dyn std::fmt::Debug| Some(format!("{it:?}").to_lowercase());
    let values = [
        ("entry", entry(was), entry(now)),
        ("layout", word(&was.layout), word(&now.layout)),
        ("commit", word(&was.commit), word(&now.commit)),
        ("hand_edits", word(&was.hand_edits), word(&now.hand_edits)),
        ("allow", allow(was), allow(now)),
    ];
    let values = values
        .into_iter()
        .filter_map(|(of, was, now)| value_change(of, was.as_deref(), now.as_deref()));
    name_change(&was.name, &now.name).into_iter().chain(values).collect()
}

fn item_diff_if_changed(item: PalaceItem, details: Vec<ChangeDetail>) -> Option<ItemDiff> {
    (!details.is_empty()).then_some(ItemDiff { item, change: ChangeKind::Changed(details) })
}

fn removed_item_diff(item: PalaceItem) -> ItemDiff {
    ItemDiff { item, change: ChangeKind::Removed }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::model::Files;
    use crate::{format, render};

    fn palace(files: &[(&str, &str)]) -> Palace {
        let file = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        let (palace, findings) =
            format::parse_palace("test", &files.iter().map(file).collect::<Files>());
        assert_eq!(findings, []);
        palace
    }

    fn rendered_diff(was: &[(&str, &str)], now: &[(&str, &str)]) -> String {
        let (was, now) = (palace(was), palace(now));
        assert_eq!(diff_palaces(&was, &was), []);
        render::palace_diff(&diff_palaces(&was, &now))
    }

    fn rendered_room_diff(was: &str, now: &str) -> String {
        rendered_diff(&[("rooms/hall.yaml", was)], &[("rooms/hall.yaml", now)])
    }

    #[test]
    fn room_diffs_list_changed_names_actions_portals_and_text() {
        let was = "name: Hall\ndescription: |\n  Stone.\n  Moss.\n  Dark.\nactions:\n\
            - { label: Listen, type: text, content: Drip. }\n- { label: Descend, type: navigate, room: crypt }\n\
            - { label: Look up, type: text, content: Bats. }\nportals: [attic, well]\n";
        let now = "name: Great Hall\ndescription: |\n  Stone.\n  Ivy.\n  Dark.\n  A draught.\nactions:\n\
            - { label: Look up, type: text, content: Bats. }\n- { label: Listen, type: text, content: Drip? }\n\
            - { label: Enter the alcove, type: navigate, room: alcove }\nportals: [well, yard]\n";
        assert_snapshot!(rendered_room_diff(was, now), @"room hall: renamed from 'Hall' to 'Great Hall'; action 'Listen' changed; action 'Enter the alcove' added; action 'Descend' removed; actions in another order; portal to yard added; portal to attic removed; description changed (2 lines)");
        let twice = "name: Hall\nactions:\n- { label: A, type: text }\n- { label: A, type: text, content: b }\n";
        let once = "name: Hall\nactions:\n- { label: A, type: text }\n";
        assert_snapshot!(rendered_room_diff(twice, once), @"room hall: action 'A' removed");
        assert_snapshot!(rendered_room_diff(once, &once.replace("Hall", "\"Hall\" # of course")), @"");
        let shows = |what| format!("name: Hall\ngenerate: {{ {what} }}\n");
        let (by_status, by_genus) = (shows("genus: Claim"), shows("by: genus"));
        assert_snapshot!(rendered_room_diff(&by_status, &by_genus), @"room hall: generate Claim by status → all by genus");
        assert_snapshot!(rendered_room_diff(&by_genus, "name: Hall\n"), @"room hall: generate all by genus removed");
    }

    #[test]
    fn added_removed_and_moved_rooms_are_distinguished() {
        let id = "id: 01K8ZC6V8A4S6C2E3N1R5T7W9X\n";
        let (hall, gone) = (format!("{id}name: Hall\n"), "name: Crypt\n");
        let was = [
            ("rooms/hall.yaml", hall.as_str()),
            ("rooms/crypt.yaml", gone),
            ("rooms/pit.yaml", "name: Pit\n"),
        ];
        let moved = format!("{id}name: Old Hall\n");
        let now = [
            ("rooms/east/hall.yaml", moved.as_str()),
            ("rooms/west/crypt.yaml", gone),
            ("rooms/attic.yaml", "name: Attic\n"),
        ];
        assert_snapshot!(rendered_diff(&was, &now), @"
        room attic: added
        room east/hall: moved from hall; renamed from 'Hall' to 'Old Hall'
        room west/crypt: moved from crypt
        room pit: removed
        ");
    }

    #[test]
    fn entity_diffs_list_changed_values_and_relations() {
        let file = "entities/claim/stasis.yaml";
        let was = "name: Stasis\ngenus: Claim\nstatus: open\nattributes: { confidence: low, seen: 3 }\n\
            observations: [one, two, two]\nrelations:\n- { type: disputed_by, to: Gradualism }\n- { type: of, to: Gould }\n";
        let now = "name: Stasis\ngenus: Claim\nstatus: contested\nattributes: { confidence: high, era: Devonian }\n\
            observations: [two, three]\nrelations:\n- { type: disputed_by, to: Gradualism, since: 1972 }\n- { type: cites, to: Eldredge }\n";
        assert_snapshot!(rendered_diff(&[(file, was)], &[(file, now)]), @"entity Stasis: status open → contested; confidence low → high; seen 3 removed; era Devonian added; observation 'three' added; observation 'one' removed; observation 'two' removed; relation cites → Eldredge added; relation of → Gould removed; relation disputed_by → Gradualism: no dates → since 1972");
        let id = "id: 01K8ZC6V8A4S6C2E3N1R5T7W9X\ngenus: Claim\n";
        let (old, new) = (format!("{id}name: Old\n"), format!("{id}name: New\n"));
        assert_snapshot!(rendered_diff(&[("entities/a.yaml", &old), ("entities/b.yaml", was)], &[("entities/c.yaml", &new)]), @"
        entity New: renamed from 'Old' to 'New'
        entity Stasis: removed
        ");
    }

    #[test]
    fn scrolls_and_settings_are_compared_too() {
        let scroll = |title: &str, body: &str| {
            format!("---\ntitle: {title}\nwritten: 2026-03-01\nby: ada\n---\n\n{body}")
        };
        let id = |it: char| format!("01K8ZC6V8A4S6C2E3N1R5T7W9{it}");
        let path = |room: &str, it| format!("scrolls/{room}/{}.md", id(it));
        let (kept, moved, gone) = (path("hall", 'A'), path("hall", 'B'), path("hall", 'C'));
        let (to, new) = (path("crypt", 'B'), path("hall", 'D'));
        let text = scroll("One", "a\nb\n");
        let was =
            [("palace.toml", "name = \"P\"\n"), (&kept, &text), (&moved, &text), (&gone, &text)];
        let other = scroll("Other", "a\nc\n");
        let settings = "name = \"P\"\nentry = \"hall\"\n[git]\ncommit = \"manual\"\n";
        let now = [("palace.toml", settings), (&kept, &other), (&to, &text), (&new, &text)];
        assert_snapshot!(rendered_diff(&was, &now), @"
        settings: entry hall added; commit auto → manual
        scroll 'Other' in hall: renamed from 'One' to 'Other'; text changed (1 line)
        scroll 'One' in crypt: moved from hall
        scroll 'One' in hall: added
        scroll 'One' in hall: removed
        ");
    }
}
