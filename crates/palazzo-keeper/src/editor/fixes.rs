//! Changes that fix findings, and others that an editor offers at a place.

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::conflicts::open_conflict_finding;
use crate::conflicts::resolve::plan_resolution;
use crate::editor::EditorPalace;
use crate::editor::findings::EditorFinding;
use crate::editor::rename::{FileChange, file_changes};
use crate::editor::symbol::Symbol;
use crate::editor::symbol::own_room;
use palazzo_core::diff::{LineEdit, line_edits};
use palazzo_core::format::{
    self, FmtOutcome, RoomNameIndex, corrected_path, edit_room_text, fix_file, fmt_file,
    new_entity_path, new_entity_text, new_room_text, replace_names, room_path,
};
use palazzo_core::model::{
    Action, ActionKind, Code, ConflictChoice, Entity, FileKind, MeantWord, NavigationTarget,
    OpenConflict, Room, RoomId, RoomRef, quoted, side_file,
};

/// The genus of an entity that is defined where nothing suggests one.
const DEFAULT_GENUS: &str = "Topic";

/// A change that an editor offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The title, such as "Define the entity Ada".
    pub title: String,
    /// The finding that it fixes, as an index into the given ones; `None`: it fixes none.
    pub finding: Option<usize>,
    /// Whether there is no doubt that it is meant.
    pub is_preferred: bool,
    /// The changes of files.
    pub changes: Vec<FileChange>,
}

impl EditorPalace {
    /// Returns the changes that fix findings about a file, and those that are possible without one.
    /// `now` is the time of new ids.
    pub fn fixes(
        &mut self,
        path: &str,
        findings: &[EditorFinding],
        now: DateTime<Utc>,
    ) -> Vec<Fix> {
        let Some(text) = self.text(path).filter(|_| !self.has_other_format()) else {
            return Vec::new();
        };
        let mut fixes = Vec::new();
        let rooms = RoomNameIndex::from_palace(&self.open.palace);
        for (index, finding) in findings.iter().enumerate() {
            let of_finding = self.fixes_of_finding((path, &text), finding, &rooms, now);
            fixes.extend(of_finding.into_iter().map(|it| Fix { finding: Some(index), ..it }));
        }
        fixes.extend(self.fix_without_id(path, &text, now));
        fixes
    }

    /// Returns the change that fixes everything in a file that has only one possible fix.
    pub fn fix_everything(&self, path: &str) -> Option<Vec<FileChange>> {
        let text = self.text(path).filter(|_| !self.has_other_format())?;
        let fixed = fix_file(path, &text, &RoomNameIndex::from_palace(&self.open.palace))?;
        Some(edit_of_file(path, &text, &fixed.text))
    }

    /// Returns the edits that give a file its canonical form; `None` if it has errors, or the palace
    /// has another format.
    pub fn formatting(&self, path: &str) -> Option<Vec<LineEdit>> {
        let text = self.text(path).filter(|_| !self.has_other_format())?;
        match fmt_file(path, &text)? {
            FmtOutcome::Formatted(formatted) => Some(line_edits(&text, &formatted)),
            FmtOutcome::Unchanged => Some(Vec::new()),
            FmtOutcome::HasErrors(_) | FmtOutcome::CannotFormat => None,
        }
    }

    fn fixes_of_finding(
        &mut self,
        (path, text): (&str, &str),
        finding: &EditorFinding,
        rooms: &RoomNameIndex,
        now: DateTime<Utc>,
    ) -> Vec<Fix> {
        let mut fixes: Vec<_> = replace_word(path, text, finding, rooms).into_iter().collect();
        let at = finding.diagnostic.at;
        let named = || self.symbol_at(path, at).map(|(it, _)| it);
        match finding.diagnostic.code {
            Code::UnfinishedRoom => {
                if let Some(Symbol::Room(id)) = named() {
                    fixes.extend(self.build_room(path, &id, now));
                }
            }
            Code::OneWayDoor => {
                if let (Some(Symbol::Room(id)), Some(own)) = (named(), own_room(path)) {
                    fixes.extend(self.add_door_back(&id, &own));
                }
            }
            Code::UndefinedEntity | Code::UnresolvedLink => {
                if let Some(Symbol::Entity(name)) = named() {
                    fixes.extend(self.define_entity(path, &name, now));
                }
            }
            Code::Syntax => fixes.extend(quote_text(path, text, finding, rooms)),
            Code::FileName => fixes.extend(self.move_file(path)),
            Code::OpenConflict => fixes.extend(self.settle_conflict(path, finding)),
            Code::SettledConflict => {
                let changes = vec![FileChange::Delete { path: path.to_owned() }];
                fixes.push(fix("Delete the file of the settled conflict", changes, true));
            }
            _ => {}
        }
        fixes
    }

