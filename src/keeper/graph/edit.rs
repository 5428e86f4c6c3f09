//! Entities as they are to be, gathered until they are written in one commit.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use crate::format::{self, is_standard_entity_path, new_entity_path};
use crate::keeper::Refusal;
use crate::keeper::palace::OpenPalace;
use crate::model::{Edit, Entity, MAX_FILE_BYTES, Relation};

/// What is to become of some entities. However often one is changed, its file
/// is written once.
#[derive(Debug, Default)]
pub(crate) struct GraphEdit {
    files: BTreeMap<String, EditedFile>,
    /// By name, and whether defined.
    paths: HashMap<(String, bool), String>,
    added_per_folder: BTreeMap<String, usize>,
}

/// A file, what was in it, and the entity it is to hold; `None`: the file goes.
#[derive(Debug)]
struct EditedFile {
    was: Option<String>,
    old: Option<Entity>,
    now: Option<Entity>,
    /// Where the entity is to lie, if not where it did.
    to: Option<String>,
}

/// Whose files would be larger than files may be, and how many bytes they would
/// have.
pub(crate) type OversizedEntities = BTreeMap<String, usize>;

impl GraphEdit {
    /// Returns the entity of that exact name, to be changed.
    pub(crate) fn entity_mut(
        &mut self,
        held: &mut OpenPalace,
        name: &str,
    ) -> Result<Option<&mut Entity>, Refusal> {
        self.load_entity(held, name, true)
    }

    /// Returns the loose end of that exact name, to be changed.
    pub(crate) fn loose_end_mut(
        &mut self,
        held: &mut OpenPalace,
        name: &str,
    ) -> Result<Option<&mut Entity>, Refusal> {
        self.load_entity(held, name, false)
    }

    /// Returns what relations from that name are held by: the entity, else the
    /// loose end, which is added if it is not there.
    pub(crate) fn get_or_add_source(
        &mut self,
        held: &mut OpenPalace,
        name: &str,
    ) -> Result<Option<&mut Entity>, Refusal> {
        let is_defined = self.entity_mut(held, name)?.is_some();
        if !is_defined && self.loose_end_mut(held, name)?.is_none() {
            self.add_entity(held, Entity::new_loose_end(name))?;
        }
        self.load_entity(held, name, is_defined)
    }

    /// Adds an entity or a loose end. An entity takes over what a loose end of
    /// its name has, and its file.
    pub(crate) fn add_entity(
        &mut self,
        held: &mut OpenPalace,
        mut entity: Entity,
    ) -> Result<(), Refusal> {
        if entity.is_defined {
            entity.relations.extend(self.take_loose_end(held, &entity.name)?);
        }
        let path = {
            // Files get their names one after the other, so that twins differ and
            // full folders are seen.
            let taken = |file: &str| self.files.contains_key(file) || held.has_file(file);
            let joining =
                |folder: &str| self.added_per_folder.get(folder).copied().unwrap_or_default();
            new_entity_path(&held.palace.graph, &entity, taken, joining)
        };
        if let Some((folder, _)) = path.rsplit_once('/') {
            *self.added_per_folder.entry(folder.to_owned()).or_default() += 1;
        }
        self.paths.insert((entity.name.clone(), entity.is_defined), path.clone());
        self.files.insert(path, EditedFile { was: None, old: None, now: Some(entity), to: None });
        Ok(())
    }

    /// Removes the loose end of a name, and returns the relations that start from
    /// it.
    pub(crate) fn take_loose_end(
        &mut self,
        held: &mut OpenPalace,
        name: &str,
    ) -> Result<Vec<Relation>, Refusal> {
        let loose = self.loose_end_mut(held, name)?;
        let relations = loose.map(|it| std::mem::take(&mut it.relations));
        self.remove_entity(name, false);
        Ok(relations.unwrap_or_default())
    }

    /// Removes an entity, or a loose end, that was returned or added before.
    pub(crate) fn remove_entity(&mut self, name: &str, is_defined: bool) {
        let place = self.paths.get(&(name.to_owned(), is_defined));
        if let Some(revised) = place.and_then(|it| self.files.get_mut(it)) {
            revised.now = None;
        }
    }

