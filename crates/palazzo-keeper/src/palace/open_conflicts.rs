//! Which conflicts are open: a conflict is settled as soon as its field no longer has the value
//! that stands.

use std::ops::Bound;

use serde_json::Value;

use crate::palace::file_states::text_digest;
use crate::palace::loaded_palace::{ConflictInputs, LoadedPalace};
use palazzo_core::format::{
    self, PalacePath, file_kind, is_item_path, parse_fields_and_body, room_path,
};
use palazzo_core::merge::{LocatedField, is_same_value, locate_field};
use palazzo_core::model::{Conflict, FileEdit, OpenConflict, Palace};

/// Minimum number of digits of a short id.
const MIN_ID_DIGITS: usize = 4;

impl LoadedPalace {
    /// Returns the conflicts that are not settled.
    pub(crate) fn open_conflicts(&self) -> Vec<OpenConflict> {
        self.readable_conflicts().filter_map(|(path, _)| self.open_conflict(path)).collect()
    }

    /// Returns the number of conflicts that are not settled.
    pub(crate) fn count_open_conflicts(&self) -> usize {
        let conflicts = self.readable_conflicts();
        conflicts.filter(|(path, it)| self.item_file_of_open_conflict(path, it).is_some()).count()
    }

    /// Returns the open conflicts about items whose files `is_wanted`.
    pub(crate) fn open_conflicts_about(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<OpenConflict> {
        let is_about =
            |it: &Conflict| find_item_file(&self.palace, it).is_some_and(|it| is_wanted(&it));
        let conflicts = self.readable_conflicts().filter(|(_, it)| is_about(it));
        conflicts.filter_map(|(path, _)| self.open_conflict(path)).collect()
    }

    /// Returns whether a file holds a conflict that is settled.
    pub(crate) fn is_settled_conflict(&self, path: &str) -> bool {
        self.palace.conflicts.contains_key(path)
            && self.file_error(path).is_none()
            && self.open_conflict(path).is_none()
    }

    /// Returns the files of the conflicts that are settled.
    pub(crate) fn settled_conflicts(&self) -> Vec<&str> {
        let paths = self.readable_conflicts().map(|(path, _)| path.as_str());
        paths.filter(|it| self.open_conflict(it).is_none()).collect()
    }

    /// Returns the edits that delete the conflicts which `edits` settle.
    pub(crate) fn settled_conflict_edits(&self, edits: &[FileEdit]) -> Vec<FileEdit> {
        let is_edited = |path: &str| edits.iter().any(|it| it.path == path);
        let conflicts = self.readable_conflicts().filter(|(path, _)| !is_edited(path));
        let settled = conflicts.filter(|(_, it)| {
            let file = find_item_file(&self.palace, it).unwrap_or_else(|| it.file.clone());
            let edit = edits.iter().find(|it| it.path == file);
            edit.is_some_and(|edit| !is_open_after_edit(it, edit, edits))
        });
        let delete = |(path, _): (&String, &Conflict)| {
            let was = self.store.read_file(path).ok().flatten()?;
            Some(FileEdit { path: path.clone(), was: Some(was), now: None })
        };
        settled.filter_map(delete).collect()
    }

    /// Yields the conflicts whose files have no error: with a misspelt key, a conflict could seem to
    /// be about another field, and settled.
    fn readable_conflicts(&self) -> impl Iterator<Item = (&String, &Conflict)> {
        self.palace.conflicts.iter().filter(|(path, _)| self.file_error(path).is_none())
    }

    /// Returns a conflict; `None` if it is settled.
    pub(crate) fn open_conflict(&self, path: &str) -> Option<OpenConflict> {
        let conflict = self.palace.conflicts.get(path)?;
        let item_file = self.item_file_of_open_conflict(path, conflict)?;
        Some(OpenConflict {
            path: path.to_owned(),
            conflict: conflict.clone(),
            short_id: short_id(&self.palace, path).to_owned(),
            item_file,
        })
    }

    /// Returns the file of the item of a conflict; `None` if the conflict is settled.
    fn item_file_of_open_conflict(&self, path: &str, conflict: &Conflict) -> Option<String> {
        let found = find_item_file(&self.palace, conflict);
        let item_digest = found.as_ref().and_then(|it| self.file_states.digest(it));
        let item_file = found.clone().unwrap_or_else(|| conflict.file.clone());
        // While a file cannot be read, nobody knows its fields.
        if self.file_error(&item_file).is_some() {
            return Some(item_file);
        }
        let conflict_digest = self.file_states.digest(path);
        let inputs = ConflictInputs { conflict_digest, item_file: item_file.clone(), item_digest };
        let is_open = self.conflict_states.recorded(path, &inputs).unwrap_or_else(|| {
            let text = found.and_then(|it| self.store.read_file(&it).ok().flatten());
            let is_open = is_open(conflict, &item_file, text.as_deref());
            // The file may have changed since the palace has read it.
            if text.as_deref().map(text_digest) == item_digest {
                self.conflict_states.record(path, inputs, is_open);
            }
            is_open
        });
        is_open.then_some(item_file)
    }
}

/// Returns where the field of a conflict is in the text of its file; `None` if it is about the whole
/// file, or the file cannot be read.
pub(crate) fn present_field(it: &OpenConflict, text: &str) -> Option<LocatedField> {
    if it.conflict.is_about_whole_file() {
        return None;
    }
    let tree = parse_fields_and_body(&it.item_file, text)?;
    let OpenConflict { conflict, item_file, .. } = it;
    let (kind, stands) = (file_kind(item_file)?, conflict.stands.as_ref());
    Some(locate_field(kind, &tree.fields, &conflict.field, stands))
}

/// Returns the first digits of the name of a conflict that no other has.
fn short_id<'p>(palace: &Palace, path: &'p str) -> &'p str {
    let name = Conflict::name_from_path(path);
    // The names that share most digits are next to it.
    let before =
        palace.conflicts.range::<str, _>((Bound::Unbounded, Bound::Excluded(path))).next_back();
    let after = palace.conflicts.range::<str, _>((Bound::Excluded(path), Bound::Unbounded)).next();
    let shared = |other: &str| name.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let others = before.into_iter().chain(after);
    let longest = others.map(|(it, _)| shared(Conflict::name_from_path(it))).max();
    let digits = longest.map_or(0, |it| it + 1).max(MIN_ID_DIGITS);
    name.get(..digits).unwrap_or(name)
}

