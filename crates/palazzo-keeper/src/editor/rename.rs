//! Renames symbols from an editor: the changes of all files, for the editor to apply.

use std::collections::BTreeMap;

use crate::Refusal;
use crate::editor::EditorPalace;
use crate::editor::references::MAX_FILES;
use crate::editor::symbol::Symbol;
use crate::editor::symbol::own_room;
use crate::graph::update::{EntityChange, plan_update};
use crate::items::move_item::{plan_room_rename, plan_wing_rename};
use crate::rooms::room_plans::plan_room_moves;
use palazzo_core::diff::{LineEdit, line_edits};
use palazzo_core::format::{
    PalacePath, edit_entity_text, parse_entity_file, replace_names, room_path,
};
use palazzo_core::model::{Entity, FileEdit, RoomId, Slug, quoted};

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Lines are replaced.
    Edit {
        /// The path.
        path: String,
        /// The edits, by line.
        edits: Vec<LineEdit>,
    },
    /// The file gets another path. Its edits come before.
    Rename {
        /// The path before.
        from: String,
        /// The path after.
        to: String,
    },
    /// A new file.
    Create {
        /// The path.
        path: String,
        /// The text.
        text: String,
    },
    /// The file is deleted.
    Delete {
        /// The path.
        path: String,
    },
}

impl EditorPalace {
    /// Plans to rename a symbol, with everything that mentions it. Refuses as the tools do.
    pub fn plan_rename(&mut self, symbol: &Symbol, new: &str) -> Result<Vec<FileChange>, Refusal> {
        self.open.check_format_version()?;
        let new = new.trim();
        self.read_files_with_name(new);
        let edits = match symbol {
            Symbol::Room(id) => plan_room_rename(&mut self.open, id, new)?.0.edits,
            Symbol::Entity(name) => self.plan_entity_rename(name, new)?,
            Symbol::Genus(_) | Symbol::RelationType(_) => self.plan_text_rename(symbol, new)?,
            Symbol::Tool(name) => {
                return Err(Refusal::Invalid(format!(
                    "the tool {} cannot be renamed",
                    quoted(name)
                )));
            }
        };
        Ok(file_changes(&edits))
    }

    /// Plans what follows when an editor moves files and folders, each from a path to another:
    /// rooms and wings. The changes contain the moves.
    pub fn plan_file_moves(
        &mut self,
        files: &[(String, String)],
    ) -> Result<Vec<FileChange>, Refusal> {
        self.open.check_format_version()?;
        let wings = |(from, to): &(String, String)| Some((wing_folder(from)?, wing_folder(to)?));
        if let [only] = files
            && let Some((old, new)) = wings(only)
        {
            self.read_files_with_name(new.as_str());
            let plan = plan_wing_rename(&mut self.open, &old, new.as_str())?.0;
            return Ok(file_changes(&plan.edits));
        }
        let mut moves = BTreeMap::new();
        for file in files {
            if let Some((old, new)) = wings(file) {
                let rooms = self.open.palace.rooms().map(|(id, _)| id);
                let rooms = rooms.filter(|it| it.wing.as_ref() == Some(&old));
                let moved = |it: &RoomId| RoomId { wing: Some(new.clone()), ..it.clone() };
                moves.extend(rooms.map(|it| (it.clone(), moved(it))));
            } else if let (Some(old), Some(new)) = (own_room(&file.0), own_room(&file.1))
                && self.open.palace.room(&old).is_some()
            {
                moves.insert(old, new);
            }
        }
        if moves.is_empty() {
            return Ok(Vec::new());
        }
        for to in moves.values() {
            self.read_files_with_name(&to.to_string());
        }
        Ok(file_changes(&plan_room_moves(&mut self.open, &moves)?.0))
    }

