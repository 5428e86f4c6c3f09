//! The knowledge graph, indexed so that the cost of a query depends on the size of its result.

pub(crate) mod entity_check;
pub(crate) mod entity_filter;
pub(crate) mod grouped_entities;
pub(crate) mod grouping;
pub(crate) mod lazy_index;
pub(crate) mod name_lookup;
pub(crate) mod timeline;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

pub use entity_filter::EntityFilter;
pub use timeline::{DatedFact, FactEvent, TimeSpan};

use crate::model::graph::grouped_entities::GroupingCache;
use crate::model::graph::lazy_index::{
    FoldedTexts, KeyHash, LazyIndex, date_index_keys, hash_attribute_value, hash_attribute_values,
    hash_key, hash_name_ignoring_case, relation_source_keys, spelling_index_keys,
};
use crate::model::{AttributeKind, Date, Entity, Genus, ItemId, Relation, fold_name};

type NameSet = BTreeSet<Arc<str>>;
/// Entities by name, each with its file.
type EntityMap = HashMap<Arc<str>, (Arc<str>, Entity)>;

/// All entities of a palace, indexed by name, genus, status, file, incoming relations, attribute
/// and date; and the genus definitions.
///
/// Loose ends are kept apart: they can be looked up by name, and their relations count as incoming
/// relations, but they are not in lists of entities.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    entities: EntityMap,
    loose_ends: EntityMap,
    files: HashMap<Arc<str>, Arc<str>>,
    genera: BTreeMap<String, NameSet>,
    statuses: BTreeMap<String, BTreeMap<String, NameSet>>,
    folders: HashMap<String, usize>,
    genus_definitions: BTreeMap<String, (String, Genus)>,
    former_names: FormerNames,
    names_by_case: LazyIndex<KeyHash>,
    /// Keyed by the target name, and whether the source is a loose end.
    relation_sources: LazyIndex<(KeyHash, bool)>,
    /// Keyed by every mentioned name, and whether the mentioning entity is a loose end.
    spellings: LazyIndex<(KeyHash, bool)>,
    values: LazyIndex<KeyHash>,
    dates: LazyIndex<(KeyHash, Date)>,
    grouping_cache: GroupingCache,
    folded_texts: FoldedTexts,
}

/// A relation, seen from its target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IncomingRelation<'a> {
    /// The entity with the relation.
    pub from: &'a Entity,
    /// The relation.
    pub relation: &'a Relation,
}

impl Graph {
    /// Returns the entity with exactly this name.
    pub fn get(&self, name: &str) -> Option<&Entity> {
        self.entities.get(name).map(|(_, entity)| entity)
    }

    /// Returns the loose end with exactly this name.
    pub fn get_loose_end(&self, name: &str) -> Option<&Entity> {
        self.loose_ends.get(name).map(|(_, entity)| entity)
    }

    /// Returns the entity that an item stands for, if it is one.
    pub fn entity_for_item(&self, item: &ItemId) -> Option<&Entity> {
        match item {
            ItemId::Entity(name) => self.get(name),
            _ => None,
        }
    }

    /// Returns the file of the entity with this name.
    pub fn file_of_entity(&self, name: &str) -> Option<&str> {
        self.entities.get(name).map(|(file, _)| &**file)
    }

    /// Returns the file of the loose end with this name.
    pub fn file_of_loose_end(&self, name: &str) -> Option<&str> {
        self.loose_ends.get(name).map(|(file, _)| &**file)
    }

    /// Returns the file of the entity or the loose end that has the name of `entity` here.
    pub fn file_of(&self, entity: &Entity) -> Option<&str> {
        match entity.is_defined {
            true => self.file_of_entity(&entity.name),
            false => self.file_of_loose_end(&entity.name),
        }
    }

    /// Returns the entity or loose end in `file`.
    pub fn entity_in_file(&self, file: &str) -> Option<&Entity> {
        let name = self.files.get(file)?;
        let both = [self.entities.get(name), self.loose_ends.get(name)].into_iter().flatten();
        both.filter(|(it, _)| **it == *file).map(|(_, entity)| entity).next()
    }

