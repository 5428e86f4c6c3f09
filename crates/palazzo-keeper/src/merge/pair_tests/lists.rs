//! Pairs of changes to lists.

use crate::merge::fixture::{EXAMPLE, Edit, all, append, move_action, read_palace, replace, write};
use crate::merge::pair_tests::{
    BIOLOGY, BOOK, CHEETHAM, GEOLOGY, HALL, Pair, ROCK, SILENCE, STASIS, STUDY, TICK, check,
    observe,
};
use palazzo_core::model::Files;

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
