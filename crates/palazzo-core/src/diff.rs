//! Differences between two states of a palace: by item, and by line.
//!
//! Pure functions: the caller has read both states, and may have omitted files that are the same in
//! both.

mod entity;
mod room;
mod text;
mod work;

use chrono::SecondsFormat;
use std::collections::{BTreeMap, BTreeSet};

use ulid::Ulid;

use crate::diff::text::{name_change, none_if_empty, text_change, value_change};
use crate::model::{
    ChangeDetail, ChangeKind, DiaryEntry, Drawer, Entity, ItemDiff, ItemId, ItemKind, ItemOrFile,
    Palace, Room, RoomId, Scroll, ScrollId, Settings, SigningMode,
};

pub use entity::diff_entity;
pub use text::{LineEdit, diff_texts, line_edits, unified_diff};

/// Returns the text of one field.
type Field<T> = fn(&T) -> Option<String>;

/// Returns the differences between `was` and `now`: settings, rooms, scrolls, entities, genera,
/// work, drawers and diaries. `file_of` returns the file of an item in one of the two.
///
/// A moved or renamed room, scroll or entity is recognized by its id; a room without an id by
/// equality. A new scroll is compared with one that it replaces, if `was` has it.
pub fn diff_palaces(
    was: &Palace,
    now: &Palace,
    file_of: impl Fn(&Palace, &ItemOrFile) -> Option<String>,
) -> Vec<ItemDiff> {
    let settings = diff_settings(&was.settings, &now.settings);
    let settings = changed(ItemOrFile::Settings, settings).into_iter();
    let pairs = settings
        .chain(diff_rooms(was, now))
        .chain(diff_scrolls(was, now))
        .chain(diff_entities(was, now))
        .chain(diff_items_in_files(was, now));
    let with_files = pairs.map(|ItemChange { old, new, change }| {
        let files = [(was, &old), (now, &new)];
        let files = files.into_iter().filter_map(|(palace, it)| file_of(palace, it.as_ref()?));
        let mut files: Vec<_> = files.collect();
        files.dedup();
        Some(ItemDiff { item: new.or(old)?, files, change })
    });
    with_files.flatten().collect()
}

/// A change of an item, as it is in the earlier and in the later state.
struct ItemChange {
    old: Option<ItemOrFile>,
    new: Option<ItemOrFile>,
    change: ChangeKind,
}

/// Returns the change of an item that keeps its place and name; `None` if it did not change.
fn changed(item: ItemOrFile, details: Vec<ChangeDetail>) -> Option<ItemChange> {
    changed_place(item.clone(), item, details)
}

/// Returns the change of an item that may have another place or name.
fn changed_place(
    old: ItemOrFile,
    new: ItemOrFile,
    details: Vec<ChangeDetail>,
) -> Option<ItemChange> {
    let change = ChangeKind::Changed(details);
    let is_changed = change != ChangeKind::Changed(Vec::new());
    is_changed.then_some(ItemChange { old: Some(old), new: Some(new), change })
}

fn added(item: ItemOrFile, content: Vec<ChangeDetail>) -> ItemChange {
    ItemChange { old: None, new: Some(item), change: ChangeKind::Added(content) }
}

fn removed(item: ItemOrFile, content: Vec<ChangeDetail>) -> ItemChange {
    ItemChange { old: Some(item), new: None, change: ChangeKind::Removed(content) }
}

fn diff_rooms(was: &Palace, now: &Palace) -> Vec<ItemChange> {
    let gone = || was.rooms().filter(|(id, _)| now.room(id).is_none());
    let mut homeless: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (id, room) in gone() {
        homeless.entry(room_identity(room)).or_default().push((id, room));
    }
    let mut differences = Vec::new();
    for (id, room) in now.rooms() {
        let item = room_item(id);
        if let Some(old) = was.room(id) {
            differences.extend(changed(item, room::diff_room(old, room)));
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
                differences.extend(changed_place(room_item(from), item, details.collect()));
            }
            None => differences.push(added(item, room::added_room(room))),
        }
    }
    let left: BTreeSet<_> = homeless.values().flatten().map(|(id, _)| *id).collect();
    let gone = gone().filter(|(id, _)| left.contains(id));
    let gone = gone.map(|(id, it)| removed(room_item(id), room::removed_room(it)));
    differences.extend(gone);
    differences
}

fn room_item(id: &RoomId) -> ItemOrFile {
    ItemOrFile::Item { id: ItemId::Room(id.clone()), title: None }
}

/// Returns what identifies a room wherever it is: its id, else its name.
fn room_identity(room: &Room) -> Result<Ulid, &str> {
    room.id.ok_or(&room.name)
}