    /// Reads the files of the items that have a name, or are in a wing of that name, as they are now: a
    /// file that was just deleted or moved still counts for a moment.
    fn read_files_with_name(&mut self, name: &str) {
        let palace = &self.open.palace;
        let is_meant = |id: &RoomId| {
            id.to_string() == name
                || id.slug.as_str() == name
                || id.wing.as_ref().is_some_and(|it| it.as_str() == name)
        };
        let rooms = palace.rooms().filter(|(id, _)| is_meant(id)).map(|(id, _)| room_path(id));
        let entity = palace.graph.file_of_entity(name).map(str::to_owned);
        for path in rooms.chain(entity).collect::<Vec<_>>() {
            self.open.reread_file(&path);
        }
        self.open.retry_name_conflicts();
    }

    /// Plans to rename an entity. Names that were never committed are no former names, so that a
    /// rename back restores every file.
    fn plan_entity_rename(&mut self, name: &str, new: &str) -> Result<Vec<FileEdit>, Refusal> {
        let former_names = self.former_names_after_rename(name, new);
        let (name, new_name) = (name.to_owned(), Some(new.to_owned()));
        let change = EntityChange { name, new_name, ..EntityChange::default() };
        let mut edits = plan_update(&mut self.open, &change)?.0.edits;
        if let Some(former_names) = former_names {
            for edit in &mut edits {
                set_former_names(edit, new, &former_names);
            }
        }
        Ok(edits)
    }

    /// Returns the former names that an entity has after a rename, if its last committed name counts
    /// as its name before.
    fn former_names_after_rename(&self, name: &str, new: &str) -> Option<Vec<String>> {
        let Some(committed) = self.committed_entity(name) else {
            return self.open.palace.graph.get(name).map(|it| it.former_names.clone());
        };
        let mut entity = Entity { name: new.to_owned(), ..committed.clone() };
        entity.record_former_names(&[committed]);
        Some(entity.former_names)
    }

    /// Returns an entity as it was committed last, under its present or a former name.
    fn committed_entity(&self, name: &str) -> Option<Entity> {
        let (graph, store) = (&self.open.palace.graph, self.open.store());
        let (file, entity) = (graph.file_of_entity(name)?, graph.get(name)?);
        let folder = file.rsplit_once('/')?.0;
        let former = entity.former_names.iter().rev().filter_map(|it| Slug::from_text(it));
        let former = former.map(|it| format!("{folder}/{it}.yaml"));
        let mut paths = std::iter::once(file.to_owned()).chain(former);
        paths.find_map(|path| {
            let committed = parse_entity_file(&path, &store.read_file_at_head(&path)?)?;
            let is_named =
                entity.name == committed.name || entity.former_names.contains(&committed.name);
            let is_same = committed.id == entity.id && (entity.id.is_some() || is_named);
            is_same.then_some(committed)
        })
    }

    /// Plans to replace a name wherever it is mentioned.
    fn plan_text_rename(&self, symbol: &Symbol, new: &str) -> Result<Vec<FileEdit>, Refusal> {
        if new.is_empty() || new.contains(['\n', '\r']) {
            return Err(Refusal::Invalid("a name is one line of text".to_owned()));
        }
        match symbol {
            Symbol::Genus(old) => self.check_new_genus(old, new)?,
            Symbol::RelationType(old) if old != new => self.check_new_relation_type(new)?,
            _ => {}
        }
        let files = self.files_mentioning(symbol);
        if files.len() > MAX_FILES {
            let message =
                format!("more than {MAX_FILES} files mention it: an editor cannot change them all");
            return Err(Refusal::Invalid(message));
        }
        let mut edits = Vec::new();
        for path in files {
            let Some(text) = self.text(&path) else { continue };
            let mentions = self.mentions_of(&path, symbol);
            let places: Vec<_> = mentions.iter().map(|it| [it.start, it.end]).collect();
            let now = replace_names(&path, &text, &places, new);
            if now.is_none() {
                let message = format!(
                    "the new name cannot be written in {path}: a name there is on several lines, or \
                     in a text that cannot contain it"
                );
                return Err(Refusal::Invalid(message));
            }
            edits.push(FileEdit { path, was: Some(text), now });
        }
        edits.retain(|it| it.was != it.now);
        Ok(edits)
    }

