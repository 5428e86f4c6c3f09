//! The knowledge graph, held so that every question costs what its answer is long.

pub(crate) mod entity_check;
pub(crate) mod entity_filter;
pub(crate) mod grouped_entities;
pub(crate) mod grouping;
pub(crate) mod name_index;
pub(crate) mod name_spelling;
pub(crate) mod sorted_list;
pub(crate) mod timeline;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

pub use entity_filter::Selection;
pub use name_spelling::folded;
pub use timeline::{Event, Fact, Span};

use crate::model::graph::grouped_entities::Catalogue;
use crate::model::graph::name_index::{
    Index, Print, of_dates, of_name, of_targets, of_values, print,
};
use crate::model::graph::name_spelling::spelled;
use crate::model::{Date, Entity, Genus, Kind, Opening, Relation, did_you_mean};

type Names = BTreeSet<Arc<str>>;
/// Entities by name, each with the file that holds it.
type Kin = HashMap<Arc<str>, (Arc<str>, Entity)>;

/// All entities of a palace, found by name, by genus, by genus and status, by
/// the file that holds them, by who relates to them, by attribute and by date;
/// and what is laid down for their genera.
///
/// Loose ends are kept apart: they are asked for by name, and count for the
/// relations that start from them, but they are not among the entities.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    held: Kin,
    loose: Kin,
    files: HashMap<Arc<str>, Arc<str>>,
    genera: BTreeMap<String, Names>,
    statuses: BTreeMap<String, BTreeMap<String, Names>>,
    folders: HashMap<String, usize>,
    rules: BTreeMap<String, (String, Genus)>,
    cases: Index<Print>,
    /// By whom is meant, and whether the caller is a loose end.
    callers: Index<(Print, bool)>,
    /// By every name somebody speaks of, and whether a loose end does.
    spellings: Index<(Print, bool)>,
    values: Index<Print>,
    dates: Index<(Print, Date)>,
    catalogue: Catalogue,
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

    /// Returns the loose end of that exact name.
    pub fn loose_end(&self, name: &str) -> Option<&Entity> {
        self.loose.get(name).map(|(_, entity)| entity)
    }

    /// Returns the entity that can be opened so, if it is one.
    pub fn get_opening(&self, opening: &Opening) -> Option<&Entity> {
        match opening {
            Opening::Entity(name) => self.get(name),
            _ => None,
        }
    }

    /// Returns the file that holds the entity of that name.
    pub fn file_of(&self, name: &str) -> Option<&str> {
        self.held.get(name).map(|(file, _)| &**file)
    }

    /// Returns the file that holds the loose end of that name.
    pub fn file_of_loose_end(&self, name: &str) -> Option<&str> {
        self.loose.get(name).map(|(file, _)| &**file)
    }

    /// Returns the entity or loose end that `file` holds.
    pub fn in_file(&self, file: &str) -> Option<&Entity> {
        let name = self.files.get(file)?;
        let both = [self.held.get(name), self.loose.get(name)].into_iter().flatten();
        both.filter(|(it, _)| **it == *file).map(|(_, entity)| entity).next()
    }

    /// Yields the names that differ from `name` by their case at most.
    pub fn names_like(&self, name: &str) -> impl Iterator<Item = &str> {
        let lower = name.to_lowercase();
        let make = || self.keyed(|it| vec![of_name(&it.name)]);
        let (from, asked) = (of_name(name), of_name(name));
        let alike = self.cases.range(make, from, move |it| *it == asked).map(|(_, it)| &**it);
        alike.filter(move |it| it.to_lowercase() == lower)
    }

    /// Returns the name that `name` was probably meant to be. It begins with the
    /// same letter: that is where pens slip least.
    pub fn name_meant(&self, name: &str) -> Option<&str> {
        let initial = |it: &str| it.chars().next().map(|it| it.to_lowercase().to_string());
        let (asked, length) = (initial(name), name.len());
        let near = |it: &&str| it.len().abs_diff(length) <= 2 + length / 2 && initial(it) == asked;
        did_you_mean(name, self.held.keys().map(|it| &**it).filter(near))
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

    /// Yields whatever relations can start from: all entities and all loose
    /// ends, in no order.
    pub fn starts(&self) -> impl Iterator<Item = &Entity> {
        self.held.values().chain(self.loose.values()).map(|(_, entity)| entity)
    }

    /// Yields all entities with the files that hold them, by genus and name.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Entity)> {
        let names = self.genera.values().flatten();
        names.filter_map(|it| self.held.get(it)).map(|(file, entity)| (&**file, entity))
    }

    /// Yields each genus that has entities, with how many.
    pub fn genera(&self) -> impl Iterator<Item = (&str, usize)> {
        self.genera.iter().map(|(genus, names)| (genus.as_str(), names.len()))
    }

    /// Yields the genera that entities have, and then those that something is laid
    /// down for, some of them twice.
    pub fn known_genera(&self) -> impl Iterator<Item = &str> {
        self.genera().map(|(it, _)| it).chain(self.rules().map(|it| it.name.as_str()))
    }

    /// Returns the genus called `asked`, whatever the case.
    pub fn genus_called(&self, asked: &str) -> Option<&str> {
        let lower = asked.to_lowercase();
        let alike = || self.known_genera().filter(|it| it.to_lowercase() == lower);
        alike().find(|it| *it == asked).or_else(|| alike().min())
    }

    /// Returns how a genus is to be spelled that is said to be `asked`: as it is laid
    /// down, else as entities have it, whatever the case.
    pub fn spelling_of_genus(&self, asked: &str) -> Option<&str> {
        let lower = asked.to_lowercase();
        let laid_down = || self.rules().map(|it| it.name.as_str());
        let alike = || laid_down().filter(|it| it.to_lowercase() == lower);
        let laid_down = alike().find(|it| *it == asked).or_else(|| alike().next());
        laid_down.or_else(|| self.genus_called(asked))
    }

    /// Returns how many entities a genus has.
    pub fn count(&self, genus: &str) -> usize {
        self.genera.get(genus).map_or(0, BTreeSet::len)
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
        self.callers(name).flat_map(move |from| {
            let relations = from.relations.iter().filter(move |it| it.to == name);
            relations.map(move |relation| Incoming { from, relation })
        })
    }

    /// Yields the entities and loose ends that hold a relation to `name`, by
    /// name; some may hold none, so that whoever asks looks again.
    fn callers(&self, name: &str) -> impl Iterator<Item = &Entity> {
        let make = || keyed(self.held.iter().chain(&self.loose), callings);
        let target = print(&name);
        let callers = self.callers.range(make, (target, false), move |(it, _)| *it == target);
        callers.filter_map(|((_, is_loose), from)| match is_loose {
            true => self.loose_end(from),
            false => self.get(from),
        })
    }

    /// Returns who names `name`, by a relation or by an attribute that a genus says
    /// is a link: names, and whether they are defined.
    pub fn naming(&self, name: &str) -> BTreeSet<(String, bool)> {
        let lower = name.to_lowercase();
        let links = self.rules().flat_map(|genus| {
            let links = genus.attributes.iter().filter(|(_, it)| matches!(it.kind, Kind::Link(_)));
            links.flat_map(|(key, _)| self.with(&genus.name, key, &lower))
        });
        let callers = self.incoming(name).map(|it| (it.from.name.clone(), it.from.is_defined));
        callers.chain(links.map(|it| (it.to_string(), true))).collect()
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
    /// file is returned; a loose end and an entity may have the same name.
    pub fn put(&mut self, file: &str, entity: Option<Entity>) -> Result<(), String> {
        self.take(file);
        let Some(entity) = entity else { return Ok(()) };
        if let Some((holder, _)) = self.kin(entity.is_defined).get(entity.name.as_str()) {
            return Err(holder.to_string());
        }
        let (name, file): (Arc<str>, Arc<str>) = (entity.name.as_str().into(), file.into());
        *self.folders.entry(folder_of(&file)).or_default() += 1;
        if entity.is_defined {
            self.sort_in(&name, &entity);
        }
        self.callers.add(&name, || callings(&entity));
        self.spellings.add(&name, || spelled(&entity));
        self.files.insert(file.clone(), name.clone());
        self.kin(entity.is_defined).insert(name, (file, entity));
        Ok(())
    }

    fn take(&mut self, file: &str) {
        let is_defined = self.in_file(file).is_some_and(|it| it.is_defined);
        let Some(name) = self.files.remove(file) else { return };
        let Some((_, entity)) = self.kin(is_defined).remove(&name) else { return };
        if let Some(count) = self.folders.get_mut(&folder_of(file)) {
            *count -= 1;
        }
        if is_defined {
            self.sort_out(&name, &entity);
        }
        self.callers.take(&name, || callings(&entity));
        self.spellings.take(&name, || spelled(&entity));
    }

    fn kin(&mut self, is_defined: bool) -> &mut Kin {
        if is_defined { &mut self.held } else { &mut self.loose }
    }

    fn sort_in(&mut self, name: &Arc<str>, entity: &Entity) {
        self.genera.entry(entity.genus.clone()).or_default().insert(name.clone());
        if let Some(status) = &entity.status {
            let statuses = self.statuses.entry(entity.genus.clone()).or_default();
            statuses.entry(status.clone()).or_default().insert(name.clone());
        }
        let rules = self.rules.get(&entity.genus).map(|(_, it)| it);
        self.cases.add(name, || vec![of_name(name)]);
        self.values.add(name, || of_values(entity));
        self.dates.add(name, || of_dates(entity, rules));
        self.catalogue.put(name, entity);
    }

    fn sort_out(&mut self, name: &Arc<str>, entity: &Entity) {
        drop_name(&mut self.genera, &entity.genus, name);
        if let (Some(status), Some(statuses)) =
            (&entity.status, self.statuses.get_mut(&entity.genus))
        {
            drop_name(statuses, status, name);
        }
        let rules = self.rules.get(&entity.genus).map(|(_, it)| it);
        self.cases.take(name, || vec![of_name(name)]);
        self.values.take(name, || of_values(entity));
        self.dates.take(name, || of_dates(entity, rules));
        self.catalogue.take(name, entity);
    }

    /// Returns what is laid down for a genus, if anything is.
    pub fn genus(&self, name: &str) -> Option<&Genus> {
        self.rules.get(name).map(|(_, it)| it)
    }

    /// Yields the genera that something is laid down for, by name.
    pub fn rules(&self) -> impl Iterator<Item = &Genus> {
        self.rules.values().map(|(_, it)| it)
    }

    /// Returns what `file` lays down.
    pub fn genus_in_file(&self, file: &str) -> Option<&Genus> {
        self.rules.values().find(|(it, _)| it == file).map(|(_, it)| it)
    }

    /// Returns the file that lays something down for a genus.
    pub fn file_of_genus(&self, name: &str) -> Option<&str> {
        self.rules.get(name).map(|(file, _)| file.as_str())
    }

    /// Puts what `file` lays down for a genus in place of what it laid down, or
    /// nothing.
    ///
    /// A genus of which another file speaks already is refused, and that file is
    /// returned.
    pub fn put_genus(&mut self, file: &str, genus: Option<Genus>) -> Result<(), String> {
        self.rules.retain(|_, (it, _)| it != file);
        // Which attributes are dates is for the genus to say.
        self.dates.forget();
        let Some(genus) = genus else { return Ok(()) };
        if let Some((holder, _)) = self.rules.get(&genus.name) {
            return Err(holder.clone());
        }
        self.rules.insert(genus.name.clone(), (file.to_owned(), genus));
        Ok(())
    }

    /// Returns the names of all entities by the keys that each has.
    fn keyed<K: Ord>(&self, keys: impl Fn(&Entity) -> Vec<K>) -> BTreeSet<(K, Arc<str>)> {
        keyed(self.held.iter(), keys)
    }
}

