//! Finds an entity or a genus by a name as people write it, and an entity by a name that it had
//! before.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::graph::lazy_index::{
    hash_key, hash_name_ignoring_case, mentioned_names, spelling_index_keys,
};
use crate::model::graph::names_by_key;
use crate::model::{Entity, Graph, did_you_mean, entity_links, fold_name};

impl Graph {
    /// Returns the entity that a name refers to: the one that has the name now, else the one that
    /// had it before.
    pub fn find_entity(&self, name: &str) -> Option<&Entity> {
        self.find_entity_by_current_name(name).or_else(|| {
            let mut former = self.entities_formerly_named(name);
            former.next().filter(|_| former.next().is_none())
        })
    }

    /// Returns the entity with exactly this name; else the only one whose name differs from it in
    /// case, else in case, blanks and underscores.
    pub fn find_entity_by_current_name(&self, name: &str) -> Option<&Entity> {
        if let Some(exact) = self.get(name) {
            return Some(exact);
        }
        let mut in_case = self.names_ignoring_case(name.trim());
        if let Some(first) = in_case.next() {
            return in_case.next().is_none().then(|| self.get(first)).flatten();
        }
        let spellings = self.spellings_of_name(name);
        let mut entities = spellings.into_iter().filter_map(|it| self.get(it));
        entities.next().filter(|_| entities.next().is_none())
    }

    /// Yields the entities that had a name before, whatever its case, blanks and underscores.
    pub fn entities_formerly_named(&self, name: &str) -> impl Iterator<Item = &Entity> {
        self.former_names.present_names(name).filter_map(|it| self.get(it))
    }

    /// Returns the names of the entities to which a text links.
    pub fn linked_entities(&self, text: &str) -> BTreeSet<&str> {
        let entities = entity_links(text).into_iter().filter_map(|it| self.find_entity(it.name));
        entities.map(|it| it.name.as_str()).collect()
    }

    /// Yields the names that equal `name` or differ from it only in case.
    pub fn names_ignoring_case(&self, name: &str) -> impl Iterator<Item = &str> {
        let lower = name.to_lowercase();
        let make = || self.entity_names_by_key(|it| vec![hash_name_ignoring_case(&it.name)]);
        let (from, asked) = (hash_name_ignoring_case(name), hash_name_ignoring_case(name));
        let alike =
            self.names_by_case.range_while(make, from, move |it| *it == asked).map(|(_, it)| &**it);
        alike.filter(move |it| it.to_lowercase() == lower)
    }

    /// Returns the only entity whose name begins with these words, in any case; `None` for fewer than three
    /// characters.
    pub fn find_entity_by_first_words(&self, words: &str) -> Option<&Entity> {
        let words = words.trim().to_lowercase();
        words.chars().nth(2)?;
        let begins = |name: &&Arc<str>| {
            let name = name.to_lowercase();
            let rest = name.strip_prefix(&words);
            rest.is_some_and(|it| !it.starts_with(char::is_alphanumeric))
        };
        let mut names = self.entities.keys().filter(begins);
        let only = names.next().filter(|_| names.next().is_none())?;
        self.get(only)
    }

    /// Returns the most similar entity name. Only names with the same first letter are compared,
    /// because typing errors are rarest there.
    pub fn closest_name(&self, name: &str) -> Option<&str> {
        let initial = |it: &str| it.chars().next().map(|it| it.to_lowercase().to_string());
        let (first, length) = (initial(name), name.len());
        let near = |it: &&str| it.len().abs_diff(length) <= 2 + length / 2 && initial(it) == first;
        did_you_mean(name, self.entities.keys().map(|it| &**it).filter(near))
    }

    /// Returns the genus called `asked`, ignoring case.
    pub fn find_genus_ignoring_case(&self, asked: &str) -> Option<&str> {
        let lower = asked.to_lowercase();
        let alike = || self.all_genus_names().filter(|it| it.to_lowercase() == lower);
        alike().find(|it| *it == asked).or_else(|| alike().min())
    }

    /// Returns the right spelling of the genus `asked`, ignoring case: as its definition has it,
    /// else as entities have it.
    pub fn canonical_genus_name(&self, asked: &str) -> Option<&str> {
        let lower = asked.to_lowercase();
        let defined = || self.genus_definitions().map(|it| it.name.as_str());
        let alike = || defined().filter(|it| it.to_lowercase() == lower);
        let defined = alike().find(|it| *it == asked).or_else(|| alike().next());
        defined.or_else(|| self.find_genus_ignoring_case(asked))
    }

    /// Returns every name in the graph that is a spelling of `name`: names of entities and of
    /// relation targets.
    pub fn spellings_of_name(&self, name: &str) -> BTreeSet<&str> {
        let folded = fold_name(name);
        let make =
            || names_by_key(self.entities.iter().chain(&self.loose_ends), spelling_index_keys);
        let key = hash_key(&folded);
        let mentioning = self.spellings.range_while(make, (key, false), move |(it, _)| *it == key);
        let mentioning = mentioning.filter_map(|((_, is_loose), from)| match is_loose {
            true => self.get_loose_end(from),
            false => self.get(from),
        });
        mentioning.flat_map(mentioned_names).filter(|it| fold_name(it) == folded).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Entity, Relation};

