//! Semantic search: models, vectors, and the indexer in the background.

pub(crate) mod embed;
pub(crate) mod indexer;
pub(crate) mod models;
pub(crate) mod ranking_report;
pub(crate) mod vector_store;
