//! Collects changes of the files of entities, to write them in one commit.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use crate::Refusal;
use crate::palace::OpenPalace;
use palazzo_core::format::{self, is_standard_entity_path, new_entity_path};
use palazzo_core::model::{Entity, FileEdit, MAX_FILE_BYTES, Relation};

/// Changes of entities. The file of each entity is written once, however often it changes.
#[derive(Debug, Default)]
pub(crate) struct EntityFileEdits {
    files: BTreeMap<String, EditedFile>,
    /// By name, and whether defined.
    paths: HashMap<(String, bool), String>,
    added_per_folder: BTreeMap<String, usize>,
}

/// A file, its text and its entity before the change, and its entity now; `None` deletes the file.
#[derive(Debug, Default)]
struct EditedFile {
    was: Option<String>,
    old: Option<Entity>,
    now: Option<Entity>,
    /// The new path of the file, if it is renamed.
    to: Option<String>,
    /// The old and the new names of targets of relations.
    renamed_targets: Vec<[String; 2]>,
}

/// The names of entities with files above the size limit, and the sizes of the files in bytes.
pub(crate) type OversizedEntities = BTreeMap<String, usize>;

impl EntityFileEdits {
    /// Returns the entity with that exact name, for a change.
    pub(crate) fn entity_mut(
        &mut self,
        open: &mut OpenPalace,
        name: &str,
    ) -> Result<Option<&mut Entity>, Refusal> {
        self.load_entity(open, name, true)
    }

    /// Returns the loose end with that exact name, for a change.
    pub(crate) fn loose_end_mut(
        &mut self,
        open: &mut OpenPalace,
        name: &str,
    ) -> Result<Option<&mut Entity>, Refusal> {
        self.load_entity(open, name, false)
    }

    /// Returns the source of relations from that name: the entity or, if there is none, the loose
    /// end, which is added if necessary.
    pub(crate) fn entity_or_new_loose_end_mut(
        &mut self,
        open: &mut OpenPalace,
        name: &str,
    ) -> Result<Option<&mut Entity>, Refusal> {
        let is_defined = self.entity_mut(open, name)?.is_some();
        if !is_defined && self.loose_end_mut(open, name)?.is_none() {
            self.add_entity(open, Entity::new_loose_end(name))?;
        }
        self.load_entity(open, name, is_defined)
    }

    /// Adds an entity or a loose end. An entity takes over the relations of a loose end with its
    /// name.
    pub(crate) fn add_entity(
        &mut self,
        open: &mut OpenPalace,
        mut entity: Entity,
    ) -> Result<(), Refusal> {
        if entity.is_defined {
            entity.relations.extend(self.take_loose_end_relations(open, &entity.name)?);
        }
        let path = {
            // Count the new files, too: two entities must not get the same file, and a folder may
            // become full.
            let taken = |file: &str| self.files.contains_key(file) || open.has_file(file);
            let added =
                |folder: &str| self.added_per_folder.get(folder).copied().unwrap_or_default();
            new_entity_path(&open.palace.graph, &entity, taken, added)
        };
        if let Some((folder, _)) = path.rsplit_once('/') {
            *self.added_per_folder.entry(folder.to_owned()).or_default() += 1;
        }
        self.paths.insert((entity.name.clone(), entity.is_defined), path.clone());
        self.files.insert(path, EditedFile { now: Some(entity), ..EditedFile::default() });
        Ok(())
    }

    /// Removes the loose end with a name, and returns its relations.
    pub(crate) fn take_loose_end_relations(
        &mut self,
        open: &mut OpenPalace,
        name: &str,
    ) -> Result<Vec<Relation>, Refusal> {
        let loose = self.loose_end_mut(open, name)?;
        let relations = loose.map(|it| std::mem::take(&mut it.relations));
        self.remove_entity(name, false);
        Ok(relations.unwrap_or_default())
    }

    /// Removes an entity or a loose end that this edit returned or added.
    pub(crate) fn remove_entity(&mut self, name: &str, is_defined: bool) {
        let path = self.paths.get(&(name.to_owned(), is_defined));
        if let Some(file) = path.and_then(|it| self.files.get_mut(it)) {
            file.now = None;
        }
    }

