//! Which entities a page of the graph is about.

/// The entities of a page.
pub(crate) enum NodeQuery<'a> {
    /// All entities.
    All,
    /// Those that contain a text.
    Containing(&'a str),
    /// With the number of observations to skip, of each.
    ByNames(&'a [String], usize),
}

impl NodeQuery<'_> {
    /// Returns how many of the first observations of each entity to leave out.
    pub(crate) fn skipped_observations(&self) -> usize {
        if let Self::ByNames(_, skip) = self { *skip } else { 0 }
    }
}
