//! Finds the files that a merge has left for the user to decide.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use gix::index::entry::Stage;

use crate::Store;
use crate::repo::index_file::load_or_rebuild_index;
use crate::repo::repository::Repository;
use palazzo_core::model::{Code, Diagnostic};

/// Files in the git directory that exist while a merge, cherry-pick, revert, rebase or stash has
/// left conflicts.
const CONFLICT_FILES: [&str; 6] =
    ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE", "rebase-merge", "rebase-apply"];

impl Store {
    /// Reports the files of the palace that a merge has left unresolved. Without an operation in
    /// progress, it does not read the index.
    pub fn unmerged_file_findings(&self) -> Vec<Diagnostic> {
        let repository = self.repository().ok().flatten().filter(|it| has_conflict_file(it));
        let Some(repository) = repository.filter(|_| self.reads_disk()) else {
            return Vec::new();
        };
        let Ok(index) = load_or_rebuild_index(&repository.git()) else { return Vec::new() };
        let mut sides: BTreeMap<String, [bool; 2]> = BTreeMap::new();
        for entry in index.entries().iter().filter(|it| it.stage() != Stage::Unconflicted) {
            let path = String::from_utf8_lossy(entry.path(&index)).into_owned();
            let Some(path) = path.strip_prefix(&repository.prefix) else { continue };
            let [ours, theirs] = sides.entry(path.to_owned()).or_default();
            *ours |= entry.stage() == Stage::Ours;
            *theirs |= entry.stage() == Stage::Theirs;
        }
        sides.into_iter().map(|(path, sides)| unmerged_finding(&path, sides)).collect()
    }
}

/// A merge that git has left to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedMerge {
    /// The working directory.
    pub work: PathBuf,
    /// The files that must be added before the merge can be committed: those with conflicts, and
    /// the files of the palace below `folder` that git does not know. The paths are in the working
    /// directory.
    pub files: Vec<String>,
}

impl Store {
    /// Returns the merge that the user has begun and not committed. `folder` is one of the palace.
    pub fn unfinished_merge(&self, folder: &str) -> Option<UnfinishedMerge> {
        let repository = self.repository().ok().flatten();
        let repository = repository.filter(|it| it.git_dir.join("MERGE_HEAD").exists())?;
        let index = load_or_rebuild_index(&repository.git()).ok()?;
        let unmerged = index.entries().iter().filter(|it| it.stage() != Stage::Unconflicted);
        let mut files: BTreeSet<_> =
            unmerged.map(|it| String::from_utf8_lossy(it.path(&index)).into_owned()).collect();
        let (stamps, _) = self.list_files(folder).ok()?;
        let new = stamps.into_keys().map(|it| format!("{}{it}", repository.prefix));
        files.extend(new.filter(|it| index.entry_by_path(it.as_str().into()).is_none()));
        let work = repository.work.clone();
        Some(UnfinishedMerge { work, files: files.into_iter().collect() })
    }

    /// Returns the common base of a file that a merge has left unresolved; `None` if there is none.
    pub fn unmerged_base(&self, path: &str) -> Option<Vec<u8>> {
        let repository = self.repository().ok().flatten().filter(|it| has_conflict_file(it))?;
        let git = repository.git();
        let index = load_or_rebuild_index(&git).ok()?;
        let path = format!("{}{path}", repository.prefix);
        let is_base =
            |it: &&gix::index::Entry| it.stage() == Stage::Base && it.path(&index) == path.as_str();
        let id = index.entries().iter().find(is_base)?.id;
        Some(git.find_blob(id).ok()?.take_data())
    }
}

fn has_conflict_file(repository: &Repository) -> bool {
    CONFLICT_FILES.iter().any(|it| repository.git_dir.join(it).exists())
}

fn unmerged_finding(path: &str, [is_ours, is_theirs]: [bool; 2]) -> Diagnostic {
    let message = match (is_ours, is_theirs) {
        (true, true) => "an unresolved merge conflict: both sides changed the file",
        (true, false) => {
            "an unresolved merge conflict: our side changed the file, theirs deleted it"
        }
        (false, true) => {
            "an unresolved merge conflict: our side deleted the file, theirs changed it"
        }
        (false, false) => "an unresolved merge conflict: both sides deleted or moved the file",
    };
    let hint = match is_ours && is_theirs {
        true => "keep what is right, then `git add` it",
        false => "`git add` keeps it as it is now, `git rm` deletes it",
    };
    Diagnostic::for_file(Code::MergeConflict, path, message).with_hint(hint)
}

#[cfg(all(test, unix))]
mod tests {
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok, try_git};

    #[test]
    fn a_file_that_one_side_deleted_and_the_other_changed_is_reported() {
        const HALL: &str = "rooms/hall.yaml";
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        scene.git(&["checkout", "-qb", "other"]);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        scene.git(&["checkout", "-q", "main"]);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), None));
        assert_eq!(store.unmerged_file_findings(), []);
        assert!(!try_git(&scene.home, &["merge", "-q", "other"]).status.success());
        let findings = store.unmerged_file_findings();
        let lines: Vec<_> = findings.iter().map(ToString::to_string).collect();
        let line = "rooms/hall.yaml:1:1: error[merge-conflict]: an unresolved merge conflict: our \
                    side deleted the file, theirs changed it (`git add` keeps it as it is now, \
                    `git rm` deletes it)";
        assert_eq!(lines, [line]);
        scene.git(&["rm", "-q", "keep/rooms/hall.yaml"]);
        assert_eq!(store.unmerged_file_findings(), []);
    }
}
