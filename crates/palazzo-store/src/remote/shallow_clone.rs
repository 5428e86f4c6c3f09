//! The newest commit of a repository on another machine, from which palaces are read.
//!
//! Nothing is checked out. Files are read from git's objects, by the rules and limits for an old
//! commit: no link is followed, and no attribute or filter has an effect.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gix::ObjectId;
use tempfile::TempDir;

use palazzo_core::model::{CommitId, Diagnostic, Files, GitUrl, MAX_FILE_BYTES};

use crate::history::commits::parse_commit_id;
use crate::remote::git_process::GitProcess;
use crate::repo::paths;
use crate::repo::repository::Repository;
use crate::repo::tree_lookup::palaces_in_commit;
use crate::{Error, Store};

/// The time for the whole fetch.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// The maximum size in bytes of what is fetched.
const SIZE_LIMIT: u64 = 256 << 20;
/// The reference to the fetched commit.
const FETCHED_REF: &str = "refs/palazzo/fetched";

/// One commit of a repository, in a temporary folder that is removed with this value.
#[derive(Debug)]
pub struct ShallowClone {
    store: Store,
    commit: CommitId,
    /// Dropped after the store, because Windows deletes no files that are mapped into memory.
    folder: TempDir,
}

impl ShallowClone {
    /// Fetches `revision` of the repository at `url`: a branch, a tag or the full id of a commit;
    /// without one, what its `HEAD` points to.
    pub fn fetch(
        url: &GitUrl,
        revision: Option<&str>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("palazzo-fetch-").tempdir();
        let folder =
            folder.map_err(Error::for_file("create a folder in", &std::env::temp_dir()))?;
        let place = folder.path().to_owned();
        Repository::create(&place, &place, false)?;
        let operation = match revision {
            Some(revision) => format!("fetch `{revision}` of `{url}`"),
            None => format!("fetch `{url}`"),
        };
        let refspec = format!("{}:{FETCHED_REF}", revision.unwrap_or("HEAD"));
        // Files that are too large for a palace are not fetched, if the other side supports that.
        let filter = format!("--filter=blob:limit={}", MAX_FILE_BYTES + 1);
        let git = GitProcess::new(&place.join(".git"), operation, TIME_LIMIT).without_hooks();
        let git = if url.is_local() { git.with_local_repositories() } else { git };
        let git = git.with_size_limit(&place, SIZE_LIMIT).args([
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            &filter,
            "--",
            url.as_str(),
            &refspec,
        ]);
        git.run(is_cancelled)?;
        let store = Store::new(place.clone(), place);
        let commit = CommitId(find_fetched_commit(&store)?.to_string());
        Ok(Self { store, commit, folder })
    }

    /// Lists the palaces in `folder`, a path in the repository: the folder itself, or the folders
    /// in it.
    pub fn list_palaces(&self, folder: &str) -> Result<Vec<String>, Error> {
        if !folder.is_empty() {
            paths::check_path(folder)?;
        }
        let repository = self.store.require_repository()?;
        let found = parse_commit_id(&self.commit)
            .and_then(|it| palaces_in_commit(&repository.git(), it, folder));
        found.map_err(|err| repository.git_error("look for palaces", err))
    }

    /// Reads the files of the palace in `folder`; unreadable files are left out and reported as
    /// findings.
    pub fn read_palace(&self, folder: &str) -> Result<(Files, Vec<Diagnostic>), Error> {
        let home: PathBuf = self.folder.path().to_owned();
        let palace: &Path = Path::new(folder);
        let palace = if folder.is_empty() { home.clone() } else { home.join(palace) };
        let store = Store::new(palace, home).as_of(&self.commit)?;
        Ok(store.read_all_unless_on_disk()?.unwrap_or_default())
    }
}