    /// Returns the number of entities.
    pub fn len(&self) -> usize {
        self.entities.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// Yields all entities by genus and name.
    pub fn iter(&self) -> impl Iterator<Item = &Entity> {
        self.genera.values().flatten().filter_map(|name| self.get(name))
    }

    /// Yields all entities and all loose ends, in no particular order.
    pub fn entities_and_loose_ends(&self) -> impl Iterator<Item = &Entity> {
        self.entities.values().chain(self.loose_ends.values()).map(|(_, entity)| entity)
    }

    /// Returns the entities with `lowercase_needle` in name, genus or an observation,
    /// in any case and in no particular order; `None` if it is empty or has a NUL character.
    pub fn entities_containing(&self, lowercase_needle: &str) -> Option<Vec<&Entity>> {
        let all = || self.entities.iter().map(|(name, (_, entity))| (name, entity));
        let names = self.folded_texts.find(lowercase_needle, all)?;
        Some(names.into_iter().filter_map(|it| self.get(it)).collect())
    }

    /// Yields all entities with their files, by genus and name.
    pub fn entities_with_files(&self) -> impl Iterator<Item = (&str, &Entity)> {
        let names = self.genera.values().flatten();
        names.filter_map(|it| self.entities.get(it)).map(|(file, entity)| (&**file, entity))
    }

    /// Yields each genus that has entities, with their number.
    pub fn genus_counts(&self) -> impl Iterator<Item = (&str, usize)> {
        self.genera.iter().map(|(genus, names)| (genus.as_str(), names.len()))
    }

    /// Yields the genera that have entities, then those that have a definition; some occur twice.
    pub fn all_genus_names(&self) -> impl Iterator<Item = &str> {
        self.genus_counts()
            .map(|(it, _)| it)
            .chain(self.genus_definitions().map(|it| it.name.as_str()))
    }

    /// Returns the number of entities of a genus.
    pub fn count_in_genus(&self, genus: &str) -> usize {
        self.genera.get(genus).map_or(0, BTreeSet::len)
    }

    /// Yields each status of the entities of `genus`, with their number.
    pub fn status_counts(&self, genus: &str) -> impl Iterator<Item = (&str, usize)> {
        let statuses = self.statuses.get(genus).into_iter().flatten();
        statuses.map(|(status, names)| (status.as_str(), names.len()))
    }

    /// Yields the entities of `genus` by name; if a status is given, only those with it.
    pub fn entities_of_genus(
        &self,
        genus: &str,
        status: Option<&str>,
    ) -> impl Iterator<Item = &Entity> {
        let names = match status {
            None => self.genera.get(genus),
            Some(status) => self.statuses.get(genus).and_then(|it| it.get(status)),
        };
        names.into_iter().flatten().filter_map(|name| self.get(name))
    }

    /// Yields the relations that lead to `name`, by the name of their origin.
    pub fn incoming_relations(&self, name: &str) -> impl Iterator<Item = IncomingRelation<'_>> {
        self.possible_relation_sources(name).flat_map(move |from| {
            let relations = from.relations.iter().filter(move |it| it.to == name);
            relations.map(move |relation| IncomingRelation { from, relation })
        })
    }

    /// Yields the entities and loose ends that may have a relation to `name`, by name. Hashes can
    /// collide, so the caller must check.
    fn possible_relation_sources(&self, name: &str) -> impl Iterator<Item = &Entity> {
        let make =
            || names_by_key(self.entities.iter().chain(&self.loose_ends), relation_source_keys);
        let target = hash_key(&name);
        let sources =
            self.relation_sources.range_while(make, (target, false), move |(it, _)| *it == target);
        sources.filter_map(|((_, is_loose), from)| match is_loose {
            true => self.get_loose_end(from),
            false => self.get(from),
        })
    }

    /// Returns the names that refer to `name` by a relation or by an attribute that a genus defines
    /// as a link, and whether each is defined.
    pub fn names_referring_to(&self, name: &str) -> BTreeSet<(String, bool)> {
        let lower = name.to_lowercase();
        let links = self.genus_definitions().flat_map(|genus| {
            let links =
                genus.attributes.iter().filter(|(_, it)| matches!(it.kind, AttributeKind::Link(_)));
            links.flat_map(|(key, _)| {
                self.possible_names_by_attribute_value(&genus.name, key, &lower)
            })
        });
        let sources =
            self.incoming_relations(name).map(|it| (it.from.name.clone(), it.from.is_defined));
        sources.chain(links.map(|it| (it.to_string(), true))).collect()
    }

