//! Building rooms and writing scrolls.

pub(crate) mod build;
pub(crate) mod drawer_moves;
pub(crate) mod move_room;
pub(crate) mod position;
pub(crate) mod room_findings;
pub(crate) mod room_lookup;
pub(crate) mod room_plans;
pub(crate) mod room_rename;
pub(crate) mod scrolls;
