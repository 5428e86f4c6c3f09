//! Tasks and processes.

pub(crate) mod processes;
pub(crate) mod task_list;
pub(crate) mod tasks;
pub(crate) mod work_items;
