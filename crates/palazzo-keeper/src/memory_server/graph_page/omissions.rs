//! Describes what a page of the graph leaves out, and how to ask for it.

use serde_json::Value;

use crate::memory_server::graph_page::node_query::NodeQuery;
use palazzo_core::model::Entity;
use palazzo_core::render;

/// Which part of the matching entities a page shows.
pub(crate) struct Omissions<'a> {
    /// All matching entities.
    pub(crate) matches: &'a [&'a Entity],
    /// How many of them come before those shown.
    pub(crate) start: usize,
    /// Those that the page shows.
    pub(crate) shown: &'a [Entity],
    /// How many relations of the shown entities are left out.
    pub(crate) omitted_relations: usize,
}

impl Omissions<'_> {
    /// Describes what the page leaves out, and how to ask for it; `None` if nothing is left out.
    /// `links` are the numbers of shown relations and of all.
    pub(crate) fn describe(&self, query: &NodeQuery<'_>, links: (usize, usize)) -> Option<String> {
        let end = self.start + self.shown.len();
        let truncated = self.truncated_entities(query.skipped_observation_count());
        if end == self.matches.len() && truncated.is_empty() && self.omitted_relations == 0 {
            return None;
        }
        let mut contents = Vec::new();
        if self.shown.len() < self.matches.len() {
            let (from, all) =
                (self.start + 1, render::count_with_noun(self.matches.len(), "entity"));
            contents.push(format!("{from} to {end} of {all}, oldest first"));
        }
        let observations = truncated.iter().take(3);
        contents
            .extend(observations.map(|(it, part)| describe_shown_observations(query, it, part)));
        if links.0 < links.1 {
            contents.push(format!(
                "{} of {}",
                links.0,
                render::count_with_noun(links.1, "relation")
            ));
        }
        let mut sentences =
            vec![format!("Too much for one answer: this one has {}", contents.join("; "))];
        sentences.extend(self.continuation_advice(query, truncated.first().copied()));
        Some(sentences.join(". "))
    }

    /// Returns the entities that are not shown with all observations after those skipped.
    fn truncated_entities(&self, skipped: usize) -> Vec<(&Entity, &Entity)> {
        let pairs = self.matches[self.start..].iter().copied().zip(self.shown);
        let is_part = |(it, part): &(&Entity, &Entity)| {
            it.observations.len() > skipped + part.observations.len()
                || has_abridged_observation(it, part)
        };
        pairs.filter(is_part).collect()
    }

    /// Returns sentences on how to ask for what is left out.
    fn continuation_advice(
        &self,
        query: &NodeQuery<'_>,
        part: Option<(&Entity, &Entity)>,
    ) -> Vec<String> {
        let is_cut = self.start + self.shown.len() < self.matches.len();
        let last = self.shown.last().filter(|_| is_cut);
        let last = last.map(|it| Value::from(it.name.as_str()));
        let is_of_many = matches!(query, NodeQuery::ByNames(names, _) if names.len() > 1);
        let mut advice = Vec::new();
        advice.extend(match (query, last) {
            (NodeQuery::All, Some(name)) => {
                Some(format!("To go on, call read_graph with {{\"after\": {name}}}"))
            }
            (NodeQuery::Containing(_), Some(name)) => {
                Some(format!("Use a more specific query, or go on with \"after\": {name}"))
            }
            _ => is_of_many.then(|| "Give fewer names at once".to_owned()),
        });
        if self.omitted_relations > 0 && !is_of_many {
            advice.push("open_nodes shows a relation if you give one of its ends".to_owned());
        }
        advice.extend(part.map(|(it, part)| observations_advice(query, it, part)));
        advice
    }
}

/// Describes which observations of an entity the page has.
fn describe_shown_observations(query: &NodeQuery<'_>, it: &Entity, part: &Entity) -> String {
    let (skipped, shown) = (query.skipped_observation_count(), part.observations.len());
    let all = render::count_with_noun(it.observations.len(), "observation");
    let name = render::truncate(&render::one_line(&it.name), 60);
    let which = match skipped {
        0 => shown.to_string(),
        _ => format!("{} to {}", skipped + 1, skipped + shown),
    };
    let how = match query {
        _ if has_abridged_observation(it, part) => ", shortened",
        NodeQuery::Containing(_) => ", those that contain the query first",
        _ => "",
    };
    format!("{which} of the {all} of {name}{how}")
}

/// Returns a sentence on how to read the other observations of an entity.
fn observations_advice(query: &NodeQuery<'_>, it: &Entity, part: &Entity) -> String {
    let name = Value::from(it.name.as_str());
    if let NodeQuery::Containing(_) = query {
        return format!(
            "open_nodes with {{\"names\": [{name}]}} shows observations in their order"
        );
    }
    match query.skipped_observation_count() + part.observations.len() {
        skip if skip < it.observations.len() => {
            format!(
                "To go on with observations, call open_nodes with {{\"names\": [{name}], \"skip\": {skip}}}"
            )
        }
        _ => "To read a long observation whole, start the server with --unbounded".to_owned(),
    }
}

/// Returns true if the page has one observation of an entity, and that one is shortened.
fn has_abridged_observation(it: &Entity, part: &Entity) -> bool {
    matches!(part.observations.as_slice(), [only] if !it.observations.contains(only))
}
