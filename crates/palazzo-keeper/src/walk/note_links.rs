//! Lists the links of a note, and the notes that lead to an item.

use crate::Session;
use crate::palace::loaded_palace::LoadedPalace;
use palazzo_core::format::NoteLinkTarget;
use palazzo_core::model::{ItemId, ItemOrFile, Layout, Slot};
use palazzo_core::render::{self, Notice, RoomView};

/// The maximum number of items in one list.
const MAX_LISTED: usize = 10;

/// The items that a note links to, and the notes that lead to an item.
struct NoteLinkLists {
    linked: Vec<ItemId>,
    leading_here: Vec<ItemId>,
}

impl NoteLinkLists {
    /// Finds the links of an item; only notes have some to others.
    fn of_item(open: &LoadedPalace, item: &ItemId) -> Self {
        let palace = &open.palace;
        if palace.settings.note_folders.is_empty() {
            return Self { linked: Vec::new(), leading_here: Vec::new() };
        }
        let links = open.note_links();
        let leading = links.notes_leading_to(palace, item).into_iter();
        let leading_here = leading.map(|it| ItemId::Drawer(it.to_owned())).collect();
        let mut linked = Vec::new();
        if let ItemId::Drawer(file) = item {
            for (_, target) in links.links_of(palace, file) {
                match target {
                    NoteLinkTarget::Item(it) if it != *item && !linked.contains(&it) => {
                        linked.push(it);
                    }
                    _ => {}
                }
            }
        }
        Self { linked, leading_here }
    }

    /// Renders both lists; `number` gives an item the number that opens it.
    fn render(
        &self,
        open: &LoadedPalace,
        mut number: impl FnMut(&ItemId) -> Option<usize>,
    ) -> String {
        let mut rows = |items: &[ItemId]| {
            let row = |it: &ItemId| (number(it), label(open, it));
            let rows: Vec<_> = items.iter().take(MAX_LISTED).map(row).collect();
            (rows, items.len().saturating_sub(MAX_LISTED))
        };
        let linked = rows(&self.linked);
        render::note_links(&linked, &rows(&self.leading_here))
    }
}

/// Renders the links of an item, with the numbers that open them; empty without any.
pub(crate) fn numbered_note_links(session: &mut Session<'_>, item: &ItemId) -> String {
    let visit = &mut *session.visit;
    let lists = NoteLinkLists::of_item(session.palace, item);
    lists.render(session.palace, |it| visit.number_listed_item(it.clone()))
}

/// Renders the links of an item without numbers; empty without any.
pub(crate) fn note_links_text(open: &LoadedPalace, item: &ItemId) -> String {
    NoteLinkLists::of_item(open, item).render(open, |_| None)
}

/// Returns the notice of the notes that lead to a room, and adds them to the items that the numbers of
/// its page open.
pub(crate) fn leading_notes_notice(open: &LoadedPalace, view: &mut RoomView<'_>) -> Option<Notice> {
    let lists = NoteLinkLists::of_item(open, &ItemId::Room(view.id.clone()));
    let room_left = Layout::MAX_RESULTS.saturating_sub(view.listed_items.len());
    let mut named = Vec::new();
    for item in lists.leading_here.iter().take(MAX_LISTED.min(room_left)) {
        let number = Layout::Wide.number_of_slot(Slot::Result(view.listed_items.len()));
        named.push(format!("{} [{number}]", label(open, item)));
        view.listed_items.push(item.clone());
    }
    let more = lists.leading_here.len() - named.len();
    if more > 0 {
        named.push(format!("{more} more"));
    }
    let named = named.join(", ");
    (!named.is_empty()).then(|| Notice(format!("Notes lead here: {named}")))
}

fn label(open: &LoadedPalace, item: &ItemId) -> String {
    let palace = &open.palace;
    let label = match item {
        ItemId::Drawer(file) => {
            let (drawers, room) = (&palace.drawers, palace.drawers.room_of_file(file));
            drawers.drawer_in_file(file).zip(room).map(|(it, room)| render::note_label(it, room))
        }
        ItemId::Room(id) => {
            palace.room(id).map(|it| render::label_with_place(&it.name, &id.to_string()))
        }
        ItemId::Entity(name) => {
            palace.graph.get(name).map(|it| render::label_with_place(name, &it.genus))
        }
        _ => None,
    };
    label.unwrap_or_else(|| render::item_label(&ItemOrFile::with_title(palace, item.clone())))
}