    /// Refuses a rename that would merge two types of relations: nobody could take them apart again.
    fn check_new_relation_type(&self, new: &str) -> Result<(), Refusal> {
        let mut relations =
            self.open.palace.graph.entities_and_loose_ends().flat_map(|it| &it.relations);
        match relations.any(|it| it.kind == new) {
            true => Err(Refusal::Invalid(format!(
                "there are relations of the type {} already",
                quoted(new)
            ))),
            false => Ok(()),
        }
    }

    /// Refuses a rename that would merge two genera.
    fn check_new_genus(&self, old: &str, new: &str) -> Result<(), Refusal> {
        match self.open.palace.graph.canonical_genus_name(new) {
            Some(other) if other != old => {
                Err(Refusal::Invalid(format!("there is a genus {} already", quoted(other))))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the wing of a folder `rooms/WING`.
fn wing_folder(path: &str) -> Option<Slug> {
    path.strip_prefix("rooms/")?.parse().ok()
}

/// Sets the former names in the file of the entity `name`.
fn set_former_names(edit: &mut FileEdit, name: &str, former_names: &[String]) {
    let Some(text) = &edit.now else { return };
    let entity = parse_entity_file(&edit.path, text).filter(|it| it.name == name);
    let Some(planned) = entity.filter(|it| it.former_names != former_names) else { return };
    let meant = Entity { former_names: former_names.to_vec(), ..planned.clone() };
    if let Some(edited) = edit_entity_text(&edit.path, text, &planned, &meant) {
        edit.now = Some(edited);
    }
}

/// Converts edits of whole files to changes: a deleted and a created file are one renamed file if
/// they have the same name or are the only ones of their folder.
pub(in crate::editor) fn file_changes(edits: &[FileEdit]) -> Vec<FileChange> {
    let (mut changes, mut renames) = (Vec::new(), Vec::new());
    let mut created: Vec<_> =
        edits.iter().filter(|it| it.was.is_none() && it.now.is_some()).collect();
    for edit in edits {
        match (&edit.was, &edit.now) {
            (Some(was), Some(now)) => {
                let edits = line_edits(was, now);
                changes.push(FileChange::Edit { path: edit.path.clone(), edits });
            }
            (Some(was), None) => match take_counterpart(&edit.path, &mut created) {
                Some(new) => {
                    let edits = line_edits(was, new.now.as_deref().unwrap_or_default());
                    if !edits.is_empty() {
                        changes.push(FileChange::Edit { path: edit.path.clone(), edits });
                    }
                    let (from, to) = (edit.path.clone(), new.path.clone());
                    renames.push(FileChange::Rename { from, to });
                }
                None => renames.push(FileChange::Delete { path: edit.path.clone() }),
            },
            _ => {}
        }
    }
    let new = created
        .into_iter()
        .filter_map(|it| Some(FileChange::Create { path: it.path.clone(), text: it.now.clone()? }));
    changes.into_iter().chain(renames).chain(new).collect()
}

/// Takes the created file that a deleted file became.
fn take_counterpart<'a>(path: &str, created: &mut Vec<&'a FileEdit>) -> Option<&'a FileEdit> {
    let kind = |path: &str| PalacePath::parse(path).map(|it| std::mem::discriminant(&it));
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let of_kind = |it: &&FileEdit| kind(&it.path) == kind(path);
    let same_name = created.iter().position(|it| of_kind(it) && name(&it.path) == name(path));
    let only = || {
        created
            .iter()
            .position(of_kind)
            .filter(|_| created.iter().filter(|it| of_kind(it)).count() == 1)
    };
    same_name.or_else(only).map(|it| created.remove(it))
}