/// Returns the file of the item of a conflict, by its id; `None` if there is no such item.
pub(crate) fn find_item_file(palace: &Palace, conflict: &Conflict) -> Option<String> {
    let Some(id) = conflict.id else { return Some(conflict.file.clone()) };
    match PalacePath::parse(&conflict.file).ok()? {
        PalacePath::Room(room) => {
            if palace.room(&room).is_some_and(|it| it.id == Some(id)) {
                return Some(conflict.file.clone());
            }
            let (room, _) = palace.rooms().find(|(_, it)| it.id == Some(id))?;
            Some(room_path(room))
        }
        PalacePath::Entity => {
            let here = palace.graph.entity_in_file(&conflict.file);
            if here.is_some_and(|it| it.id == Some(id)) {
                return Some(conflict.file.clone());
            }
            let entity = palace.graph.iter().find(|it| it.id == Some(id))?;
            palace.graph.file_of_entity(&entity.name).map(str::to_owned)
        }
        PalacePath::Scroll(_) => {
            let here = palace.scroll_in_file(&conflict.file).filter(|it| it.id == id);
            let here = here.map(|_| conflict.file.as_str());
            let moved = || palace.scroll_files().find(|(_, it)| it.id == id).map(|(file, _)| file);
            here.or_else(moved).map(str::to_owned)
        }
        _ => Some(conflict.file.clone()),
    }
}

