//! What a visitor sees and does: entering rooms, choosing numbers, resources.

pub(crate) mod built_room;
pub(crate) mod drawers;
pub(crate) mod enter;
pub(crate) mod halls;
pub(crate) mod notices;
pub(crate) mod resources;
pub(crate) mod show;
pub(crate) mod step;
pub(crate) mod visit_log;
pub(crate) mod wake_up;
