//! Renders texts that link to entities: `[[Cuvier]]`.

use std::collections::BTreeSet;

use crate::model::{EntityLink, Graph, ItemId, Layout, Slot, replace_entity_links};
use crate::render::text::one_line;

/// Replaces each link by its words or the name of its entity; a link to no entity stays as it is.
pub fn resolve_entity_links(text: &str, graph: &Graph) -> String {
    replace_entity_links(text, |link| Some(link_words(link, &graph.find_entity(link.name)?.name)))
}

/// Replaces links as [`resolve_entity_links`] does, with the number that opens the entity behind its
/// first link: `Cuvier [31]`. The entities that are not among `listed` yet are added there, until
/// all numbers are used.
pub fn number_entity_links(text: &str, graph: &Graph, listed: &mut Vec<ItemId>) -> String {
    let mut seen = BTreeSet::new();
    replace_entity_links(text, |link| {
        let name = &graph.find_entity(link.name)?.name;
        let words = link_words(link, name);
        let number = seen.insert(name).then(|| number_of_entity(name, listed)).flatten();
        Some(number.map_or(words.clone(), |it| format!("{words} [{it}]")))
    })
}

fn link_words(link: &EntityLink<'_>, name: &str) -> String {
    one_line(link.words.unwrap_or(name))
}

/// Returns the number that opens an entity; adds it to the list if it is not there.
fn number_of_entity(name: &str, listed: &mut Vec<ItemId>) -> Option<usize> {
    let is_it = |it: &ItemId| matches!(it, ItemId::Entity(listed) if listed == name);
    let index = listed.iter().position(is_it).unwrap_or(listed.len());
    if index >= Layout::MAX_RESULTS {
        return None;
    }
    if index == listed.len() {
        listed.push(ItemId::Entity(name.to_owned()));
    }
    Some(Layout::Wide.number_of_slot(Slot::Result(index)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Entity;

    fn graph_of(names: &[&str]) -> Graph {
        let mut graph = Graph::default();
        for name in names {
            let genus = "Person".to_owned();
            let entity = Entity { is_defined: true, genus, ..Entity::new_loose_end(name) };
            graph.set_file_entity(&format!("{name}.yaml"), Some(entity)).unwrap();
        }
        graph
    }

    #[test]
    fn the_first_link_to_an_entity_has_its_number() {
        let graph = graph_of(&["Cuvier", "Ada"]);
        let mut listed = vec![ItemId::Entity("Ada".to_owned())];
        let text = "[[cuvier]] met [[Cuvier|himself]], [[Ada]] and [[Nobody]]. `[[Ada]]`";
        assert_eq!(
            number_entity_links(text, &graph, &mut listed),
            "Cuvier [32] met himself, Ada [31] and [[Nobody]]. `[[Ada]]`"
        );
        assert_eq!(listed.len(), 2);
        assert_eq!(
            resolve_entity_links(text, &graph),
            "Cuvier met himself, Ada and [[Nobody]]. `[[Ada]]`"
        );
    }

    #[test]
    fn links_beyond_the_last_number_have_none() {
        let names: Vec<_> = (0..=Layout::MAX_RESULTS).map(|it| format!("E{it}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let text = names.iter().map(|it| format!("[[{it}]] ")).collect::<Vec<_>>().concat();
        let mut listed = Vec::new();
        let page = number_entity_links(&text, &graph_of(&names), &mut listed);
        assert!(page.ends_with("E29 [60] E30 "), "{page}");
        assert_eq!(listed.len(), Layout::MAX_RESULTS);
    }

    #[test]
    fn the_name_of_an_entity_cannot_imitate_a_line_of_a_menu() {
        let graph = graph_of(&["Eve\n  1. Leave"]);
        assert_eq!(resolve_entity_links("[[eve 1. leave]]", &graph), "Eve 1. Leave");
    }
}