fn find_fetched_commit(store: &Store) -> Result<ObjectId, Error> {
    let repository = store.require_repository()?;
    let find = || -> gix::Result<_> {
        let git = repository.git();
        let fetched = git.find_reference(FETCHED_REF)?.into_fully_peeled_id()?;
        Ok(fetched.object()?.peel_to_commit()?.id)
    };
    find().map_err(|err| repository.git_error("find the fetched commit", err))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, git_in};

    /// Returns a repository with palaces in `a` and `deep/b`, and its URL.
    fn repository_with_palaces() -> (TestHome, GitUrl) {
        let scene = TestHome::with_repository();
        for folder in ["a", "deep/b"] {
            scene.write_file(&format!("{folder}/palace.toml"), "name = \"T\"\n");
            scene.write_file(&format!("{folder}/rooms/hall.yaml"), "name: Hall\n");
        }
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "palaces"]);
        let url = format!("file://{}", scene.home.display()).parse().unwrap();
        (scene, url)
    }

    fn fetch(url: &GitUrl, revision: Option<&str>) -> Result<ShallowClone, Error> {
        ShallowClone::fetch(url, revision, &|| false)
    }

    #[test]
    fn a_branch_a_tag_and_a_commit_are_fetched() {
        let (scene, url) = repository_with_palaces();
        scene.git(&["tag", "-am", "first", "v1"]);
        let id = scene.git(&["rev-parse", "HEAD"]).trim().to_owned();
        scene.write_file("a/rooms/loft.yaml", "name: Loft\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "loft"]);
        for (revision, count) in
            [(None, 3), (Some("main"), 3), (Some("v1"), 2), (Some(id.as_str()), 2)]
        {
            let clone = fetch(&url, revision).unwrap();
            let (files, findings) = clone.read_palace("a").unwrap();
            assert_eq!((files.len(), findings), (count, Vec::new()), "{revision:?}");
        }
        let refused = fetch(&url, Some("nope")).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!("cannot fetch `nope` of `{url}`: `couldn't find remote ref nope`")
        );
    }

    #[test]
    fn palaces_are_listed_in_the_root_and_in_a_folder() {
        let (_scene, url) = repository_with_palaces();
        let clone = fetch(&url, None).unwrap();
        let list = |folder| clone.list_palaces(folder).unwrap();
        assert_eq!(list(""), ["a"]);
        assert_eq!(list("a"), ["a"]);
        assert_eq!(list("deep"), ["deep/b"]);
        assert_eq!(list("deep/b"), ["deep/b"]);
        assert_eq!(list("a/rooms"), Vec::<String>::new());
        assert_eq!(list("nowhere"), Vec::<String>::new());
        assert!(clone.list_palaces("../a").is_err());
        assert_eq!(clone.read_palace("deep/b").unwrap().0.len(), 2);
    }

    #[test]
    fn links_are_findings_and_nothing_is_checked_out() {
        let (scene, url) = repository_with_palaces();
        // The commit contains a link, also on systems where the working directory cannot.
        scene.write_file("a/rooms/link.yaml", "/etc/passwd");
        let link = scene.git(&["hash-object", "-w", "a/rooms/link.yaml"]);
        scene.write_file(".gitattributes", "*.yaml filter=touch\n");
        scene.git(&["add", "."]);
        let entry = format!("120000,{},a/rooms/link.yaml", link.trim());
        scene.git(&["update-index", "--add", "--cacheinfo", &entry]);
        scene.git(&["commit", "-qm", "link"]);
        let clone = fetch(&url, None).unwrap();
        let (files, findings) = clone.read_palace("a").unwrap();
        assert_eq!(files.len(), 2);
        assert_eq!(findings[0].file, "rooms/link.yaml");
        let folder = clone.folder.path().to_owned();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        drop(clone);
        assert!(!folder.exists());
    }

    #[test]
    fn large_files_elsewhere_are_not_fetched_from_a_repository_that_filters() {
        let (scene, url) = repository_with_palaces();
        scene.git(&["config", "uploadpack.allowFilter", "true"]);
        scene.write_file("film", &"x".repeat(MAX_FILE_BYTES + 1));
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "film"]);
        let clone = fetch(&url, None).unwrap();
        assert_eq!(clone.read_palace("a").unwrap().0.len(), 2);
        let objects = git_in(clone.folder.path(), &["count-objects", "-v"]);
        assert!(objects.contains("count:") || objects.contains("in-pack:"), "{objects}");
        let missing =
            git_in(clone.folder.path(), &["rev-list", "--objects", "--missing=print", FETCHED_REF]);
        assert_eq!(missing.lines().filter(|it| it.starts_with('?')).count(), 1, "{missing}");
    }
}
