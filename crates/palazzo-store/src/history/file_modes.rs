//! Reads the modes of files in commits.

use std::collections::BTreeMap;

use gix::objs::tree::EntryKind;

use palazzo_core::model::CommitId;

use crate::history::commits;
use crate::repo::blob_entry::{find_blob_entry, tree_of_commit};
use crate::{Error, Store};

impl Store {
    /// Returns whether files are executable, by path, in the first of `commits` that has them.
    pub fn executable_files<'c>(
        &self,
        commits: impl Iterator<Item = &'c CommitId>,
        paths: &[&str],
    ) -> Result<BTreeMap<String, bool>, Error> {
        let mut found = BTreeMap::new();
        if paths.is_empty() {
            return Ok(found);
        }
        let repository = self.require_repository()?;
        let git = repository.git();
        let mut read = |commit| -> gix::Result<()> {
            let tree = tree_of_commit(&git, Some(commits::parse_commit_id(commit)?))?;
            for &path in paths {
                let tracked = format!("{}{path}", repository.prefix);
                if let Some(entry) = find_blob_entry(&git, tree, &tracked)? {
                    let is_executable = entry.kind == EntryKind::BlobExecutable;
                    found.entry(path.to_owned()).or_insert(is_executable);
                }
            }
            Ok(())
        };
        for commit in commits {
            read(commit).map_err(|err| repository.git_error("read the modes of files", err))?;
        }
        Ok(found)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use crate::test_repository::{TestHome, change_of_files, change_of_one_file, commit_ok};
    use palazzo_core::model::{Changeset, CommitId};

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn moved_and_restored_files_keep_their_modes() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let mode = |path: &str| {
            fs::metadata(scene.home.join("keep").join(path)).unwrap().permissions().mode() & 0o777
        };
        let listed =
            || scene.git(&["ls-tree", "-r", "--format=%(objectmode) %(path)", "HEAD", "keep"]);
        let place = scene.home.join("keep").join(HALL);
        fs::set_permissions(place, fs::Permissions::from_mode(0o700)).unwrap();
        scene.git(&["commit", "-qam", "executable"]);
        let before = CommitId(scene.git(&["rev-parse", "HEAD"]).trim().to_owned());

        let den = "rooms/den.yaml";
        let moved = [(HALL, Some("1\n"), None), (den, None, Some("2\n"))];
        commit_ok(&mut store, &change_of_files(&moved));
        assert_eq!((listed().as_str(), mode(den)), ("100755 keep/rooms/den.yaml\n", 0o700));
        commit_ok(&mut store, &change_of_one_file(den, Some("2\n"), None));

        let executable = store.executable_files([&before].into_iter(), &[HALL, den]).unwrap();
        assert_eq!(executable.clone().into_iter().collect::<Vec<_>>(), [(HALL.to_owned(), true)]);
        let again = change_of_one_file(HALL, None, Some("1\n"));
        commit_ok(&mut store, &Changeset { executable, ..again });
        assert_eq!(listed(), "100755 keep/rooms/hall.yaml\n");
        assert_eq!(mode(HALL) & 0o100, 0o100);
        assert_eq!(scene.status(), "");
    }
}
