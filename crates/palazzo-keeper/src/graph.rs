//! The knowledge graph: queries for entities, and changes of entities, relations and observations.
//! What their arguments name: entities and genera.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod describe;
pub(crate) mod entity_file_edits;
pub(crate) mod get_relationships;
pub(crate) mod list_entities;
pub(crate) mod merge;
pub(crate) mod name_spelling;
pub(crate) mod references;
pub(crate) mod relations;
mod relative_dates;
pub(crate) mod rules;
pub(crate) mod timeline;
pub(crate) mod update;

pub use relative_dates::parse_date_argument;
pub(crate) use relative_dates::resolve_relative_date;

use std::collections::BTreeSet;

use crate::Refusal;
use palazzo_core::model::{Palace, did_you_mean, quoted};
use palazzo_core::render;

/// Maximum number of genera that a refusal lists.
const MAX_LISTED_GENERA: usize = 12;

/// Returns the exact name of an entity; `name` may differ from it in case, blanks and underscores,
/// or be a former name.
pub(crate) fn resolve_entity_name(palace: &Palace, name: &str) -> Result<String, Refusal> {
    match palace.graph.find_entity(name) {
        Some(entity) => Ok(entity.name.clone()),
        None => resolve_current_entity_name(palace, name),
    }
}

/// Returns the exact name of an entity that is to be read; `name` may also be the first words of one entity
/// alone.
pub(crate) fn resolve_entity_to_read(palace: &Palace, name: &str) -> Result<String, Refusal> {
    resolve_entity_name(palace, name).or_else(|refusal| {
        let found = palace.graph.find_entity_by_first_words(name);
        found.map(|it| it.name.clone()).ok_or(refusal)
    })
}

/// Returns the exact name of an entity that is to be changed; `name` may differ from it in case,
/// blanks and underscores. Refuses a former name: the caller may have meant another entity.
pub(crate) fn resolve_current_entity_name(palace: &Palace, name: &str) -> Result<String, Refusal> {
    let graph = &palace.graph;
    if let Some(entity) = graph.find_entity_by_current_name(name) {
        return Ok(entity.name.clone());
    }
    let (asked, former) = (name.to_owned(), graph.entities_formerly_named(name));
    let current: Vec<_> = former.map(|it| it.name.clone()).collect();
    match current.is_empty() {
        true => {
            let meant = graph.closest_name(name).map(str::to_owned);
            Err(Refusal::NoSuchEntity { asked, meant })
        }
        false => Err(Refusal::FormerEntityName { asked, current }),
    }
}

/// Returns the exact name of a genus; `name` may differ from it in case.
pub(crate) fn resolve_genus_name<'p>(palace: &'p Palace, name: &str) -> Result<&'p str, Refusal> {
    if let Some(exact) = palace.graph.find_genus_ignoring_case(name) {
        return Ok(exact);
    }
    let genera: BTreeSet<_> = palace.graph.all_genus_names().collect();
    let listed = genera.iter().take(MAX_LISTED_GENERA).map(|it| quoted(it));
    let listed: Vec<_> = listed.collect();
    let more = match genera.len() - listed.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let meant = did_you_mean(name, genera.iter().copied());
    let existing = match (listed.len(), meant) {
        (0, _) => "this workspace has no entities yet".to_owned(),
        (_, Some(meant)) => format!("did you mean {}?", quoted(meant)),
        (_, None) => format!("this workspace has the genera {}{more}", listed.join(", ")),
    };
    Err(Refusal::Invalid(format!("no entity has the genus {}; {existing}", quoted(name))))
}

