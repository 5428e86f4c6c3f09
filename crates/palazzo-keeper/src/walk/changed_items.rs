//! The items that others have renamed, deleted or completed since the last visit of a client.
//!
//! Such an item is not in the palace any more, or has another name. So its file is read from the
//! commits that the client has seen.

use std::collections::BTreeMap;

use crate::Refusal;
use crate::palace::OpenPalace;
use crate::palace::room_scope::RoomScope;
use palazzo_core::diff::LaterItems;
use palazzo_core::format::{self, PalacePath, item_in_file};
use palazzo_core::model::{CommitId, Files, ItemId, Palace, RoomId, WorkStatus, WorkSubject};
use palazzo_core::render::{in_quotes, name_in_sentence, truncate};
use palazzo_core::visit::{ChangedItem, ChangesSinceVisit, ItemChange};

/// Maximum numbers of deleted files, and of files that still exist, that are read from earlier
/// commits.
const MAX_DELETED_FILES: usize = 2_000;
const MAX_EXISTING_FILES: usize = 300;

/// Maximum number of items that a notice names.
const MAX_NAMED_ITEMS: usize = 5;

/// Maximum numbers of characters of a name or title, and of an author.
const MAX_NAME_CHARS: usize = 60;
const MAX_AUTHOR_CHARS: usize = 20;

/// Adds the items that were renamed, deleted or completed to `since`. `authors` contains the files
/// that others changed last, each with the author; `seen` the commits that the visitor has seen,
/// the newest first.
pub(crate) fn add_changed_items(
    open: &OpenPalace,
    authors: &BTreeMap<&str, &str>,
    seen: &[&CommitId],
    since: &mut ChangesSinceVisit,
) -> Result<(), Refusal> {
    let candidates = authors.keys().copied().filter(|it| may_contain_changed_item(open, it));
    let (mut existing, deleted): (Vec<_>, Vec<_>) = candidates.partition(|it| open.has_file(it));
    since.has_more_changed_items = deleted.len() > MAX_DELETED_FILES;
    // The file of an entity is read only because its name may have been edited there.
    existing.sort_by_key(|it| PalacePath::parse(it) == Ok(PalacePath::Entity));
    let paths = deleted.into_iter().take(MAX_DELETED_FILES);
    let mut files = Files::new();
    for path in paths.chain(existing.into_iter().take(MAX_EXISTING_FILES)) {
        if let Some(text) = read_seen_file(open, seen, path)? {
            files.insert(path.to_owned(), text);
        }
    }
    let (before, _) = format::parse_palace(&open.palace.settings.name, &files);
    let is_new = |it: &ItemId| match it {
        ItemId::Room(id) => since.rooms.contains_key(id),
        _ => true,
    };
    let later = LaterItems::new(&before, &open.palace, is_new);
    for path in files.keys() {
        let is_loose_end = before.graph.entity_in_file(path).is_some_and(|it| !it.is_defined);
        let item = item_in_file(&before, path).filter(|_| !is_loose_end);
        let Some(item) = item else { continue };
        let now = later.find(&item);
        follow_item(&item, now.as_ref(), since);
        if let Some(change) = item_change(open, &before, path, (&item, now.as_ref())) {
            let by = authors.get(path.as_str()).copied().unwrap_or_default().to_owned();
            since.changed_items.push(changed_item(&before, path, item, change, by));
        }
    }
    Ok(())
}

