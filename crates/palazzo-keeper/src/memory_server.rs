//! The tools of the reference memory server.

pub(crate) mod changes;
pub(crate) mod graph_page;