    fn build_room(&self, path: &str, id: &RoomId, now: DateTime<Utc>) -> Option<Fix> {
        let back = own_room(path).map(RoomRef::from);
        let room = Room {
            id: Some(new_id(now)),
            name: self.open.palace.room_name(id),
            description: String::new(),
            actions: Vec::new(),
            portals: back.into_iter().collect(),
            generate: None,
        };
        let path = room_path(id);
        let text = self.without_dead_modeline(FileKind::Room, new_room_text(&path, &room)?);
        let title = format!("Build the room `{id}`");
        Some(fix(&title, vec![FileChange::Create { path, text }], false))
    }

    /// Adds an action to a room that leads to `back`.
    fn add_door_back(&self, id: &RoomId, back: &RoomId) -> Option<Fix> {
        let (palace, path) = (&self.open.palace, room_path(id));
        let (room, text) = (palace.room(id)?, self.text(&path)?);
        let bare = RoomRef::from(RoomId { wing: None, slug: back.slug.clone() });
        let leads_there = palace.resolve_room(&bare, Some(id)).as_ref() == Ok(back);
        let to = if leads_there { bare } else { RoomRef::from(back.clone()) };
        let mut changed = room.clone();
        changed.actions.push(Action {
            label: format!("Go to {}", palace.room_name(back)),
            kind: ActionKind::Navigate(NavigationTarget { room: to, workspace: None }),
        });
        let edited = edit_room_text(&path, &text, room, &changed)?;
        let title = format!("Add an action to `{id}` that leads back");
        Some(fix(&title, edit_of_file(&path, &text, &edited), false))
    }

    fn define_entity(&self, path: &str, name: &str, now: DateTime<Utc>) -> Option<Fix> {
        let genus = self.own_entity(path).map_or(DEFAULT_GENUS, |it| it.genus.as_str());
        let entity = Entity {
            id: Some(new_id(now)),
            is_defined: true,
            genus: genus.to_owned(),
            ..Entity::new_loose_end(name)
        };
        let is_taken = |path: &str| self.text(path).is_some();
        let new = new_entity_path(&self.open.palace.graph, &entity, is_taken, |_| 0);
        let text = new_entity_text(&new, &entity)?;
        let text = self.without_dead_modeline(FileKind::Entity, text);
        let title = format!("Define the entity {}", quoted(name));
        Some(fix(&title, vec![FileChange::Create { path: new, text }], false))
    }

    /// Removes the line that names the schema, if the palace has no schemas.
    fn without_dead_modeline(&self, kind: FileKind, text: String) -> String {
        let has_schema = self.text(&format::schema_path(kind)).is_some();
        match text.split_once('\n').filter(|(line, _)| !has_schema && line.starts_with('#')) {
            Some((_, rest)) => rest.to_owned(),
            None => text,
        }
    }

    fn move_file(&self, path: &str) -> Option<Fix> {
        let right = corrected_path(path).filter(|_| side_file(path).is_none());
        let to = right.filter(|it| self.text(it).is_none())?;
        let title = format!("Move the file to {to}");
        let changes = vec![FileChange::Rename { from: path.to_owned(), to }];
        Some(fix(&title, changes, true))
    }

    fn settle_conflict(&mut self, path: &str, finding: &EditorFinding) -> Vec<Fix> {
        let shown = &finding.diagnostic;
        let is_shown = |it: &OpenConflict| {
            let (own, _) = open_conflict_finding(&self.open, it);
            (&own.message, &own.hint) == (&shown.message, &shown.hint)
        };
        let conflicts = self.conflicts_shown_in(path).into_iter();
        let shown: Vec<_> = conflicts.filter(is_shown).collect();
        let mut fixes = Vec::new();
        for conflict in shown {
            let choices = [
                (ConflictChoice::Stands, "Keep the value that stands"),
                (ConflictChoice::Other, "Take the other value"),
            ];
            for (choice, title) in choices {
                if let Ok(edits) = plan_resolution(&mut self.open, &conflict, choice) {
                    fixes.push(fix(title, file_changes(&edits), false));
                }
            }
        }
        fixes
    }

