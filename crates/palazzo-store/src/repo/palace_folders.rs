//! The folders of a palace.

/// The folders whose files belong to a palace.
pub(crate) const PALACE_FOLDERS: [&str; 9] = [
    "rooms",
    "scrolls",
    "entities",
    "genera",
    "drawers",
    "diary",
    "tasks",
    "processes",
    "conflicts",
];
