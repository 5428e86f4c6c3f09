//! The files in the folder for the state of this program, outside of every palace.

pub(crate) mod client_setups;
pub(crate) mod http_access;
pub(crate) mod last_home;
