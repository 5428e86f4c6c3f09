//! The names of the items of a palace, for completion at a shell.

use crate::keeper::Session;
use crate::model::ItemKind;
use crate::render;

/// The name of an item, as commands accept it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemName {
    /// The kind of the item.
    pub kind: ItemKind,
    /// Its name: the slug of a room with its wing, a title, or a name.
    pub name: String,
    /// What it is: `room Bug Crypt`, `scroll in Bug Crypt`, `Claim`.
    pub description: String,
}

/// Lists the rooms, scrolls, entities, tasks and processes of a palace.
pub fn list_item_names(session: &Session<'_>) -> Vec<ItemName> {
    let palace = &session.palace.palace;
    let item = |kind, name: &str, description: String| {
        let (name, description) = (render::one_line(name), render::one_line(&description));
        ItemName { kind, name, description }
    };
    let rooms = palace
        .enterable_rooms()
        .into_iter()
        .map(|id| item(ItemKind::Room, &id.to_string(), format!("room {}", palace.room_name(id))));
    let scrolls = palace.scrolls().map(|(room, it)| {
        item(ItemKind::Scroll, &it.title, format!("scroll in {}", palace.room_name(room)))
    });
    let entities = palace.graph.iter();
    let entities = entities.map(|it| item(ItemKind::Entity, &it.name, it.genus.clone()));
    let tasks = palace.tasks.values();
    let tasks = tasks.map(|it| item(ItemKind::Task, &it.title, "task".to_owned()));
    let processes = palace.processes.values();
    let processes = processes.map(|it| item(ItemKind::Process, &it.name, "process".to_owned()));
    rooms.chain(scrolls).chain(entities).chain(tasks).chain(processes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::test_home::TestHome;

    #[test]
    fn items_have_the_names_that_commands_accept() {
        let mut home = TestHome::new(&[
            ("rooms/east/well.yaml", "name: Old Well\n"),
            ("entities/rock/granite.yaml", "name: Granite\ngenus: Rock\n"),
        ]);
        let names = home.run(|session| list_item_names(session));
        let names: Vec<_> =
            names.iter().map(|it| (it.name.as_str(), it.description.as_str())).collect();
        assert_eq!(names, [("east/well", "room Old Well"), ("Granite", "Rock")]);
    }
}
