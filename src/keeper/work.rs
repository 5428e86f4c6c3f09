//! Tasks and processes.

pub(crate) mod list;
pub(crate) mod processes;
pub(crate) mod tasks;
