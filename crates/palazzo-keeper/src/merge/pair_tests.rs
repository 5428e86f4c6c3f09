//! 56 pairs of changes that two machines make to one palace, each merged in both directions.

use std::collections::BTreeSet;

use crate::merge::fixture::{
    EXAMPLE, Edit, all, append, cut, delete, merge, move_action, nothing, read_palace, rename,
    replace, replace_everywhere, write,
};
use palazzo_core::model::Files;

const HALL: &str = "rooms/great-hall.yaml";
const GEOLOGY: &str = "rooms/hall-of-geology.yaml";
const BIOLOGY: &str = "rooms/hall-of-biology.yaml";
const LOFT: &str = "rooms/ledger-loft.yaml";
const STUDY: &str = "rooms/cuviers-study.yaml";
const STASIS: &str = "entities/claim/stasis-is-data.yaml";
const EXTINCT: &str = "entities/claim/species-go-extinct.yaml";
const GRADUALISM: &str = "entities/claim/gradualism.yaml";
const DECCAN: &str = "entities/lead/deccan-share-of-the-blame.yaml";
const PROCESS: &str = "processes/01KHRBW8E6S4R2Q0P9N7M5K3JH.yaml";
const TASK: &str = "tasks/01KHR7Q2M4X8B3N5T6W9Y0Z1AC.yaml";
const SETTINGS: &str = "palace.toml";

const TICK: &str = "  - label: Listen to the clock\n    type: text\n    content: |\n      Tick.\n";
const SILENCE: &str =
    "  - label: Listen to the clock\n    type: text\n    content: |\n      Silence.\n";
const BOOK: &str =
    "  - label: Read the visitors' book\n    type: text\n    content: |\n      Names.\n";
const ROCK: &str = "  - label: Tap a rock\n    type: text\n    content: |\n      Clink.\n";
const CHEETHAM: &str = "  - Alan Cheetham's bryozoans of the genus Metrarabdotos, measured in 1986, show long stillness and abrupt appearances.\n";
const DISPUTED: &str =
    "  - type: disputed_by\n    to: Gradualism\n    since: 1987\n    source: Sheldon 1987\n";
const BEARS_ON: &str = "  - type: bears_on\n    to: Gradualism\n";
const COMPARED: &str = "  - type: compared_to\n    to: Gradualism\n";
const SCROLL: &str = "---\nid: 01KR0000000000000000000001\ntitle: T\nwritten: 2026-03-01T12:00:00Z\nby: claude\n---\n\nx\n";

/// Two changes and what is expected of their merge.
struct Pair {
    name: &'static str,
    base: Edit,
    a: Edit,
    b: Edit,
    by_hand: [bool; 2],
    /// The change of the base that makes the merged palace.
    merged: Edit,
    /// The fields of the conflicts.
    conflicts: Vec<&'static str>,
}

impl Pair {
    /// Returns a pair of changes by tools that is merged without conflict.
    fn new(name: &'static str, a: Edit, b: Edit, merged: Edit) -> Self {
        Self { name, base: nothing(), a, b, by_hand: [false; 2], merged, conflicts: Vec::new() }
    }

    fn by_hand(self, by_hand: [bool; 2]) -> Self {
        Self { by_hand, ..self }
    }

    fn base(self, base: Edit) -> Self {
        Self { base, ..self }
    }

