//! The knowledge graph, held so that every question costs what its answer is long.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::model::{Entity, Opening, Relation};

type Names = BTreeSet<Arc<str>>;

/// All entities of a palace, found by name, by genus, by genus and status, by
/// the file that holds them, and by who relates to them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    held: HashMap<Arc<str>, (String, Entity)>,
    files: HashMap<String, Arc<str>>,
    genera: BTreeMap<String, Names>,
    statuses: BTreeMap<String, BTreeMap<String, Names>>,
    sources: HashMap<String, Names>,
    folders: HashMap<String, usize>,
}

/// A relation seen from its far end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Incoming<'a> {
    /// The entity that holds the relation.
    pub from: &'a Entity,
    /// The relation.
    pub relation: &'a Relation,
}

impl Graph {
    /// Returns the entity of that exact name.
    pub fn get(&self, name: &str) -> Option<&Entity> {
        self.held.get(name).map(|(_, entity)| entity)
    }

    /// Returns the entity that can be opened so, if it is one.
    pub fn get_opening(&self, opening: &Opening) -> Option<&Entity> {
        match opening {
            Opening::Entity(name) => self.get(name),
            Opening::Room(_) | Opening::Scroll(_) => None,
        }
    }

    /// Returns the file that holds the entity of that name.
    pub fn file_of(&self, name: &str) -> Option<&str> {
        self.held.get(name).map(|(file, _)| file.as_str())
    }

    /// Returns the entity that `file` holds.
    pub fn in_file(&self, file: &str) -> Option<&Entity> {
        self.get(self.files.get(file)?)
    }

    /// Returns how many entities there are.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Yields all entities by genus and name.
    pub fn iter(&self) -> impl Iterator<Item = &Entity> {
        self.genera.values().flatten().filter_map(|name| self.get(name))
    }

    /// Yields each genus that has entities, with how many.
    pub fn genera(&self) -> impl Iterator<Item = (&str, usize)> {
        self.genera.iter().map(|(genus, names)| (genus.as_str(), names.len()))
    }

    /// Yields each status that entities of `genus` have, with how many.
    pub fn statuses(&self, genus: &str) -> impl Iterator<Item = (&str, usize)> {
        let statuses = self.statuses.get(genus).into_iter().flatten();
        statuses.map(|(status, names)| (status.as_str(), names.len()))
    }

    /// Yields the entities of `genus` by name, if given only those of `status`.
    pub fn of_genus(&self, genus: &str, status: Option<&str>) -> impl Iterator<Item = &Entity> {
        let names = match status {
            None => self.genera.get(genus),
            Some(status) => self.statuses.get(genus).and_then(|it| it.get(status)),
        };
        names.into_iter().flatten().filter_map(|name| self.get(name))
    }

    /// Yields the relations that lead to `name`, by the name they come from.
    pub fn incoming(&self, name: &str) -> impl Iterator<Item = Incoming<'_>> {
        let from = self.sources.get(name).into_iter().flatten();
        from.filter_map(|it| self.get(it)).flat_map(move |from| {
            let relations = from.relations.iter().filter(move |it| it.to == name);
            relations.map(move |relation| Incoming { from, relation })
        })
    }

    /// Returns how many entity files `folder` holds itself.
    pub fn files_in(&self, folder: &str) -> usize {
        self.folders.get(folder).copied().unwrap_or_default()
    }

    /// Tells whether some entity is held by `file`.
    pub fn has_file(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    /// Puts what `file` holds in place of what it held: an entity, or nothing.
    ///
    /// An entity whose name another file holds already is refused, and that
    /// file is returned.
    pub fn put(&mut self, file: &str, entity: Option<Entity>) -> Result<(), String> {
        self.take(file);
        let Some(entity) = entity else { return Ok(()) };
        if let Some((holder, _)) = self.held.get(entity.name.as_str()) {
            return Err(holder.clone());
        }
        let name: Arc<str> = entity.name.as_str().into();
        self.files.insert(file.to_owned(), name.clone());
        *self.folders.entry(folder_of(file)).or_default() += 1;
        self.genera.entry(entity.genus.clone()).or_default().insert(name.clone());
        if let Some(status) = &entity.status {
            let statuses = self.statuses.entry(entity.genus.clone()).or_default();
            statuses.entry(status.clone()).or_default().insert(name.clone());
        }
        for relation in &entity.relations {
            self.sources.entry(relation.to.clone()).or_default().insert(name.clone());
        }
        self.held.insert(name, (file.to_owned(), entity));
        Ok(())
    }

    fn take(&mut self, file: &str) {
        let Some(name) = self.files.remove(file) else { return };
        let Some((_, entity)) = self.held.remove(&name) else { return };
        if let Some(count) = self.folders.get_mut(&folder_of(file)) {
            *count -= 1;
        }
        drop_name(&mut self.genera, &entity.genus, &name);
        if let (Some(status), Some(statuses)) =
            (&entity.status, self.statuses.get_mut(&entity.genus))
        {
            drop_name(statuses, status, &name);
        }
        for relation in &entity.relations {
            if let Some(names) = self.sources.get_mut(&relation.to) {
                names.remove(&name);
            }
        }
    }
}

/// Graphs are equal when they hold the same entities in the same files.
impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        self.held == other.held
    }
}

fn drop_name(names: &mut BTreeMap<String, Names>, key: &str, name: &str) {
    if let Some(left) = names.get_mut(key) {
        left.remove(name);
        if left.is_empty() {
            names.remove(key);
        }
    }
}

fn folder_of(file: &str) -> String {
    file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(name: &str, disputed_by: &str) -> Entity {
        let relation = Relation {
            kind: "disputed_by".to_owned(),
            to: disputed_by.to_owned(),
            since: None,
            until: None,
            source: None,
        };
        Entity {
            id: None,
            name: name.to_owned(),
            genus: "Claim".to_owned(),
            status: Some("open".to_owned()),
            attributes: serde_json::Map::new(),
            observations: Vec::new(),
            relations: vec![relation],
        }
    }

    #[test]
    fn what_a_file_no_longer_holds_is_gone_from_every_index() {
        let mut graph = Graph::default();
        graph.put("entities/claim/a.yaml", Some(claim("A", "B"))).unwrap();
        graph.put("entities/claim/a.yaml", Some(claim("A2", "C"))).unwrap();

        assert_eq!(graph.genera().collect::<Vec<_>>(), [("Claim", 1)]);
        assert_eq!(graph.incoming("B").count(), 0);
        assert_eq!(graph.incoming("C").next().map(|it| it.from.name.as_str()), Some("A2"));

        graph.put("entities/claim/a.yaml", None).unwrap();

        assert_eq!(graph.genera().count() + graph.statuses("Claim").count(), 0);
        assert_eq!(graph.files_in("entities/claim"), 0);
        assert!(graph.is_empty());
    }

    #[test]
    fn a_name_belongs_to_the_file_that_had_it_first() {
        let mut graph = Graph::default();
        graph.put("entities/claim/a.yaml", Some(claim("A", "B"))).unwrap();
        let refused = graph.put("entities/claim/b.yaml", Some(claim("A", "C")));
        assert_eq!(refused, Err("entities/claim/a.yaml".to_owned()));
        assert_eq!(graph.len(), 1);
    }
}
