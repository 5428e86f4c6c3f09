//! Lists dated facts in order of time.

use crate::graph::{
    empty_genus_description, parse_date_argument, resolve_entity_to_read, resolve_genus_name,
};
use crate::{Refusal, Session};
use palazzo_core::model::{DatedFact, ItemId, Layout, TimeSpan};
use palazzo_core::render;

/// A query for dated facts.
#[derive(Clone, Debug, Default)]
pub struct TimelineQuery {
    /// Only facts of the entity with this name, and relations of others to it.
    pub entity: Option<String>,
    /// Only facts of entities of this genus; case is ignored.
    pub genus: Option<String>,
    /// Only facts from this date on, as the caller gave it.
    pub since: Option<String>,
    /// Only facts before this date.
    pub until: Option<String>,
    /// The page, from 1, of thirty facts.
    pub page: usize,
}

/// One page of dated facts, oldest first.
#[derive(Clone, Debug)]
pub struct TimelinePage<'a> {
    /// The filters in words: ` of Hannibal since 218 BC`.
    pub filters: String,
    /// The facts on this page.
    pub facts: Vec<DatedFact<'a>>,
    /// The number of the page, from 1.
    pub page: usize,
    /// True if there are more pages.
    pub has_more: bool,
    /// How many relations of the entity have dates that cannot be read.
    pub skipped: usize,
    /// The description of the genus, if it has no entity.
    pub empty_genus: String,
}

/// Lists dated facts, oldest first. The numbers of the listed items open the entities on this
/// page.
pub fn get_timeline<'s>(
    session: &'s mut Session<'_>,
    query: &TimelineQuery,
) -> Result<TimelinePage<'s>, Refusal> {
    let (palace, today) = (&session.palace.palace, session.caller.today());
    let graph = &palace.graph;
    let entity = query.entity.as_ref().map(|it| resolve_entity_to_read(palace, it)).transpose()?;
    let genus = query.genus.as_ref().map(|it| resolve_genus_name(palace, it)).transpose()?;
    let date = |key, date: &Option<String>| {
        date.as_ref().map(|it| parse_date_argument(key, it, today)).transpose()
    };
    let span =
        TimeSpan { since: date("since", &query.since)?, until: date("until", &query.until)? };
    let page = query.page.max(1);
    let first = (page - 1).saturating_mul(Layout::MAX_RESULTS);
    // One more fact than a page has shows whether there is a next page.
    let range = first..first.saturating_add(Layout::MAX_RESULTS + 1);
    let mut facts = match &entity {
        Some(name) => graph.entity_timeline(name, span, genus, range),
        None => graph.timeline(span, genus, range),
    };
    let has_more = facts.len() > Layout::MAX_RESULTS;
    facts.truncate(Layout::MAX_RESULTS);
    let filters = describe_query(entity.as_deref(), genus, span);
    let empty_genus = genus.map_or_else(String::new, |it| empty_genus_description(palace, it));
    let first_page_of = entity.filter(|_| page == 1);
    let skipped = first_page_of.map_or(0, |it| graph.count_relations_with_invalid_dates(&it));
    let items = facts.iter().map(|it| ItemId::Entity(it.entity.name.clone())).collect();
    session.visit.record_listed_items(items);
    Ok(TimelinePage { filters, facts, page, has_more, skipped, empty_genus })
}