    /// Returns a graph with entities, each with the names that it had before.
    fn graph_of(entities: &[(&str, &[&str])]) -> Graph {
        let mut graph = Graph::default();
        for (name, former_names) in entities {
            let former_names = former_names.iter().map(|it| (*it).to_owned()).collect();
            let (is_defined, genus) = (true, "Claim".to_owned());
            let bare = Entity::new_loose_end(name);
            let entity = Entity { is_defined, genus, former_names, ..bare };
            graph.set_file_entity(&format!("{name}.yaml"), Some(entity)).unwrap();
        }
        graph
    }

    fn found(graph: &Graph, name: &str) -> Option<String> {
        graph.find_entity(name).map(|it| it.name.clone())
    }

    #[test]
    fn a_name_is_found_in_another_case_and_with_underscores() {
        let graph = graph_of(&[("Stasis is data", &[]), ("Ada", &[]), ("ADA", &[])]);
        assert_eq!(found(&graph, "stasis_IS\ndata").as_deref(), Some("Stasis is data"));
        assert_eq!(found(&graph, "ADA").as_deref(), Some("ADA"));
        assert_eq!(found(&graph, "ada"), None, "two names differ from it in case");
        assert_eq!(found(&graph, "stasis-is-data"), None);
    }

    #[test]
    fn the_only_entity_that_begins_with_some_words_is_found() {
        let graph = graph_of(&[("Topic 07: Grids", &[]), ("Topic 071", &[]), ("Topic 08", &[])]);
        let found = |words| graph.find_entity_by_first_words(words).map(|it| it.name.as_str());
        assert_eq!(found("topic 07"), Some("Topic 07: Grids"));
        assert_eq!(found("Topic"), None, "three names begin with it");
        assert_eq!(found("Topic 0"), None, "it ends within a word");
        assert_eq!(found("To"), None);
    }

    #[test]
    fn a_former_name_is_found_unless_an_entity_has_it_now() {
        let graph = graph_of(&[("Drift", &["Continental drift"]), ("Tectonics", &["Drift"])]);
        assert_eq!(found(&graph, "continental_Drift").as_deref(), Some("Drift"));
        assert_eq!(found(&graph, "drift").as_deref(), Some("Drift"));
    }

    #[test]
    fn an_entity_that_was_renamed_in_its_file_is_found_by_its_old_name() {
        let mut graph = Graph::default();
        let id = Some(ulid::Ulid::from_parts(1, 1));
        for name in ["First", "Second", "Third"] {
            let entity = Entity { is_defined: true, id, ..Entity::new_loose_end(name) };
            graph.set_file_entity("a.yaml", Some(entity)).unwrap();
        }
        assert_eq!(graph.find_entity("First").unwrap().name, "Third");
        assert_eq!(graph.find_entity("second").unwrap().name, "Third");
    }

    #[test]
    fn a_former_name_of_two_entities_finds_neither() {
        let mut graph = graph_of(&[("A", &["Old"]), ("B", &["old"])]);
        assert_eq!(found(&graph, "Old"), None);
        assert_eq!(graph.entities_formerly_named("Old").count(), 2);
        graph.set_file_entity("B.yaml", None).unwrap();
        assert_eq!(found(&graph, "Old").as_deref(), Some("A"));
    }

    #[test]
    fn a_name_is_found_in_every_spelling_in_use() {
        let mut graph = Graph::default();
        let relate = |from: &str, to: &str| {
            let mut entity = Entity::new_loose_end(from);
            let (kind, to) = ("knows".to_owned(), to.to_owned());
            entity.relations.push(Relation { kind, to, since: None, until: None, source: None });
            entity
        };
        graph.set_file_entity("1", Some(relate("Rob_Roy", "ALICE"))).unwrap();
        assert_eq!(graph.spellings_of_name("rob roy"), BTreeSet::from(["Rob_Roy"]));
        let defined = Entity { is_defined: true, ..relate("rob roy", "alice") };
        graph.set_file_entity("2", Some(defined)).unwrap();
        assert_eq!(graph.spellings_of_name("ROB ROY"), BTreeSet::from(["Rob_Roy", "rob roy"]));
        assert_eq!(graph.spellings_of_name("Alice"), BTreeSet::from(["ALICE", "alice"]));
        graph.set_file_entity("1", None).unwrap();
        assert_eq!(graph.spellings_of_name("Alice"), BTreeSet::from(["alice"]));
        graph.set_file_entity("2", Some(relate("rob roy", "Bob"))).unwrap();
        assert_eq!(graph.spellings_of_name("Alice"), BTreeSet::new());
        assert_eq!(graph.spellings_of_name("rob_roy"), BTreeSet::from(["rob roy"]));
    }

    #[test]
    fn folding_ignores_case_blanks_and_underscores_but_not_hyphens() {
        for same in
            ["Rob the Elder", "rob_the_elder", " ROB  the_Elder ", "Rob\u{202e}the\u{7}Elder"]
        {
            assert_eq!(fold_name(same), "rob the elder");
        }
        assert_ne!(fold_name("rob-the-elder"), fold_name("rob the elder"));
        assert_eq!(fold_name("ÉMILE"), "émile");
        assert_eq!(fold_name("E\u{301}mile"), "émile");
        assert_eq!(fold_name("STRASSE"), fold_name("Straße"));
    }
}