fn diff_scrolls(was: &Palace, now: &Palace) -> Vec<ItemChange> {
    let (before, after) = (scrolls_by_id(was), scrolls_by_id(now));
    let item = |(room, it): &(&RoomId, &Scroll)| ItemOrFile::Item {
        id: ItemId::Scroll(ScrollId { room: (*room).clone(), id: it.id }),
        title: Some(it.title.clone()),
    };
    let mut differences = Vec::new();
    for (id, scroll) in &after {
        match before.get(id) {
            Some(old) => {
                let details = diff_scroll(Some(*old), Some(*scroll));
                differences.extend(changed_place(item(old), item(scroll), details));
            }
            None => {
                // A visit may replace what it has written itself.
                let mut compared = [was, now].into_iter();
                let compared =
                    compared.find_map(|it| diff_with_replaced_scroll(it, scroll.0, scroll.1));
                let content = compared.unwrap_or_else(|| diff_scroll(None, Some(*scroll)));
                differences.push(added(item(scroll), content));
            }
        }
    }
    let gone = before.iter().filter(|(id, _)| !after.contains_key(id));
    differences.extend(gone.map(|(_, it)| removed(item(it), diff_scroll(Some(*it), None))));
    differences
}

fn scrolls_by_id(palace: &Palace) -> BTreeMap<Ulid, (&RoomId, &Scroll)> {
    palace.scrolls().map(|(room, it)| (it.id, (room, it))).collect()
}

/// Returns what a scroll of a room says other than the newest one of `was` that it replaces; `None` if it
/// replaces none. A scroll replaces only older ones of its room.
pub fn diff_with_replaced_scroll(
    was: &Palace,
    room: &RoomId,
    now: &Scroll,
) -> Option<Vec<ChangeDetail>> {
    let scroll = |id: &Ulid| was.scroll(&ScrollId { room: room.clone(), id: *id });
    let older = now.replaces.iter().filter_map(scroll).filter(|it| it.written <= now.written);
    let was = older.filter(|it| it.id != now.id).max_by_key(|it| it.written)?;
    let others: Vec<_> = now.replaces.iter().copied().filter(|it| *it != was.id).collect();
    let details = [
        Some(ChangeDetail::Replaces { title: was.title.clone(), written: was.written }),
        name_change(&was.title, &now.title),
        value_change("by", Some(&was.by), Some(&now.by)),
        replaces_change(&[], &others),
        text_change("text", &was.body, &now.body),
    ];
    Some(details.into_iter().flatten().collect())
}

fn replaces_change(was: &[Ulid], now: &[Ulid]) -> Option<ChangeDetail> {
    let ids = |them: &[Ulid]| them.iter().map(Ulid::to_string).collect::<Vec<_>>().join(", ");
    value_change("replaces", none_if_empty(&ids(was)), none_if_empty(&ids(now)))
}

/// Returns the differences of a scroll in its room; `None` if it does not exist.
fn diff_scroll(
    was: Option<(&RoomId, &Scroll)>,
    now: Option<(&RoomId, &Scroll)>,
) -> Vec<ChangeDetail> {
    let moved = was.zip(now).filter(|(was, now)| was.0 != now.0);
    let moved = moved.map(|(was, _)| ChangeDetail::Moved { from: was.0.clone() });
    let (was, now) = (was.map(|it| it.1), now.map(|it| it.1));
    let title = |it: Option<&'_ Scroll>| it.map(|it| it.title.clone()).unwrap_or_default();
    let by = |it: Option<&Scroll>| it.map(|it| it.by.clone());
    let written =
        |it: Option<&Scroll>| it.map(|it| it.written.to_rfc3339_opts(SecondsFormat::Secs, true));
    let body = |it: Option<&Scroll>| it.map(|it| it.body.clone()).unwrap_or_default();
    let replaces = |it: Option<&Scroll>| it.map(|it| it.replaces.clone()).unwrap_or_default();
    let details = [
        moved,
        name_change(&title(was), &title(now)),
        value_change("by", by(was).as_deref(), by(now).as_deref()),
        value_change("written", written(was).as_deref(), written(now).as_deref()),
        replaces_change(&replaces(was), &replaces(now)),
        text_change("text", &body(was), &body(now)),
    ];
    details.into_iter().flatten().collect()
}

