//! Moves, renames and deletes items of any kind: `palazzo mv` and `palazzo rm`.

pub(crate) mod delete_items;
pub(crate) mod item_change;
pub(crate) mod move_item;
pub(crate) mod wing_lookup;
