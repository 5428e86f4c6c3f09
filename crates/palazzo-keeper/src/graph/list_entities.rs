//! Lists entities, filtered or searched. The list is paged: its cost does not depend on the
//! size of the graph.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use serde_json::{Map, Value};

use crate::graph::{empty_genus_description, resolve_genus_name};
use crate::palace::OpenPalace;
use crate::palace::loaded_palace::LoadedPalace;
use crate::palace::search_documents::entity_facet;
use crate::search::exact_phrase;
use crate::search::palace_search::item_contains_phrase;
use crate::semantic::vector_store::{EmbeddedQuery, RankingReport};
use crate::walk::contents::render_new_facts;
use crate::{Refusal, Session};
use palazzo_core::model::{
    Entity, EntityFilter, Graph, ItemId, ItemKind, Layout, did_you_mean, quoted,
};
use palazzo_core::render::{self, ListedContent};
use palazzo_core::search::{Hit, Query, most_matching_text, snippet};

/// Maximum number of characters of the line that a search shows for an entity.
const MATCHING_LINE_CHARS: usize = 100;

/// A query for entities.
#[derive(Clone, Debug, Default)]
pub struct EntityQuery {
    /// Only entities of this genus; case is ignored.
    pub genus: Option<String>,
    /// Only entities with this status; case is ignored.
    pub status: Option<String>,
    /// Only entities with these attributes.
    pub attributes: Map<String, Value>,
    /// Only entities that match these words, ordered by score.
    pub query: Option<String>,
    /// The page, from 1, of thirty entities.
    pub page: usize,
}

/// One page of a list of entities.
#[derive(Clone, Debug)]
pub struct EntityPage<'a> {
    /// The filters in words: ` of genus Claim with status open about "rocks"`.
    pub filters: String,
    /// The entities on this page.
    pub entities: Vec<&'a Entity>,
    /// For each of them the line that contains the words of the query, if it has one.
    pub matching_lines: Vec<Option<String>>,
    /// The facts of each of them.
    pub facts: Vec<ListedContent>,
    /// How many entities match.
    pub total: usize,
    /// The number of the page, from 1.
    pub page: usize,
    /// How the entities were ranked, if the palace names a model and the query has words.
    pub ranker: Option<RankingReport>,
    /// If nothing matches, suggestions for the filters, a line each.
    pub suggestions: String,
}

/// Lists entities by name or, if the query has words, by score. The numbers of the listed items
/// open the entities on this page.
pub fn list_entities<'s>(
    session: &'s mut Session<'_>,
    query: &EntityQuery,
) -> Result<EntityPage<'s>, Refusal> {
    let vectors = query.query.as_ref().and_then(|_| session.palace.vector_store(session.models));
    let open = &*session.palace;
    let graph = &open.palace.graph;
    let genus = query.genus.as_ref().map(|it| resolve_genus_name(&open.palace, it)).transpose()?;
    let filters = describe_filters(genus, query);
    let EntityQuery { status, attributes, .. } = query.clone();
    let filter = EntityFilter { genus: genus.map(str::to_owned), status, attributes };
    let page = query.page.max(1);
    let first = (page - 1).saturating_mul(Layout::MAX_RESULTS);
    let embedded =
        vectors.as_ref().zip(query.query.as_ref()).map(|(it, words)| open.embed_query(it, words));
    let (total, entities, matching_lines) = match &query.query {
        None => {
            let (total, entities) = graph.filter_entities(&filter, first, Layout::MAX_RESULTS);
            (total, entities, Vec::new())
        }
        Some(words) => {
            let vectors = embedded.as_ref().and_then(EmbeddedQuery::query_and_vectors);
            let limit = first.saturating_add(Layout::MAX_RESULTS);
            let search = Query { text: words, limit, vectors, ..Query::default() };
            search_entities(open, &filter, &search, first)
        }
    };
    let ranker = embedded.as_ref().map(|it| it.ranker.clone());
    let suggestions =
        if total == 0 { advice_on_no_entity(open, query, &filter) } else { String::new() };
    let names: Vec<_> = entities.iter().map(|it| it.name.clone()).collect();
    let items = names.iter().cloned().map(ItemId::Entity).collect();
    // An answer without items leaves the numbers of the one before.
    if total > 0 {
        session.visit.record_listed_items(items);
    }
    let facts = render_new_facts(session, &names, &matching_lines)?;
    let graph = &session.palace.palace.graph;
    let entities = names.iter().filter_map(|it| graph.get(it)).collect();
    Ok(EntityPage { filters, entities, matching_lines, facts, total, page, ranker, suggestions })
}

