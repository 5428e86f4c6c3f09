//! What a visit has been shown whole.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::keeper::Session;
use crate::model::{ItemId, Palace};

/// Returns a hash of what an item says; `None` if it is no scroll or entity, or does not exist.
fn content_hash(palace: &Palace, item: &ItemId) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    match item {
        ItemId::Scroll(which) => {
            let scroll = palace.scroll(which)?;
            (&scroll.title, &scroll.body).hash(&mut hasher);
        }
        ItemId::Entity(name) => format!("{:?}", palace.graph.get(name)?).hash(&mut hasher),
        _ => return None,
    }
    Some(hasher.finish())
}

/// Returns whether this visit was shown the whole item, and it has not changed since.
pub(crate) fn was_shown(session: &Session<'_>, item: &ItemId) -> bool {
    let hash = content_hash(&session.palace.palace, item);
    hash.is_some() && session.visit.shown_items.get(item).copied() == hash
}

/// Remembers that this visit was shown the whole item.
pub fn mark_shown(session: &mut Session<'_>, item: &ItemId) {
    if let Some(hash) = content_hash(&session.palace.palace, item) {
        session.visit.shown_items.insert(item.clone(), hash);
    }
}
