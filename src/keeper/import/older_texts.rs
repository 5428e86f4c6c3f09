//! Keeps exchanges as older versions of this program filed them. They took what machines wrote in
//! the user's name for the user's words, so the same exchange has another text today; without this,
//! mining again would file it a second time.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::format::choose_drawer_room;
use crate::keeper::import::redactions::Redactions;
use crate::keeper::palace::OpenPalace;
use crate::model::{Drawer, WingRoomNames};

/// The drawers that older versions made of exchanges, by the id of the drawer of today.
pub(crate) type OlderDrawers = HashMap<Ulid, OlderExchange>;

/// The drawers that older versions made of an exchange.
#[derive(Debug)]
pub(crate) struct OlderExchange {
    pub(crate) drawers: Vec<Drawer>,
    /// Whether they lack a part of it.
    pub(crate) is_part: bool,
}

impl OlderExchange {
    /// Returns true if a filed drawer has the text of one of these, with secrets or without.
    pub(crate) fn has_text(&self, filed: &Drawer, redactions: &Redactions) -> bool {
        self.drawers.iter().any(|it| {
            let mut originals = redactions.originals_of(&it.text);
            it.text == filed.text || originals.any(|it| it == filed.text)
        })
    }
}

/// Replaces each drawer by those of older versions, if these lack nothing and the palace has one of
/// them or its beginning: the exchange is filed, and goes on, as it was. `modified` is the date of
/// texts without one.
pub(super) fn keep_older_texts(
    open: &OpenPalace,
    drawers: &mut Vec<(WingRoomNames, Drawer)>,
    older: &OlderDrawers,
    redactions: &Redactions,
    modified: Option<DateTime<Utc>>,
) {
    let mut filed_in: BTreeMap<WingRoomNames, Vec<&Drawer>> = BTreeMap::new();
    let mut kept = Vec::new();
    for (shelf, new) in std::mem::take(drawers) {
        let filed = older.get(&new.id).filter(|older| {
            let filed =
                filed_in.entry(shelf.clone()).or_insert_with(|| filed_drawers(open, &shelf));
            !older.is_part && has_older_text(filed, &new, &older.drawers, redactions, modified)
        });
        match filed {
            None => kept.push((shelf, new)),
            Some(older) => kept.extend(older.drawers.iter().map(|it| {
                let filed_under = new.filed_under.clone();
                (shelf.clone(), Drawer { filed_under, ..it.clone() })
            })),
        }
    }
    *drawers = kept;
}

fn filed_drawers<'a>(open: &'a OpenPalace, shelf: &WingRoomNames) -> Vec<&'a Drawer> {
    let drawers = &open.palace.drawers;
    let room = choose_drawer_room(&open.palace, shelf);
    let in_room = drawers.drawers_in_room(&room);
    in_room
        .filter(|(file, _)| drawers.wing_room_of_file(file).as_ref() == Some(shelf))
        .map(|(_, it)| it)
        .collect()
}

/// Returns true if one of the filed drawers is that of an older version, or its beginning, and not
/// the beginning of the new drawer.
fn has_older_text(
    filed: &[&Drawer],
    new: &Drawer,
    older: &[Drawer],
    redactions: &Redactions,
    modified: Option<DateTime<Utc>>,
) -> bool {
    let with_originals = |it: &'_ Drawer| {
        let originals = redactions.originals_of(&it.text).map(str::to_owned);
        std::iter::once(it.text.clone()).chain(originals).collect::<Vec<_>>()
    };
    let new_texts = with_originals(new);
    if filed.iter().any(|it| new_texts.contains(&it.text)) {
        return false;
    }
    let older: Vec<_> = older.iter().map(|it| (it, with_originals(it))).collect();
    let is_older = |filed: &&&Drawer| {
        older.iter().any(|(it, texts)| {
            let has_same_time = it.filed == filed.filed || it.filed == modified;
            let may_grow = filed.source == it.source && has_same_time;
            let is_text = |text: &String| {
                *text == filed.text || may_grow && text.starts_with(filed.text.as_str())
            };
            texts.iter().any(is_text)
        })
    };
    let found = filed.iter().filter(is_older);
    let begins_new = |it: &&&Drawer| new_texts.iter().any(|new| new.starts_with(&it.text));
    found.filter(|it| !begins_new(it)).count() > 0
}