    /// Records that relations of an entity or a loose end lead to `new`, which was `old`: in its file
    /// they are the same relations.
    pub(crate) fn record_renamed_target(
        &mut self,
        source: &str,
        is_defined: bool,
        old: &str,
        new: &str,
    ) {
        let path = self.paths.get(&(source.to_owned(), is_defined));
        if let Some(file) = path.and_then(|it| self.files.get_mut(it)) {
            file.renamed_targets.push([old.to_owned(), new.to_owned()]);
        }
    }

    /// Renames the file of an entity for its new name and genus, if the file had the standard name.
    /// The new file may replace one that this edit removes.
    pub(crate) fn rename_file_if_standard(&mut self, open: &OpenPalace, name: &str) {
        let Some(path) = self.paths.get(&(name.to_owned(), true)) else { return };
        let Some(EditedFile { old: Some(old), now: Some(now), .. }) = self.files.get(path) else {
            return;
        };
        if !is_standard_entity_path(path, old) || is_standard_entity_path(path, now) {
            return;
        }
        let mut removed = self.files.iter().filter(|(_, it)| it.now.is_none());
        let replaced = removed.find(|(path, _)| is_standard_entity_path(path, now));
        let taken = |file: &str| open.has_file(file);
        let to = match replaced {
            Some((path, _)) => path.clone(),
            None => new_entity_path(&open.palace.graph, now, taken, |_| 0),
        };
        if let Some(file) = self.files.get_mut(&path.clone()) {
            file.to = Some(to);
        }
    }

    /// Returns the edits of the files, deletions first, because new files may take their names.
    /// Loose ends without relations are deleted.
    pub(crate) fn into_edits(self) -> Result<Vec<FileEdit>, Refusal> {
        let edits = self.files.into_par_iter().map(|(path, file)| file.into_edits(path));
        let edits = edits.collect::<Result<Vec<_>, _>>()?;
        let (written, mut deleted): (Vec<_>, Vec<_>) =
            edits.into_iter().flatten().partition(|it| it.now.is_some());
        let mut replacing = Vec::new();
        for mut edit in written {
            // A file that takes the name of a deleted one replaces it: each path has one edit.
            if let Some(at) =
                deleted.iter().position(|it| edit.was.is_none() && it.path == edit.path)
            {
                edit.was = deleted.swap_remove(at).was;
            }
            replacing.push(edit);
        }
        Ok(deleted.into_iter().chain(replacing).collect())
    }

    /// Returns the edits as [`EntityFileEdits::into_edits`] does, or the entities with files that become
    /// too large.
    pub(crate) fn into_edits_within_limit(
        self,
    ) -> Result<Result<Vec<FileEdit>, OversizedEntities>, Refusal> {
        let names = self.paths.iter().map(|((name, _), path)| (path.clone(), name.clone()));
        let names: HashMap<_, _> = names.collect();
        let edits = self.into_edits()?;
        let size = |it: &FileEdit| it.now.as_ref().map_or(0, String::len);
        let large = edits.iter().filter(|it| size(it) > MAX_FILE_BYTES);
        let large = large.filter_map(|it| Some((names.get(&it.path)?.clone(), size(it))));
        let large: OversizedEntities = large.collect();
        Ok(if large.is_empty() { Ok(edits) } else { Err(large) })
    }

    fn load_entity(
        &mut self,
        open: &mut OpenPalace,
        name: &str,
        is_defined: bool,
    ) -> Result<Option<&mut Entity>, Refusal> {
        let key = (name.to_owned(), is_defined);
        if !self.paths.contains_key(&key) {
            let graph = &open.palace.graph;
            let path =
                if is_defined { graph.file_of_entity(name) } else { graph.file_of_loose_end(name) };
            let Some(path) = path.map(str::to_owned) else { return Ok(None) };
            let was = open.read_file_for_change(&path)?;
            // The file may have changed since the graph was read: use its current text.
            let is_same = |it: &&Entity| it.name == name && it.is_defined == is_defined;
            let Some(old) = open.palace.graph.entity_in_file(&path).filter(is_same).cloned() else {
                return Ok(None);
            };
            self.paths.insert(key.clone(), path.clone());
            let now = Some(old.clone());
            self.files
                .insert(path, EditedFile { was, old: Some(old), now, ..EditedFile::default() });
        }
        let file = self.paths.get(&key).and_then(|it| self.files.get_mut(it));
        Ok(file.and_then(|it| it.now.as_mut()))
    }
}

