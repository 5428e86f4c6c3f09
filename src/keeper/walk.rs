//! Moving through rooms and halls, and the pages that are shown outside of a visit.

pub(crate) mod built_room;
pub(crate) mod changed_items;
pub(crate) mod changes_since_visit;
pub(crate) mod choice;
pub(crate) mod choices;
pub(crate) mod choose_number;
pub(crate) mod current_room;
pub(crate) mod drawers;
pub(crate) mod enter;
pub(crate) mod entity_links;
pub(crate) mod everything;
pub(crate) mod halls;
pub(crate) mod hand_over;
pub(crate) mod item_names;
pub(crate) mod listed_items;
pub(crate) mod long_answers;
pub(crate) mod notices;
pub(crate) mod position;
pub(crate) mod resources;
pub(crate) mod revision_notice;
pub(crate) mod scrolls;
pub(crate) mod show;
pub(crate) mod show_item;
pub(crate) mod unbuilt_rooms;
pub(crate) mod wake_up;
