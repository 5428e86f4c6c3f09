//! Names that are the same but for how they are spelled.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

use crate::model::graph::keyed;
use crate::model::graph::name_index::{Print, print};
use crate::model::{Entity, Graph};

/// Returns what is left of a name when case, blanks and underscores do not
/// count, nor how its signs are put together: `Rob_the  Elder` and `rob the elder`
/// leave the same, and so do `STRASSE` and `Straße`.
pub fn folded(name: &str) -> String {
    let name: String = name.nfc().collect();
    let words = name.split(|it: char| it.is_whitespace() || it == '_');
    let words = words.filter(|it| !it.is_empty()).map(|it| it.to_uppercase().to_lowercase());
    words.collect::<Vec<_>>().join(" ")
}

impl Graph {
    /// Returns every name of the graph that is `name` in some spelling: those of
    /// entities, and those that only relations speak of.
    pub fn spellings(&self, name: &str) -> BTreeSet<&str> {
        let asked = folded(name);
        let make = || keyed(self.held.iter().chain(&self.loose), spelled);
        let key = print(&asked);
        let speakers = self.spellings.range(make, (key, false), move |(it, _)| *it == key);
        let speakers = speakers.filter_map(|((_, is_loose), from)| match is_loose {
            true => self.loose_end(from),
            false => self.get(from),
        });
        speakers.flat_map(names_in).filter(|it| folded(it) == asked).collect()
    }
}

/// Returns the prints of the names that an entity speaks of, however they are
/// spelled, and whether it is a loose end.
pub(crate) fn spelled(entity: &Entity) -> Vec<(Print, bool)> {
    names_in(entity).map(|it| (print(&folded(it)), !entity.is_defined)).collect()
}

/// Yields the names an entity speaks of: its own, and those it relates to.
fn names_in(entity: &Entity) -> impl Iterator<Item = &str> {
    let targets = entity.relations.iter().map(|it| it.to.as_str());
    std::iter::once(entity.name.as_str()).chain(targets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Relation;

    #[test]
    fn a_name_is_found_in_every_spelling_as_long_as_somebody_speaks_of_it() {
        let mut graph = Graph::default();
        let relate = |from: &str, to: &str| {
            let mut entity = Entity::loose_end(from);
            let (kind, to) = ("knows".to_owned(), to.to_owned());
            entity.relations.push(Relation { kind, to, since: None, until: None, source: None });
            entity
        };
        graph.put("1", Some(relate("Rob_Roy", "ALICE"))).unwrap();
        assert_eq!(graph.spellings("rob roy"), BTreeSet::from(["Rob_Roy"]));
        let defined = Entity { is_defined: true, ..relate("rob roy", "alice") };
        graph.put("2", Some(defined)).unwrap();
        assert_eq!(graph.spellings("ROB ROY"), BTreeSet::from(["Rob_Roy", "rob roy"]));
        assert_eq!(graph.spellings("Alice"), BTreeSet::from(["ALICE", "alice"]));
        graph.put("1", None).unwrap();
        assert_eq!(graph.spellings("Alice"), BTreeSet::from(["alice"]));
        graph.put("2", Some(relate("rob roy", "Bob"))).unwrap();
        assert_eq!(graph.spellings("Alice"), BTreeSet::new());
        assert_eq!(graph.spellings("rob_roy"), BTreeSet::from(["rob roy"]));
    }

    #[test]
    fn case_blanks_and_underscores_do_not_count_and_hyphens_do() {
        for same in ["Rob the Elder", "rob_the_elder", " ROB  the_Elder "] {
            assert_eq!(folded(same), "rob the elder");
        }
        assert_ne!(folded("rob-the-elder"), folded("rob the elder"));
        assert_eq!(folded("ÉMILE"), "émile");
        assert_eq!(folded("E\u{301}mile"), "émile");
        assert_eq!(folded("STRASSE"), folded("Straße"));
    }
}