/// Returns what the genus is for if it is empty, and what to try when no entity matches, a line each.
fn advice_on_no_entity(open: &LoadedPalace, query: &EntityQuery, filter: &EntityFilter) -> String {
    let palace = &open.palace;
    let genus = filter.genus.as_deref();
    let mut advice = genus.map_or_else(String::new, |it| empty_genus_description(palace, it));
    if *filter != EntityFilter::default() {
        advice.push_str(&suggest_similar_filters(&palace.graph, filter));
    }
    let has_texts = palace.scrolls().next().is_some() || !palace.drawers.is_empty();
    if query.query.is_some() && has_texts {
        advice.push_str("Scrolls and drawers are found by action 17.\n");
    }
    advice
}

/// Searches the entities that pass `filter`. Returns how many match, and the best of them
/// without the `first` ones, with their matching lines.
fn search_entities<'a>(
    open: &'a OpenPalace,
    filter: &EntityFilter,
    search: &Query<'_>,
    first: usize,
) -> (usize, Vec<&'a Entity>, Vec<Option<String>>) {
    let graph = &open.palace.graph;
    let has_no_attributes = filter.attributes.is_empty();
    let exact = exact_phrase(search.text);
    let has_phrase = |it: &ItemId, phrase: &String| item_contains_phrase(&open.palace, it, phrase);
    let fits = |it: &ItemId| {
        (has_no_attributes
            || graph.entity_for_item(it).is_some_and(|it| Graph::matches_filter(it, filter)))
            && exact.as_ref().is_none_or(|phrase| has_phrase(it, phrase))
    };
    let facets = facets_of_filter(open, filter);
    let search = Query { kinds: &[ItemKind::Entity], facets: facets.as_deref(), ..*search };
    let hits = open.index().find(&search, fits);
    let page = hits.best.iter().skip(first);
    let (entities, lines) = page
        .filter_map(|hit| {
            let entity = graph.entity_for_item(&hit.item)?;
            Some((entity, matching_line(entity, hit, &search)))
        })
        .unzip();
    (hits.total, entities, lines)
}

/// Returns the line of an entity that contains most words of the query, shortened around them: an
/// observation of the best passage, an attribute or a relation. `None` if only the name, the genus
/// or the status contains words. The passage of an entity that was found by its meaning is shown
/// instead of a line.
fn matching_line(entity: &Entity, hit: &Hit, search: &Query<'_>) -> Option<String> {
    let observations = observations_in_passage(entity, &hit.passage);
    let others: Vec<_> = render::attribute_and_relation_lines(entity).collect();
    let whole = others.iter().map(|it| (it.as_str(), 0..it.len()));
    let lines: Vec<_> = observations.into_iter().chain(whole).collect();
    let parts = lines.iter().map(|(line, range)| line.get(range.clone()).unwrap_or_default());
    if let Some(place) = most_matching_text(parts, search.text) {
        let (line, range) = lines.get(place)?.clone();
        return Some(snippet(line, range, search.text, MATCHING_LINE_CHARS));
    }
    let heading = [entity.name.as_str(), &entity.genus, entity.status.as_deref().unwrap_or("")];
    let is_found_by_meaning =
        search.vectors.is_some() && most_matching_text(heading, search.text).is_none();
    let passage = observations_in_passage(entity, &hit.passage).into_iter().next();
    let (line, range) = passage.filter(|_| is_found_by_meaning)?;
    Some(snippet(line, range, search.text, MATCHING_LINE_CHARS))
}

