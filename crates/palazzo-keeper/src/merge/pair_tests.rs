//! 56 pairs of changes that two machines make to one palace, each merged in both directions.

mod fields;
mod items;
mod lists;

use std::collections::BTreeSet;

use crate::merge::fixture::{EXAMPLE, Edit, merge, nothing, read_palace};

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
