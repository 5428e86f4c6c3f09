//! Asking what happened when.

use crate::keeper::graph::ask::{resolve_entity_name, resolve_genus_name};
use crate::keeper::graph::dates::parse_date_argument;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{ItemId, Layout, TimeSpan};
use crate::render;

/// Which dated facts are wanted.
#[derive(Clone, Debug, Default)]
pub struct TimelineQuery {
    /// Only those of this entity, and those that lead to it, by name.
    pub entity: Option<String>,
    /// Only those of this genus, whatever the case.
    pub genus: Option<String>,
    /// Only those from this date on, as it is told.
    pub since: Option<String>,
    /// Only those before this date.
    pub until: Option<String>,
    /// The page, from 1, of thirty facts.
    pub page: usize,
}

impl Keeper {
    /// Tells what happened when, oldest first. The entities it happened to can be
    /// opened by number.
    pub fn get_timeline(&mut self, by: &Caller, era: &TimelineQuery) -> Result<String, Refusal> {
        let palace = self.current_palace(by)?;
        let graph = &palace.graph;
        let entity = era.entity.as_ref().map(|it| resolve_entity_name(palace, it)).transpose()?;
        let genus = era.genus.as_ref().map(|it| resolve_genus_name(palace, it)).transpose()?;
        let date = |what, said: &Option<String>| {
            said.as_ref().map(|it| parse_date_argument(what, it, by.now)).transpose()
        };
        let span =
            TimeSpan { since: date("since", &era.since)?, until: date("until", &era.until)? };
        let page = era.page.max(1);
        let first = (page - 1).saturating_mul(Layout::MAX_RESULTS);
        // One more than is shown tells whether there are more.
        let wanted = first..first.saturating_add(Layout::MAX_RESULTS + 1);
        let mut facts = match &entity {
            Some(name) => graph.entity_timeline(name, span, genus.as_deref(), wanted),
            None => graph.timeline(span, genus.as_deref(), wanted),
        };
        let more = facts.len() > Layout::MAX_RESULTS;
        facts.truncate(Layout::MAX_RESULTS);
        let which = describe_query(entity.as_deref(), genus.as_deref(), span);
        let mut told = render::timeline(&which, &facts, page, more, by.now);
        if let Some(name) = entity.filter(|_| page == 1) {
            told.push_str(&render::skipped_relations(graph.count_unparsable_dates(&name)));
        }
        let openings = facts.iter().map(|it| ItemId::Entity(it.entity.name.clone())).collect();
        self.visit(by).listed_items = openings;
        Ok(told)
    }
}

/// Says which facts they are: ` of Hannibal since 218 BC`.
fn describe_query(entity: Option<&str>, genus: Option<&str>, span: TimeSpan) -> String {
    let said = [
        ("of", entity.map(str::to_owned)),
        ("of genus", genus.map(str::to_owned)),
        ("since", span.since.map(|it| it.to_string())),
        ("until", span.until.map(|it| it.to_string())),
    ];
    let mut which = String::new();
    for (word, what) in said.into_iter().filter_map(|(word, it)| Some((word, it?))) {
        which.push_str(&format!(" {word} {}", render::truncate(&render::one_line(&what), 80)));
    }
    which
}
