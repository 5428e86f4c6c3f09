//! The knowledge graph: queries for entities, and changes of entities, relations and observations.

pub(crate) mod create;
pub(crate) mod dates;
pub(crate) mod delete;
pub(crate) mod describe;
pub(crate) mod edit;
pub(crate) mod entity_relations;
pub(crate) mod extend;
pub(crate) mod list_entities;
pub(crate) mod lookup;
pub(crate) mod merge;
pub(crate) mod references;
pub(crate) mod relations;
pub(crate) mod rules;
pub(crate) mod timeline;
pub(crate) mod update;