    fn conflicts(self, fields: &[&'static str]) -> Self {
        Self { conflicts: fields.to_vec(), ..self }
    }

    fn check(&self) {
        let mut base = read_palace(EXAMPLE);
        (self.base)(&mut base);
        let [a, b, expected] = [&self.a, &self.b, &self.merged].map(|edit| {
            let mut files = base.clone();
            edit(&mut files);
            files
        });
        let (merged, outcome) = merge(&base, [&a, &b], self.by_hand);
        let paths: BTreeSet<_> = merged.keys().chain(expected.keys()).collect();
        for path in paths {
            let text = |it: Option<&String>| it.map_or("(no file)", String::as_str).to_owned();
            let (is, should) = (text(merged.get(path)), text(expected.get(path)));
            assert_eq!(is, should, "{}: {path}\n{is}\n--- expected:\n{should}", self.name);
        }
        let fields: Vec<_> = outcome.conflicts.iter().map(|it| it.field.as_str()).collect();
        assert_eq!(fields, self.conflicts, "{}", self.name);
    }
}

fn check(pairs: &[Pair]) {
    pairs.iter().for_each(Pair::check);
}

/// Adds lines before the relations of an entity, or before the portals of a room.
fn observe(lines: &'static str) -> Edit {
    Box::new(move |files| {
        let text = files.get_mut(STASIS).unwrap();
        *text = text.replacen("relations:\n", &format!("{lines}relations:\n"), 1);
    })
}

#[test]
fn pairs_4_different_fields() {
    let settled = || replace(STASIS, "status: contested", "status: settled");
    let high = || replace(STASIS, "confidence: medium", "confidence: high");
    let weight = || replace(STASIS, "proposed: 1972", "proposed: 1972\n  weight: 3");
    let rename_hall = || replace(HALL, "name: Great Hall", "name: Grand Hall");
    let arches = || replace(HALL, "label: Read the chalk above", "label: Read the words above");
    let rocks = || replace(GEOLOGY, "name: Hall of Geology", "name: Hall of Rocks");
    let sill = || replace(GEOLOGY, "Mind the step. Grey", "Mind the sill. Grey");
    let lead = || replace(GEOLOGY, "genus: Claim\n", "genus: Lead\n");
    let coasts = || {
        replace(
            GEOLOGY,
            "Push the two coastlines together\n    type",
            "Push the coasts together\n    type",
        )
    };
    check(&[
        Pair::new("4a", rename_hall(), arches(), all(vec![rename_hall(), arches()]))
            .by_hand([true; 2]),
        Pair::new("4b", settled(), high(), all(vec![settled(), high()])),
        Pair::new("4c", high(), weight(), all(vec![high(), weight()])),
        Pair::new("4d", rocks(), sill(), all(vec![rocks(), sill()])).by_hand([true; 2]),
        Pair::new("4e", lead(), coasts(), all(vec![lead(), coasts()])).by_hand([true; 2]),
    ]);
}

#[test]
fn pairs_5_one_field() {
    let settled = || replace(STASIS, "status: contested", "status: settled");
    let overturned = || replace(STASIS, "status: contested", "status: overturned");
    let boat = || replace(GEOLOGY, "1788. The stride", "1788 on a boat. The stride");
    let cold = || replace(GEOLOGY, "smells of soot.", "smells of cold soot.");
    let wrapped = || {
        let (old, new) = ("level, and\n  red sandstone", "level,\n  and red sandstone");
        replace(GEOLOGY, old, new)
    };
    let sand = || replace(GEOLOGY, "red sandstone lies", "red sand lies");
    let merged = || replace(GEOLOGY, "level, and\n  red sandstone", "level,\n  and red sand");
    check(&[
        Pair::new("5a", settled(), overturned(), overturned()).conflicts(&["status"]),
        Pair::new("5b", settled(), settled(), settled()),
        Pair::new("5c", boat(), cold(), all(vec![boat(), cold()])).by_hand([true; 2]),
        Pair::new("5d", wrapped(), sand(), merged()).by_hand([true; 2]),
    ]);
}

#[test]
fn pairs_11_settings() {
    let menu = || append(SETTINGS, "\n[menu]\nlayout = \"classic\"\n");
    let git = || append(SETTINGS, "\n[git]\ncommit = \"manual\"\n");
    let entry = |new: &'static str| replace(SETTINGS, "entry = \"great-hall\"", new);
    let allow = |new: &'static str| replace(SETTINGS, "allow = [\"x\"]", new);
    let named = || replace(SETTINGS, "name = \"Paradigm Survey\"", "name = \"Survey\"");
    let loft = || entry("entry = \"ledger-loft\"");
    check(&[
        Pair::new("11a", menu(), git(), all(vec![git(), menu()])).by_hand([true; 2]),
        Pair::new(
            "11b",
            loft(),
            entry("entry = \"cuviers-study\""),
            entry("entry = \"cuviers-study\""),
        )
        .conflicts(&["entry"]),
        Pair::new(
            "11c",
            allow("allow = [\"x\", \"write_scroll\"]"),
            allow("allow = [\"x\", \"create_task\"]"),
            allow("allow = [\"x\", \"create_task\", \"write_scroll\"]"),
        )
        .base(append(SETTINGS, "\n[actions]\nallow = [\"x\"]\n")),
        Pair::new("11d", named(), loft(), all(vec![named(), loft()])).by_hand([true; 2]),
    ]);
}

#[test]
fn pairs_1_actions() {
    let [tick, silence, book] = [TICK, SILENCE, BOOK].map(|it| move || append(HALL, it));
    let on_top = || {
        let text = "actions:\n  - label: Listen to the clock\n    type: text\n    content: Tick.\n";
        replace(HALL, "actions:\n", text)
    };
    check(&[
        Pair::new("1a", tick(), book(), all(vec![book(), tick()])),
        Pair::new("1b", tick(), tick(), tick()),
        Pair::new("1c", tick(), silence(), silence())
            .conflicts(&["actions[\"Listen to the clock\"].content"]),
        Pair::new("1d", tick(), on_top(), on_top()).by_hand([false, true]),
    ]);
}

#[test]
fn pairs_2_observations() {
    let alpha = || observe("  - Alpha holds.\n");
    let beta = || observe("  - Beta holds.\n");
    let concerns = || append(STASIS, "  - type: concerns\n    to: Paleontology\n");
    let reworded = || replace(STASIS, "  - Alan Cheetham's", "  - Cheetham's");
    check(&[
        Pair::new("2a", alpha(), beta(), observe("  - Beta holds.\n  - Alpha holds.\n")),
        Pair::new("2b", alpha(), alpha(), alpha()),
        Pair::new(
            "2c",
            observe("  - Alpha holds.\n  - Own A.\n"),
            observe("  - Alpha holds.\n  - Own B.\n"),
            observe("  - Alpha holds.\n  - Own B.\n  - Own A.\n"),
        ),
        Pair::new("2d", alpha(), concerns(), all(vec![alpha(), concerns()])),
        Pair::new(
            "2e",
            replace(STASIS, CHEETHAM, ""),
            beta(),
            all(vec![replace(STASIS, CHEETHAM, ""), beta()]),
        ),
        Pair::new("2f", reworded(), beta(), all(vec![reworded(), beta()])).by_hand([true, false]),
    ]);
}

#[test]
fn pairs_3_relations() {
    let to = |line: &'static str| append(STASIS, line);
    let paleontology = "  - type: concerns\n    to: Paleontology\n";
    let genetics = "  - type: concerns\n    to: Genetics\n";
    let [by_a, by_b] = [
        "  - type: concerns\n    to: Genetics\n    source: A\n",
        "  - type: concerns\n    to: Genetics\n    source: B\n",
    ];
    let ended = || replace(STASIS, "since: 1987\n", "since: 1987\n    until: 1995\n");
    check(&[
        Pair::new("3a", to(paleontology), to(genetics), all(vec![to(genetics), to(paleontology)])),
        Pair::new("3b", to(by_a), to(by_b), to(by_b))
            .conflicts(&["relations[\"concerns Genetics\"].source"]),
        Pair::new("3c", ended(), to(genetics), all(vec![ended(), to(genetics)]))
            .by_hand([true, false]),
    ]);
}

#[test]
fn pairs_6_portals() {
    let bare = "id: 01KGHCAN06NZDMTR0AJ4CHBW8Y\nname: Hall of Biology\ndescription: |\n  D.\nactions:\n  - label: Look\n    type: text\n    content: |\n      x\n";
    let with_portal = "id: 01KGHCAN06NZDMTR0AJ4CHBW8Y\nname: Hall of Biology\ndescription: |\n  D.\nactions:\n  - label: Look\n    type: text\n    content: |\n      x\nportals:\n  - ledger-loft\n";
    let portals = |new: &'static str| replace(BIOLOGY, "portals:\n  - genetics-alcove", new);
    check(&[
        Pair::new(
            "6a",
            append(HALL, "portals:\n  - cuviers-study\n"),
            append(HALL, "portals:\n  - ledger-loft\n"),
            append(HALL, "portals:\n  - ledger-loft\n  - cuviers-study\n"),
        ),
        Pair::new(
            "6b",
            portals("portals:\n  - genetics-alcove\n  - ledger-loft"),
            portals("portals:\n  - genetics-alcove\n  - maritime-archives"),
            portals("portals:\n  - genetics-alcove\n  - maritime-archives\n  - ledger-loft"),
        ),
        Pair::new(
            "6c",
            append(HALL, "portals:\n  - cuviers-study\n"),
            append(STUDY, "portals:\n  - great-hall\n"),
            all(vec![
                append(HALL, "portals:\n  - cuviers-study\n"),
                append(STUDY, "portals:\n  - great-hall\n"),
            ]),
        ),
        Pair::new(
            "6d",
            write(BIOLOGY, bare),
            portals("portals:\n  - genetics-alcove\n  - ledger-loft"),
            write(BIOLOGY, with_portal),
        ),
    ]);
}

/// Sorts the observations of an entity. Beta stays behind the one before it.
fn sort_observations() -> Edit {
    Box::new(|files| {
        let text = files.get_mut(STASIS).unwrap();
        let (head, rest) = text.split_once("observations:\n").unwrap();
        let (list, tail) = rest.split_once("relations:").unwrap();
        let list = list.replace("\n  - Beta", "\t- Beta");
        let mut lines: Vec<_> = list.split_inclusive('\n').collect();
        lines.sort_unstable();
        let list = lines.concat().replace("\t- Beta", "\n  - Beta");
        *text = format!("{head}observations:\n{list}relations:{tail}");
    })
}

/// Writes the actions of the great hall without indentation.
fn remove_indentation() -> Edit {
    Box::new(|files| {
        let text = files.get_mut(HALL).unwrap();
        *text = text.replace("\n  - label", "\n- label");
        for key in ["type", "room", "tool", "tool_params", "content"] {
            *text = text.replace(&format!("\n    {key}:"), &format!("\n  {key}:"));
        }
    })
}

/// Writes the great hall as it is in the example.
fn restore_indentation() -> Edit {
    Box::new(|files| drop(files.insert(HALL.to_owned(), read_palace(EXAMPLE)[HALL].clone())))
}

#[test]
fn pairs_12_order() {
    let rock = || append(GEOLOGY, ROCK);
    let last_to_top = || move_action(GEOLOGY, 6, 0);
    let behind_the_last = || {
        Box::new(|files: &mut Files| {
            let text = files.get_mut(GEOLOGY).unwrap();
            let last = "    room: great-hall\n";
            *text = text.replace(last, &format!("{last}{ROCK}"));
        })
    };
    let (third_to_top, third_to_end) =
        (|| move_action(GEOLOGY, 2, 0), || move_action(GEOLOGY, 2, 6));
    let edited = || replace(GEOLOGY, "The pencil line on", "The chalk line on");
    let beta = || observe("  - Beta holds.\n");
    let rock_at_margin = "- label: Tap a rock\n  type: text\n  content: |\n    Clink.\n";
    check(&[
        Pair::new("12a", last_to_top(), rock(), all(vec![last_to_top(), behind_the_last()]))
            .by_hand([true, false]),
        Pair::new("12b", third_to_end(), edited(), all(vec![third_to_end(), edited()]))
            .by_hand([true; 2]),
        Pair::new("12c", third_to_top(), third_to_end(), third_to_end())
            .conflicts(&["actions (order)"])
            .by_hand([true; 2]),
        Pair::new("12d", sort_observations(), beta(), all(vec![beta(), sort_observations()]))
            .by_hand([true, false]),
        Pair::new(
            "12e",
            restore_indentation(),
            append(HALL, rock_at_margin),
            all(vec![restore_indentation(), append(HALL, ROCK)]),
        )
        .base(remove_indentation())
        .by_hand([true, false]),
    ]);
}

#[test]
fn pairs_13_neighbours() {
    let portals = || append(HALL, "portals:\n  - ledger-loft\n");
    let one = || append(HALL, "  - label: Tap\n    type: text\n    content: |\n      One\n");
    let two = || append(HALL, "  - label: Tap\n    type: text\n    content: Two\n");
    check(&[
        Pair::new("13a", append(HALL, ROCK), portals(), all(vec![append(HALL, ROCK), portals()])),
        Pair::new("13b", one(), two(), two())
            .conflicts(&["actions[\"Tap\"].content"])
            .by_hand([false, true]),
    ]);
}

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
