//! Moves, renames and deletes items of any kind: `palazzo mv` and `palazzo rm`. What they report,
//! and the wings that they are given.

pub(crate) mod delete_items;
pub(crate) mod move_item;

use std::collections::BTreeSet;

use crate::Refusal;
use crate::palace::OpenPalace;
use crate::palace::change_plan::ChangeMode;
use crate::palace::resolve::{ResolvedItem, resolve_present_item};
use palazzo_core::model::{FileEdit, Palace, RoomId, Slug, quoted};
use palazzo_core::render;

/// The changes that a command made to items, or would make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemChangeReport {
    /// The kind of the change.
    pub verb: ItemChangeVerb,
    /// The items, their new names, and the other items that changed, in one line.
    pub description: String,
    /// Whether the change was made, and committed.
    pub mode: ChangeMode,
    /// The edits of the files.
    pub edits: Vec<FileEdit>,
}

/// The kind of an [`ItemChangeReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemChangeVerb {
    /// Items got other names.
    Rename,
    /// Items are in other rooms or wings.
    Move,
    /// Items were deleted.
    Delete,
}

/// A wing, or an item with a file of its own.
pub(crate) enum WingOrItem {
    Wing(Slug),
    Item(ResolvedItem),
}

/// Finds a wing or an item. `code/` is a wing; `code` may be a wing or an item, but not both.
pub(crate) fn find_wing_or_item(open: &OpenPalace, name: &str) -> Result<WingOrItem, Refusal> {
    let name = name.trim();
    let wing = name.strip_suffix('/').unwrap_or(name).parse::<Slug>().ok();
    let wing = wing.filter(|it| has_wing(&open.palace, it));
    match (wing, name.ends_with('/')) {
        (Some(wing), true) => Ok(WingOrItem::Wing(wing)),
        (None, true) => Err(Refusal::NotFound {
            what: "wing",
            name: name.to_owned(),
            hint: format!("; there are {}", list_wings(&open.palace)),
        }),
        (None, false) => resolve_present_item(open, name).map(WingOrItem::Item),
        (Some(wing), false) => match resolve_present_item(open, name) {
            Err(_) => Ok(WingOrItem::Wing(wing)),
            Ok(item) => Err(Refusal::Invalid(format!(
                "`{wing}` could be the wing (`{wing}/`) or {} ({}); write one of these two",
                render::item_label(&item.item),
                quoted(&item.file)
            ))),
        },
    }
}

/// Lists the rooms of a wing that are built, have scrolls or have drawers.
pub(crate) fn rooms_of_wing(palace: &Palace, wing: &Slug) -> BTreeSet<RoomId> {
    let rooms = palace.rooms().map(|(id, _)| id);
    let rooms =
        rooms.chain(palace.drawers.rooms()).chain(palace.scroll_files().map(|it| &it.1.room));
    rooms.filter(|it| it.wing.as_ref() == Some(wing)).cloned().collect()
}

fn has_wing(palace: &Palace, wing: &Slug) -> bool {
    !rooms_of_wing(palace, wing).is_empty()
}

fn list_wings(palace: &Palace) -> String {
    let rooms = palace.rooms().map(|(id, _)| id).chain(palace.drawers.rooms());
    let wings: BTreeSet<_> = rooms.filter_map(|it| it.wing.as_ref()).collect();
    let wings: Vec<_> = wings.into_iter().map(|it| format!("`{it}/`")).collect();
    if wings.is_empty() { "none".to_owned() } else { wings.join(", ") }
}
