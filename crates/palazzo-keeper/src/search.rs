//! Search of a palace and of its drawers.

pub(crate) mod drawer_search;
pub(crate) mod menu_search;
pub(crate) mod palace_search;
pub(crate) mod search_filters;