fn keyed<'a, K: Ord>(
    all: impl Iterator<Item = (&'a Arc<str>, &'a (Arc<str>, Entity))>,
    keys: impl Fn(&Entity) -> Vec<K>,
) -> BTreeSet<(K, Arc<str>)> {
    all.flat_map(|(name, (_, it))| keys(it).into_iter().map(|it| (it, name.clone()))).collect()
}

/// Returns whom an entity or loose end relates to, and whether it is the latter.
fn callings(entity: &Entity) -> Vec<(Print, bool)> {
    of_targets(entity).into_iter().map(|it| (it, !entity.is_defined)).collect()
}

/// Graphs are equal when the same files hold the same entities and genera.
impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        self.held == other.held && self.loose == other.loose && self.rules == other.rules
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

/// Returns the folder a file lies in.
pub(super) fn folder_of(file: &str) -> String {
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
            is_defined: true,
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
    fn an_index_that_was_made_follows_what_changes() {
        let mut graph = Graph::default();
        let select = |graph: &Graph, confidence: &str| {
            let attributes = [("confidence".to_owned(), confidence.into())].into_iter().collect();
            graph.select(&Selection { attributes, ..Selection::default() }, 0, 10).0
        };
        let dates = |graph: &Graph| graph.timeline(Span::default(), None, 0..10).len();
        let held = |confidence: &str, since: &str| {
            let mut claim = claim("A", "B");
            claim.attributes.insert("confidence".to_owned(), confidence.into());
            claim.relations[0].since = Some(since.to_owned());
            Some(claim)
        };
        graph.put("a.yaml", held("low", "1972")).unwrap();
        assert_eq!((select(&graph, "LOW"), dates(&graph)), (1, 1));
        assert_eq!(graph.names_like("a").collect::<Vec<_>>(), ["A"]);
        assert_eq!(graph.incoming("B").count(), 1);

        graph.put("a.yaml", held("high", "when it was")).unwrap();
        assert_eq!((select(&graph, "low"), select(&graph, "high"), dates(&graph)), (0, 1, 0));

        graph.put("b.yaml", Some(claim("a", "A"))).unwrap();
        assert_eq!(graph.names_like("A").collect::<Vec<_>>(), ["A", "a"]);
        graph.put("a.yaml", None).unwrap();
        assert_eq!((select(&graph, "high"), graph.incoming("B").count()), (0, 0));
        assert_eq!(graph.incoming("A").count(), 1);
        assert_eq!(graph.names_like("A").collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn a_page_of_a_list_is_the_same_part_of_the_whole() {
        let mut graph = Graph::default();
        for number in 0..20 {
            let mut it = claim(&format!("{number:02}"), "B");
            it.genus = ["Claim", "Lead", "Method"][number % 3].to_owned();
            it.status = [None, Some("open"), Some("Open")][number % 3].map(str::to_owned);
            it.attributes.insert("odd".to_owned(), (number % 2 == 1).into());
            graph.put(&format!("{number}.yaml"), Some(it)).unwrap();
        }
        let odd: serde_json::Map<_, _> = [("odd".to_owned(), "TRUE".into())].into_iter().collect();
        for genus in [None, Some("Lead".to_owned())] {
            for status in [None, Some("oPEN".to_owned())] {
                for attributes in [odd.clone(), serde_json::Map::new()] {
                    let wanted =
                        Selection { genus: genus.clone(), status: status.clone(), attributes };
                    let fits = |it: &&Entity| match (&wanted.status, &it.status) {
                        (Some(_), None) => false,
                        _ => {
                            genus.as_ref().is_none_or(|genus| *genus == it.genus)
                                && (wanted.attributes.is_empty() || it.attributes["odd"] == true)
                        }
                    };
                    let all: Vec<_> = graph.iter().filter(fits).collect();
                    let (total, shown) = graph.select(&wanted, 0, 100);
                    assert_eq!((total, &shown), (all.len(), &all), "{wanted:?}");
                    let (total, page) = graph.select(&wanted, 3, 4);
                    let part: Vec<_> = all.iter().copied().skip(3).take(4).collect();
                    assert_eq!((total, page), (all.len(), part), "{wanted:?}");
                }
            }
        }
    }

    #[test]
    fn a_timeline_goes_across_genera_and_begins_before_our_era() {
        let mut graph = Graph::default();
        for (name, genus, born) in [
            ("Hutton", "Geologist", "1726-06-14"),
            ("Hannibal", "General", "-0246"),
            ("Steno", "Geologist", "1638-01"),
            ("Scipio", "General", "236 BC"),
        ] {
            let mut it = claim(name, "B");
            (it.genus, it.relations) = (genus.to_owned(), Vec::new());
            it.attributes.insert("born".to_owned(), born.into());
            it.attributes.insert("legs".to_owned(), 2.into());
            graph.put(name, Some(it)).unwrap();
        }
        let told = |since: &str, until: &str, genus, which| {
            let span = Span { since: since.parse().ok(), until: until.parse().ok() };
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
    fn a_loose_end_is_no_entity_and_its_relations_count() {
        let mut graph = Graph::default();
        let ghost = Entity { is_defined: false, ..claim("Ghost", "A") };
        graph.put("entities/undefined/ghost.yaml", Some(ghost)).unwrap();
        graph.put("entities/claim/a.yaml", Some(claim("A", "B"))).unwrap();
        assert!(graph.get("Ghost").is_none() && graph.loose_end("Ghost").is_some());
        assert_eq!((graph.len(), graph.iter().count(), graph.genera().count()), (1, 1, 1));
        assert_eq!(graph.incoming("A").next().map(|it| it.from.name.as_str()), Some("Ghost"));

        graph.put("entities/claim/ghost.yaml", Some(claim("Ghost", "A"))).unwrap();
        assert_eq!(graph.incoming("A").count(), 2);
        graph.put("entities/undefined/ghost.yaml", None).unwrap();
        assert_eq!(graph.incoming("A").count(), 1);
        assert!(graph.in_file("entities/claim/ghost.yaml").is_some_and(|it| it.is_defined));
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
