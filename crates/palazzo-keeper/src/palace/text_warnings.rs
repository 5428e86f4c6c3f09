//! The warnings about the texts of all files, which a check asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use palazzo_core::model::Diagnostic;

/// The warnings about the texts of files. The first check scans all files, each later one those that
/// have changed since.
#[derive(Default)]
pub(crate) struct TextWarnings {
    /// The warnings by file. Locked for a whole scan, so that a second check waits for its result.
    by_file: Mutex<BTreeMap<String, Vec<Diagnostic>>>,
    /// The files that have changed since the last scan; `None` before the first one.
    changed: Mutex<Option<BTreeSet<String>>>,
}

impl TextWarnings {
    /// Has a changed file scanned again.
    pub(crate) fn mark_changed(&self, path: &str) {
        if let Some(changed) = lock(&self.changed).as_mut() {
            changed.insert(path.to_owned());
        }
    }

    /// Returns the warnings about the texts of all files. `scan` finds those in one file; it is called
    /// for all files at first, and then for those that have changed.
    pub(crate) fn update<'f>(
        &self,
        all_files: impl Iterator<Item = &'f str>,
        scan: impl Fn(&str) -> Vec<Diagnostic> + Sync,
    ) -> Vec<Diagnostic> {
        let mut by_file = lock(&self.by_file);
        // What changes during the scan is scanned by the next check.
        let changed = lock(&self.changed).replace(BTreeSet::new());
        let paths: Vec<_> = match changed {
            Some(changed) => changed.into_iter().collect(),
            None => all_files.map(str::to_owned).collect(),
        };
        let found: Vec<_> = paths.into_par_iter().map(|path| (scan(&path), path)).collect();
        for (warnings, path) in found {
            match warnings.is_empty() {
                true => by_file.remove(&path),
                false => by_file.insert(path, warnings),
            };
        }
        by_file.values().flatten().cloned().collect()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    const FINE: &str = "name: Hall\ndescription: Stone.\n";
    const WITH_SECRET: &str = "name: Hall\ndescription: export DB_PASSWORD=hunter2\n";

    /// Returns the files with warnings, after the files at `changed` are read again.
    fn warned_files(home: &mut TestHome, changed: &[&str]) -> Vec<String> {
        home.run(|session| {
            for path in changed {
                session.palace.reread_file(path);
            }
            session.palace.text_warnings().into_iter().map(|it| it.file).collect()
        })
    }

    #[test]
    fn a_file_that_changes_after_the_first_scan_is_scanned_again() {
        let (attic, hall) = ("rooms/attic.yaml", "rooms/hall.yaml");
        let mut home = TestHome::new(&[(attic, FINE), (hall, WITH_SECRET)]);
        assert_eq!(warned_files(&mut home, &[]), [hall]);
        home.write(attic, WITH_SECRET);
        assert_eq!(warned_files(&mut home, &[attic]), [attic, hall]);
        home.write(hall, FINE);
        assert_eq!(warned_files(&mut home, &[hall]), [attic]);
        std::fs::remove_file(home.keeper.home.join("keep").join(attic)).unwrap();
        assert_eq!(warned_files(&mut home, &[attic]), [""; 0]);
    }

    #[test]
    fn a_file_that_changes_during_a_scan_is_scanned_by_the_next_check() {
        let warnings = TextWarnings::default();
        let scan = |path: &str| {
            warnings.mark_changed(path);
            Vec::new()
        };
        warnings.update(["a.yaml"].into_iter(), scan);
        let scanned = Mutex::new(Vec::new());
        warnings.update(std::iter::empty(), |path| {
            lock(&scanned).push(path.to_owned());
            Vec::new()
        });
        assert_eq!(scanned.into_inner().unwrap(), ["a.yaml"]);
    }

    #[test]
    fn a_broken_file_is_scanned_for_secrets() {
        let broken = format!("{WITH_SECRET}portals: [\n");
        let mut home = TestHome::new(&[("rooms/hall.yaml", &broken)]);
        assert_eq!(warned_files(&mut home, &[]), ["rooms/hall.yaml"]);
    }
}