impl EditedFile {
    fn into_edits(self, path: String) -> Result<Vec<FileEdit>, Refusal> {
        let Self { was, old, now, to, renamed_targets } = self;
        let now = now.filter(|it| it.is_defined || !it.relations.is_empty());
        let now = match (&was, &old, &now) {
            (_, _, None) => None,
            (Some(text), Some(old), Some(now)) if old == now => Some(text.clone()),
            (Some(text), Some(old), Some(now)) => {
                let renamed = rename_targets(&path, text, old, &renamed_targets);
                let (text, old) = renamed.as_ref().map_or((text, old), |(text, it)| (text, it));
                let edited = format::edit_entity_text(&path, text, old, now);
                Some(edited.ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?)
            }
            (_, _, Some(now)) => {
                let text = format::new_entity_text(&path, now);
                Some(text.ok_or_else(|| Refusal::Unrepresentable { file: path.clone() })?)
            }
        };
        Ok(match to.filter(|_| now.is_some()) {
            None => vec![FileEdit { path, was, now }],
            Some(to) => {
                let now = now.map(|it| format::retarget_modeline(&to, &it));
                vec![FileEdit { path, was, now: None }, FileEdit { path: to, was: None, now }]
            }
        })
    }
}

/// Returns the text and the entity of a file with the new names of targets of relations, where they
/// can be written in place.
fn rename_targets(
    path: &str,
    text: &str,
    old: &Entity,
    renamed_targets: &[[String; 2]],
) -> Option<(String, Entity)> {
    let mut renamed = None;
    for [from, to] in renamed_targets {
        let text = renamed.as_ref().map_or(text, |(text, _): &(String, Entity)| text);
        let now = format::rename_relation_targets(path, text, from, to);
        let entity = now.as_ref().and_then(|it| format::parse_entity_file(path, it));
        // Relations that became equal may have been read as one.
        let entity = entity.filter(|it| it.relations.len() == old.relations.len());
        renamed = now.zip(entity).or(renamed);
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    const ADA: (&str, &str) = ("entities/person/ada.yaml", "name: Ada   # she\ngenus: Person\n");
    const GHOST: (&str, &str) =
        ("entities/undefined/ghost.yaml", "name: Ghost\nrelations:\n- { type: haunts, to: Ada }\n");

    fn new_person(name: &str) -> Entity {
        Entity { is_defined: true, genus: "Person".to_owned(), ..Entity::new_loose_end(name) }
    }

    /// Returns the edits of a palace with Ada and the loose end Ghost: the path and the new text.
    fn edits_of(
        change: impl FnOnce(&mut EntityFileEdits, &mut OpenPalace),
    ) -> Vec<(String, Option<String>)> {
        TestHome::new(&[ADA, GHOST]).run(|session| {
            let mut edit = EntityFileEdits::default();
            change(&mut edit, session.palace);
            edit.into_edits().unwrap().into_iter().map(|it| (it.path, it.now)).collect()
        })
    }

    fn deletion(file: &str) -> (String, Option<String>) {
        (file.to_owned(), None)
    }

    #[test]
    fn two_changes_of_an_entity_are_one_edit_that_keeps_comments() {
        let edits = edits_of(|edit, open| {
            for text in ["One.", "Two."] {
                let ada = edit.entity_mut(open, "Ada").unwrap().unwrap();
                ada.observations.push(text.to_owned());
            }
        });
        let text = format!("{}observations:\n  - One.\n  - Two.\n", ADA.1);
        assert_eq!(edits, [(ADA.0.to_owned(), Some(text))]);
    }

    #[test]
    fn an_unchanged_entity_keeps_its_text() {
        let edits = edits_of(|edit, open| drop(edit.entity_mut(open, "Ada")));
        assert_eq!(edits, [(ADA.0.to_owned(), Some(ADA.1.to_owned()))]);
    }

    #[test]
    fn names_are_exact_and_entities_are_no_loose_ends() {
        let edits = edits_of(|edit, open| {
            assert!(edit.entity_mut(open, "ada").unwrap().is_none());
            assert!(edit.loose_end_mut(open, "Ada").unwrap().is_none());
            assert!(edit.entity_mut(open, "Ghost").unwrap().is_none());
        });
        assert_eq!(edits, []);
    }

    #[test]
    fn a_new_entity_takes_over_the_relations_of_its_loose_end() {
        let edits = edits_of(|edit, open| edit.add_entity(open, new_person("Ghost")).unwrap());
        assert_eq!(edits[0], deletion(GHOST.0));
        assert_eq!(edits[1].0, "entities/person/ghost.yaml");
        assert!(edits[1].1.as_ref().unwrap().contains("- type: haunts\n    to: Ada\n"));
    }

    #[test]
    fn new_entities_with_one_slug_get_different_files() {
        let edits = edits_of(|edit, open| {
            for name in ["ada!", "Bob", "bob"] {
                edit.add_entity(open, new_person(name)).unwrap();
            }
        });
        let paths: Vec<_> = edits.iter().map(|(path, _)| path.as_str()).collect();
        let person = ["ada-2", "bob-2", "bob"].map(|it| format!("entities/person/{it}.yaml"));
        assert_eq!(paths, person);
    }

    #[test]
    fn an_entity_that_is_added_and_removed_is_not_written() {
        let edits = edits_of(|edit, open| {
            edit.add_entity(open, new_person("Bob")).unwrap();
            edit.remove_entity("Bob", true);
        });
        assert_eq!(edits, [deletion("entities/person/bob.yaml")]);
    }

    #[test]
    fn a_loose_end_without_relations_is_deleted() {
        let edits = edits_of(|edit, open| {
            edit.loose_end_mut(open, "Ghost").unwrap().unwrap().relations.clear();
        });
        assert_eq!(edits, [deletion(GHOST.0)]);
    }

    #[test]
    fn a_relation_starts_from_the_entity_or_from_a_loose_end() {
        let edits = edits_of(|edit, open| {
            for name in ["Ada", "Ghost", "Phantom"] {
                let source = edit.entity_or_new_loose_end_mut(open, name).unwrap().unwrap();
                assert_eq!((source.name.as_str(), source.is_defined), (name, name == "Ada"));
            }
        });
        let paths: Vec<_> = edits.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["entities/undefined/phantom.yaml", ADA.0, GHOST.0]);
    }

    #[test]
    fn only_a_file_with_the_standard_name_is_renamed_with_its_entity() {
        let rename = |file: &str| {
            TestHome::new(&[(file, ADA.1)]).run(|session| {
                let mut edit = EntityFileEdits::default();
                edit.entity_mut(session.palace, "Ada").unwrap().unwrap().name = "Eve".to_owned();
                edit.rename_file_if_standard(session.palace, "Ada");
                let edits = edit.into_edits().unwrap().into_iter();
                edits.map(|it| (it.path, it.now.is_some())).collect::<Vec<_>>()
            })
        };
        let eve = ("entities/person/eve.yaml".to_owned(), true);
        assert_eq!(rename(ADA.0), [(ADA.0.to_owned(), false), eve]);
        let by_hand = "entities/old/countess.yaml";
        assert_eq!(rename(by_hand), [(by_hand.to_owned(), true)]);
    }

    #[test]
    fn entities_above_the_size_limit_are_reported_with_their_size() {
        TestHome::new(&[ADA]).run(|session| {
            let mut edit = EntityFileEdits::default();
            let observations = vec!["x".repeat(MAX_FILE_BYTES)];
            let much = Entity { observations, ..new_person("Much") };
            edit.add_entity(session.palace, much).unwrap();
            edit.add_entity(session.palace, new_person("Little")).unwrap();
            let large = edit.into_edits_within_limit().unwrap().unwrap_err();
            assert_eq!(large.keys().collect::<Vec<_>>(), ["Much"]);
            assert!(large["Much"] > MAX_FILE_BYTES);
        });
    }
}
