//! Finds the scrolls and entities that name files of the repository which are gone or much changed
//! since. The rule is that of [`Store::stale_files`](palazzo_store::Store::stale_files). A scroll
//! counts from the commit that created it, an entity from the last commit that changed it.

use std::collections::BTreeSet;

use crate::palace::loaded_palace::LoadedPalace;
use palazzo_core::format::PalacePath;
use palazzo_core::model::{Code, Diagnostic, ScrollId, StaleFile, file_names, quoted};

/// The maximum number of names that are looked up for one scroll or entity.
const MAX_NAMES: usize = 30;

/// The maximum number of names that a check looks up.
const MAX_CHECKED_NAMES: usize = 5_000;

impl LoadedPalace {
    /// Returns a note on each stale file that a scroll names: `names … , which is gone`.
    pub(crate) fn stale_files_of_scroll(&self, which: &ScrollId) -> Vec<String> {
        let palace = &self.palace;
        let file = palace.file_of_scroll(which);
        let Some((file, scroll)) = file.zip(palace.scroll(which)) else { return Vec::new() };
        self.stale_files_of_texts(file, &names_in([scroll.body.as_str()]))
    }

    /// Returns a note on each stale file that the observations of an entity name.
    pub(crate) fn stale_files_of_entity(&self, name: &str) -> Vec<String> {
        let graph = &self.palace.graph;
        let Some((file, entity)) = graph.file_of_entity(name).zip(graph.get(name)) else {
            return Vec::new();
        };
        self.stale_files_of_texts(file, &names_in(entity.observations.iter().map(String::as_str)))
    }

    /// Returns whether a scroll or an entity has a word that can be the path of a file.
    pub(crate) fn names_files(&self) -> bool {
        self.items_with_names().next().is_some()
    }

    /// Returns the findings on all scrolls and entities, up to a limit of looked-up names.
    pub(crate) fn stale_file_findings(&self) -> Vec<Diagnostic> {
        let mut left = MAX_CHECKED_NAMES;
        let looked_up = self.items_with_names().take_while(|(_, names)| {
            let fits = left >= names.len();
            left = left.saturating_sub(names.len());
            fits
        });
        let findings = looked_up.flat_map(|(file, names)| {
            let notes = self.stale_files_of_texts(file, &names).into_iter();
            notes.map(|it| Diagnostic::for_file(Code::StaleFile, file, it))
        });
        findings.collect()
    }

    /// Yields the files of the scrolls and entities that have words that can be paths, with these.
    fn items_with_names(&self) -> impl Iterator<Item = (&str, BTreeSet<&str>)> {
        let palace = &self.palace;
        let scrolls = palace.scroll_files().filter_map(|(file, which)| {
            Some((file, names_in([palace.scroll(which)?.body.as_str()])))
        });
        let entities = palace.graph.iter().filter_map(|it| {
            let file = palace.graph.file_of_entity(&it.name)?;
            Some((file, names_in(it.observations.iter().map(String::as_str))))
        });
        scrolls.chain(entities).filter(|(_, names)| !names.is_empty())
    }

    /// Returns a note on each of `names` that is stale for the item in `file`.
    fn stale_files_of_texts(&self, file: &str, names: &BTreeSet<&str>) -> Vec<String> {
        let names: Vec<_> = names.iter().copied().take(MAX_NAMES).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let since = match PalacePath::parse(file) {
            Ok(PalacePath::Scroll(_)) => self.creation(file).map(|it| it.commit),
            _ => self.store.last_commit_of(&self.history_cache, file),
        };
        // A history that cannot be read is reported elsewhere.
        let stale = since.and_then(|it| self.store.stale_files(&it, &names).ok());
        stale.into_iter().flatten().map(|(path, state)| note(&path, state)).collect()
    }
}

/// Returns the words that can be paths of files other than those of the palace.
fn names_in<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let names = texts.into_iter().flat_map(file_names);
    names.filter(|it| matches!(PalacePath::parse(it), Ok(PalacePath::Other) | Err(_))).collect()
}

fn note(path: &str, state: StaleFile) -> String {
    match state {
        StaleFile::Gone => format!("names {}, which is gone", quoted(path)),
        StaleFile::ChangedMuch => {
            format!("names {}, of which at least half has changed since", quoted(path))
        }
    }
}