/// Returns the description of a genus that has no entity, as a line that says what belongs there; empty if
/// it has entities or no description.
pub(crate) fn empty_genus_description(palace: &Palace, genus: &str) -> String {
    let is_empty = palace.graph.count_in_genus(genus) == 0;
    let definition = palace.graph.genus_definition(genus).filter(|_| is_empty);
    let description = definition.and_then(|it| it.description.as_deref());
    let lines = description.filter(|it| !it.trim().is_empty()).map(|it| {
        let named = format!("{}: {}", render::name_in_sentence(genus), it.trim());
        format!("{}\n", render::text_in_page(&named))
    });
    lines.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use palazzo_core::model::{Entity, Settings};

    /// Returns a palace with an entity of each name and genus.
    fn palace_of(entities: &[(&str, &str)]) -> Palace {
        let mut palace = Palace::new(Settings::with_name("Keep"));
        for (number, (name, genus)) in entities.iter().enumerate() {
            let genus = (*genus).to_owned();
            let entity = Entity { is_defined: true, genus, ..Entity::new_loose_end(name) };
            let file = format!("entities/{number}.yaml");
            palace.graph.set_file_entity(&file, Some(entity)).unwrap();
        }
        palace
    }

    fn entity_name(palace: &Palace, name: &str) -> String {
        resolve_entity_name(palace, name).unwrap_or_else(|it| it.to_string())
    }

    #[test]
    fn a_name_is_found_in_another_case_and_with_spaces_around_it() {
        let palace = palace_of(&[("Émile", "Person")]);
        assert_eq!(entity_name(&palace, "Émile"), "Émile");
        assert_eq!(entity_name(&palace, " ÉMILE\n"), "Émile");
    }

    #[test]
    fn an_entity_to_read_is_found_by_its_first_words() {
        let palace = palace_of(&[("Kofi Asante", "Person"), ("Ada", "Person")]);
        assert_eq!(resolve_entity_to_read(&palace, "kofi").unwrap(), "Kofi Asante");
        assert!(resolve_entity_to_read(&palace, "Bob").is_err());
    }

    #[test]
    fn of_two_names_that_differ_in_case_only_the_exact_one_is_found() {
        let palace = palace_of(&[("Ada", "Person"), ("ADA", "Person")]);
        assert_eq!(entity_name(&palace, "ADA"), "ADA");
        insta::assert_snapshot!(entity_name(&palace, "ada"), @"no entity is called `ada`; did you mean `Ada`? (use search_entities to search by words)");
    }

    #[test]
    fn an_exact_name_may_begin_with_a_space() {
        let palace = palace_of(&[(" Ada", "Person"), ("Ada", "Person")]);
        assert_eq!(entity_name(&palace, " Ada"), " Ada");
    }

    #[test]
    fn an_unknown_name_is_refused_and_its_control_characters_are_escaped() {
        let palace = palace_of(&[("Ada", "Person")]);
        insta::assert_snapshot!(entity_name(&palace, "a\nb"), @r"no entity is called `a\nb` (use search_entities to search by words)");
        insta::assert_snapshot!(entity_name(&palace, ""), @"no entity is called `` (use search_entities to search by words)");
    }

    #[test]
    fn a_loose_end_is_no_entity() {
        let mut palace = palace_of(&[]);
        palace.graph.set_file_entity("ghost.yaml", Some(Entity::new_loose_end("Ghost"))).unwrap();
        insta::assert_snapshot!(entity_name(&palace, "Ghost"), @"no entity is called `Ghost` (use search_entities to search by words)");
    }

    #[test]
    fn a_genus_is_found_in_another_case_unless_the_exact_one_exists() {
        let palace = palace_of(&[("A", "Rock"), ("B", "rock"), ("C", "Person")]);
        assert_eq!(resolve_genus_name(&palace, "rock").unwrap(), "rock");
        assert_eq!(resolve_genus_name(&palace, "PERSON").unwrap(), "Person");
    }

    #[test]
    fn an_unknown_genus_is_refused_with_at_most_twelve_genera() {
        let genera: Vec<_> = (10..30).map(|it| format!("G{it}")).collect();
        let entities: Vec<_> = genera.iter().map(|it| (it.as_str(), it.as_str())).collect();
        let refusal = resolve_genus_name(&palace_of(&entities), "X").unwrap_err().to_string();
        assert!(refusal.ends_with("`G20`, `G21` and 8 more"), "{refusal}");
        let refusal = resolve_genus_name(&palace_of(&[("A", "Cost")]), "Costs").unwrap_err();
        insta::assert_snapshot!(refusal, @"no entity has the genus `Costs`; did you mean `Cost`?");
        let refusal = resolve_genus_name(&palace_of(&[]), "X").unwrap_err();
        insta::assert_snapshot!(refusal, @"no entity has the genus `X`; this workspace has no entities yet");
    }
}
