//! The items that a visit was shown in full.

use crate::Session;
use crate::palace::file_states::text_digest;
use palazzo_core::model::{ItemId, Palace};

/// Returns a digest of what an item says; `None` if it is of another kind, or does not
/// exist.
fn content_digest(palace: &Palace, item: &ItemId) -> Option<u64> {
    let text = match item {
        ItemId::Scroll(which) => {
            let scroll = palace.scroll(which)?;
            format!("{}\n{}", scroll.title, scroll.body)
        }
        ItemId::Entity(name) => format!("{:?}", palace.graph.get(name)?),
        ItemId::Drawer(file) => palace.drawers.drawer_in_file(file)?.text.clone(),
        ItemId::Task(file) => format!("{:?}", palace.tasks.get(file)?),
        ItemId::Process(file) => format!("{:?}", palace.processes.get(file)?),
        ItemId::Room(_) | ItemId::Diary(_) | ItemId::Genus(_) => return None,
    };
    Some(text_digest(&text))
}

/// Returns whether this visit was shown the whole item, and it has not changed since.
pub(crate) fn was_shown(session: &Session<'_>, item: &ItemId) -> bool {
    let digest = content_digest(&session.palace.palace, item);
    digest.is_some() && session.visit.shown_items.get(item).copied() == digest
}

/// Remembers that this visit was shown the whole item.
pub(crate) fn mark_shown(session: &mut Session<'_>, item: &ItemId) {
    if let Some(digest) = content_digest(&session.palace.palace, item) {
        session.visit.shown_items.insert(item.clone(), digest);
        session.visit.shown_in_answer.push(item.clone());
    }
}
