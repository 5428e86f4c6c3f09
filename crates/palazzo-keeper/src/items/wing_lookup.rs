//! Finds a wing by the name that a command gives.

use std::collections::BTreeSet;

use crate::Refusal;
use crate::history::resolve_item::{ResolvedItem, find_present_item};
use crate::palace::OpenPalace;
use palazzo_core::model::{Palace, RoomId, Slug, quoted};
use palazzo_core::render;

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
        (None, false) => find_present_item(open, name).map(WingOrItem::Item),
        (Some(wing), false) => match find_present_item(open, name) {
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