    /// Lets the file of an entity follow its name and genus, if it was named for
    /// them.
    pub(crate) fn update_file_name(&mut self, held: &OpenPalace, name: &str) {
        let path = self.paths.get(&(name.to_owned(), true));
        let Some((path, revised)) = path.and_then(|it| Some((it, self.files.get_mut(it)?))) else {
            return;
        };
        let (Some(old), Some(now)) = (&revised.old, &revised.now) else { return };
        if is_standard_entity_path(path, old) && !is_standard_entity_path(path, now) {
            let taken = |file: &str| held.has_file(file);
            revised.to = Some(new_entity_path(&held.palace.graph, now, taken, |_| 0));
        }
    }

    /// Says what is to be done to the files: first to those that go, for what
    /// comes may take their names. A loose end from which nothing starts any
    /// more is gone.
    pub(crate) fn into_edits(self) -> Result<Vec<Edit>, Refusal> {
        let edits = self.files.into_par_iter().map(|(path, revised)| revised.into_edits(path));
        let edits = edits.collect::<Result<Vec<_>, _>>()?;
        let (come, gone): (Vec<_>, Vec<_>) =
            edits.into_iter().flatten().partition(|it| it.now.is_some());
        Ok(gone.into_iter().chain(come).collect())
    }

    /// Says what is to be done to the files, as [`GraphEdit::into_edits`] does, if none
    /// becomes too large.
    pub(crate) fn into_edits_within_limit(
        self,
    ) -> Result<Result<Vec<Edit>, OversizedEntities>, Refusal> {
        let names = self.paths.iter().map(|((name, _), path)| (path.clone(), name.clone()));
        let names: HashMap<_, _> = names.collect();
        let edits = self.into_edits()?;
        let size = |it: &Edit| it.now.as_ref().map_or(0, String::len);
        let large = edits.iter().filter(|it| size(it) > MAX_FILE_BYTES);
        let large = large.filter_map(|it| Some((names.get(&it.path)?.clone(), size(it))));
        let large: OversizedEntities = large.collect();
        Ok(if large.is_empty() { Ok(edits) } else { Err(large) })
    }

    fn load_entity(
        &mut self,
        held: &mut OpenPalace,
        name: &str,
        is_defined: bool,
    ) -> Result<Option<&mut Entity>, Refusal> {
        let key = (name.to_owned(), is_defined);
        if !self.paths.contains_key(&key) {
            let graph = &held.palace.graph;
            let path =
                if is_defined { graph.file_of_entity(name) } else { graph.file_of_loose_end(name) };
            let Some(path) = path.map(str::to_owned) else { return Ok(None) };
            let was = held.read_for_change(&path)?;
            // The file may have changed under our eyes: what it holds now counts.
            let meant = |it: &&Entity| it.name == name && it.is_defined == is_defined;
            let Some(old) = held.palace.graph.entity_in_file(&path).filter(meant).cloned() else {
                return Ok(None);
            };
            self.paths.insert(key.clone(), path.clone());
            let now = Some(old.clone());
            self.files.insert(path, EditedFile { was, old: Some(old), now, to: None });
        }
        let revised = self.paths.get(&key).and_then(|it| self.files.get_mut(it));
        Ok(revised.and_then(|it| it.now.as_mut()))
    }
}

impl EditedFile {
    fn into_edits(self, path: String) -> Result<Vec<Edit>, Refusal> {
        let Self { was, old, now, to } = self;
        let now = now.filter(|it| it.is_defined || !it.relations.is_empty());
        let now = match (&was, &old, &now) {
            (_, _, None) => None,
            (Some(text), Some(old), Some(now)) if old == now => Some(text.clone()),
            (Some(text), Some(old), Some(now)) => {
                let edited = format::edit_entity_text(&path, text, old, now);
                Some(edited.ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?)
            }
            (_, _, Some(now)) => {
                let text = format::new_entity_text(&path, now);
                Some(text.ok_or_else(|| Refusal::Unrepresentable { file: path.clone() })?)
            }
        };
        Ok(match to.filter(|_| now.is_some()) {
            None => vec![Edit { path, was, now }],
            Some(to) => {
                let now = now.map(|it| format::retarget_modeline(&to, &it));
                vec![Edit { path, was, now: None }, Edit { path: to, was: None, now }]
            }
        })
    }
}