    /// Returns the number of entity files directly in `folder`.
    pub fn count_in_folder(&self, folder: &str) -> usize {
        self.folders.get(folder).copied().unwrap_or_default()
    }

    /// Returns whether `file` contains an entity.
    pub fn is_entity_file(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    /// Sets the entity in `file`, or removes it if `None`.
    ///
    /// An entity whose name another file already has is rejected, and that file is returned; a
    /// loose end and an entity may have the same name.
    pub fn set_file_entity(&mut self, file: &str, entity: Option<Entity>) -> Result<(), String> {
        let before = self.entity_in_file(file).filter(|it| it.is_defined && it.id.is_some());
        let before = before.map(|it| (it.id, it.name.clone()));
        self.remove_file_entity(file);
        let Some(entity) = entity else { return Ok(()) };
        if let Some((holder, _)) = self.entity_map_mut(entity.is_defined).get(entity.name.as_str())
        {
            return Err(holder.to_string());
        }
        let (name, file): (Arc<str>, Arc<str>) = (entity.name.as_str().into(), file.into());
        *self.folders.entry(folder_of_file(&file)).or_default() += 1;
        if entity.is_defined {
            self.add_to_indexes(&name, &entity);
        }
        self.relation_sources.insert_if_built(&name, || relation_source_keys(&entity));
        self.spellings.insert_if_built(&name, || spelling_index_keys(&entity));
        self.files.insert(file.clone(), name.clone());
        if let Some((id, old)) = before
            && id == entity.id
            && old != entity.name
        {
            self.former_names.record_rename(&old, &name);
        }
        self.entity_map_mut(entity.is_defined).insert(name, (file, entity));
        Ok(())
    }

    fn remove_file_entity(&mut self, file: &str) {
        let is_defined = self.entity_in_file(file).is_some_and(|it| it.is_defined);
        let Some(name) = self.files.remove(file) else { return };
        let Some((_, entity)) = self.entity_map_mut(is_defined).remove(&name) else { return };
        if let Some(count) = self.folders.get_mut(&folder_of_file(file)) {
            *count -= 1;
        }
        if is_defined {
            self.remove_from_indexes(&name, &entity);
        }
        self.relation_sources.remove_if_built(&name, || relation_source_keys(&entity));
        self.spellings.remove_if_built(&name, || spelling_index_keys(&entity));
    }

    fn entity_map_mut(&mut self, is_defined: bool) -> &mut EntityMap {
        if is_defined { &mut self.entities } else { &mut self.loose_ends }
    }

    fn add_to_indexes(&mut self, name: &Arc<str>, entity: &Entity) {
        self.genera.entry(entity.genus.clone()).or_default().insert(name.clone());
        if let Some(status) = &entity.status {
            let statuses = self.statuses.entry(entity.genus.clone()).or_default();
            statuses.entry(status.clone()).or_default().insert(name.clone());
        }
        let rules = self.genus_definitions.get(&entity.genus).map(|(_, it)| it);
        self.names_by_case.insert_if_built(name, || vec![hash_name_ignoring_case(name)]);
        self.values.insert_if_built(name, || hash_attribute_values(entity));
        self.dates.insert_if_built(name, || date_index_keys(entity, rules));
        for former in &entity.former_names {
            self.former_names.insert(former, name);
        }
        self.grouping_cache.insert_entity(name, entity);
        self.folded_texts.insert_if_built(name, entity);
    }

    fn remove_from_indexes(&mut self, name: &Arc<str>, entity: &Entity) {
        remove_name_under_key(&mut self.genera, &entity.genus, name);
        if let (Some(status), Some(statuses)) =
            (&entity.status, self.statuses.get_mut(&entity.genus))
        {
            remove_name_under_key(statuses, status, name);
        }
        let rules = self.genus_definitions.get(&entity.genus).map(|(_, it)| it);
        self.names_by_case.remove_if_built(name, || vec![hash_name_ignoring_case(name)]);
        self.values.remove_if_built(name, || hash_attribute_values(entity));
        self.dates.remove_if_built(name, || date_index_keys(entity, rules));
        for former in &entity.former_names {
            self.former_names.remove(former, name);
        }
        self.grouping_cache.remove_entity(name, entity);
        self.folded_texts.remove_if_built(name);
    }

    /// Returns the definition of a genus, if there is one.
    pub fn genus_definition(&self, name: &str) -> Option<&Genus> {
        self.genus_definitions.get(name).map(|(_, it)| it)
    }

    /// Yields the genus definitions by name.
    pub fn genus_definitions(&self) -> impl Iterator<Item = &Genus> {
        self.genus_definitions.values().map(|(_, it)| it)
    }

    /// Returns the genus definition in `file`.
    pub fn genus_definition_in_file(&self, file: &str) -> Option<&Genus> {
        self.genus_definitions.values().find(|(it, _)| it == file).map(|(_, it)| it)
    }

    /// Returns the file with the definition of a genus.
    pub fn file_of_genus_definition(&self, name: &str) -> Option<&str> {
        self.genus_definitions.get(name).map(|(file, _)| file.as_str())
    }

    /// Sets the genus definition in `file`, or removes it if `None`.
    ///
    /// A genus that another file already defines is rejected, and that file is returned.
    pub fn set_genus_in_file(&mut self, file: &str, genus: Option<Genus>) -> Result<(), String> {
        self.genus_definitions.retain(|_, (it, _)| it != file);
        // The definition determines which attributes are dates.
        self.dates.invalidate();
        let Some(genus) = genus else { return Ok(()) };
        if let Some((holder, _)) = self.genus_definitions.get(&genus.name) {
            return Err(holder.clone());
        }
        self.genus_definitions.insert(genus.name.clone(), (file.to_owned(), genus));
        Ok(())
    }

    /// Yields the names of the entities of `genus` whose attribute may have this value, given in
    /// lower case. Hashes can collide, so the caller must check.
    pub(crate) fn possible_names_by_attribute_value(
        &self,
        genus: &str,
        key: &str,
        word: &str,
    ) -> impl Iterator<Item = &Arc<str>> + use<'_> {
        let hash = hash_attribute_value(genus, key, word);
        let found = self.values.range_while(
            || self.entity_names_by_key(hash_attribute_values),
            hash,
            move |it| *it == hash,
        );
        found.map(|(_, name)| name)
    }

