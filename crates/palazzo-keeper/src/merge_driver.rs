//! Merges the three versions of one file that git hands over.

use std::collections::{BTreeMap, BTreeSet};

use chrono::DateTime;

use crate::merge::file::is_second_name;
use crate::merge::palaces::merge_palaces;
use crate::merge::{FilePart, MergeInput, RawFiles, UnchangedFiles};
use palazzo_core::format::{self, PalacePath, serialize_conflict};
use palazzo_core::merge::LastChange;
use palazzo_core::model::Conflict;

/// A file that was merged field by field.
#[derive(Clone, Debug, PartialEq)]
pub struct FileMergeResult {
    /// The merged content.
    pub bytes: Vec<u8>,
    /// The values that do not stand: the file of each conflict, by its path in the palace.
    pub conflicts: BTreeMap<String, String>,
}

/// Returns the paths that a file of a repository may have in a palace, with the folder of the
/// palace, the shortest folder first.
pub fn paths_in_palaces(path: &str) -> Vec<(&str, &str)> {
    let ends = path.match_indices('/').map(|(at, _)| at);
    let split = ends.map(|at| (&path[..at], &path[at + 1..]));
    let all = std::iter::once(("", path)).chain(split);
    let is_item = |it: &str| PalacePath::parse(it).is_ok_and(|it| it != PalacePath::Other);
    all.filter(|(_, below)| is_item(below)).collect()
}

/// Returns why a palace with this `palace.toml` is not merged field by field: its files have another
/// format than this program reads.
pub fn describe_other_format(settings: &str) -> Option<String> {
    format::find_other_format(settings).map(|it| it.message)
}

/// Merges two versions of a file of a palace; `path` is its path there. An empty base counts as
/// none: git passes it if both sides have added the file. The authors are not known here, so of
/// two values for one field the greater stands. Returns `None` if the versions are of different
/// items, which need a file each.
pub fn merge_file_versions(path: &str, base: &[u8], sides: [&[u8]; 2]) -> Option<FileMergeResult> {
    let files = |bytes: &[u8]| RawFiles::from([(path.to_owned(), bytes.to_vec())]);
    let base = if base.is_empty() { RawFiles::new() } else { files(base) };
    let sides = sides.map(files);
    let unknown = |_: usize, _: &str, _: FilePart<'_>| LastChange {
        author: String::new(),
        at: DateTime::UNIX_EPOCH,
        is_by_hand: true,
        commit: String::new(),
    };
    let outcome = merge_palaces(&MergeInput {
        base: &base,
        sides: [&sides[0], &sides[1]],
        unchanged: UnchangedFiles { paths: &BTreeSet::new(), read: &|_| None },
        last_change: &unknown,
    });
    // The body in a second file is in a conflict too.
    let is_other_item = |it: &&String| *it != path && !is_second_name(path, it);
    if outcome.files.len() > 1 && outcome.files.keys().any(|it| is_other_item(&it)) {
        return None;
    }
    let conflict_file = |name: String, conflict: Conflict| {
        let conflict = Conflict { stands_by: None, other_by: None, ..conflict };
        (Conflict::path_of_name(&name), serialize_conflict(&conflict))
    };
    let conflicts = outcome.conflicts.iter().map(|it| conflict_file(it.name(), it.into()));
    let bytes = outcome.files.get(path).or_else(|| outcome.files.values().next());
    Some(FileMergeResult {
        bytes: bytes.cloned().unwrap_or_else(|| sides[0][path].clone()),
        conflicts: conflicts.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "entities/claim/stasis.yaml";
    const BASE: &str = "name: Stasis\ngenus: Claim\nstatus: open\nobservations:\n  - One.\n";

    fn merge(base: &str, a: &str, b: &str) -> (String, Vec<String>) {
        let sides = [a.as_bytes(), b.as_bytes()];
        let merged = merge_file_versions(PATH, base.as_bytes(), sides).unwrap();
        let swapped = merge_file_versions(PATH, base.as_bytes(), [sides[1], sides[0]]).unwrap();
        assert_eq!(merged, swapped);
        let text = String::from_utf8(merged.bytes).unwrap();
        (text, merged.conflicts.into_values().collect())
    }

    #[test]
    fn both_sides_append_an_observation() {
        let both = merge(BASE, &format!("{BASE}  - Two.\n"), &format!("{BASE}  - Three.\n"));
        let (text, conflicts) = both;
        assert_eq!(conflicts, [""; 0]);
        assert!(text.contains("- One.\n") && text.contains("- Two.\n"), "{text}");
        assert!(text.contains("- Three.\n") && !text.contains("<<<"), "{text}");
    }

    #[test]
    fn of_two_values_the_greater_stands_and_the_other_is_kept() {
        let with = |status: &str| BASE.replace("open", status);
        let (text, conflicts) = merge(BASE, &with("settled"), &with("overturned"));
        assert_eq!(text, with("settled"));
        insta::assert_snapshot!(conflicts.join("---\n"), @"
        file: entities/claim/stasis.yaml
        field: status
        stands: settled
        other: overturned
        ");
    }

    #[test]
    fn a_file_that_both_sides_have_added_is_merged_without_a_base() {
        let (text, conflicts) = merge("", BASE, &BASE.replace("One.", "Two."));
        assert_eq!(conflicts, [""; 0]);
        assert!(text.contains("One.") && text.contains("Two."), "{text}");
    }

    #[test]
    fn two_items_in_one_file_are_not_merged() {
        let other = BASE.replace("Stasis", "Flux");
        assert_eq!(merge_file_versions(PATH, b"", [BASE.as_bytes(), other.as_bytes()]), None);
        let with_id = |id: &str| format!("id: 01KGSRV28ADXPQGT6T6QX25Y{id}\n{BASE}");
        let [a, b] = [with_id("S1"), with_id("S2").replace("Stasis", "Flux")];
        assert_eq!(merge_file_versions(PATH, b"", [a.as_bytes(), b.as_bytes()]), None);
    }

    #[test]
    fn of_two_bodies_one_stands_and_the_other_is_kept() {
        let path = "scrolls/hall/01KJMPXF9069S44V81ASY1KY37-n.md";
        let scroll = |body: &str| format!("---\ntitle: N\nby: ada\n---\n\n{body}\n");
        let [base, a, b] = ["Dust.", "Rust.", "Must."].map(scroll);
        let sides = [a.as_bytes(), b.as_bytes()];
        let merged = merge_file_versions(path, base.as_bytes(), sides).unwrap();
        assert_eq!(merged.bytes, a.as_bytes());
        let kept = merged.conflicts.into_values().collect::<String>();
        assert!(kept.contains("other: |\n  Must.\n"), "{kept}");
    }

    #[test]
    fn the_path_in_the_palace_is_what_follows_its_folder() {
        let paths = paths_in_palaces("docs/survey/rooms/west/hall.yaml");
        assert_eq!(paths, [("docs/survey", "rooms/west/hall.yaml")]);
        assert_eq!(paths_in_palaces("palace.toml"), [("", "palace.toml")]);
        assert_eq!(paths_in_palaces("src/main.rs"), []);
    }
}
