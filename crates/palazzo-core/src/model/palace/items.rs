//! The items of a palace by their files, and their titles.

use crate::model::{DocumentProperties, ItemId, ItemKind, Palace};

impl Palace {
    /// Returns the item of a kind in the file at `path`; `None` if there is none. The path of a room
    /// is its id, so it is found without a palace.
    pub fn item_of_kind_in_file(&self, kind: ItemKind, path: &str) -> Option<ItemId> {
        let file = path.to_owned();
        match kind {
            ItemKind::Room => None,
            ItemKind::Scroll => self.scroll_in_file(path).cloned().map(ItemId::Scroll),
            ItemKind::Entity => {
                self.graph.entity_in_file(path).map(|it| ItemId::Entity(it.name.clone()))
            }
            ItemKind::Genus => {
                let genus = self.graph.genus_definition_in_file(path)?;
                Some(ItemId::Genus(genus.name.clone()))
            }
            ItemKind::Task => self.tasks.get(path).map(|_| ItemId::Task(file)),
            ItemKind::Process => self.processes.get(path).map(|_| ItemId::Process(file)),
            ItemKind::Drawer => self.drawers.drawer_in_file(path).map(|_| ItemId::Drawer(file)),
            ItemKind::Diary => self.diaries.entry_in_file(path).map(|_| ItemId::Diary(file)),
        }
    }

    /// Returns the title of a scroll, a task or a diary entry, the name of a process, or that of a
    /// drawer in its front matter, else its first line. Rooms, entities and genera have their names in their ids.
    pub fn title_of_item(&self, item: &ItemId) -> Option<String> {
        match item {
            ItemId::Room(_) | ItemId::Entity(_) | ItemId::Genus(_) => None,
            ItemId::Scroll(which) => Some(self.scroll(which)?.title.clone()),
            ItemId::Task(file) => Some(self.tasks.get(file)?.title.clone()),
            ItemId::Process(file) => Some(self.processes.get(file)?.name.clone()),
            ItemId::Drawer(file) => {
                let drawer = self.drawers.drawer_in_file(file)?;
                let mut lines =
                    drawer.text.lines().filter(|it| it.chars().any(char::is_alphanumeric));
                let properties = DocumentProperties::parse(&drawer.text);
                let title = drawer.title.as_deref().or_else(|| properties.title());
                let title = title.or_else(|| lines.next());
                Some(title.unwrap_or_default().to_owned())
            }
            ItemId::Diary(file) => Some(self.diaries.entry_in_file(file)?.topic.clone()),
        }
    }
}
