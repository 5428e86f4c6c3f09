//! Chooses the paths of merged files: no two files may have one path, or paths that differ only in
//! case or in Unicode form, which many file systems cannot hold.

use std::collections::{BTreeSet, HashMap};

use unicode_normalization::UnicodeNormalization as _;

use crate::merge::changes::{MergeInput, RawFiles};
use palazzo_core::format::file_kind;
use palazzo_core::model::FileKind;

/// The paths that were chosen so far.
pub(super) struct ChosenPaths<'a> {
    input: &'a MergeInput<'a>,
    paths: BTreeSet<String>,
    /// The spellings of each folder and each path, in the order of choice, by its folded form.
    spellings: HashMap<String, Vec<String>>,
}

impl<'a> ChosenPaths<'a> {
    pub(super) fn new(input: &'a MergeInput<'a>) -> Self {
        Self { input, paths: BTreeSet::new(), spellings: HashMap::new() }
    }

    /// Returns `path`, if it is free; else with a number, or in a folder of another spelling.
    pub(super) fn choose(&mut self, path: &str) -> String {
        let may_differ = has_meaningless_name(path);
        let path = if may_differ { self.with_known_folders(path) } else { path.to_owned() };
        let is_taken = |it: &str| {
            self.paths.contains(it)
                || self.input.unchanged.paths.contains(it)
                || may_differ && self.twin(it).is_some()
        };
        let free = first_free_path(&path, is_taken);
        for end in folder_ends(&free).chain([free.len()]) {
            let part = &free[..end];
            let spellings = self.spellings.entry(fold_path(part)).or_default();
            if !spellings.iter().any(|it| it == part) {
                spellings.push(part.to_owned());
            }
        }
        self.paths.insert(free.clone());
        free
    }

    /// Returns the path with each folder as it was spelt first.
    fn with_known_folders(&self, path: &str) -> String {
        let mut spelt = String::new();
        for part in path.split_inclusive('/') {
            spelt.push_str(part);
            if let Some(known) = self.twin(&spelt).filter(|_| part.ends_with('/')) {
                spelt = known.clone();
            }
        }
        spelt
    }

    /// Returns the first spelling of a known file or folder that differs only in form, without those
    /// that a side has beside this one: they are no result of the merge.
    fn twin(&self, path: &str) -> Option<&String> {
        let is_beside = |known: &&String| {
            let mut sides = self.input.sides.iter();
            sides.any(|it| has_path(it, path) && has_path(it, known))
        };
        let mut known = self.spellings.get(&fold_path(path))?.iter();
        known.find(|it| *it != path && !is_beside(it))
    }
}

/// Returns whether a path is a numbered form of another one, but for the case of the folders.
pub(super) fn is_numbered(path: &str, other: &str) -> bool {
    let [(stem, ending), (other_stem, other_ending)] =
        [path, other].map(|it| it.rsplit_once('.').unwrap_or((it, "")));
    let number = stem.rsplit_once('-').filter(|(_, it)| it.bytes().all(|it| it.is_ascii_digit()));
    let stem = number.map_or(stem, |(rest, _)| rest);
    ending == other_ending && fold_path(stem) == fold_path(other_stem)
}

/// Returns what two paths have in common that some file systems take for one.
fn fold_path(path: &str) -> String {
    path.nfc().collect::<String>().to_lowercase()
}

/// Returns whether the name of a file has no meaning: what it contains names the item.
fn has_meaningless_name(path: &str) -> bool {
    use FileKind::{Diary, Drawer, Entity, Genus, Process, Scroll, Task};
    matches!(file_kind(path), Some(Entity | Genus | Task | Process | Scroll | Drawer | Diary))
}

fn folder_ends(path: &str) -> impl Iterator<Item = usize> {
    path.match_indices('/').map(|(at, _)| at + 1).collect::<Vec<_>>().into_iter()
}

/// Returns whether there is a file at `path` or below it.
fn has_path(files: &RawFiles, path: &str) -> bool {
    files.range(path.to_owned()..).next().is_some_and(|(it, _)| it.starts_with(path))
}

fn first_free_path(path: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
    let numbered = (2..).map(|it: usize| format!("{stem}-{it}.{ending}"));
    let mut paths = std::iter::once(path.to_owned()).chain(numbered);
    paths.find(|it| !is_taken(it)).unwrap_or_else(|| path.to_owned())
}
