//! Finds names that differ only in spelling.

use crate::model::fold_name;
use crate::model::graph::lazy_index::{mentioned_names, spelling_index_keys};
use std::collections::BTreeSet;

use crate::model::Graph;
use crate::model::graph::lazy_index::hash_key;
use crate::model::graph::names_by_key;

impl Graph {
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
    use crate::model::Entity;
    use crate::model::Relation;

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
