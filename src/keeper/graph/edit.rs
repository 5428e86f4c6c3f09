//! Entities as they are to be, gathered until they are written in one commit.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use crate::format::{self, entity_file, is_entity_file};
use crate::keeper::Refusal;
use crate::keeper::palace::Held;
use crate::model::{Edit, Entity, LARGEST_FILE, Relation};

/// What is to become of some entities. However often one is changed, its file
/// is written once.
#[derive(Debug, Default)]
pub(crate) struct Revision {
    files: BTreeMap<String, Revised>,
    /// By name, and whether defined.
    places: HashMap<(String, bool), String>,
    joining: BTreeMap<String, usize>,
}

/// A file, what was in it, and the entity it is to hold; `None`: the file goes.
#[derive(Debug)]
struct Revised {
    was: Option<String>,
    old: Option<Entity>,
    now: Option<Entity>,
    /// Where the entity is to lie, if not where it did.
    to: Option<String>,
}

/// Whose files would be larger than files may be, and how many bytes they would
/// have.
pub(crate) type TooLarge = BTreeMap<String, usize>;

impl Revision {
    /// Returns the entity of that exact name, to be changed.
    pub(crate) fn entity(
        &mut self,
        held: &mut Held,
        name: &str,
    ) -> Result<Option<&mut Entity>, Refusal> {
        self.open(held, name, true)
    }

    /// Returns the loose end of that exact name, to be changed.
    pub(crate) fn loose_end(
        &mut self,
        held: &mut Held,
        name: &str,
    ) -> Result<Option<&mut Entity>, Refusal> {
        self.open(held, name, false)
    }

    /// Returns what relations from that name are held by: the entity, else the
    /// loose end, which is added if it is not there.
    pub(crate) fn start(
        &mut self,
        held: &mut Held,
        name: &str,
    ) -> Result<Option<&mut Entity>, Refusal> {
        let is_defined = self.entity(held, name)?.is_some();
        if !is_defined && self.loose_end(held, name)?.is_none() {
            self.add(held, Entity::loose_end(name))?;
        }
        self.open(held, name, is_defined)
    }

    /// Adds an entity or a loose end. An entity takes over what a loose end of
    /// its name has, and its file.
    pub(crate) fn add(&mut self, held: &mut Held, mut entity: Entity) -> Result<(), Refusal> {
        if entity.is_defined {
            entity.relations.extend(self.take_over(held, &entity.name)?);
        }
        let path = {
            // Files get their names one after the other, so that twins differ and
            // full folders are seen.
            let taken = |file: &str| self.files.contains_key(file) || held.is_taken(file);
            let joining = |folder: &str| self.joining.get(folder).copied().unwrap_or_default();
            entity_file(&held.palace.graph, &entity, taken, joining)
        };
        if let Some((folder, _)) = path.rsplit_once('/') {
            *self.joining.entry(folder.to_owned()).or_default() += 1;
        }
        self.places.insert((entity.name.clone(), entity.is_defined), path.clone());
        self.files.insert(path, Revised { was: None, old: None, now: Some(entity), to: None });
        Ok(())
    }

    /// Removes the loose end of a name, and returns the relations that start from
    /// it.
    pub(crate) fn take_over(
        &mut self,
        held: &mut Held,
        name: &str,
    ) -> Result<Vec<Relation>, Refusal> {
        let loose = self.loose_end(held, name)?;
        let relations = loose.map(|it| std::mem::take(&mut it.relations));
        self.remove(name, false);
        Ok(relations.unwrap_or_default())
    }

    /// Removes an entity, or a loose end, that was returned or added before.
    pub(crate) fn remove(&mut self, name: &str, is_defined: bool) {
        let place = self.places.get(&(name.to_owned(), is_defined));
        if let Some(revised) = place.and_then(|it| self.files.get_mut(it)) {
            revised.now = None;
        }
    }

