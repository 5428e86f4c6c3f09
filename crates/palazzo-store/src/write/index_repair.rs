//! Repairs an index in which git has restored the old files of Palazzo's last commit.
//!
//! `git commit` reads the index before it takes the lock. If a change by Palazzo begins and ends
//! between the two, git writes the old index over the new one. That commit then fails because
//! `HEAD` has moved, but the user's next commit would revert the change. Everything else that is
//! staged is kept.

use crate::Error;
use crate::history::commits::HistoryReader;
use crate::repo::blob_entry::{BlobEntry, compute_blob_id};
use crate::repo::damage;
use crate::repo::line_endings::convert_to_git;
use crate::repo::palace_files;
use crate::repo::repository::Repository;
use crate::repo::tree_diff::{TreeChange, compare};
use crate::write::index::Staging;

/// Stages the changes of the last commit again, if Palazzo made it, for files whose index entry is
/// from before that commit while the disk has the committed content.
pub(crate) fn repair_index(
    repository: &Repository,
    staging: &mut Staging<'_>,
) -> Result<(), Error> {
    let failed = |err| repository.git_error("compare the index with the last commit", err);
    match restage_reverted_files(repository, staging).map_err(failed) {
        // Git has read the commit before, or it would have fetched it: no index of git is from then.
        Ok(()) | Err(Error::PartialClone { .. }) => Ok(()),
        // Writes need the last commit only, and the one before may be damaged.
        Err(_) => damage::check_head_commit(repository, repository.head()?),
    }
}

fn restage_reverted_files(repository: &Repository, staging: &mut Staging<'_>) -> gix::Result<()> {
    let past = HistoryReader::new(repository);
    let Some(head) = past.git.head()?.id().map(gix::Id::detach) else { return Ok(()) };
    let Some(step) = past.walk_first_parents(head)?.next().transpose()? else { return Ok(()) };
    let [parent] = step.parents[..] else { return Ok(()) };
    if past.read_commit_details(&step)?.trailer("Palazzo-Tool").is_none() {
        return Ok(());
    }
    let trees = (past.palace_tree(parent)?, past.palace_tree(head)?);
    let mut reverted = compare(&past.git, trees.0, trees.1)?;
    reverted.retain(|it| is_reverted(repository, &past.git, staging, it).unwrap_or(false));
    let tracked: Vec<_> =
        reverted.iter().map(|it| format!("{}{}", repository.prefix, it.path)).collect();
    let files = tracked.iter().zip(&reverted);
    staging.stage_files(
        files.map(|(path, it)| (path.as_str().into(), it.now.map(BlobEntry::from), None)),
    );
    Ok(())
}

fn is_reverted(
    repository: &Repository,
    git: &gix::Repository,
    staging: &Staging<'_>,
    changed: &TreeChange,
) -> gix::Result<bool> {
    let TreeChange { path, was, now, .. } = changed;
    let tracked = format!("{}{path}", repository.prefix);
    if staging.staged_id(&tracked) != was.map(|it| it.id) {
        return Ok(false);
    }
    let Ok(text) = palace_files::read_file(&repository.palace, path) else { return Ok(false) };
    let bytes =
        text.as_deref().map(|it| convert_to_git(git, staging.index(), &tracked, it)).transpose()?;
    let on_disk = bytes.map(|it| compute_blob_id(git, &it)).transpose()?;
    Ok(on_disk == now.map(|it| it.id))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::test_repository::{TestHome, change_of_files, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";
    const ATTIC: &str = "rooms/attic.yaml";

    #[test]
    fn a_damaged_commit_before_the_last_does_not_prevent_a_write() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        let tree = scene.git(&["rev-parse", "HEAD~1:keep"]);
        let (folder, name) = tree.trim().split_at(2);
        fs::remove_file(scene.home.join(".git/objects").join(folder).join(name)).unwrap();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, Some("2\n"), Some("3\n")));
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn an_index_overwritten_by_a_concurrent_commit_is_repaired() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(
            &mut store,
            &change_of_files(&[(HALL, None, Some("1\n")), (ATTIC, None, Some("1\n"))]),
        );
        scene.write_file("plans.md", "soon\n");
        scene.git(&["add", "plans.md"]);
        let index = scene.home.join(".git/index");
        let old = fs::read(&index).unwrap();
        commit_ok(
            &mut store,
            &change_of_files(&[(HALL, Some("1\n"), Some("2\n")), (ATTIC, Some("1\n"), None)]),
        );
        fs::write(&index, old).unwrap();
        commit_ok(&mut store, &change_of_one_file("rooms/cellar.yaml", None, Some("1\n")));
        assert_eq!(scene.status(), "A  plans.md\n");
        scene.git(&["commit", "-qm", "by hand"]);
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "2\n");
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_revert_staged_by_the_user_is_kept() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        scene.git(&["revert", "--no-commit", "HEAD"]);
        commit_ok(&mut store, &change_of_one_file(ATTIC, None, Some("1\n")));
        assert_eq!(scene.status(), "M  keep/rooms/hall.yaml\n");
    }
}
