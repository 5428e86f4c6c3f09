//! What the MemPalace tools ask for: facts, drawers, diaries and tunnels.

pub(crate) mod diaries;
pub(crate) mod drawers;
pub(crate) mod fact_changes;
pub(crate) mod facts;
pub(crate) mod tunnels;
