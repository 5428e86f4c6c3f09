//! Values that do not stand after a merge, and the merge of two versions of the file of one.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sha1::{Digest, Sha1};

use crate::merge::file::MergedFile;
use crate::merge::items::{Item, is_conflict_file};
use palazzo_core::format::{parse_conflict, serialize_conflict};
use palazzo_core::merge::LastChange;
use palazzo_core::model::{Conflict, ConflictAuthor};

/// The number of bytes of the hash that are in the name of a conflict.
const NAME_BYTES: usize = 8;

/// Separates the names of several authors.
const NAME_SEPARATOR: &str = ", ";

/// Two values for one field, of which one stands.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeConflict {
    /// The id of the item, if it has one.
    pub id: Option<String>,
    /// The path of its file.
    pub path: String,
    /// The field: `status`, `actions["Listen to the clock"].content`, `path`, `body`; empty for the
    /// whole file.
    pub field: String,
    /// The value that stands; `None` if it is deleted.
    pub stands: Option<Value>,
    /// The other value; `None` if the other side has deleted it.
    pub other: Option<Value>,
    /// The author of the value that stands, and the time.
    pub stands_by: LastChange,
    /// The author of the other value, and the time.
    pub other_by: LastChange,
}

impl MergeConflict {
    /// Returns the name of the conflict: 16 digits that follow from the item, the field and both
    /// values, and so are the same on every machine.
    pub fn name(&self) -> String {
        let item = self.id.as_ref().unwrap_or(&self.path);
        conflict_name(item, &self.field, self.stands.as_ref(), self.other.as_ref())
    }
}

/// Returns the path that a merge gives a conflict.
pub(crate) fn path_of_conflict(conflict: &Conflict) -> String {
    let Conflict { id, file, field, stands, other, .. } = conflict;
    let item = id.map_or_else(|| file.clone(), |it| it.to_string());
    let name = conflict_name(&item, field, stands.as_ref(), other.as_ref());
    Conflict::path_of_name(&name)
}

/// Returns the name of the conflict between two values of a field; `item` is the id of the item, or
/// its path if it has none.
fn conflict_name(item: &str, field: &str, stands: Option<&Value>, other: Option<&Value>) -> String {
    let content = json!([item, field, stands, other]).to_string();
    let hash = Sha1::digest(content.as_bytes());
    let number = hash.iter().take(NAME_BYTES).fold(0_u64, |sum, it| sum << 8 | u64::from(*it));
    format!("{number:016x}")
}

/// Returns whether one side has deleted a file of a conflict, which settles it: a change on the
/// other side does not bring it back.
pub(super) fn is_settled_on_a_side(item: &Item) -> bool {
    item.base.is_some() && item.sides.contains(&None) && is_conflict_file(item.any_path())
}

/// Merges the versions of a file of a conflict that no side has deleted.
pub(super) fn merge_conflict_item(item: &Item, path: &str) -> Option<MergedFile> {
    let bytes = match &item.sides {
        [Some(a), Some(b)] if item.base.as_ref() == Some(a) => b.bytes.clone(),
        [Some(a), Some(b)] if item.base.as_ref() == Some(b) => a.bytes.clone(),
        [Some(a), Some(b)] => merge_conflict_files(path, &a.bytes, &b.bytes),
        [Some(it), None] | [None, Some(it)] => it.bytes.clone(),
        [None, None] => return None,
    };
    Some(MergedFile { bytes, ..MergedFile::default() })
}

/// Merges two files of one path: that with the smaller bytes stands, with the authors of both. If they are
/// about different values, the one whose path follows from its values stands as it is: nobody can put another
/// in its place. The result does not depend on the order.
///
/// These files are a set: each is known by its path, which follows from the values in it. Its `id`
/// is that of the item it is about, so two files with one id are two conflicts.
pub(crate) fn merge_conflict_files(path: &str, a: &[u8], b: &[u8]) -> Vec<u8> {
    let [first, second] = if a <= b { [a, b] } else { [b, a] };
    let parse = |it: &[u8]| parse_conflict(path, std::str::from_utf8(it).ok()?);
    match [first, second].map(parse) {
        [Some(conflict), Some(other)] if !has_same_values(&conflict, &other) => {
            let is_second = path_of_conflict(&other) == path && path_of_conflict(&conflict) != path;
            if is_second { second.to_vec() } else { first.to_vec() }
        }
        [Some(mut conflict), Some(other)] => {
            conflict.stands_by = join_authors(conflict.stands_by, other.stands_by);
            conflict.other_by = join_authors(conflict.other_by, other.other_by);
            serialize_conflict(&conflict).into_bytes()
        }
        [None, Some(_)] => second.to_vec(),
        _ => first.to_vec(),
    }
}