fn diff_entities(was: &Palace, now: &Palace) -> Vec<ItemChange> {
    let (before, after) = (entities_by_name(was), entities_by_name(now));
    let gone = || before.iter().filter(|(key, _)| !after.contains_key(*key));
    let mut nameless: BTreeMap<Ulid, &Entity> =
        gone().filter_map(|(_, it)| Some((it.id?, *it))).collect();
    let mut renamed = BTreeSet::new();
    let mut differences = Vec::new();
    let item = |it: &Entity| ItemOrFile::Item { id: ItemId::Entity(it.name.clone()), title: None };
    for (key, entity) in &after {
        let by_id = || nameless.remove(&entity.id?);
        match before.get(key).copied().or_else(by_id) {
            Some(old) => {
                renamed.insert(&old.name);
                let details = entity::diff_entity(old, entity);
                differences.extend(changed_place(item(old), item(entity), details));
            }
            None => differences.push(added(item(entity), entity::added_entity(entity))),
        }
    }
    let gone = gone().filter(|(_, it)| !renamed.contains(&it.name));
    differences.extend(gone.map(|(_, it)| removed(item(it), entity::removed_entity(it))));
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

/// Returns the differences of the items that are identified by their files.
fn diff_items_in_files(was: &Palace, now: &Palace) -> Vec<ItemChange> {
    type DiffFile = fn(&Palace, &Palace, &str) -> Vec<ChangeDetail>;
    let kinds: [(ItemKind, DiffFile); 5] = [
        (ItemKind::Genus, entity::diff_genus_in_file),
        (ItemKind::Task, work::diff_task_in_file),
        (ItemKind::Process, work::diff_process_in_file),
        (ItemKind::Drawer, diff_drawer_in_file),
        (ItemKind::Diary, diff_diary_entry_in_file),
    ];
    let files = |kind| files_with_items(was, kind).into_iter().chain(files_with_items(now, kind));
    let mut differences = Vec::new();
    for (kind, diff_file) in kinds {
        for file in files(kind).collect::<BTreeSet<_>>() {
            let details = diff_file(was, now, file);
            let id = |palace: &Palace| palace.item_of_kind_in_file(kind, file);
            let item = |palace: &Palace| id(palace).map(|it| ItemOrFile::with_title(palace, it));
            differences.extend(match (item(was), item(now)) {
                (None, new) => new.map(|it| added(it, details)),
                (Some(old), None) => Some(removed(old, details)),
                (Some(old), Some(new)) => changed_place(old, new, details),
            });
        }
    }
    differences
}

/// Lists the files of a palace with items of a kind that is identified by its file.
fn files_with_items(palace: &Palace, kind: ItemKind) -> Vec<&str> {
    match kind {
        ItemKind::Genus => {
            let genera = palace.graph.genus_definitions();
            genera.filter_map(|it| palace.graph.file_of_genus_definition(&it.name)).collect()
        }
        ItemKind::Task => palace.tasks.keys().map(String::as_str).collect(),
        ItemKind::Process => palace.processes.keys().map(String::as_str).collect(),
        ItemKind::Drawer => palace.drawers.iter().map(|(file, ..)| file).collect(),
        ItemKind::Diary => palace.diaries.iter().map(|(file, _)| file).collect(),
        ItemKind::Room | ItemKind::Scroll | ItemKind::Entity => Vec::new(),
    }
}

fn diff_settings(was: &Settings, now: &Settings) -> Vec<ChangeDetail> {
    let entry = |it: &Settings| it.entry.as_ref().map(ToString::to_string);
    let allow = |it: &Settings| none_if_empty(&it.allowed_tools.join(", ")).map(str::to_owned);
    let number = |it: Option<u32>| it.map(|it| it.to_string());
    let silenced = |it: &Settings| {
        let codes: Vec<_> = it.silenced_codes.iter().map(ToString::to_string).collect();
        none_if_empty(&codes.join(", ")).map(str::to_owned)
    };
    let description = |it: &Settings| none_if_empty(&it.template.description).map(str::to_owned);
    let word = |it: &dyn std::fmt::Debug| Some(format!("{it:?}").to_lowercase());
    let sign = |it: &Settings| {
        let word = match it.sign {
            SigningMode::Auto => "auto",
            SigningMode::Required => "true",
            SigningMode::Never => "false",
        };
        Some(word.to_owned())
    };
    let values = [
        ("entry", entry(was), entry(now)),
        ("layout", word(&was.layout), word(&now.layout)),
        ("contents", number(was.contents), number(now.contents)),
        ("commit", word(&was.commit), word(&now.commit)),
        ("hand_edits", word(&was.hand_edits), word(&now.hand_edits)),
        ("sign", sign(was), sign(now)),
        ("push_interval", number(was.push_interval), number(now.push_interval)),
        ("allow", allow(was), allow(now)),
        ("silence", silenced(was), silenced(now)),
        ("stale_fact_days", number(was.stale_fact_days), number(now.stale_fact_days)),
        ("model", was.model.clone(), now.model.clone()),
        ("template", description(was), description(now)),
    ];
    let values = values
        .into_iter()
        .filter_map(|(of, was, now)| value_change(of, was.as_deref(), now.as_deref()));
    name_change(&was.name, &now.name).into_iter().chain(values).collect()
}

/// Returns the differences of the drawer in a file.
fn diff_drawer_in_file(was: &Palace, now: &Palace, file: &str) -> Vec<ChangeDetail> {
    let place = |palace: &Palace| palace.drawers.wing_room_of_file(file);
    let (before, after) = (place(was), place(now));
    let (was, now) = (was.drawers.drawer_in_file(file), now.drawers.drawer_in_file(file));
    let values: [(&str, Field<Drawer>); 4] = [
        ("title", |it| it.title.clone()),
        ("source", |it| it.source.clone()),
        ("by", |it| it.by.clone()),
        ("filed", |it| it.filed.map(|it| it.to_rfc3339_opts(SecondsFormat::Secs, true))),
    ];
    let text = |it: Option<&Drawer>| it.map(|it| it.text.clone()).unwrap_or_default();
    let mut details = Vec::new();
    let wing = [&before, &after].map(|it| it.as_ref().map(|it| it.wing.as_str()));
    let room = [&before, &after].map(|it| it.as_ref().map(|it| it.room.as_str()));
    details.extend(value_change("wing", wing[0], wing[1]));
    details.extend(value_change("room", room[0], room[1]));
    for (of, value) in values {
        let (was, now) = (was.and_then(value), now.and_then(value));
        details.extend(value_change(of, was.as_deref(), now.as_deref()));
    }
    details.extend(text_change("text", &text(was), &text(now)));
    details
}

/// Returns the differences of the diary entry in a file.
fn diff_diary_entry_in_file(was: &Palace, now: &Palace, file: &str) -> Vec<ChangeDetail> {
    let (was, now) = (was.diaries.entry_in_file(file), now.diaries.entry_in_file(file));
    let values: [(&str, Field<DiaryEntry>); 3] = [
        ("agent", |it| it.agent.clone()),
        ("topic", |it| Some(it.topic.clone())),
        ("written", |it| it.written.map(|it| it.to_rfc3339_opts(SecondsFormat::Secs, true))),
    ];
    let text = |it: Option<&DiaryEntry>| it.map(|it| it.text.clone()).unwrap_or_default();
    let mut details = Vec::new();
    for (of, value) in values {
        let (was, now) = (was.and_then(value), now.and_then(value));
        details.extend(value_change(of, was.as_deref(), now.as_deref()));
    }
    details.extend(text_change("text", &text(was), &text(now)));
    details
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
        assert_eq!(diff_palaces(&was, &was, |_, _| None), []);
        render::palace_diff(&diff_palaces(&was, &now, |_, _| None))
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
    fn a_new_scroll_is_compared_with_the_newest_that_it_replaces() {
        let id = |it: char| format!("01K8ZC6V8A4S6C2E3N1R5T7W9{it}");
        let path = |room: &str, it| format!("scrolls/{room}/{}.md", id(it));
        let scroll = |day: u32, body: &str, replaces: &str| {
            format!(
                "---\ntitle: Rain\nwritten: 2026-03-{day:02}\nby: ada\nreplaces: [{replaces}]\n---\n\n{body}\n"
            )
        };
        let [old, older, later, other] =
            [path("hall", 'A'), path("hall", 'B'), path("hall", 'C'), path("crypt", 'D')];
        let texts =
            [scroll(2, "a", ""), scroll(1, "b", ""), scroll(9, "c", ""), scroll(1, "d", "")];
        let was: Vec<_> = [&old, &older, &later, &other]
            .into_iter()
            .map(String::as_str)
            .zip(texts.iter().map(String::as_str))
            .collect();
        let ids = ['D', 'C', 'B', 'A'].map(id).join(", ");
        let (new, text) = (path("hall", 'E'), scroll(5, "e", &ids));
        let now: Vec<_> = was.iter().copied().chain([(new.as_str(), text.as_str())]).collect();
        assert_snapshot!(rendered_diff(&was, &now), @"scroll 'Rain' in hall: added; replaces 'Rain' of 2026-03-02 00:00; text changed (1 line)");
        // Also with one of the same visit.
        let again = (path("hall", 'F'), scroll(6, "f", &id('E')));
        let both: Vec<_> = now.into_iter().chain([(again.0.as_str(), again.1.as_str())]).collect();
        assert_snapshot!(rendered_diff(&was, &both), @"
        scroll 'Rain' in hall: added; replaces 'Rain' of 2026-03-02 00:00; text changed (1 line)
        scroll 'Rain' in hall: added; replaces 'Rain' of 2026-03-05 00:00; text changed (1 line)
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
