//! Lists dated facts in order of time.

use crate::keeper::graph::dates::parse_date_argument;
use crate::keeper::graph::lookup::{resolve_entity_name, resolve_genus_name};
use crate::keeper::{Refusal, Session};
use crate::model::{DatedFact, ItemId, Layout, TimeSpan};
use crate::render;

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
}

/// Lists dated facts, oldest first. The numbers of the listed items open the entities on this
/// page.
pub fn get_timeline<'s>(
    session: &'s mut Session<'_>,
    query: &TimelineQuery,
) -> Result<TimelinePage<'s>, Refusal> {
    let (palace, now) = (&session.palace.palace, session.caller.now);
    let graph = &palace.graph;
    let entity = query.entity.as_ref().map(|it| resolve_entity_name(palace, it)).transpose()?;
    let genus = query.genus.as_ref().map(|it| resolve_genus_name(palace, it)).transpose()?;
    let date = |key, date: &Option<String>| {
        date.as_ref().map(|it| parse_date_argument(key, it, now)).transpose()
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
    let first_page_of = entity.filter(|_| page == 1);
    let skipped = first_page_of.map_or(0, |it| graph.count_relations_with_invalid_dates(&it));
    session.visit.listed_items =
        facts.iter().map(|it| ItemId::Entity(it.entity.name.clone())).collect();
    Ok(TimelinePage { filters, facts, page, has_more, skipped })
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
    let phrases =
        set.map(|(word, it)| format!(" {word} {}", render::truncate(&render::one_line(&it), 80)));
    phrases.collect::<Vec<_>>().concat()
}