    /// Returns the names of all entities, keyed by each of their keys.
    fn entity_names_by_key<K: Ord>(
        &self,
        keys: impl Fn(&Entity) -> Vec<K>,
    ) -> BTreeSet<(K, Arc<str>)> {
        names_by_key(self.entities.iter(), keys)
    }
}

/// The present names of entities by each name that they had before, folded.
#[derive(Clone, Debug, Default)]
struct FormerNames(BTreeMap<String, BTreeSet<Arc<str>>>);

impl FormerNames {
    /// Records that the entity `name` was called `former`.
    fn insert(&mut self, former: &str, name: &Arc<str>) {
        self.0.entry(fold_name(former)).or_default().insert(name.clone());
    }

    /// Removes what [`Self::insert`] has recorded.
    fn remove(&mut self, former: &str, name: &str) {
        let former = fold_name(former);
        if let Some(left) = self.0.get_mut(&former) {
            left.remove(name);
            if left.is_empty() {
                self.0.remove(&former);
            }
        }
    }

    /// Records that the entity `old` is called `name` now, and so was called by each former name of
    /// `old`.
    fn record_rename(&mut self, old: &str, name: &Arc<str>) {
        for names in self.0.values_mut().filter(|it| it.contains(old)) {
            names.insert(name.clone());
        }
        self.insert(old, name);
    }

    /// Yields the present names of the entities that were called `former`, whatever its case,
    /// blanks and underscores.
    fn present_names(&self, former: &str) -> impl Iterator<Item = &str> {
        let names = if self.0.is_empty() { None } else { self.0.get(&fold_name(former)) };
        names.into_iter().flatten().map(|it| &**it)
    }
}

fn names_by_key<'a, K: Ord>(
    all: impl Iterator<Item = (&'a Arc<str>, &'a (Arc<str>, Entity))>,
    keys: impl Fn(&Entity) -> Vec<K>,
) -> BTreeSet<(K, Arc<str>)> {
    all.flat_map(|(name, (_, it))| keys(it).into_iter().map(|it| (it, name.clone()))).collect()
}

