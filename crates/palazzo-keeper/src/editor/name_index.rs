//! The names of all entities and the types of all relations, for completion.

use std::collections::BTreeMap;

use palazzo_core::model::{Graph, fold_name};

/// The names of a graph, in the order in which they are compared.
#[derive(Debug)]
pub(super) struct NameIndex {
    /// The entities: the name without regard to case, the name, the genus.
    entities: Vec<(String, String, String)>,
    /// The types of relations, with the number of each.
    pub(super) relation_types: BTreeMap<String, usize>,
}

impl NameIndex {
    pub(super) fn from_graph(graph: &Graph) -> Self {
        let entities = graph.iter();
        let entities = entities.map(|it| (fold_name(&it.name), it.name.clone(), it.genus.clone()));
        let mut entities: Vec<_> = entities.collect();
        entities.sort_unstable();
        let mut relation_types = BTreeMap::<String, usize>::new();
        for relation in graph.entities_and_loose_ends().flat_map(|it| &it.relations) {
            match relation_types.get_mut(&relation.kind) {
                Some(count) => *count += 1,
                None => drop(relation_types.insert(relation.kind.clone(), 1)),
            }
        }
        Self { entities, relation_types }
    }

    /// Lists up to `limit` entities, with their genera: first those whose names begin with `typed`,
    /// then those that have all its words. `typed` is folded.
    pub(super) fn find(&self, typed: &str, genus: Option<&str>, limit: usize) -> Vec<(&str, &str)> {
        let is_wanted = |it: &&(String, String, String)| genus.is_none_or(|genus| it.2 == genus);
        let start = self.entities.partition_point(|it| it.0.as_str() < typed);
        let first = self.entities[start..].iter().take_while(|it| it.0.starts_with(typed));
        let mut found: Vec<_> = first.filter(is_wanted).take(limit).collect();
        if found.len() < limit && !typed.is_empty() {
            let words: Vec<_> = typed.split_whitespace().collect();
            let has_words = |it: &&(String, String, String)| {
                !it.0.starts_with(typed) && words.iter().all(|word| it.0.contains(word))
            };
            let more = self.entities.iter().filter(has_words).filter(is_wanted);
            found.extend(more.take(limit - found.len()));
        }
        found.into_iter().map(|it| (it.1.as_str(), it.2.as_str())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    #[test]
    fn names_that_begin_with_the_typed_words_come_first() {
        let mut home = TestHome::new(&[
            ("entities/a/1.yaml", "name: Moving continents\ngenus: Claim\n"),
            ("entities/a/2.yaml", "name: Continents drift\ngenus: Claim\n"),
            (
                "entities/a/3.yaml",
                "name: Geology\ngenus: Field\nrelations:\n- { type: has, to: X }\n",
            ),
        ]);
        let index = home.run(|it| NameIndex::from_graph(&it.palace.palace.graph));
        let find = |typed, genus, limit| {
            index.find(typed, genus, limit).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(find("cont", None, 9), ["Continents drift", "Moving continents"]);
        assert_eq!(find("continents mov", None, 9), ["Moving continents"]);
        assert_eq!(find("", Some("Field"), 9), ["Geology"]);
        assert_eq!(find("", None, 2), ["Continents drift", "Geology"]);
        assert_eq!(index.relation_types["has"], 1);
    }
}