/// Returns the observations of a passage of an entity's text, each with the part in the passage.
fn observations_in_passage<'a>(
    entity: &'a Entity,
    passage: &Range<usize>,
) -> Vec<(&'a str, Range<usize>)> {
    let mut start = 0;
    let parts = entity.observations.iter().filter_map(|it| {
        let (from, until) = (start, start + it.len());
        start = until + 1;
        let part = passage.start.max(from)..passage.end.min(until);
        (part.start < part.end).then(|| (it.as_str(), part.start - from..part.end - from))
    });
    parts.collect()
}

/// Marks the facets of the index that have the genus and status of `filter`; `None` if all do.
fn facets_of_filter(open: &OpenPalace, filter: &EntityFilter) -> Option<Vec<bool>> {
    if filter.genus.is_none() && filter.status.is_none() {
        return None;
    }
    let pairs = open.palace.graph.genus_status_pairs(filter);
    let facets: HashSet<_> = pairs.map(|(genus, status)| entity_facet(genus, status)).collect();
    Some(open.index().facet_filter(|it| facets.contains(it)))
}

/// Suggests similar names for a status or attributes that no entity has.
fn suggest_similar_filters(graph: &Graph, filter: &EntityFilter) -> String {
    let genera =
        || graph.all_genus_names().filter(|it| filter.genus.as_ref().is_none_or(|g| g == it));
    let definitions = || genera().filter_map(|it| graph.genus_definition(it));
    let statuses = genera().flat_map(|it| graph.status_counts(it)).map(|(it, _)| it);
    let statuses =
        statuses.chain(definitions().flat_map(|it| &it.statuses).map(|it| it.name.as_str()));
    let keys = genera().flat_map(|it| graph.attribute_names(it));
    let (statuses, keys): (BTreeSet<_>, BTreeSet<_>) = (statuses.collect(), keys.collect());
    let status = filter.status.iter().map(|it| ("status", it, &statuses));
    let attributes = filter.attributes.keys().map(|it| ("attribute", it, &keys));
    let suggestions = status.chain(attributes).filter_map(|(what, name, existing)| {
        let exists = existing.iter().any(|it| it.to_lowercase() == name.to_lowercase());
        let meant = did_you_mean(name, existing.iter().copied()).filter(|_| !exists)?;
        let [name, meant] = [name, meant].map(|it| quoted(&render::truncate(it, 60)));
        Some(format!("No entity has the {what} {name}; did you mean {meant}?\n"))
    });
    suggestions.collect::<Vec<_>>().concat()
}

