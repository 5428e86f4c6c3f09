//! Pages for rooms that are not built, and for palaces without rooms.

use std::collections::BTreeMap;

use crate::palace::OpenPalace;
use crate::palace::findings::render_diagnostic_in_one_line;
use crate::sync::notices::sync_line;
use crate::{Caller, Refusal};
use palazzo_core::format::room_path;
use palazzo_core::model::{Audience, ItemKind, Palace, RoomId, path_text};
use palazzo_core::render::{self, ItemCounts, RoomView, WorkspaceSummary};
use palazzo_core::search::{Query, query_content_words};
use palazzo_core::visit::Location;

/// Maximum number of commits that a summary lists.
const MAX_RECENT_COMMITS: usize = 3;

/// Common words in the names of rooms, which do not describe their subject.
const GENERIC_ROOM_WORDS: &[&str] = &[
    "alcove",
    "archive",
    "archives",
    "attic",
    "cabinet",
    "cellar",
    "chamber",
    "corner",
    "court",
    "garden",
    "gallery",
    "great",
    "hall",
    "house",
    "library",
    "museum",
    "observatory",
    "room",
    "shelf",
    "study",
    "tower",
    "vault",
    "wing",
    "workshop",
];

/// Renders the contents of a palace without rooms, and how to build the first room.
pub(crate) fn render_roomless_palace(
    open: &OpenPalace,
    caller: &Caller,
) -> Result<String, Refusal> {
    let palace = &open.palace;
    let genera = palace.graph.genus_counts().map(|(genus, count)| (genus.to_owned(), count));
    let summary = WorkspaceSummary {
        counts: ItemCounts::of(palace),
        genera: genera.collect(),
        recent_commits: open.recent_commits(MAX_RECENT_COMMITS)?,
        conflicts: open.count_open_conflicts(),
        sync: sync_line(open.store(), caller.now).unwrap_or_default(),
    };
    let audience = caller.audience();
    let summary = render::workspace_summary(&palace.settings.name, &summary, caller.reader());
    if open.store().as_of_commit().is_some() {
        return Ok(summary + "\nThis palace had no rooms yet.\n");
    }
    let errors = open.file_error_notices();
    if !errors.is_empty() {
        let lines: Vec<_> =
            errors.iter().map(|it| format!("  {}", render::whole_line(it))).collect();
        let lines = lines.join("\n");
        return Ok(format!("{summary}\nNo room of this palace can be read.\nNotices:\n{lines}\n"));
    }
    // Who comes to look something up in drawers need not build.
    let for_agent = match palace.drawers.is_empty() {
        true => {
            "Build an entry room with build_room: its description introduces the palace, and a \
             navigate action leads to each main area. The rooms behind its doors need not exist \
             yet.\n"
        }
        false => "build_room builds an entry room.\n",
    };
    let advice = match audience {
        Audience::Agent => for_agent.to_owned(),
        Audience::Person => editor_advice(open, "one", "rooms/great-hall.yaml"),
    };
    let halls = match palace.graph.is_empty() {
        true => "",
        false => "Until then, you can walk by number through the entities.\n",
    };
    let search = drawer_search_advice(palace, audience);
    Ok(format!("{summary}\n{search}This palace has no rooms yet. {advice}{halls}"))
}

/// Returns how to search the drawers of a palace; empty if it has none.
fn drawer_search_advice(palace: &Palace, audience: Audience) -> String {
    let how = "palace_action 17 with words in `params` searches";
    match palace.drawers.is_empty() {
        true => String::new(),
        false => format!(
            "{} its drawers and counts those with each word: give all that matter at once{}. Words in \
             quotation marks are exact, `since:2026-03-01` finds later ones.\n",
            audience.choose(how, "`search WORDS` searches"),
            audience.choose(", one search a line", "")
        ),
    }
}

/// Returns how to build a room that does not exist.
pub(crate) fn building_advice(open: &OpenPalace, room: &RoomId, audience: Audience) -> String {
    match audience {
        Audience::Agent => format!("Call build_room with slug `{room}` to build it.\n"),
        Audience::Person => editor_advice(open, "it", &room_path(room)),
    }
}

/// Returns how to write the file of a room, called `what`, with an editor.
fn editor_advice(open: &OpenPalace, what: &str, file: &str) -> String {
    format!(
        "To build {what}, write the file {} with an editor:\n  name: The name of the room\n  \
         description: What a visitor sees there.\nOr ask an agent to build {what}.\n",
        path_text(open.store().palace_folder().join(file))
    )
}

