//! The warnings about the texts of all files, which a check asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use crate::model::Diagnostic;

/// The warnings about the texts of files. The first check scans all files, each later one those that
/// have changed since.
#[derive(Default)]
pub(crate) struct TextWarnings(Mutex<Option<ScannedFiles>>);

/// What is known of the files that were scanned.
#[derive(Default)]
struct ScannedFiles {
    warnings: BTreeMap<String, Vec<Diagnostic>>,
    /// The files that have changed since the last scan.
    changed: BTreeSet<String>,
}

impl TextWarnings {
    /// Has a file that changes scanned again.
    pub(crate) fn forget_file(&self, path: &str) {
        if let Some(scanned) = self.lock().as_mut() {
            scanned.changed.insert(path.to_owned());
        }
    }

    /// Returns the warnings about the texts of all files. `scan` finds those in one file; it is called
    /// for all files at first, and then for those that have changed.
    pub(crate) fn update<'f>(
        &self,
        all_files: impl Iterator<Item = &'f str>,
        scan: impl Fn(&str) -> Vec<Diagnostic> + Sync,
    ) -> Vec<Diagnostic> {
        let changed = self.lock().as_mut().map(|it| std::mem::take(&mut it.changed));
        let paths: Vec<_> = match changed {
            Some(changed) => changed.into_iter().collect(),
            None => all_files.map(str::to_owned).collect(),
        };
        let found = paths.into_par_iter().map(|path| (scan(&path), path)).collect::<Vec<_>>();
        let mut scanned = self.lock();
        let known = &mut scanned.get_or_insert_default().warnings;
        for (warnings, path) in found {
            match warnings.is_empty() {
                true => known.remove(&path),
                false => known.insert(path, warnings),
            };
        }
        known.values().flatten().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Option<ScannedFiles>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use crate::keeper::test_home::TestHome;

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
    fn a_broken_file_is_scanned_for_secrets() {
        let broken = format!("{WITH_SECRET}portals: [\n");
        let mut home = TestHome::new(&[("rooms/hall.yaml", &broken)]);
        assert_eq!(warned_files(&mut home, &[]), ["rooms/hall.yaml"]);
    }
}
