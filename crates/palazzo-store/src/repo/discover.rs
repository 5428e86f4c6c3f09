//! Finds the repository that a palace belongs to.

use std::path::Path;

use crate::Error;
use crate::repo::consents::ConsentStore;
use crate::repo::index_file;
use crate::repo::repository::Repository;
use crate::repo::{git_files, regular_file};

/// Finds the repository that contains `palace`; `None`: there is none, or it ignores the palace.
pub(crate) fn find_repository(
    palace: &Path,
    consents: &ConsentStore,
    isolated: bool,
) -> Result<Option<Repository>, Error> {
    let Some(found) = Repository::find(palace, consents, isolated)? else { return Ok(None) };
    Ok(if ignores_palace(&found)? { None } else { Some(found) })
}

/// Returns true if `.gitignore` excludes the palace and none of its files are in the index.
fn ignores_palace(repository: &Repository) -> Result<bool, Error> {
    if repository.prefix.is_empty() {
        return Ok(false);
    }
    let git = repository.git();
    git_files::check_gitignores(&repository.work, &repository.prefix)?;
    if let Ok(Some(file)) = git.config_snapshot().trusted_path("core.excludesFile") {
        regular_file::check_link_target(&file)?;
    }
    let ignored = || -> gix::Result<bool> {
        let index = index_file::load_or_rebuild_index(&git)?;
        let source = gix::worktree::stack::state::ignore::Source::WorktreeThenIdMappingIfNotSkipped;
        let mut excludes = git.excludes(&index, None, source)?;
        let folder = repository.prefix.trim_end_matches('/');
        let is_ignored =
            excludes.at_path(folder, Some(gix::index::entry::Mode::DIR))?.is_excluded();
        Ok(is_ignored && index.prefixed_entries(repository.prefix.as_str().into()).is_none())
    };
    ignored().map_err(|err| repository.git_error("read what is ignored", err))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok, git_in};

    const HALL: &str = "rooms/hall.yaml";

    /// Returns the folder of the repository of `palace`, and the palace's path in it; both begin at
    /// the folder above the home.
    fn repository_of(scene: &TestHome, palace: &str) -> Option<[String; 2]> {
        let palace = scene.home.join(palace);
        let found = find_repository(&palace, &ConsentStore::default(), true).unwrap()?;
        let work = found.work.strip_prefix(scene.home.parent().unwrap()).unwrap();
        Some([work.display().to_string(), found.prefix.clone()])
    }

    fn place(work: &str, prefix: &str) -> [String; 2] {
        [work, prefix].map(str::to_owned)
    }

    #[test]
    fn a_palace_belongs_to_the_nearest_repository() {
        let scene = TestHome::with_repository();
        assert_eq!(repository_of(&scene, ""), Some(place("home", "")));
        assert_eq!(repository_of(&scene, "docs/keep"), Some(place("home", "docs/keep/")));
        git_in(&scene.home, &["init", "-q", "project"]);
        assert_eq!(repository_of(&scene, "project/keep"), Some(place("home/project", "keep/")));
        git_in(&scene.home, &["init", "-q", "project/keep"]);
        assert_eq!(repository_of(&scene, "project/keep"), Some(place("home/project/keep", "")));
        assert_eq!(repository_of(&TestHome::new(), "keep"), None);
    }

    #[test]
    fn a_linked_worktree_and_a_submodule_are_repositories_of_their_own() {
        let scene = TestHome::with_repository();
        scene.git(&["worktree", "add", "-q", "../tree"]);
        let url = scene.home.display().to_string();
        let file = "protocol.file.allow=always";
        scene.git(&["-c", file, "submodule", "--quiet", "add", &url, "module"]);
        assert_eq!(repository_of(&scene, "../tree/keep"), Some(place("tree", "keep/")));
        assert_eq!(repository_of(&scene, "module/keep"), Some(place("home/module", "keep/")));
        scene.git(&["commit", "-qm", "module"]);
        commit_ok(&mut scene.palace("module/keep"), &change_of_one_file(HALL, None, Some("x\n")));
        // The repository around the submodule sees a new commit, which its owner adds.
        assert_eq!(scene.status(), " M module\n");
        assert_eq!(scene.log(), "Ada: module\nAda: begin\n");
    }

    #[test]
    fn a_repository_inside_a_palace_is_not_used() {
        let scene = TestHome::with_repository();
        git_in(&scene.home, &["init", "-q", "keep/rooms/wing"]);
        assert_eq!(repository_of(&scene, "keep"), Some(place("home", "keep/")));
        let change = change_of_one_file("rooms/wing/hall.yaml", None, Some("x\n"));
        commit_ok(&mut scene.palace("keep"), &change);
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/wing/hall.yaml"]), "x\n");
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_repository_that_ignores_the_home_is_not_used() {
        let scene = TestHome::with_repository();
        scene.write_file(".gitignore", "/homes\n");
        assert_eq!(repository_of(&scene, "homes/keep"), None);
        // What is in the index is not ignored.
        scene.write_file("homes/keep/palace.toml", "");
        scene.git(&["add", "-f", "homes/keep"]);
        assert_eq!(repository_of(&scene, "homes/keep"), Some(place("home", "homes/keep/")));
        assert_eq!(repository_of(&scene, "homes/other"), None);
    }
}
