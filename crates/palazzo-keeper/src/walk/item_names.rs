//! The names of the items of a palace, for the completion of lines.
//!
//! A shell waits for a completion, so of a large palace only the files are read whose names begin
//! like what was typed.

use crate::{Caller, Keeper, Refusal};
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::{Files, ItemKind, Palace, Slug};
use palazzo_core::render;
use palazzo_store::Store;

/// A palace with at most this number of files is read as a whole.
const MAX_FILES_READ: usize = 1_000;

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

/// Lists the rooms, scrolls, entities, tasks and processes of the current palace. Of a palace with
/// many files it lists some, with those whose file's name begins as `beginning` does.
pub fn list_item_names(
    keeper: &mut Keeper,
    caller: &Caller,
    beginning: &str,
) -> Result<Vec<ItemName>, Refusal> {
    let key = keeper.current_workspace(caller)?;
    let store = keeper.store_of(&keeper.find_workspace(&key)?);
    let (palace, _) = format::parse_palace(&key, &read_named_files(&store, beginning)?);
    Ok(names_in_palace(&palace))
}

/// Reads the files of a palace whose items can have a name that begins with `beginning`, at most
/// [`MAX_FILES_READ`].
fn read_named_files(store: &Store, beginning: &str) -> Result<Files, Refusal> {
    let (stamps, _) = store.list_files("")?;
    let mut paths: Vec<_> = stamps.into_keys().collect();
    if paths.len() > MAX_FILES_READ {
        let slug = Slug::from_text(beginning).map(|it| it.to_string()).unwrap_or_default();
        paths.retain(|it| can_begin_with(it, &slug));
        paths.truncate(MAX_FILES_READ);
    }
    let read = store.read_files(paths).into_iter();
    Ok(read.filter_map(|(path, text)| Some((path, text.ok().flatten()?))).collect())
}

/// Returns whether the name of the item in a file can begin with `slug`. The files of tasks and
/// processes have no names.
fn can_begin_with(path: &str, slug: &str) -> bool {
    let file_name = path.rsplit('/').next().unwrap_or_default();
    match PalacePath::parse(path) {
        Ok(PalacePath::Room(id)) => id.to_string().replace('/', "-").starts_with(slug),
        Ok(PalacePath::Entity) => file_name.starts_with(slug),
        Ok(PalacePath::Scroll(_)) => file_name.get(27..).is_some_and(|it| it.starts_with(slug)),
        Ok(PalacePath::Task | PalacePath::Process | PalacePath::Settings) => true,
        _ => false,
    }
}

fn names_in_palace(palace: &Palace) -> Vec<ItemName> {
    let item = |kind, name: &str, description: String| {
        let (name, description) = (render::one_line(name), render::whole_line(&description));
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
    use crate::test_home::{TestHome, ada};

    fn names(home: &mut TestHome, beginning: &str) -> Vec<(String, String)> {
        let names = list_item_names(&mut home.keeper, &ada(), beginning).unwrap();
        names.into_iter().map(|it| (it.name, it.description)).collect()
    }

    #[test]
    fn items_have_the_names_that_commands_accept() {
        let mut home = TestHome::new(&[
            ("rooms/east/well.yaml", "name: Old Well\n"),
            ("entities/rock/granite.yaml", "name: Granite\ngenus: Rock\n"),
        ]);
        let expected = [("east/well", "room Old Well"), ("Granite", "Rock")];
        let expected = expected.map(|(name, about)| (name.to_owned(), about.to_owned()));
        assert_eq!(names(&mut home, ""), expected);
    }

    #[test]
    fn of_a_large_palace_the_files_are_read_whose_names_fit() {
        let mut home = TestHome::new(&[
            ("rooms/east/well.yaml", "name: Old Well\n"),
            ("tasks/01JQ8M0000000000000000000B.yaml", "title: Sweep\n"),
            ("scrolls/east/well/01JQ8M0000000000000000000C-rock-2.md", "---\ntitle: Rock 2\n---\n"),
        ]);
        for number in 0..=MAX_FILES_READ {
            let text = format!("name: Rock {number}\ngenus: Rock\n");
            home.write(&format!("entities/rock/rock-{number}.yaml"), &text);
        }
        let found: Vec<_> = names(&mut home, "ROCK 23").into_iter().map(|it| it.0).collect();
        assert_eq!(found.len(), 12, "{found:?}");
        assert!(found.contains(&"Rock 239".to_owned()) && found.contains(&"Sweep".to_owned()));
        assert_eq!(names(&mut home, "east/w")[0].0, "east/well");
        assert!(names(&mut home, "").len() <= MAX_FILES_READ);
    }
}
