//! Building rooms and writing scrolls.

pub(crate) mod build;
pub(crate) mod room_findings;
pub(crate) mod scrolls;
