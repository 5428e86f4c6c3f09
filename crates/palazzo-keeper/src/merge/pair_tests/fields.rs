//! Pairs of changes to single fields.

use crate::merge::fixture::{all, append, replace};
use crate::merge::pair_tests::{GEOLOGY, HALL, Pair, SETTINGS, STASIS, check};

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