/// Returns whether a conflict is still open; `text` is the present text of its item in `file`.
fn is_open(conflict: &Conflict, file: &str, text: Option<&str>) -> bool {
    let stands = conflict.stands.as_ref();
    if conflict.field.is_empty() {
        return is_same_file(file, stands.and_then(Value::as_str), text);
    }
    let Some(text) = text else { return false };
    if conflict.field == Conflict::PATH_FIELD {
        return stands.is_some_and(|it| it == file);
    }
    // While a file cannot be read, nobody knows its fields.
    let Some((kind, tree)) = file_kind(file).zip(parse_fields_and_body(file, text)) else {
        return true;
    };
    if conflict.field == Conflict::BODY_FIELD {
        return is_same_value(tree.body.map(Value::from).as_ref(), stands);
    }
    match locate_field(kind, &tree.fields, &conflict.field, stands) {
        LocatedField::Named(place) => place.has_value(&tree.fields, stands),
        LocatedField::Renamed(_) | LocatedField::ItemGone => true,
        LocatedField::Missing => stands.is_none(),
    }
}

/// Returns whether two versions of a file have the same content; `None` if there is no file.
fn is_same_file(file: &str, a: Option<&str>, b: Option<&str>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return a.is_none() && b.is_none() };
    match (parse_fields_and_body(file, a), parse_fields_and_body(file, b)) {
        (Some(a), Some(b)) => a == b,
        _ => a.replace("\r\n", "\n") == b.replace("\r\n", "\n"),
    }
}

/// Returns whether a conflict is open after the edit of its item; the item may be moved by it.
fn is_open_after_edit(conflict: &Conflict, edit: &FileEdit, edits: &[FileEdit]) -> bool {
    let moved = || {
        let id = conflict.id?.to_string();
        let new = edits.iter().filter(|it| it.was.is_none() && is_item_path(&it.path));
        new.into_iter().find(|it| it.now.as_ref().is_some_and(|text| has_id(&it.path, text, &id)))
    };
    let new = if edit.now.is_none() { moved().unwrap_or(edit) } else { edit };
    is_open_in_edited_item(conflict, edit, new)
        .unwrap_or_else(|| is_open(conflict, &new.path, new.now.as_deref()))
}

/// Returns whether a conflict about a field is open after the edit of its item from `old` to `new`:
/// the field is followed if a list item around it is renamed, and settled if that is removed. `None`
/// if the field had no value before.
fn is_open_in_edited_item(conflict: &Conflict, old: &FileEdit, new: &FileEdit) -> Option<bool> {
    if conflict.is_about_whole_file() {
        return None;
    }
    let was = parse_fields_and_body(&old.path, old.was.as_deref()?)?.fields;
    let now = parse_fields_and_body(&new.path, new.now.as_deref()?)?.fields;
    let (kind, stands) = (file_kind(&new.path)?, conflict.stands.as_ref());
    let found = locate_field(kind, &was, &conflict.field, stands);
    let place = found.place().filter(|it| it.value(&was).is_some())?;
    let place_now = place.in_version(kind, &was, &now);
    Some(place_now.is_some_and(|it| it.has_value(&now, stands)))
}

