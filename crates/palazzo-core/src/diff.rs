//! Differences between two states of a palace: by item, and by line.
//!
//! Pure functions: the caller has read both states, and may have omitted files that are the same in
//! both.

mod entity;
mod later_items;
mod room;
mod text;
mod work;

use chrono::SecondsFormat;
use std::collections::{BTreeMap, BTreeSet};

use ulid::Ulid;

use crate::diff::later_items::{EntityName, entity_name};
use crate::diff::text::{name_change, none_if_empty, place_change, text_change, value_change};
use crate::model::{
    ChangeDetail, ChangeKind, DiaryEntry, Drawer, Entity, ItemDiff, ItemId, ItemKind, ItemOrFile,
    Palace, RoomId, Scroll, ScrollId, Settings, SigningMode,
};

pub use entity::diff_entity;
pub use later_items::LaterItems;
pub use text::{LineEdit, diff_texts, line_edits, unified_diff};

/// Returns the text of one field.
type Field<T> = fn(&T) -> Option<String>;

/// Returns the differences between `was` and `now`: settings, rooms, scrolls, entities, genera,
/// work, drawers and diaries. `file_of` returns the file of an item in one of the two.
///
/// [`LaterItems`] recognizes a moved or renamed item. A new scroll is compared with one that it
/// replaces, if `was` has it.
pub fn diff_palaces(
    was: &Palace,
    now: &Palace,
    file_of: impl Fn(&Palace, &ItemOrFile) -> Option<String>,
) -> Vec<ItemDiff> {
    let later = LaterItems::new(was, now, |_| true);
    let settings = ItemOrFile::Settings;
    let details = diff_settings(&was.settings, &now.settings);
    let settings = item_change(Some(settings.clone()), Some(settings), details);
    let changes = settings
        .into_iter()
        .chain(diff_rooms(&later))
        .chain(diff_scrolls(&later))
        .chain(diff_entities(&later))
        .chain(diff_items_in_files(was, now));
    let with_files = changes.map(|ItemChange { old, new, change }| {
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

/// Returns the change of an item from one state to another; `None` if it did not change.
fn item_change(
    old: Option<ItemOrFile>,
    new: Option<ItemOrFile>,
    details: Vec<ChangeDetail>,
) -> Option<ItemChange> {
    let change = match (&old, &new) {
        (None, _) => ChangeKind::Added(details),
        (_, None) => ChangeKind::Removed(details),
        _ if details.is_empty() => return None,
        _ => ChangeKind::Changed(details),
    };
    Some(ItemChange { old, new, change })
}

/// Returns the differences of the items of one kind, which `items` returns by place or name: those
/// that exist now, then those that are gone. `moved` contains those that have another place or name.
fn diff_items<'a, K: Copy + Ord, T: Copy>(
    later: &LaterItems<'a>,
    moved: &BTreeMap<K, K>,
    items: impl Fn(&'a Palace) -> BTreeMap<K, T>,
    id: impl Fn(K) -> ItemId,
    details: impl Fn(Option<(K, T)>, Option<(K, T)>) -> Vec<ChangeDetail>,
) -> Vec<ItemChange> {
    let now = items(later.now);
    let (mut origins, mut gone) = (BTreeMap::new(), Vec::new());
    for old in items(later.was) {
        let place = if now.contains_key(&old.0) { Some(&old.0) } else { moved.get(&old.0) };
        match place {
            Some(place) => drop(origins.insert(*place, old)),
            None => gone.push((Some(old), None)),
        }
    }
    let item = |palace, it: Option<(K, T)>| Some(ItemOrFile::with_title(palace, id(it?.0)));
    let pairs = now.into_iter().map(|new| (origins.remove(&new.0), Some(new))).chain(gone);
    let changes = pairs.filter_map(|(old, new)| {
        item_change(item(later.was, old), item(later.now, new), details(old, new))
    });
    changes.collect()
}

fn diff_rooms(later: &LaterItems<'_>) -> Vec<ItemChange> {
    let id = |it: &RoomId| ItemId::Room(it.clone());
    diff_items(later, &later.rooms, |it| it.rooms().collect(), id, room::diff_rooms)
}

fn diff_scrolls(later: &LaterItems<'_>) -> Vec<ItemChange> {
    let id = |it: &ScrollId| ItemId::Scroll(it.clone());
    let details = |old: Option<(&ScrollId, &Scroll)>, new: Option<(&ScrollId, &Scroll)>| {
        // A visit may replace what it has written itself.
        let (which, scroll) = new.filter(|_| old.is_none())?;
        let mut compared = [later.was, later.now].into_iter();
        compared.find_map(|it| diff_with_replaced_scroll(it, &which.room, scroll))
    };
    let details = |old, new| details(old, new).unwrap_or_else(|| diff_scroll(old, new));
    diff_items(later, &later.scrolls, scrolls_by_id, id, details)
}

fn scrolls_by_id(palace: &Palace) -> BTreeMap<&ScrollId, &Scroll> {
    palace.scroll_files().filter_map(|(_, which)| Some((which, palace.scroll(which)?))).collect()
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
    was: Option<(&ScrollId, &Scroll)>,
    now: Option<(&ScrollId, &Scroll)>,
) -> Vec<ChangeDetail> {
    let moved = was.zip(now).and_then(|(was, now)| place_change(&was.0.room, &now.0.room));
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

fn diff_entities(later: &LaterItems<'_>) -> Vec<ItemChange> {
    let id = |(name, _): EntityName<'_>| ItemId::Entity(name.to_owned());
    let entity = |it: Option<(_, _)>| it.map(|it| it.1);
    let details = |old, new| entity::diff_entities(entity(old), entity(new));
    diff_items(later, &later.entities, entities_by_name, id, details)
}

fn entities_by_name(palace: &Palace) -> BTreeMap<EntityName<'_>, &Entity> {
    palace.graph.entities_and_loose_ends().map(|it| (entity_name(it), it)).collect()
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
            let id = |palace: &Palace| palace.item_of_kind_in_file(kind, file);
            let item = |palace: &Palace| Some(ItemOrFile::with_title(palace, id(palace)?));
            let details = diff_file(was, now, file);
            differences.extend(item_change(item(was), item(now), details));
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
        ("folder", note_folders(was), note_folders(now)),
        ("template", description(was), description(now)),
    ];
    let values = values
        .into_iter()
        .filter_map(|(of, was, now)| value_change(of, was.as_deref(), now.as_deref()));
    name_change(&was.name, &now.name).into_iter().chain(values).collect()
}

/// Lists the folders of notes, each with its wing.
fn note_folders(settings: &Settings) -> Option<String> {
    let folders = settings.note_folders.iter();
    let folders = folders.map(|it| format!("{} as {}", it.path_in_settings(), it.wing));
    none_if_empty(&folders.collect::<Vec<_>>().join(", ")).map(str::to_owned)
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
    fn an_entity_without_an_id_keeps_its_file() {
        let text = |name: &str, more: &str| format!("name: {name}\n{more}");
        let loose = "relations: [{ type: of, to: Gould }]\n";
        let was = [text("Old", "genus: Claim\n"), text("Loose", loose)];
        let now = [text("New", "genus: Claim\n"), text("Loose", "genus: Claim\n")];
        let files = |[a, b]: &[String; 2]| {
            let files = [("entities/a.yaml", a), ("entities/b.yaml", b)];
            let file = |(path, text): (&str, &String)| (path.to_owned(), text.clone());
            format::parse_palace("test", &files.map(file).into_iter().collect()).0
        };
        let diff = diff_palaces(&files(&was), &files(&now), |_, _| None);
        assert_snapshot!(render::palace_diff(&diff), @"
        entity Loose: genus Claim added; relation of → Gould removed
        entity New: renamed from 'Old' to 'New'
        ");
    }

    #[test]
    fn a_copied_scroll_is_added() {
        let text = "---\ntitle: One\nwritten: 2026-03-01\nby: ada\n---\n\na\n";
        let path = |room: &str| format!("scrolls/{room}/01K8ZC6V8A4S6C2E3N1R5T7W9A.md");
        let [hall, crypt] = ["hall", "crypt"].map(path);
        assert_snapshot!(rendered_diff(&[(&hall, text)], &[(&hall, text), (&crypt, text)]), @"scroll 'One' in crypt: added");
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
        scroll 'One' in crypt: moved from hall
        scroll 'Other' in hall: renamed from 'One' to 'Other'; text changed (1 line)
        scroll 'One' in hall: added
        scroll 'One' in hall: removed
        ");
    }
}
