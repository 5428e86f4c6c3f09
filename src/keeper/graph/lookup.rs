//! Finds entities and genera by the names that callers give.

use std::collections::BTreeSet;

use crate::keeper::Refusal;
use crate::model::Palace;

/// Maximum number of genera that a refusal lists.
const MAX_LISTED_GENERA: usize = 12;

/// Returns the exact name of an entity; `name` may differ from it in case.
pub(crate) fn resolve_entity_name(palace: &Palace, name: &str) -> Result<String, Refusal> {
    let graph = &palace.graph;
    if graph.get(name).is_some() {
        return Ok(name.to_owned());
    }
    let mut same = graph.names_ignoring_case(name.trim());
    if let (Some(only), None) = (same.next(), same.next()) {
        return Ok(only.to_owned());
    }
    let meant = graph.closest_name(name).map(str::to_owned);
    Err(Refusal::NoSuchEntity { asked: name.to_owned(), meant })
}

/// Returns the exact name of a genus; `name` may differ from it in case.
pub(crate) fn resolve_genus_name<'p>(palace: &'p Palace, name: &str) -> Result<&'p str, Refusal> {
    if let Some(exact) = palace.graph.find_genus_ignoring_case(name) {
        return Ok(exact);
    }
    let genera: BTreeSet<_> = palace.graph.all_genus_names().collect();
    let listed = genera.iter().take(MAX_LISTED_GENERA).map(|it| format!("`{it}`"));
    let listed: Vec<_> = listed.collect();
    let existing = match listed.len() {
        0 => "this workspace has no entities yet".to_owned(),
        _ => format!("this workspace has the genera {}", listed.join(", ")),
    };
    Err(Refusal::Invalid(format!("no entity has the genus `{}`; {existing}", name.escape_debug())))
}
