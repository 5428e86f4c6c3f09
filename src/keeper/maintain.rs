//! Maintenance of palaces: check, fix, fmt, doctor and trust.

pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod fix;
pub(crate) mod fmt;
pub(crate) mod new_history;
pub(crate) mod trust;