    /// Adds an id to a room or an entity that has none.
    fn fix_without_id(&self, path: &str, text: &str, now: DateTime<Utc>) -> Option<Fix> {
        let own = own_room(path).and_then(|it| self.open.palace.room(&it)).map(|it| it.id);
        let id = own.or_else(|| self.own_entity(path).map(|it| it.id))?;
        if id.is_some() {
            return None;
        }
        let comments = text.split_inclusive('\n').take_while(|it| it.starts_with('#'));
        let start: usize = comments.map(str::len).sum();
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let edited = format!("{}id: {}{line_end}{}", &text[..start], new_id(now), &text[start..]);
        if format::parse_file(path, &edited).has_errors() {
            return None;
        }
        Some(fix("Add an id", edit_of_file(path, text, &edited), false))
    }
}

/// Replaces the word of a finding by the one that was meant, if that is known.
fn replace_word(
    path: &str,
    text: &str,
    finding: &EditorFinding,
    rooms: &RoomNameIndex,
) -> Option<Fix> {
    let diagnostic = &finding.diagnostic;
    let MeantWord { word, is_certain } = diagnostic.meant.as_deref()?;
    // The parser turns the name of a room into a slug, and does not know the rooms.
    let is_slug = diagnostic.code == Code::BadSlug;
    let room = rooms.find_unique_room(word).filter(|_| is_slug).map(ToString::to_string);
    let is_certain = *is_certain && (!is_slug || room.is_some());
    let meant = room.as_deref().unwrap_or(word);
    let edited = replace_names(path, text, &[[diagnostic.at, finding.end]], meant)?;
    let title = format!("Change to {}", quoted(meant));
    Some(fix(&title, edit_of_file(path, text, &edited), is_certain))
}

/// Quotes the text that makes a line unreadable.
fn quote_text(
    path: &str,
    text: &str,
    finding: &EditorFinding,
    rooms: &RoomNameIndex,
) -> Option<Fix> {
    let fixed = fix_file(path, text, rooms)?;
    let [only] = fixed.fixed.as_slice() else { return None };
    let is_it = only.at == finding.diagnostic.at && only.code == Code::Syntax;
    is_it.then(|| fix("Quote the text", edit_of_file(path, text, &fixed.text), true))
}

fn edit_of_file(path: &str, was: &str, now: &str) -> Vec<FileChange> {
    vec![FileChange::Edit { path: path.to_owned(), edits: line_edits(was, now) }]
}

fn fix(title: &str, changes: Vec<FileChange>, is_preferred: bool) -> Fix {
    Fix { title: title.to_owned(), finding: None, is_preferred, changes }
}

fn new_id(now: DateTime<Utc>) -> Ulid {
    Ulid::from_datetime(now.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use palazzo_core::model::RoomId;

    #[test]
    fn nothing_is_planned_in_a_palace_of_another_format() {
        let formats = [("1", true), ("2", false), ("\"2\"", false), ("1\n= broken", true)];
        for (format, is_planned) in formats {
            let folder = tempfile::tempdir().unwrap();
            let settings = format!("format = {format}\nname = \"Keep\"\n");
            fs::write(folder.path().join("palace.toml"), settings).unwrap();
            fs::create_dir(folder.path().join("rooms")).unwrap();
            fs::write(folder.path().join("rooms/hall.yaml"), "name:   Hall\n").unwrap();
            let wake = Arc::new(|| {});
            let mut palace = EditorPalace::open(folder.path(), Vec::new(), None, wake).unwrap();
            let edits = palace.formatting("rooms/hall.yaml");
            assert_eq!(edits.is_some(), is_planned, "{format}: {edits:?}");
            let id: RoomId = "hall".parse().unwrap();
            let renamed = palace.plan_rename(&Symbol::Room(id), "nave");
            assert_eq!(renamed.is_ok(), is_planned, "{format}: {renamed:?}");
        }
    }
}