    /// Lets the file of an entity follow its name and genus, if it was named for
    /// them.
    pub(crate) fn follow(&mut self, held: &Held, name: &str) {
        let path = self.places.get(&(name.to_owned(), true));
        let Some((path, revised)) = path.and_then(|it| Some((it, self.files.get_mut(it)?))) else {
            return;
        };
        let (Some(old), Some(now)) = (&revised.old, &revised.now) else { return };
        if is_entity_file(path, old) && !is_entity_file(path, now) {
            let taken = |file: &str| held.is_taken(file);
            revised.to = Some(entity_file(&held.palace.graph, now, taken, |_| 0));
        }
    }

    /// Says what is to be done to the files: first to those that go, for what
    /// comes may take their names. A loose end from which nothing starts any
    /// more is gone.
    pub(crate) fn edits(self) -> Result<Vec<Edit>, Refusal> {
        let edits = self.files.into_par_iter().map(|(path, revised)| revised.edits(path));
        let edits = edits.collect::<Result<Vec<_>, _>>()?;
        let (come, gone): (Vec<_>, Vec<_>) =
            edits.into_iter().flatten().partition(|it| it.now.is_some());
        Ok(gone.into_iter().chain(come).collect())
    }

    /// Says what is to be done to the files, as [`Revision::edits`] does, if none
    /// becomes too large.
    pub(crate) fn edits_that_fit(self) -> Result<Result<Vec<Edit>, TooLarge>, Refusal> {
        let names = self.places.iter().map(|((name, _), path)| (path.clone(), name.clone()));
        let names: HashMap<_, _> = names.collect();
        let edits = self.edits()?;
        let size = |it: &Edit| it.now.as_ref().map_or(0, String::len);
        let large = edits.iter().filter(|it| size(it) > LARGEST_FILE);
        let large = large.filter_map(|it| Some((names.get(&it.path)?.clone(), size(it))));
        let large: TooLarge = large.collect();
        Ok(if large.is_empty() { Ok(edits) } else { Err(large) })
    }

    fn open(
        &mut self,
        held: &mut Held,
        name: &str,
        is_defined: bool,
    ) -> Result<Option<&mut Entity>, Refusal> {
        let key = (name.to_owned(), is_defined);
        if !self.places.contains_key(&key) {
            let graph = &held.palace.graph;
            let path = if is_defined { graph.file_of(name) } else { graph.file_of_loose_end(name) };
            let Some(path) = path.map(str::to_owned) else { return Ok(None) };
            let was = held.text(&path)?;
            // The file may have changed under our eyes: what it holds now counts.
            let meant = |it: &&Entity| it.name == name && it.is_defined == is_defined;
            let Some(old) = held.palace.graph.in_file(&path).filter(meant).cloned() else {
                return Ok(None);
            };
            self.places.insert(key.clone(), path.clone());
            let now = Some(old.clone());
            self.files.insert(path, Revised { was, old: Some(old), now, to: None });
        }
        let revised = self.places.get(&key).and_then(|it| self.files.get_mut(it));
        Ok(revised.and_then(|it| it.now.as_mut()))
    }
}

impl Revised {
    fn edits(self, path: String) -> Result<Vec<Edit>, Refusal> {
        let Self { was, old, now, to } = self;
        let now = now.filter(|it| it.is_defined || !it.relations.is_empty());
        let now = match (&was, &old, &now) {
            (_, _, None) => None,
            (Some(text), Some(old), Some(now)) if old == now => Some(text.clone()),
            (Some(text), Some(old), Some(now)) => {
                let edited = format::edit_entity(&path, text, old, now);
                Some(edited.ok_or_else(|| Refusal::Entangled { file: path.clone() })?)
            }
            (_, _, Some(now)) => {
                let text = format::new_entity(&path, now);
                Some(text.ok_or_else(|| Refusal::Unwritable { file: path.clone() })?)
            }
        };
        Ok(match to.filter(|_| now.is_some()) {
            None => vec![Edit { path, was, now }],
            Some(to) => {
                let now = now.map(|it| format::moved(&to, &it));
                vec![Edit { path, was, now: None }, Edit { path: to, was: None, now }]
            }
        })
    }
}