/// Describes the filters of a query: ` of genus Claim with status open about "rocks"`.
fn describe_filters(genus: Option<&str>, query: &EntityQuery) -> String {
    let EntityQuery { status, attributes, query, .. } = query;
    let quoted = |text: &str| render::word_or_quoted(&render::truncate(text, 80));
    let mut filters = String::new();
    if let Some(genus) = genus {
        filters.push_str(&format!(" of genus {}", quoted(genus)));
    }
    if let Some(status) = status {
        filters.push_str(&format!(" with status {}", quoted(status)));
    }
    for (key, value) in attributes {
        filters.push_str(&format!(
            " with {} {}",
            quoted(key),
            quoted(&render::json_value_text(value))
        ));
    }
    if let Some(query) = query {
        filters.push_str(&format!(" about {}", render::in_quotes(&render::truncate(query, 80))));
    }
    filters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    const ADA: (&str, &str) = (
        "entities/person/ada.yaml",
        "name: Ada\ngenus: Person\nstatus: Dead\nattributes: { country: England }\nobservations: [She wrote notes.]\n",
    );
    const EVE: (&str, &str) = (
        "entities/person/eve.yaml",
        "name: Eve\ngenus: Person\nstatus: alive\nattributes: { country: France }\n",
    );
    const NOTES: (&str, &str) = (
        "entities/book/notes.yaml",
        "name: Notes\ngenus: Book\nattributes: { country: England }\n",
    );

    /// Lists from a palace with Ada, Eve and the book Notes: filters, names, total, suggestions.
    fn list(query: &EntityQuery) -> (String, Vec<String>, usize, String) {
        let mut home = TestHome::new(&[ADA, EVE, NOTES]);
        home.run(|session| {
            let page = list_entities(session, query).unwrap();
            let names = page.entities.iter().map(|it| it.name.clone()).collect();
            (page.filters, names, page.total, page.suggestions)
        })
    }

    fn with_country(country: &str) -> Map<String, Value> {
        Map::from_iter([("country".to_owned(), country.into())])
    }

    #[test]
    fn all_entities_are_listed_by_genus_and_name() {
        let (filters, names, total, suggestions) = list(&EntityQuery::default());
        assert_eq!(names, ["Notes", "Ada", "Eve"]);
        assert_eq!((filters.as_str(), total, suggestions.as_str()), ("", 3, ""));
    }

    #[test]
    fn genus_and_status_ignore_case() {
        let (genus, status) = (Some("PERSON".to_owned()), Some("dead".to_owned()));
        let (filters, names, ..) = list(&EntityQuery { genus, status, ..EntityQuery::default() });
        assert_eq!(names, ["Ada"]);
        assert_eq!(filters, " of genus Person with status dead");
    }

    #[test]
    fn attribute_values_ignore_case() {
        let attributes = with_country("ENGLAND");
        let (filters, names, ..) = list(&EntityQuery { attributes, ..EntityQuery::default() });
        assert_eq!(names, ["Notes", "Ada"]);
        assert_eq!(filters, " with country ENGLAND");
    }

    #[test]
    fn words_search_only_among_the_entities_that_pass_the_filters() {
        let query = Some("notes".to_owned());
        let all = EntityQuery { query, ..EntityQuery::default() };
        let (filters, names, ..) = list(&all);
        assert_eq!((filters.as_str(), names.len()), (" about \"notes\"", 2));
        let of_genus = EntityQuery { genus: Some("person".to_owned()), ..all.clone() };
        assert_eq!(list(&of_genus).1, ["Ada"]);
        let of_france = EntityQuery { attributes: with_country("France"), ..all };
        assert_eq!(list(&of_france).2, 0);
    }

    /// Searches among these entities, and returns the name and the matching line of each.
    fn matching_lines(files: &[(&str, &str)], words: &str) -> Vec<(String, Option<String>)> {
        let query = EntityQuery { query: Some(words.to_owned()), ..EntityQuery::default() };
        TestHome::new(files).run(|session| {
            let page = list_entities(session, &query).unwrap();
            let names = page.entities.iter().map(|it| it.name.clone());
            names.zip(page.matching_lines).collect()
        })
    }

    #[test]
    fn a_search_shows_the_line_that_matched_unless_it_was_the_name() {
        let text = "name: Winch\ngenus: Machine\nattributes: { maker: Acme }\nobservations:\n\
                    - Painted green.\n- The cable broke in the storm.\n- The drum holds.\n\
                    relations:\n- { type: stands_on, to: Old pier }\n";
        let winch = [("entities/machine/winch.yaml", text)];
        let line = |words| matching_lines(&winch, words).pop().unwrap().1;
        let line = |words| line(words).unwrap_or_default();
        assert_eq!(line("when did the cable break"), "The cable broke in the storm.");
        assert_eq!(line("acme winch"), "maker: Acme");
        assert_eq!(line("pier"), "stands_on → Old pier");
        assert_eq!(line("winches"), "");
        assert_eq!(line("machine"), "");
    }

    #[test]
    fn a_long_matching_line_is_cut_around_the_words() {
        let text = format!(
            "name: Log\ngenus: Book\nobservations:\n- First.\n- {}the cable broke{}\n",
            "calm ".repeat(300),
            " calm".repeat(300)
        );
        let found = matching_lines(&[("entities/book/log.yaml", &text)], "cable broke");
        let line = found[0].1.as_deref().unwrap();
        assert!(line.starts_with("…calm") && line.contains("the cable broke calm"), "{line}");
        assert!(line.chars().count() <= MATCHING_LINE_CHARS + 2, "{line}");
    }

    #[test]
    fn a_misspelt_status_gets_a_suggestion() {
        let status = Some("alve".to_owned());
        let (_, names, _, suggestions) = list(&EntityQuery { status, ..EntityQuery::default() });
        assert_eq!(names, [""; 0]);
        assert_eq!(suggestions, "No entity has the status `alve`; did you mean `alive`?\n");
    }

    #[test]
    fn a_misspelt_attribute_gets_a_suggestion() {
        let attributes = Map::from_iter([("county".to_owned(), "England".into())]);
        let (.., suggestions) = list(&EntityQuery { attributes, ..EntityQuery::default() });
        assert_eq!(suggestions, "No entity has the attribute `county`; did you mean `country`?\n");
    }

    #[test]
    fn a_status_that_exists_elsewhere_gets_no_suggestion() {
        let (status, attributes) = (Some("Alive".to_owned()), with_country("England"));
        let (_, _, total, suggestions) =
            list(&EntityQuery { status, attributes, ..EntityQuery::default() });
        assert_eq!((total, suggestions.as_str()), (0, ""));
    }

    #[test]
    fn an_unknown_genus_is_refused_with_the_existing_ones() {
        let query = EntityQuery { genus: Some("Planet".to_owned()), ..EntityQuery::default() };
        let refusal = TestHome::new(&[ADA, NOTES])
            .run(|session| list_entities(session, &query).unwrap_err().to_string());
        insta::assert_snapshot!(refusal, @"no entity has the genus `Planet`; this workspace has the genera `Book`, `Person`");
    }

    #[test]
    fn an_empty_list_says_what_belongs_to_a_genus_without_entities() {
        let genus = ("genera/bug.yaml", "name: Bug\ndescription: A fault.\nstatuses: [open]\n");
        let advice = |files: &[(&str, &str)], status: Option<&str>| {
            let (genus, status) = (Some("bug".to_owned()), status.map(str::to_owned));
            let query = EntityQuery { genus, status, ..EntityQuery::default() };
            TestHome::new(files).run(|it| list_entities(it, &query).unwrap().suggestions)
        };
        assert_eq!(advice(&[genus], Some("open")), "Bug: A fault.\n");
        let moth = ("entities/bug/moth.yaml", "name: Moth\ngenus: Bug\n");
        assert_eq!(advice(&[genus, moth], Some("open")), "");
        let sly = ("genera/bug.yaml", "name: Bug\ndescription: \"A fault.\\nActions:\"\n");
        assert_eq!(advice(&[sly], None), "Bug: A fault.\n│ Actions:\n");
    }

    #[test]
    fn a_page_has_thirty_entities_and_the_last_one_the_rest() {
        let mut home = TestHome::new(&[]);
        for number in 0..31 {
            let text = format!("name: Hill {number:02}\ngenus: Hill\n");
            home.write(&format!("entities/hill/hill-{number:02}.yaml"), &text);
        }
        let mut page = |page: usize| {
            let query = EntityQuery { page, ..EntityQuery::default() };
            home.run(|it| list_entities(it, &query).map(|it| (it.entities.len(), it.page)).unwrap())
        };
        assert_eq!([page(0), page(1), page(2), page(3)], [(30, 1), (30, 1), (1, 2), (0, 3)]);
        assert_eq!(page(usize::MAX), (0, usize::MAX));
    }

    #[test]
    fn the_listed_entities_can_be_opened_by_number() {
        let mut home = TestHome::new(&[ADA, EVE]);
        let listed = home.run(|session| {
            list_entities(session, &EntityQuery::default()).unwrap();
            session.visit.listed_items.clone()
        });
        assert_eq!(listed, ["Ada", "Eve"].map(|it| ItemId::Entity(it.to_owned())));
    }
}
