//! What is said where not all is shown: how much there is more, and how to ask
//! for it.

use serde_json::Value;

use crate::keeper::memory_server::graph_page::NodeQuery;
use crate::model::Entity;
use crate::render;

/// What of all that is wanted is shown.
pub(crate) struct Omissions<'a> {
    /// All that is wanted.
    pub(crate) matches: &'a [&'a Entity],
    /// How many of them come before those shown.
    pub(crate) start: usize,
    /// Those that are shown.
    pub(crate) shown: &'a [Entity],
    /// How many relations of those shown are not.
    pub(crate) omitted_relations: usize,
}

impl Omissions<'_> {
    /// Says how much was left out, and how to ask for it; `None`: nothing was that
    /// comes behind what is shown. `links` says how many relations are shown, and
    /// how many there are.
    pub(crate) fn describe(&self, wanted: &NodeQuery<'_>, links: (usize, usize)) -> Option<String> {
        let end = self.start + self.shown.len();
        let parts = self.truncated_entities(wanted.skipped_observations());
        if end == self.matches.len() && parts.is_empty() && self.omitted_relations == 0 {
            return None;
        }
        let mut here = Vec::new();
        if self.shown.len() < self.matches.len() {
            let (from, all) = (self.start + 1, render::pluralize(self.matches.len(), "entity"));
            here.push(format!("{from} to {end} of {all}, oldest first"));
        }
        here.extend(parts.iter().take(3).map(|(it, part)| describe_observations(wanted, it, part)));
        if links.0 < links.1 {
            here.push(format!("{} of {}", links.0, render::pluralize(links.1, "relation")));
        }
        let mut told = vec![format!("Too much to show: here are {}", here.join("; "))];
        told.extend(self.advice(wanted, parts.first().copied()));
        Some(told.join(". "))
    }

    /// Returns the entities of which not all observations behind those skipped are
    /// shown as they are.
    fn truncated_entities(&self, skipped: usize) -> Vec<(&Entity, &Entity)> {
        let here = self.matches[self.start..].iter().copied().zip(self.shown);
        let is_part = |(it, part): &(&Entity, &Entity)| {
            it.observations.len() > skipped + part.observations.len() || is_abridged(it, part)
        };
        here.filter(is_part).collect()
    }

    /// Says how to see what is not shown.
    fn advice(&self, wanted: &NodeQuery<'_>, part: Option<(&Entity, &Entity)>) -> Vec<String> {
        let is_cut = self.start + self.shown.len() < self.matches.len();
        let last = self.shown.last().filter(|_| is_cut);
        let last = last.map(|it| Value::from(it.name.as_str()));
        let is_of_many = matches!(wanted, NodeQuery::ByNames(names, _) if names.len() > 1);
        let mut advice = Vec::new();
        advice.extend(match (wanted, last) {
            (NodeQuery::All, Some(name)) => {
                Some(format!("To go on, call read_graph with {{\"after\": {name}}}"))
            }
            (NodeQuery::Containing(_), Some(name)) => {
                Some(format!("Say more in the query, or go on with \"after\": {name}"))
            }
            _ => is_of_many.then(|| "Name fewer at once".to_owned()),
        });
        if self.omitted_relations > 0 && !is_of_many {
            advice.push("open_nodes shows a relation with either end".to_owned());
        }
        advice.extend(part.map(|(it, part)| observations_advice(wanted, it, part)));
        advice
    }
}

/// Says which observations of an entity are shown.
fn describe_observations(wanted: &NodeQuery<'_>, it: &Entity, part: &Entity) -> String {
    let (skipped, shown) = (wanted.skipped_observations(), part.observations.len());
    let all = render::pluralize(it.observations.len(), "observation");
    let name = render::truncate(&render::one_line(&it.name), 60);
    let which = match skipped {
        0 => shown.to_string(),
        _ => format!("{} to {}", skipped + 1, skipped + shown),
    };
    let how = match wanted {
        _ if is_abridged(it, part) => ", shortened",
        NodeQuery::Containing(_) => ", those that hold the query first",
        _ => "",
    };
    format!("{which} of the {all} of {name}{how}")
}

/// Says how to see the observations of an entity that are not shown.
fn observations_advice(wanted: &NodeQuery<'_>, it: &Entity, part: &Entity) -> String {
    let name = Value::from(it.name.as_str());
    if let NodeQuery::Containing(_) = wanted {
        return format!(
            "open_nodes with {{\"names\": [{name}]}} shows observations in their order"
        );
    }
    match wanted.skipped_observations() + part.observations.len() {
        skip if skip < it.observations.len() => {
            format!(
                "To go on with observations, call open_nodes with {{\"names\": [{name}], \"skip\": {skip}}}"
            )
        }
        _ => "A long observation is told in full if the server has --unbounded".to_owned(),
    }
}

/// Tells whether of an entity one observation is shown, and that not in full.
fn is_abridged(it: &Entity, part: &Entity) -> bool {
    matches!(part.observations.as_slice(), [only] if !it.observations.contains(only))
}
