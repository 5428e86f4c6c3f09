//! The knowledge graph: asking for entities, and changing them, their relations and observations.

pub(crate) mod ask;
pub(crate) mod create;
pub(crate) mod dates;
pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod merge;
pub(crate) mod neighbours;
pub(crate) mod references;
pub(crate) mod relations;
pub(crate) mod resolve;
pub(crate) mod rules;
pub(crate) mod timeline;
pub(crate) mod update;
