//! Building rooms and writing scrolls.

pub(crate) mod build;
pub(crate) mod position;
pub(crate) mod room_findings;
pub(crate) mod scrolls;
