//! The query of a page of the graph.

/// Selects the entities of a page.
pub(crate) enum NodeQuery<'a> {
    /// All entities.
    All,
    /// The entities that contain a text.
    Containing(&'a str),
    /// The entities with these names; the number of observations to skip of each.
    ByNames(&'a [String], usize),
}

impl NodeQuery<'_> {
    /// Returns how many of the first observations of each entity to leave out.
    pub(crate) fn skipped_observation_count(&self) -> usize {
        if let Self::ByNames(_, skip) = self { *skip } else { 0 }
    }
}