/// Returns whether a file has this id, in its name or its content.
fn has_id(path: &str, text: &str, id: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let field = || format::parse_fields_and_body(path, text)?.fields.get("id").cloned();
    name.starts_with(id) || text.contains(id) && field().is_some_and(|it| it == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    const HALL: (&str, &str) =
        ("rooms/hall.yaml", "id: 01KGSRV28ADXPQGT6T6QX25YS8\nname: Hall\ndescription: Stone.\n");
    const CONFLICT: &str = "id: 01KGSRV28ADXPQGT6T6QX25YS8\nfile: rooms/hall.yaml\nfield: name\nstands: Hall\nother: Nave\n";

    /// Returns the ids of the open conflicts, and the files of the settled ones.
    fn states(home: &mut TestHome) -> (Vec<String>, Vec<String>) {
        home.restart();
        home.run(|session| {
            let open = session.palace.open_conflicts().into_iter();
            let settled = session.palace.settled_conflicts().into_iter();
            (open.map(|it| it.short_id).collect(), settled.map(str::to_owned).collect())
        })
    }

    #[test]
    fn a_conflict_is_open_while_its_field_has_the_value_that_stands() {
        let mut home = TestHome::new(&[HALL, ("conflicts/0123456789abcdef.yaml", CONFLICT)]);
        assert_eq!(states(&mut home).0, ["0123"]);
        home.write("conflicts/01234abcdef01234.yaml", CONFLICT);
        assert_eq!(states(&mut home).0, ["012345", "01234a"]);
        home.write(HALL.0, &HALL.1.replace("Hall", "Porch"));
        assert_eq!(states(&mut home).1.len(), 2);
    }

    #[test]
    fn a_conflict_is_not_settled_by_an_error_in_its_file_or_that_of_its_item() {
        let misspelt = CONFLICT.replace("field", "feild");
        let mut home = TestHome::new(&[HALL, ("conflicts/misspelt.yaml", &misspelt)]);
        assert_eq!(states(&mut home), (Vec::new(), Vec::new()));
        home.write("conflicts/0123456789abcdef.yaml", CONFLICT);
        home.write(HALL.0, "name: [Hall\n");
        assert_eq!(states(&mut home), (vec!["0123".to_owned()], Vec::new()));
    }

    #[test]
    fn a_conflict_follows_an_action_with_another_label_and_stays_open_if_that_is_changed_too() {
        let listen = |label: &str, content: &str| {
            let action = format!("- {{ label: {label}, type: text, content: {content} }}\n");
            format!("{}actions:\n{action}", HALL.1)
        };
        let conflict = CONFLICT
            .replace("field: name", "field: actions[\"Listen\"].content")
            .replace("stands: Hall", "stands: Tick.");
        let hall = listen("Listen", "Tick.");
        let conflict_file = "conflicts/0123456789abcdef.yaml";
        let mut home = TestHome::new(&[(HALL.0, &hall), (conflict_file, &conflict)]);
        let count = |home: &mut TestHome| states(home).0.len();
        assert_eq!(count(&mut home), 1);
        for (label, content) in [("Hear", "Tick."), ("Hear", "Tock.")] {
            home.write(HALL.0, &listen(label, content));
            assert_eq!(count(&mut home), 1, "{label} {content}");
        }
        home.write(HALL.0, &listen("Listen", "Tock."));
        assert_eq!(count(&mut home), 0);
        let is_settled = |was: &str, now: &str| {
            home.write(HALL.0, was);
            home.restart();
            let edit = FileEdit {
                path: HALL.0.to_owned(),
                was: Some(was.to_owned()),
                now: Some(now.to_owned()),
            };
            !home.run(|it| it.palace.settled_conflict_edits(&[edit])).is_empty()
        };
        let mut is_settled = is_settled;
        assert!(!is_settled(&hall, &listen("Hear", "Tick.")));
        assert!(is_settled(&hall, &listen("Listen", "Tock.")));
        assert!(is_settled(&hall, HALL.1));
    }

    #[test]
    fn an_item_is_found_by_its_id_and_a_deleted_one_settles() {
        let mut home = TestHome::new(&[HALL, ("conflicts/0123456789abcdef.yaml", CONFLICT)]);
        home.rename(HALL.0, "rooms/west/porch.yaml");
        home.restart();
        let files = home.run(|it| it.palace.open_conflicts_about(|file| file != HALL.0).len());
        assert_eq!(files, 1);
        home.write("rooms/west/porch.yaml", "name: Hall\ndescription: Another.\n");
        assert_eq!(states(&mut home).1.len(), 1);
    }
}
