//! The suggestion to revise the description of a room, after a visit has changed what it shows.

use crate::Session;
use crate::palace::room_scope::RoomScope;
use crate::workspaces::as_of_key::is_as_of_key;
use palazzo_core::model::RoomId;
use palazzo_core::render::{self, Notice, truncate};

/// The number of changed entities from which a room suggests to revise it.
const MIN_CHANGED_ENTITIES: usize = 5;

/// Returns the suggestion to revise a room if this visit has changed at least five of the entities
/// that its actions or its `generate` list. Each room suggests it once in a visit.
pub(super) fn suggest_revision(session: &mut Session<'_>, room: &RoomId) -> Option<Notice> {
    let open = &*session.palace;
    let suggestion = (session.key.clone(), room.clone());
    let is_due = !session.visit.revision_suggestions.contains(&suggestion);
    if !is_due || is_as_of_key(&session.key) || open.palace.room(room).is_none() {
        return None;
    }
    let scope = RoomScope::for_room(&open.palace, room);
    let counts =
        open.visit_changes.count_since_revision(session.caller.visit_id, room, |genus, name| {
            scope.lists_entity(genus, name)
        });
    let total: usize = counts.values().sum();
    if total < MIN_CHANGED_ENTITIES {
        return None;
    }
    session.visit.revision_suggestions.insert(suggestion);
    let genera = counts.into_iter().map(|(genus, count)| {
        render::count_with_noun(count, &truncate(&render::one_line(genus), 40))
    });
    Some(Notice(format!(
        "You changed {total} entities that this room shows ({}): if its description no longer \
         fits, revise it with build_room and `merge: true`, or leave a scroll",
        render::join_names(&genera.collect::<Vec<_>>())
    )))
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;
    use crate::test_home::{TestHome, ada};
    use crate::{Caller, NewScroll, create_entities, delete_entities, set_workspace, write_scroll};
    use palazzo_core::model::Entity;

    const HALL: (&str, &str) = ("rooms/hall.yaml", "name: Hall\ndescription: Stone.\n");
    const CABINET: &str = "name: Cabinet\nactions:\n- label: Open it\n  type: query\n  \
                           tool: list_entities\n  tool_params: { genus: claim }\n";

    /// The caller of one visit.
    fn caller() -> Caller {
        Caller { visit_id: Ulid::nil(), ..ada() }
    }

    fn home() -> TestHome {
        TestHome::new(&[HALL, ("rooms/cabinet.yaml", CABINET)])
    }

    fn create(home: &mut TestHome, genus: &str, names: &[&str]) {
        let entity = |name: &&str| Entity {
            is_defined: true,
            genus: genus.to_owned(),
            ..Entity::new_loose_end(name)
        };
        let new = names.iter().map(entity).collect();
        create_entities(&mut home.keeper, &caller(), new).unwrap();
    }

    fn notice(home: &mut TestHome, room: &str) -> Option<String> {
        let room = room.parse().unwrap();
        let caller = caller();
        let mut session = home.keeper.session(&caller).unwrap();
        suggest_revision(&mut session, &room).map(|it| it.0)
    }

    #[test]
    fn a_room_suggests_once_to_revise_it_after_five_changes_of_what_it_lists() {
        let mut home = home();
        create(&mut home, "Claim", &["A", "B", "C", "D"]);
        create(&mut home, "Person", &["Eve", "Ada", "Bob", "Max", "Kim"]);
        assert_eq!(notice(&mut home, "cabinet"), None);
        create(&mut home, "Claim", &["E"]);
        let expected = "You changed 5 entities that this room shows (5 Claims): if its \
                        description no longer fits, revise it with build_room and `merge: \
                        true`, or leave a scroll";
        assert_eq!(notice(&mut home, "cabinet").as_deref(), Some(expected));
        assert_eq!(notice(&mut home, "cabinet"), None);
        assert_eq!(notice(&mut home, "hall"), None);
    }

    #[test]
    fn deleted_entities_count_as_changed() {
        let mut home = home();
        for name in ["a", "b", "c", "d", "e"] {
            home.write(
                &format!("entities/claim/{name}.yaml"),
                &format!("name: {name}\ngenus: Claim\n"),
            );
        }
        let names: Vec<_> = ["a", "b", "c", "d", "e"].map(str::to_owned).into();
        delete_entities(&mut home.keeper, &caller(), &names).unwrap();
        assert!(notice(&mut home, "cabinet").is_some());
    }

    #[test]
    fn only_changes_after_the_last_revision_count() {
        let mut home = home();
        create(&mut home, "Claim", &["A", "B", "C", "D", "E"]);
        let room = Some("cabinet".to_owned());
        let (title, body) = ("News".to_owned(), "Five claims.".to_owned());
        let scroll = NewScroll { title, body, room };
        write_scroll(&mut home.keeper, &caller(), &scroll).unwrap();
        assert_eq!(notice(&mut home, "cabinet"), None);
        create(&mut home, "Claim", &["F"]);
        assert_eq!(notice(&mut home, "cabinet"), None);
    }

    #[test]
    fn the_page_of_a_room_ends_with_the_suggestion() {
        let mut home = home();
        home.write("palace.toml", "name = \"Keep\"\nentry = \"cabinet\"\n");
        create(&mut home, "Claim", &["A", "B", "C", "D", "E"]);
        let mut enter = || set_workspace(&mut home.keeper, &caller(), "keep", false, None).unwrap();
        let page = enter();
        assert!(page.ends_with("or leave a scroll\n"), "{page}");
        assert!(!enter().contains("revise it"));
    }
}
