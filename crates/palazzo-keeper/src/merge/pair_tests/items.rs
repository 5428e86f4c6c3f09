//! Pairs of changes to items as a whole.

use crate::merge::fixture::{
    Edit, all, append, cut, delete, rename, replace, replace_everywhere, write,
};
use crate::merge::pair_tests::{
    BEARS_ON, BIOLOGY, COMPARED, DECCAN, DISPUTED, EXTINCT, GEOLOGY, GRADUALISM, LOFT, PROCESS,
    Pair, ROCK, SCROLL, STASIS, TASK, check,
};

const MOVED: &str = "rooms/science/hall-of-geology.yaml";
const ROCKS: &str = "rooms/hall-of-rocks.yaml";

/// Gives the hall of geology another slug.
fn rename_room() -> Edit {
    let doors = replace_everywhere("room: hall-of-geology", "room: hall-of-rocks");
    all(vec![rename(GEOLOGY, ROCKS), doors])
}

/// Moves the hall of geology into a wing, and rewrites it.
fn rewrite_room() -> Edit {
    all(vec![
        rename(GEOLOGY, MOVED),
        cut(MOVED, "description: |", "actions:"),
        replace(MOVED, "actions:", "description: A bare room.\nactions:"),
        cut(MOVED, "  - label: Push", ""),
    ])
}

/// Renames an entity, with its references.
fn rename_entity() -> Edit {
    let (name, former) = ("name: Phyletic gradualism\n", "former_names:\n  - Gradualism\n");
    let renamed = name.to_owned() + former;
    all(vec![
        replace_everywhere("to: Gradualism", "to: Phyletic gradualism"),
        replace(BIOLOGY, "name: Gradualism", "name: Phyletic gradualism"),
        Box::new(move |files| {
            let text = files.remove(GRADUALISM).unwrap();
            let path = "entities/claim/phyletic-gradualism.yaml".to_owned();
            files.insert(path, text.replace("name: Gradualism\n", &renamed));
        }),
    ])
}

#[test]
fn pairs_7_renamed_rooms() {
    let to_stone = || rename(GEOLOGY, "rooms/hall-of-stone.yaml");
    let to_wing = || rename(GEOLOGY, MOVED);
    let door = |room: &'static str| replace(LOFT, "generate:", room);
    let old_door =
        "  - label: Go to Geology\n    type: navigate\n    room: hall-of-geology\ngenerate:";
    let new_door =
        "  - label: Go to Geology\n    type: navigate\n    room: hall-of-rocks\ngenerate:";
    let scroll = || write("scrolls/hall-of-geology/01KR0000000000000000000001-t.md", SCROLL);
    let moved_scroll = || write("scrolls/hall-of-rocks/01KR0000000000000000000001-t.md", SCROLL);
    let rock = || append(GEOLOGY, ROCK);
    let moved_rock = || append(MOVED, ROCK);
    check(&[
        Pair::new("7a", to_wing(), rock(), all(vec![to_wing(), moved_rock()])),
        Pair::new("7b", rename_room(), door(old_door), all(vec![rename_room(), door(new_door)])),
        Pair::new("7c", rename_room(), scroll(), all(vec![rename_room(), moved_scroll()])),
        Pair::new("7d", rename(GEOLOGY, ROCKS), to_stone(), to_stone()).conflicts(&["path"]),
        Pair::new("7f", rewrite_room(), rock(), all(vec![rewrite_room(), moved_rock()]))
            .by_hand([true, false]),
    ]);
}

#[test]
fn pair_7e_a_renamed_entity() {
    let compared = || append(EXTINCT, COMPARED);
    let merged = all(vec![compared(), rename_entity()]);
    check(&[Pair::new("7e", rename_entity(), compared(), merged)]);
}

#[test]
fn pairs_8_deleted_items() {
    let delete_entity = || {
        let relations = vec![replace(STASIS, DISPUTED, ""), replace(DECCAN, BEARS_ON, "")];
        all(relations.into_iter().chain([delete(GRADUALISM)]).collect())
    };
    let relations = || all(vec![replace(STASIS, DISPUTED, ""), replace(DECCAN, BEARS_ON, "")]);
    let observed = || replace(GRADUALISM, "relations:", "  - New.\nrelations:");
    let table = || cut(GEOLOGY, "  - label: Read the drawing table", "  - label: Step");
    let edited =
        || replace(GEOLOGY, "The pencil line on this table", "The chalk line on this table");
    let scroll = || write("scrolls/hall-of-linguistics/01KR0000000000000000000001-t.md", SCROLL);
    check(&[
        Pair::new("8a", delete(GEOLOGY), append(GEOLOGY, ROCK), append(GEOLOGY, ROCK))
            .conflicts(&[""]),
        Pair::new(
            "8b",
            delete_entity(),
            append(EXTINCT, COMPARED),
            all(vec![delete_entity(), append(EXTINCT, COMPARED)]),
        )
        .conflicts(&["relations[\"compared_to Gradualism\"].to"]),
        Pair::new("8c", delete_entity(), observed(), all(vec![relations(), observed()]))
            .conflicts(&[""]),
        Pair::new("8d", delete("rooms/hall-of-linguistics.yaml"), scroll(), scroll())
            .conflicts(&[""]),
        Pair::new("8e", table(), edited(), edited())
            .conflicts(&["actions[\"Read the drawing table of the ocean floor\"]"])
            .by_hand([true; 2]),
    ]);
}

