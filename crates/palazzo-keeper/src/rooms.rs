//! Building rooms and writing scrolls.

pub(crate) mod build;
pub(crate) mod rename_or_delete;
pub(crate) mod room_plans;
pub(crate) mod scrolls;