/// Describes the filters of a query: ` of Hannibal since 218 BC`.
fn describe_query(entity: Option<&str>, genus: Option<&str>, span: TimeSpan) -> String {
    let filters = [
        ("of", entity.map(str::to_owned)),
        ("of genus", genus.map(str::to_owned)),
        ("since", span.since.map(|it| it.to_string())),
        ("until", span.until.map(|it| it.to_string())),
    ];
    let set = filters.into_iter().filter_map(|(word, value)| Some((word, value?)));
    let phrases = set.map(|(word, it)| {
        format!(" {word} {}", render::name_in_sentence(&render::truncate(&it, 80)))
    });
    phrases.collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;
    use palazzo_core::model::FactEvent;

    const HANNIBAL: (&str, &str) = (
        "entities/general/hannibal.yaml",
        "name: Hannibal\ngenus: General\nattributes: { born: 247 BC }\nrelations:\n\
        - { type: lived_in, to: Gades, since: 238 BC, until: in his youth }\n\
        - { type: won_at, to: Cannae, since: 216 BC }\n",
    );
    const LIVY: (&str, &str) = (
        "entities/writer/livy.yaml",
        "name: Livy\ngenus: Writer\nattributes: { born: 59 BC }\nrelations:\n\
        - { type: wrote_about, to: Hannibal, since: 27 BC, until: 9 BC }\n",
    );

    /// Lists facts of a palace with Hannibal and Livy: the filters, and one fact per line.
    fn timeline(query: &TimelineQuery) -> String {
        TestHome::new(&[HANNIBAL, LIVY]).run(|session| {
            let page = match get_timeline(session, query) {
                Ok(page) => page,
                Err(refusal) => return refusal.to_string(),
            };
            let mut lines = vec![format!("{}; {} skipped", page.filters, page.skipped)];
            lines.extend(page.facts.iter().map(|it| match it.event {
                FactEvent::AttributeDate(key) => format!("{} {} {key}", it.date, it.entity.name),
                FactEvent::RelationBegan(rel) => format!("{} {} begins", it.date, rel.kind),
                FactEvent::RelationEnded(rel) => format!("{} {} ends", it.date, rel.kind),
            }));
            lines.join("\n")
        })
    }

    #[test]
    fn facts_are_listed_oldest_first_with_years_bc() {
        insta::assert_snapshot!(timeline(&TimelineQuery::default()), @"
        ; 0 skipped
        247 BC Hannibal born
        238 BC lived_in begins
        216 BC won_at begins
        59 BC Livy born
        27 BC wrote_about begins
        ");
    }

    #[test]
    fn the_timeline_of_an_entity_contains_relations_to_it() {
        let query =
            TimelineQuery { entity: Some("hannibal".to_owned()), ..TimelineQuery::default() };
        insta::assert_snapshot!(timeline(&query), @"
         of Hannibal; 1 skipped
        247 BC Hannibal born
        238 BC lived_in begins
        216 BC won_at begins
        27 BC wrote_about begins
        ");
    }

    #[test]
    fn the_first_date_is_included_and_the_last_is_not() {
        let (since, until) = (Some("238 BC".to_owned()), Some("59 BC".to_owned()));
        insta::assert_snapshot!(timeline(&TimelineQuery { since, until, ..TimelineQuery::default() }), @"
         since 238 BC until 59 BC; 0 skipped
        238 BC lived_in begins
        216 BC won_at begins
        ");
    }

    #[test]
    fn a_genus_ignores_case_and_restricts_the_facts_to_its_entities() {
        let (genus, since) = (Some("WRITER".to_owned()), Some("30 BC".to_owned()));
        insta::assert_snapshot!(timeline(&TimelineQuery { genus, since, ..TimelineQuery::default() }), @"
         of genus Writer since 30 BC; 0 skipped
        27 BC wrote_about begins
        ");
    }

    #[test]
    fn unreadable_dates_are_counted_only_on_the_first_page() {
        let query = TimelineQuery {
            entity: Some("Hannibal".to_owned()),
            page: 2,
            ..TimelineQuery::default()
        };
        assert_eq!(timeline(&query), " of Hannibal; 0 skipped");
    }

    #[test]
    fn an_unreadable_date_is_refused_with_the_name_of_its_argument() {
        let query = TimelineQuery { until: Some("the war".to_owned()), ..TimelineQuery::default() };
        insta::assert_snapshot!(timeline(&query), @"`until`: `the war` is no date: write 1972, 1972-05, 1972-01-31, 44 BC or 2026-03-01T12:00:00Z");
    }

    #[test]
    fn an_unknown_entity_or_genus_is_refused() {
        let query = TimelineQuery { entity: Some("Livi".to_owned()), ..TimelineQuery::default() };
        insta::assert_snapshot!(timeline(&query), @"no entity is called `Livi`; did you mean `Livy`? (use search_entities to search by words)");
        let query = TimelineQuery { genus: Some("Poet".to_owned()), ..TimelineQuery::default() };
        insta::assert_snapshot!(timeline(&query), @"no entity has the genus `Poet`; this workspace has the genera `General`, `Writer`");
    }

    #[test]
    fn a_page_has_thirty_facts() {
        let pages_of = |facts: usize| {
            let mut home = TestHome::new(&[]);
            for year in 1000..1000 + facts {
                let text =
                    format!("name: {year}\ngenus: Year\nattributes: {{ began: {year}-01 }}\n");
                home.write(&format!("entities/year/{year}.yaml"), &text);
            }
            [1, 2].map(|page| {
                let query = TimelineQuery { page, ..TimelineQuery::default() };
                let page = |it: TimelinePage<'_>| (it.facts.len(), it.has_more);
                home.run(|session| get_timeline(session, &query).map(page).unwrap())
            })
        };
        assert_eq!(pages_of(30), [(30, false), (0, false)]);
        assert_eq!(pages_of(31), [(30, true), (1, false)]);
    }

    #[test]
    fn the_listed_entities_can_be_opened_by_number() {
        let listed = TestHome::new(&[LIVY]).run(|session| {
            get_timeline(session, &TimelineQuery::default()).unwrap();
            session.visit.listed_items.clone()
        });
        assert_eq!(listed, vec![ItemId::Entity("Livy".to_owned()); 2]);
    }
}