#[test]
fn pairs_9_entities_made_twice() {
    let claim = "entities/claim/punctuated-equilibria.yaml";
    let domain = "entities/domain/punctuated-equilibria.yaml";
    let entity = |path: &'static str, id: u8, rest: &'static str| -> Edit {
        Box::new(move |files| {
            let id = format!("id: 01KR000000000000000000000{id}\n");
            let name = "name: Punctuated equilibria\n";
            files.insert(path.to_owned(), id + name + rest);
        })
    };
    let by_a = "genus: Claim\nobservations:\n  - From A.\n";
    let by_b = "genus: Claim\nobservations:\n  - From B.\n";
    let by_both = "genus: Claim\nobservations:\n  - From B.\n  - From A.\n";
    let [in_claim, in_domain] = ["genus: Claim\n", "genus: Domain\n"];
    check(&[
        Pair::new("9a", entity(claim, 1, by_a), entity(claim, 2, by_b), entity(claim, 1, by_both)),
        Pair::new(
            "9b",
            entity(claim, 1, in_claim),
            entity(domain, 2, in_domain),
            entity(domain, 1, in_domain),
        )
        .conflicts(&["genus"]),
    ]);
}

#[test]
fn pairs_9_rooms_made_twice() {
    let room = |path: &'static str, id: u8, word: &'static str| -> Edit {
        Box::new(move |files| {
            let text = format!(
                "id: 01KR000000000000000000000{id}\nname: Catastrophism Alcove\ndescription: |\n  \
                 {word}\nactions:\n  - label: Look\n    type: text\n    content: |\n      {word}\n"
            );
            files.insert(path.to_owned(), text);
        })
    };
    let alcove = "rooms/catastrophism-alcove.yaml";
    let rocks = "rooms/rocks/catastrophism-alcove.yaml";
    let history = "rooms/history/catastrophism-alcove.yaml";
    check(&[
        Pair::new("9c", room(alcove, 1, "Soot."), room(alcove, 2, "Ash."), room(alcove, 1, "Ash."))
            .conflicts(&["actions[\"Look\"].content", "description"]),
        Pair::new(
            "9d",
            room(rocks, 1, "Soot."),
            room(history, 2, "Ash."),
            room(history, 1, "Ash."),
        )
        .conflicts(&["actions[\"Look\"].content", "description", "path"]),
    ]);
}

#[test]
fn pairs_10_scrolls_and_work() {
    let scroll = |path: &'static str, id: &'static str| -> Edit {
        Box::new(move |files| {
            files.insert(path.to_owned(), SCROLL.replace("01KR0000000000000000000001", id));
        })
    };
    let scroll_a = || {
        scroll("scrolls/great-hall/01KR0000000000000000000001-t.md", "01KR0000000000000000000001")
    };
    let scroll_b = || {
        scroll("scrolls/great-hall/01KR0000000000000000000002-t.md", "01KR0000000000000000000002")
    };
    let dust = "title: Dust the shelves\nstatus: open\n";
    let task_a = || write("tasks/01KR0000000000000000000001.yaml", dust);
    let task_b = || write("tasks/01KR0000000000000000000002.yaml", dust);
    let advanced = |new: &'static str| {
        let old = "  - Set the Ohio jaw beside the Siberian one\n";
        all(vec![replace(PROCESS, old, new), replace(PROCESS, "step: 2\n", "step: 3\n")])
    };
    let done = |new: &'static str| replace(TASK, "status: open\n", new);
    check(&[
        Pair::new("10a", scroll_a(), scroll_b(), all(vec![scroll_a(), scroll_b()])),
        Pair::new("10b", task_a(), task_b(), all(vec![task_a(), task_b()])),
        Pair::new(
            "10c",
            advanced("  - step: Set the Ohio jaw beside the Siberian one\n    note: A did it\n"),
            advanced("  - step: Set the Ohio jaw beside the Siberian one\n    note: B did it\n"),
            advanced(
                "  - step: Set the Ohio jaw beside the Siberian one\n    note: |-\n      A did it\n      B did it\n",
            ),
        ),
        Pair::new(
            "10d",
            done("status: done\ndone: 2026-03-01T12:00:00Z\nnote: A\n"),
            done("status: done\ndone: 2026-03-01T12:05:00Z\nnote: B\n"),
            done("status: done\ndone: 2026-03-01T12:00:00Z\nnote: |-\n  A\n  B\n"),
        ),
    ]);
}