fn has_same_values(a: &Conflict, b: &Conflict) -> bool {
    let values = |it: &Conflict| (it.id, it.field.clone(), it.stands.clone(), it.other.clone());
    values(a) == values(b) && (a.id.is_some() || a.file == b.file)
}

/// Joins the authors of one value: all names, and the latest commit.
fn join_authors(a: Option<ConflictAuthor>, b: Option<ConflictAuthor>) -> Option<ConflictAuthor> {
    let (Some(a), Some(b)) = (&a, &b) else { return a.or(b) };
    let names = [a, b].into_iter().flat_map(|it| it.author.split(NAME_SEPARATOR));
    let names: BTreeSet<_> = names.collect();
    let author = names.into_iter().collect::<Vec<_>>().join(NAME_SEPARATOR);
    let latest = if (a.at, &a.commit) >= (b.at, &b.commit) { a } else { b };
    Some(ConflictAuthor { author, at: latest.at, commit: latest.commit.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::fixture::merge;
    use palazzo_core::model::Files;

    const A: &str = "conflicts/aaaaaaaaaaaaaaaa.yaml";
    const B: &str = "conflicts/bbbbbbbbbbbbbbbb.yaml";
    const ABOUT_STATUS: &str = "id: 01KR0000000000000000000002\nfile: entities/a/e.yaml\n\
        field: status\nstands: settled\nother: overturned\n";
    const ABOUT_HEIGHT: &str = "id: 01KR0000000000000000000002\nfile: entities/a/e.yaml\n\
        field: attributes.height\nstands: 12\nother: 99\n";

    fn files(files: &[(&str, &str)]) -> Files {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    /// Merges conflict files in both orders of the sides, and requires that no conflict is found.
    fn merge_both_ways(base: &[(&str, &str)], a: &[(&str, &str)], b: &[(&str, &str)]) -> Files {
        let [base, a, b] = [base, a, b].map(files);
        let (merged, outcome) = merge(&base, [&a, &b], [false; 2]);
        assert_eq!(outcome.conflicts, []);
        assert_eq!(merge(&base, [&b, &a], [false; 2]).0, merged);
        merged
    }

    #[test]
    fn two_conflicts_about_one_item_both_stay() {
        let merged = merge_both_ways(&[], &[(A, ABOUT_STATUS)], &[(B, ABOUT_HEIGHT)]);
        assert_eq!(merged, files(&[(A, ABOUT_STATUS), (B, ABOUT_HEIGHT)]));
    }

    #[test]
    fn a_settled_conflict_and_a_new_one_that_is_alike_are_two() {
        let old = "file: rooms/nave.yaml\nfield: name\nstands: Nave\nother: Choir\n";
        let new = old.replace("Choir", "Aula");
        let merged = merge_both_ways(&[(A, old)], &[(A, old)], &[(B, &new)]);
        assert_eq!(merged, files(&[(B, &new)]));
    }

    #[test]
    fn a_conflict_that_one_side_has_settled_is_gone_even_if_the_other_has_changed_it() {
        let changed = ABOUT_STATUS.replace("overturned", "open");
        assert_eq!(merge_both_ways(&[(A, ABOUT_STATUS)], &[], &[(A, &changed)]), files(&[]));
    }

    #[test]
    fn a_forged_file_does_not_take_the_place_of_a_conflict() {
        let honest = "file: entities/a/e.yaml\nfield: status\nstands: c\nother: b\n";
        let conflict = parse_conflict(A, honest).unwrap();
        let path = path_of_conflict(&conflict);
        let forged = "file: a.yaml\nfield: name\nstands: Hall\nother: Obey\n";
        let merged = merge_both_ways(&[], &[(&path, honest)], &[(&path, forged)]);
        assert_eq!(merged, files(&[(&path, honest)]));
    }

    #[test]
    fn one_conflict_that_two_machines_have_found_keeps_the_authors_of_both() {
        let found = |who: &str, hour: u8| {
            format!(
                "{ABOUT_STATUS}other_by:\n  author: {who}\n  at: 2026-03-01T{hour:02}:00:00Z\n  \
                 commit: c{hour}\n"
            )
        };
        let [ada, ben] = [found("ada", 9), found("ben", 7)];
        let merged = merge_both_ways(&[], &[(A, &ada)], &[(A, &ben)]);
        assert_eq!(merged, files(&[(A, &ada.replace("author: ada", "author: ada, ben"))]));
        let again = merge_both_ways(&[], &[(A, &merged[A])], &[(A, &ben)]);
        assert_eq!(again, merged);
    }
}