/// Returns the notices about renamed, deleted and completed items that concern a room, each with
/// its verb.
pub(crate) fn changed_item_notices(
    palace: &Palace,
    scope: &RoomScope<'_>,
    since: &ChangesSinceVisit,
) -> [(&'static str, String); 3] {
    let all = since.changed_items.iter().filter(|it| is_in_scope(palace, scope, it));
    let [mut renamed, mut deleted, mut completed] = [const { Vec::new() }; 3];
    for it in all {
        match it.change {
            ItemChange::Renamed(_) => renamed.push(it),
            ItemChange::Deleted => deleted.push(it),
            ItemChange::Completed => completed.push(it),
        }
    }
    let is_more = since.has_more_changed_items;
    [
        ("Renamed", name_items(&renamed, false)),
        ("Deleted", name_items(&deleted, is_more)),
        ("Completed", name_items(&completed, false)),
    ]
}

fn may_contain_changed_item(open: &OpenPalace, path: &str) -> bool {
    let is_deleted = !open.has_file(path);
    match PalacePath::parse(path) {
        Ok(PalacePath::Entity) => true,
        Ok(PalacePath::Room(_) | PalacePath::Scroll(_)) => is_deleted,
        Ok(PalacePath::Task | PalacePath::Process) => {
            is_deleted || work_in_file(&open.palace, path).is_some_and(|(it, _)| !it.is_open())
        }
        _ => false,
    }
}

/// Returns the status and the subject of the task or the process in a file.
fn work_in_file<'a>(palace: &'a Palace, path: &str) -> Option<(WorkStatus, &'a WorkSubject)> {
    let task = palace.tasks.get(path).map(|it| (it.status, &it.subject));
    task.or_else(|| palace.processes.get(path).map(|it| (it.status, &it.subject)))
}

