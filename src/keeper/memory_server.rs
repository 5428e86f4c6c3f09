//! The tools of the reference memory server.

pub(crate) mod graph_page;
pub(crate) mod operations;