/// Compares entities and genera by file.
impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        self.entities == other.entities
            && self.loose_ends == other.loose_ends
            && self.genus_definitions == other.genus_definitions
    }
}

fn remove_name_under_key(names: &mut BTreeMap<String, NameSet>, key: &str, name: &str) {
    if let Some(left) = names.get_mut(key) {
        left.remove(name);
        if left.is_empty() {
            names.remove(key);
        }
    }
}

/// Returns the folder of a file.
pub(super) fn folder_of_file(file: &str) -> String {
    file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim_entity(name: &str, disputed_by: &str) -> Entity {
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
            is_defined: true,
            genus: "Claim".to_owned(),
            status: Some("open".to_owned()),
            attributes: serde_json::Map::new(),
            observations: Vec::new(),
            relations: vec![relation],
            former_names: Vec::new(),
        }
    }

    #[test]
    fn replacing_a_file_removes_its_old_entity_from_every_index() {
        let mut graph = Graph::default();
        graph.set_file_entity("entities/claim/a.yaml", Some(claim_entity("A", "B"))).unwrap();
        graph.set_file_entity("entities/claim/a.yaml", Some(claim_entity("A2", "C"))).unwrap();

        assert_eq!(graph.genus_counts().collect::<Vec<_>>(), [("Claim", 1)]);
        assert_eq!(graph.incoming_relations("B").count(), 0);
        assert_eq!(
            graph.incoming_relations("C").next().map(|it| it.from.name.as_str()),
            Some("A2")
        );

        graph.set_file_entity("entities/claim/a.yaml", None).unwrap();

        assert_eq!(graph.genus_counts().count() + graph.status_counts("Claim").count(), 0);
        assert_eq!(graph.count_in_folder("entities/claim"), 0);
        assert!(graph.is_empty());
    }

    #[test]
    fn lazily_built_indexes_follow_changes() {
        let mut graph = Graph::default();
        let select = |graph: &Graph, confidence: &str| {
            let attributes = [("confidence".to_owned(), confidence.into())].into_iter().collect();
            graph.filter_entities(&EntityFilter { attributes, ..EntityFilter::default() }, 0, 10).0
        };
        let dates = |graph: &Graph| graph.timeline(TimeSpan::default(), None, 0..10).len();
        let held = |confidence: &str, since: &str| {
            let mut claim = claim_entity("A", "B");
            claim.attributes.insert("confidence".to_owned(), confidence.into());
            claim.relations[0].since = Some(since.to_owned());
            Some(claim)
        };
        graph.set_file_entity("a.yaml", held("low", "1972")).unwrap();
        assert_eq!((select(&graph, "LOW"), dates(&graph)), (1, 1));
        assert_eq!(graph.names_ignoring_case("a").collect::<Vec<_>>(), ["A"]);
        assert_eq!(graph.incoming_relations("B").count(), 1);

        graph.set_file_entity("a.yaml", held("high", "when it was")).unwrap();
        assert_eq!((select(&graph, "low"), select(&graph, "high"), dates(&graph)), (0, 1, 0));

        graph.set_file_entity("b.yaml", Some(claim_entity("a", "A"))).unwrap();
        assert_eq!(graph.names_ignoring_case("A").collect::<Vec<_>>(), ["A", "a"]);
        graph.set_file_entity("a.yaml", None).unwrap();
        assert_eq!((select(&graph, "high"), graph.incoming_relations("B").count()), (0, 0));
        assert_eq!(graph.incoming_relations("A").count(), 1);
        assert_eq!(graph.names_ignoring_case("A").collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn a_page_equals_the_same_slice_of_the_whole_list() {
        let mut graph = Graph::default();
        for number in 0..20 {
            let mut it = claim_entity(&format!("{number:02}"), "B");
            it.genus = ["Claim", "Lead", "Method"][number % 3].to_owned();
            it.status = [None, Some("open"), Some("Open")][number % 3].map(str::to_owned);
            it.attributes.insert("odd".to_owned(), (number % 2 == 1).into());
            graph.set_file_entity(&format!("{number}.yaml"), Some(it)).unwrap();
        }
        let odd: serde_json::Map<_, _> = [("odd".to_owned(), "TRUE".into())].into_iter().collect();
        for genus in [None, Some("Lead".to_owned())] {
            for status in [None, Some("oPEN".to_owned())] {
                for attributes in [odd.clone(), serde_json::Map::new()] {
                    let wanted =
                        EntityFilter { genus: genus.clone(), status: status.clone(), attributes };
                    let fits = |it: &&Entity| match (&wanted.status, &it.status) {
                        (Some(_), None) => false,
                        _ => {
                            genus.as_ref().is_none_or(|genus| *genus == it.genus)
                                && (wanted.attributes.is_empty() || it.attributes["odd"] == true)
                        }
                    };
                    let all: Vec<_> = graph.iter().filter(fits).collect();
                    let (total, shown) = graph.filter_entities(&wanted, 0, 100);
                    assert_eq!((total, &shown), (all.len(), &all), "{wanted:?}");
                    let (total, page) = graph.filter_entities(&wanted, 3, 4);
                    let part: Vec<_> = all.iter().copied().skip(3).take(4).collect();
                    assert_eq!((total, page), (all.len(), part), "{wanted:?}");
                }
            }
        }
    }

    #[test]
    fn a_timeline_covers_all_genera_and_years_bc() {
        let mut graph = Graph::default();
        for (name, genus, born) in [
            ("Hutton", "Geologist", "1726-06-14"),
            ("Hannibal", "General", "-0246"),
            ("Steno", "Geologist", "1638-01"),
            ("Scipio", "General", "236 BC"),
        ] {
            let mut it = claim_entity(name, "B");
            (it.genus, it.relations) = (genus.to_owned(), Vec::new());
            it.attributes.insert("born".to_owned(), born.into());
            it.attributes.insert("legs".to_owned(), 2.into());
            graph.set_file_entity(name, Some(it)).unwrap();
        }
        let told = |since: &str, until: &str, genus, which| {
            let span = TimeSpan { since: since.parse().ok(), until: until.parse().ok() };
            let facts = graph.timeline(span, genus, which);
            facts.iter().map(|it| it.entity.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told("", "", None, 0..9), "Hannibal Scipio Steno Hutton");
        assert_eq!(told("", "", None, 1..3), "Scipio Steno");
        assert_eq!(told("", "", Some("Geologist"), 0..9), "Steno Hutton");
        assert_eq!(told("236 BC", "1726", None, 0..9), "Scipio Steno");
        assert_eq!(told("1638-01-01T00:00:00Z", "", None, 0..9), "Steno Hutton");
    }

    #[test]
    fn a_loose_end_is_not_an_entity_but_its_relations_count() {
        let mut graph = Graph::default();
        let ghost = Entity { is_defined: false, ..claim_entity("Ghost", "A") };
        graph.set_file_entity("entities/undefined/ghost.yaml", Some(ghost)).unwrap();
        graph.set_file_entity("entities/claim/a.yaml", Some(claim_entity("A", "B"))).unwrap();
        assert!(graph.get("Ghost").is_none() && graph.get_loose_end("Ghost").is_some());
        assert_eq!((graph.len(), graph.iter().count(), graph.genus_counts().count()), (1, 1, 1));
        assert_eq!(
            graph.incoming_relations("A").next().map(|it| it.from.name.as_str()),
            Some("Ghost")
        );

        graph
            .set_file_entity("entities/claim/ghost.yaml", Some(claim_entity("Ghost", "A")))
            .unwrap();
        assert_eq!(graph.incoming_relations("A").count(), 2);
        graph.set_file_entity("entities/undefined/ghost.yaml", None).unwrap();
        assert_eq!(graph.incoming_relations("A").count(), 1);
        assert!(graph.entity_in_file("entities/claim/ghost.yaml").is_some_and(|it| it.is_defined));
    }

    #[test]
    fn a_name_belongs_to_the_first_file_that_uses_it() {
        let mut graph = Graph::default();
        graph.set_file_entity("entities/claim/a.yaml", Some(claim_entity("A", "B"))).unwrap();
        let refused = graph.set_file_entity("entities/claim/b.yaml", Some(claim_entity("A", "C")));
        assert_eq!(refused, Err("entities/claim/a.yaml".to_owned()));
        assert_eq!(graph.len(), 1);
    }
}