/// Reads a file as of the newest of the commits that have it.
fn read_seen_file(
    open: &OpenPalace,
    seen: &[&CommitId],
    path: &str,
) -> Result<Option<String>, Refusal> {
    for commit in seen {
        if let Ok(Some(text)) = open.store().read_file_at(commit, path)? {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// Returns what happened to an item that was in the file at `path`; `now` is the item that it has
/// become. `None` if it has the same name as before.
fn item_change(
    open: &OpenPalace,
    before: &Palace,
    path: &str,
    (item, now): (&ItemId, Option<&ItemId>),
) -> Option<ItemChange> {
    let is_done = |palace| work_in_file(palace, path).is_some_and(|(it, _)| !it.is_open());
    match now {
        Some(ItemId::Room(new)) if now != Some(item) => Some(ItemChange::Renamed(new.to_string())),
        Some(ItemId::Entity(new)) if now != Some(item) => Some(ItemChange::Renamed(new.clone())),
        Some(_) if is_done(&open.palace) && !is_done(before) => Some(ItemChange::Completed),
        Some(_) => None,
        // A file that cannot be read is not deleted.
        None if open.has_file(path) && item_in_file(&open.palace, path).is_none() => None,
        None => Some(ItemChange::Deleted),
    }
}

/// Describes an item as it was before its change.
fn changed_item(
    before: &Palace,
    path: &str,
    item: ItemId,
    change: ItemChange,
    by: String,
) -> ChangedItem {
    let name = match &item {
        ItemId::Room(id) => Some(before.room_name(id)),
        ItemId::Entity(name) => Some(name.clone()),
        _ => before.title_of_item(&item),
    };
    let genus = before.graph.entity_in_file(path).map(|it| it.genus.clone());
    let subject = work_in_file(before, path).map(|it| it.1.clone()).unwrap_or_default();
    ChangedItem { item, name: name.unwrap_or_default(), genus, subject, change, by }
}

/// Lists an item under its new name or place as it was listed: a renamed room or entity not as
/// changed, and a moved scroll as unread, or not as new.
fn follow_item(item: &ItemId, now: Option<&ItemId>, since: &mut ChangesSinceVisit) {
    match (item, now) {
        (ItemId::Entity(old), Some(ItemId::Entity(new))) if old != new => {
            since.entities.values_mut().for_each(|it| it.retain(|name| name != new));
        }
        (ItemId::Room(old), Some(ItemId::Room(new))) if old != new => {
            since.rooms.remove(new);
        }
        (ItemId::Scroll(old), Some(ItemId::Scroll(moved))) => {
            match since.unread_scrolls.remove(old) {
                true => since.unread_scrolls.insert(moved.clone()),
                false => since.unread_scrolls.remove(moved),
            };
        }
        _ => {}
    }
}

fn is_in_scope(palace: &Palace, scope: &RoomScope<'_>, changed: &ChangedItem) -> bool {
    let new = match &changed.change {
        ItemChange::Renamed(new) => Some(new),
        ItemChange::Deleted | ItemChange::Completed => None,
    };
    match &changed.item {
        ItemId::Entity(name) => {
            let mut names = new.into_iter().chain([name]);
            changed.genus.as_ref().is_some_and(|it| scope.includes_genus(it))
                || names.any(|it| scope.names_entity(it))
        }
        ItemId::Room(id) => {
            let new: Option<RoomId> = new.and_then(|it| it.parse().ok());
            scope.includes_room(id) || new.is_some_and(|it| scope.includes_room(&it))
        }
        ItemId::Scroll(which) => scope.includes_room(&which.room),
        _ => scope.includes_subject(palace, &changed.subject),
    }
}

/// Names the first items, and counts the others.
fn name_items(items: &[&ChangedItem], are_more: bool) -> String {
    let named: Vec<_> = items.iter().take(MAX_NAMED_ITEMS).map(|it| describe_item(it)).collect();
    let more = match (items.len().saturating_sub(MAX_NAMED_ITEMS), are_more) {
        (0, _) => String::new(),
        (left, false) => format!(" and {left} more"),
        (left, true) => format!(" and more than {left} more"),
    };
    named.join(", ") + &more
}

fn describe_item(it: &ChangedItem) -> String {
    let short = |text: &str| name_in_sentence(&truncate(text, MAX_NAME_CHARS));
    let what = match (&it.item, &it.change) {
        (ItemId::Room(id), ItemChange::Renamed(_)) => format!("room {id}"),
        (ItemId::Room(_), _) => format!("room {}", short(&it.name)),
        (ItemId::Entity(name), _) => {
            format!("{} {}", short(it.genus.as_deref().unwrap_or_default()), short(name))
        }
        (item, _) => {
            format!("{} {}", item.kind(), in_quotes(&truncate(&it.name, MAX_NAME_CHARS)))
        }
    };
    let new = match &it.change {
        ItemChange::Renamed(new) => format!(" → {}", short(new)),
        ItemChange::Deleted | ItemChange::Completed => String::new(),
    };
    format!("{what}{new} (by {})", name_in_sentence(&truncate(&it.by, MAX_AUTHOR_CHARS)))
}

#[cfg(test)]
mod tests {
    use crate::rooms::build::{Blueprint, build_room};
    use crate::rooms::rename_or_delete::{delete_room, rename_room};
    use crate::rooms::scrolls::{NewScroll, write_scroll};
    use crate::test_home::{NOW, TestHome, ada, blueprint};
    use crate::work::tasks::{NewTask, complete_task, create_task};
    use crate::{Caller, EntityChange, create_entities, delete_entities, update_entity};
    use palazzo_core::model::Entity;

    fn bob() -> Caller {
        Caller::for_client("bob", NOW.parse().unwrap())
    }

    /// A palace that Bob made: a hall and a crypt with a scroll, three claims, and a task. Ada was
    /// there.
    fn home() -> TestHome {
        let mut home = TestHome::new(&[]);
        let keeper = &mut home.keeper;
        for slug in ["hall", "crypt"] {
            let name = Some(slug.to_uppercase());
            let room = Blueprint { name, ..blueprint(slug) };
            build_room(keeper, &bob(), &room, &[]).unwrap();
        }
        create_entities(keeper, &bob(), ["A", "B", "C"].map(claim).into()).unwrap();
        create_task(keeper, &bob(), &task()).unwrap();
        let (title, body) = ("On moss".to_owned(), "It grows.".to_owned());
        let scroll = NewScroll { title, body, room: Some("crypt".to_owned()) };
        write_scroll(keeper, &bob(), &scroll).unwrap();
        assert_eq!(notices(&mut home, "hall"), [""; 0]);
        home
    }

    fn claim(name: &str) -> Entity {
        let genus = "Claim".to_owned();
        Entity { is_defined: true, genus, ..Entity::new_loose_end(name) }
    }

    fn task() -> NewTask {
        let room = Some("crypt".parse().unwrap());
        NewTask { title: "Sweep".to_owned(), room, ..NewTask::default() }
    }

    fn rename(name: &str, new: &str) -> EntityChange {
        let new_name = Some(new.to_owned());
        EntityChange { name: name.to_owned(), new_name, ..EntityChange::default() }
    }

    /// Begins a new conversation of Ada, and returns the notices in a room, without open tasks.
    fn notices(home: &mut TestHome, room: &str) -> Vec<String> {
        home.keeper.visit_of_caller(&ada()).changes_since_visit.clear();
        home.enter().unwrap();
        let page = home.choose(16, Some(room)).unwrap();
        let notices = page.split_once("Notices:\n").map_or("", |it| it.1).lines();
        let notices = notices.map(|it| it.trim().to_owned());
        notices.filter(|it| !it.starts_with("Task: ")).collect()
    }

    #[test]
    fn deleted_and_renamed_entities_are_listed_by_name() {
        let mut home = home();
        update_entity(&mut home.keeper, &bob(), &rename("B", "Beta")).unwrap();
        delete_entities(&mut home.keeper, &bob(), &["A".to_owned()]).unwrap();
        let expected = [
            "Renamed since your last visit (just now): Claim B → Beta (by bob)",
            "Deleted since then: Claim A (by bob)",
        ];
        assert_eq!(notices(&mut home, "hall"), expected);
        assert_eq!(notices(&mut home, "hall"), [""; 0], "the next visit");
    }

    #[test]
    fn a_room_lists_only_what_concerns_it() {
        let mut home = home();
        delete_entities(&mut home.keeper, &bob(), &["A".to_owned()]).unwrap();
        complete_task(&mut home.keeper.session(&bob()).unwrap(), "Sweep", None).unwrap();
        let expected = ["Completed since your last visit (just now): task \"Sweep\" (by bob)"];
        assert_eq!(notices(&mut home, "crypt"), expected);
    }

    #[test]
    fn the_changes_of_the_visitor_are_not_listed() {
        let mut home = home();
        update_entity(&mut home.keeper, &bob(), &rename("B", "Beta")).unwrap();
        delete_entities(&mut home.keeper, &ada(), &["A".to_owned(), "Beta".to_owned()]).unwrap();
        complete_task(&mut home.keeper.session(&ada()).unwrap(), "Sweep", None).unwrap();
        let expected = ["Deleted since your last visit (just now): Claim B (by bob)"];
        assert_eq!(notices(&mut home, "hall"), expected);
    }

    #[test]
    fn a_renamed_room_is_not_listed_as_changed_and_its_scrolls_are_not_new() {
        let mut home = home();
        let (old, new) = ("crypt".parse().unwrap(), "cellars/vault".parse().unwrap());
        rename_room(&mut home.keeper.session(&bob()).unwrap(), &old, &new).unwrap();
        let expected =
            ["Renamed since your last visit (just now): room crypt → cellars/vault (by bob)"];
        assert_eq!(notices(&mut home, "hall"), expected);
    }

    #[test]
    fn a_deleted_room_is_listed_with_its_scrolls() {
        let mut home = home();
        let room = "crypt".parse().unwrap();
        delete_room(&mut home.keeper.session(&bob()).unwrap(), &room, None).unwrap();
        let notices = notices(&mut home, "hall");
        let expected = "Deleted since your last visit (just now): room CRYPT (by bob), \
                        scroll \"On moss\" (by bob)";
        assert_eq!(notices[0], expected);
    }

    #[test]
    fn a_long_list_is_counted() {
        let mut home = home();
        let names: Vec<_> = (1..=7).map(|it| format!("Claim {it}")).collect();
        let claims = names.iter().map(|it| claim(it)).collect();
        create_entities(&mut home.keeper, &bob(), claims).unwrap();
        notices(&mut home, "hall");
        delete_entities(&mut home.keeper, &bob(), &names).unwrap();
        let notices = notices(&mut home, "hall");
        let end = "Claim Claim 4 (by bob), Claim Claim 5 (by bob) and 2 more";
        assert!(notices[0].ends_with(end), "{notices:?}");
    }
}
