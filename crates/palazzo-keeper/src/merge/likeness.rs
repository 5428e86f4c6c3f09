//! Finds moved files without an id: git-like, by the lines that they have in common.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use palazzo_core::format::file_kind;
use palazzo_core::model::FileKind;

/// Maximum number of pairs of files whose lines are compared.
const MAX_COMPARED_PAIRS: usize = 1_000;
/// Minimum number of common lines: short files are alike by their form.
const MIN_COMMON_LINES: usize = 3;
/// The divisor of the size of a file that gives the minimum size of a file like it.
const MAX_SIZE_RATIO: usize = 2;

/// A file as its path and its content.
pub(super) type FileRef<'a> = (&'a String, &'a Vec<u8>);

/// Returns the path in `gone` of each file in `new` that has at least half of its lines in common
/// with it: the most alike pairs first, then by path.
pub(super) fn find_alike_files<'a>(
    gone: &[FileRef<'a>],
    new: &[FileRef<'a>],
) -> BTreeMap<&'a str, &'a str> {
    let mut by_size: BTreeMap<FileKind, Vec<FileRef<'a>>> = BTreeMap::new();
    for file in new {
        if let Some(kind) = file_kind(file.0) {
            by_size.entry(kind).or_default().push(*file);
        }
    }
    for files in by_size.values_mut() {
        files.sort_by_key(|(path, bytes)| (bytes.len(), *path));
    }
    let near = |old: FileRef<'a>| {
        let files = file_kind(old.0).and_then(|it| by_size.get(&it)).map(Vec::as_slice);
        let files = files.unwrap_or_default();
        let start = files.partition_point(|it| it.1.len() < old.1.len() / MAX_SIZE_RATIO);
        let end = files.partition_point(|it| it.1.len() <= old.1.len() * MAX_SIZE_RATIO);
        files[start..end].iter().map(move |new| (old, *new))
    };
    let pairs = gone.iter().flat_map(|it| near(*it)).take(MAX_COMPARED_PAIRS);
    let mut alike: Vec<_> = pairs
        .filter_map(|(old, new)| Some((Reverse(likeness(old.1, new.1)?), old.0, new.0)))
        .collect();
    alike.sort();
    let (mut found, mut used) = (BTreeMap::new(), BTreeSet::new());
    for (_, old, new) in alike {
        if !used.contains(old) && !found.contains_key(new.as_str()) {
            used.insert(old);
            found.insert(new.as_str(), old.as_str());
        }
    }
    found
}

/// Returns the share of common lines in thousandths, if it is at least a half.
fn likeness(a: &[u8], b: &[u8]) -> Option<usize> {
    let lines = |it: &[u8]| -> Vec<Vec<u8>> {
        let lines = it.split(|it| *it == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|it| !it.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let (a, b) = (lines(a), lines(b));
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    for line in &a {
        *counts.entry(line).or_default() += 1;
    }
    let mut common = 0;
    for line in &b {
        if let Some(count) = counts.get_mut(line.as_slice()).filter(|it| **it > 0) {
            *count -= 1;
            common += 1;
        }
    }
    let longer = a.len().max(b.len());
    (common >= MIN_COMMON_LINES && common * 2 >= longer).then(|| common * 1_000 / longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(gone: &[(&str, &str)], new: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |files: &[(&str, &str)]| -> Vec<(String, Vec<u8>)> {
            files.iter().map(|(path, it)| ((*path).to_owned(), it.as_bytes().to_vec())).collect()
        };
        let (gone, new) = (owned(gone), owned(new));
        let gone: Vec<_> = gone.iter().map(|(path, it)| (path, it)).collect();
        let new: Vec<_> = new.iter().map(|(path, it)| (path, it)).collect();
        let found = find_alike_files(&gone, &new).into_iter();
        found.map(|(new, old)| (old.to_owned(), new.to_owned())).collect()
    }

    #[test]
    fn the_file_with_the_most_common_lines_is_the_moved_one() {
        let old = ("rooms/a.yaml", "name: A\n1\n2\n3\n4\n");
        let near = ("rooms/y.yaml", "name: Y\n1\n2\n3\n4\n");
        let nearest = ("rooms/z.yaml", "name: A\n1\n2\n3\n4\n5\n");
        let pair = |new: &str| vec![("rooms/a.yaml".to_owned(), new.to_owned())];
        assert_eq!(found(&[old], &[near, nearest]), pair("rooms/z.yaml"));
        assert_eq!(found(&[old], &[near]), pair("rooms/y.yaml"));
    }

    #[test]
    fn other_kinds_and_short_files_are_not_alike() {
        let old = ("tasks/a.yaml", "title: A\nstatus: open\n");
        assert_eq!(found(&[old], &[("tasks/b.yaml", "title: B\nstatus: open\n")]), []);
        let text = "1\n2\n3\n4\n";
        assert_eq!(found(&[("tasks/a.yaml", text)], &[("rooms/a.yaml", text)]), []);
    }
}
