//! Building rooms and writing scrolls.

pub(crate) mod build;
pub(crate) mod move_room;
pub(crate) mod room_plans;
pub(crate) mod scrolls;