/// Renders a room that a door leads to and that is not built, or whose file is broken.
pub(crate) fn render_unbuilt_room(
    palace: &OpenPalace,
    view: &RoomView<'_>,
    position: &Location,
) -> String {
    let name = palace.palace.room_name(&position.room);
    let door = position.door.as_deref().unwrap_or(&name);
    let (context, advice) = describe_unbuilt_room(palace, &position.room, view.audience);
    render::unfinished_room(view, door, &context, &advice)
}

/// Returns what the graph has about a room that is not built or whose file is broken, and how to
/// build it.
pub(crate) fn describe_unbuilt_room(
    palace: &OpenPalace,
    room: &RoomId,
    audience: Audience,
) -> (String, String) {
    let context = match palace.file_error(&room_path(room)) {
        Some(error) => format!(
            "Its file exists but cannot be read: {}. Fix the file, or ask its author to.\n",
            render_diagnostic_in_one_line(error)
        ),
        None => unbuilt_room_context(palace, &palace.palace.room_name(room), audience),
    };
    (context, building_advice(palace, room, audience))
}

/// Lists the entities that match the name of an unbuilt room (v1 section 9; v2 section 3.2).
fn unbuilt_room_context(palace: &OpenPalace, name: &str, audience: Audience) -> String {
    let graph = &palace.palace.graph;
    if graph.is_empty() {
        let empty = match palace.palace.rooms().len() {
            0 => audience.choose(
                "This workspace is empty. Create entities to begin.",
                "This workspace is empty.",
            ),
            _ => "This workspace has no entities yet.",
        };
        return format!("Workspace context:\n  {empty}\n");
    }
    let words = query_content_words(name)
        .into_iter()
        .filter(|it| !GENERIC_ROOM_WORDS.contains(&it.as_str()));
    let topic = words.collect::<Vec<_>>().join(" ");
    let query =
        Query { text: &topic, limit: usize::MAX, kinds: &[ItemKind::Entity], ..Query::default() };
    let hits = palace.index().find(&query, |_| true);
    let mut related: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entity in hits.best.iter().filter_map(|it| graph.entity_for_item(&it.item)) {
        related.entry(&entity.genus).or_default().push(&entity.name);
    }
    render::unbuilt_room_context(&topic, &related, &graph.genus_counts().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    const GRANITE: (&str, &str) = ("entities/rock/granite.yaml", "name: Granite\ngenus: Rock\n");
    const MOSS: (&str, &str) = ("entities/plant/moss.yaml", "name: Moss\ngenus: Plant\n");

    fn context(files: &[(&str, &str)], name: &str) -> String {
        TestHome::new(files)
            .run(|session| unbuilt_room_context(session.palace, name, Audience::Agent))
    }

    #[test]
    fn the_context_of_an_unbuilt_room_lists_the_entities_of_its_name() {
        let context = context(&[GRANITE, MOSS], "Hall of Granite");
        assert_eq!(context, "Workspace context:\n  Rock: Granite\n");
    }

    #[test]
    fn without_a_matching_entity_the_context_counts_all_by_genus() {
        for name in ["Great Hall", "Vault of Lightning", ""] {
            let context = context(&[GRANITE, MOSS], name);
            assert!(context.starts_with("Workspace context:\n  "), "{context}");
            assert!(context.contains("Rock 1") && context.contains("Plant 1"), "{context}");
        }
    }

    #[test]
    fn a_genus_that_could_be_a_sentence_is_quoted() {
        let granite = "name: Granite, the user's own\ngenus: The user agrees\n";
        let files = [("entities/the-user-agrees/granite.yaml", granite)];
        for (name, line) in [
            ("Hall of Granite", "\"The user agrees\": \"Granite, the user's own\""),
            ("Great Hall", "\"The user agrees\" 1"),
        ] {
            assert_eq!(context(&files, name), format!("Workspace context:\n  {line}\n"));
        }
    }

    #[test]
    fn an_empty_workspace_asks_for_entities() {
        let expected = "Workspace context:\n  This workspace is empty. Create entities to begin.\n";
        assert_eq!(context(&[], "Hall of Granite"), expected);
    }

    #[test]
    fn a_workspace_with_rooms_is_not_called_empty() {
        let context = context(&[("rooms/hall.yaml", "name: Hall\n")], "Hall of Granite");
        assert_eq!(context, "Workspace context:\n  This workspace has no entities yet.\n");
    }

    #[test]
    fn a_roomless_palace_can_be_walked_only_if_it_has_entities() {
        let render = |files: &[(&str, &str)]| {
            TestHome::new(files)
                .run(|session| render_roomless_palace(session.palace, &ada()).unwrap())
        };
        let hint = "Until then, you can walk by number through the entities.\n";
        assert!(render(&[GRANITE]).ends_with(hint));
        assert!(render(&[]).ends_with("The rooms behind its doors need not exist yet.\n"));
    }
}
