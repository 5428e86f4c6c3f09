//! The entities that have faults: computed once, and updated by each change.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;

use crate::palace::room_scope::RoomScope;
use palazzo_core::model::{EntityFault, Graph};
use palazzo_core::render;

/// Maximum number of entities whose faults a room shows.
const MAX_NAMED_ENTITIES: usize = 2;

/// The name and the genus of an entity.
pub(crate) type EntityNameAndGenus = (String, String);

/// Describes the first fault of an entity.
fn describe_first_fault(graph: &Graph, name: &str) -> Option<String> {
    let fault =
        graph.entity_faults(graph.get(name)?).into_iter().find(EntityFault::is_warning_or_error)?;
    let name = render::name_in_sentence(&render::truncate(name, 60));
    Some(format!("{name}: {}", render::truncate_closing_backtick(&fault.message, 160)))
}

/// The entities of a palace that have faults.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultyEntities {
    /// The entities with faults above the severity info, by genus.
    faulty: BTreeMap<String, BTreeSet<String>>,
    /// The genus of each entity with at least one fault.
    genus_by_name: HashMap<String, String>,
    /// The entities that refer to an undefined entity, by its name.
    dangling_references: BTreeMap<String, BTreeSet<String>>,
}

impl FaultyEntities {
    /// Checks the whole graph.
    pub(crate) fn from_graph(graph: &Graph) -> Self {
        let entities: Vec<_> = graph.iter().collect();
        let faulty = entities.into_par_iter().filter(|it| !graph.entity_faults(it).is_empty());
        let faulty: Vec<_> = faulty.collect();
        let mut faults = Self::default();
        for entity in faulty {
            faults.record_entity_faults(graph, &entity.name);
        }
        faults
    }

    /// Checks the entities again whose faults a change may change: the changed entity, with its
    /// name and genus `before` and `after`, and those that refer to it.
    pub(crate) fn recheck_affected_entities(
        &mut self,
        graph: &Graph,
        before: Option<&EntityNameAndGenus>,
        after: Option<&EntityNameAndGenus>,
    ) {
        let mut names: BTreeSet<_> =
            before.into_iter().chain(after).map(|(name, _)| name.clone()).collect();
        if before != after {
            let dangling = after.and_then(|(name, _)| self.dangling_references.get(name));
            names.extend(dangling.into_iter().flatten().cloned());
            let sources = before.map(|(name, _)| graph.names_referring_to(name));
            names.extend(sources.unwrap_or_default().into_iter().map(|(name, _)| name));
        }
        for name in names {
            self.record_entity_faults(graph, &name);
        }
    }

    /// Renders the faults of the entities that a room shows in one line: their number, and the
    /// faults of the first ones.
    pub(crate) fn room_notice(&self, graph: &Graph, scope: &RoomScope<'_>) -> Option<String> {
        let (mut count, mut listed) = (0, Vec::new());
        for (genus, names) in &self.faulty {
            let all = scope.includes_genus(genus);
            let included: Vec<_> = names
                .iter()
                .filter(|it| all || scope.names_entity(it))
                .take(MAX_NAMED_ENTITIES)
                .collect();
            count += if all { names.len() } else { included.len() };
            listed.extend(included);
        }
        listed.truncate(MAX_NAMED_ENTITIES);
        let faults: Vec<_> =
            listed.iter().filter_map(|it| describe_first_fault(graph, it)).collect();
        let more = if count > faults.len() { "; …" } else { "" };
        let have = if count == 1 { "has" } else { "have" };
        (count > 0).then(|| {
            let count = render::count_with_noun(count, "entity");
            let faults = faults.join("; ");
            format!("{count} here {have} faults: {faults}{more} · `palazzo check` lists all")
        })
    }

    fn record_entity_faults(&mut self, graph: &Graph, name: &str) {
        self.remove_entity(name);
        let Some(entity) = graph.get(name) else { return };
        let faults = graph.entity_faults(entity);
        if faults.is_empty() {
            return;
        }
        if faults.iter().any(EntityFault::is_warning_or_error) {
            self.faulty.entry(entity.genus.clone()).or_default().insert(name.to_owned());
        }
        self.genus_by_name.insert(name.to_owned(), entity.genus.clone());
        for undefined in faults.into_iter().filter_map(|it| it.undefined_name) {
            self.dangling_references.entry(undefined).or_default().insert(name.to_owned());
        }
    }

    fn remove_entity(&mut self, name: &str) {
        let Some(genus) = self.genus_by_name.remove(name) else { return };
        if let Some(names) = self.faulty.get_mut(&genus) {
            names.remove(name);
            if names.is_empty() {
                self.faulty.remove(&genus);
            }
        }
        self.dangling_references.retain(|_, names| {
            names.remove(name);
            !names.is_empty()
        });
    }
}
