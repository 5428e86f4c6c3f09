//! The numbers of linked entities in the texts that a visitor reads.

use palazzo_core::model::{Graph, ItemId, Layout};
use palazzo_core::render;
use palazzo_core::visit::Visit;

/// Renders a text in which links to entities are names with numbers. The numbers follow those of the
/// items listed last; if not enough are left, the links replace those items.
pub(crate) fn render_linked_text(visit: &mut Visit, graph: &Graph, text: &str) -> String {
    let listed = &mut visit.listed_items;
    let is_listed =
        |name: &str| listed.iter().any(|it| matches!(it, ItemId::Entity(entity) if entity == name));
    let new = graph.linked_entities(text).into_iter().filter(|it| !is_listed(it)).count();
    if listed.len() + new > Layout::MAX_RESULTS {
        listed.clear();
    }
    render::number_entity_links(text, graph, listed)
}
