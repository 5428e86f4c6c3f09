//! Saves uncommitted files that a tool is about to overwrite when the user makes the commits.
//!
//! They are saved on Palazzo's own reference, which neither a branch nor `git status` shows.

use gix::objs::tree::EntryKind;

use palazzo_core::model::{Changeset, FileEdit};

use crate::Error;
use crate::repo::fsync;
use crate::repo::git_attributes;
use crate::repo::index_file::load_or_rebuild_index;
use crate::repo::line_endings::convert_to_git;
use crate::repo::references;
use crate::repo::repository::Repository;
use crate::repo::tree_lookup::{self, BlobEntry};
use crate::write::commit::{CommitDraft, GitIdentity};
use crate::write::commit_steps::reject_outside_sparse_checkout;
use crate::write::objects::ObjectWriter;
use crate::write::refs::point_ref;
use crate::write::write_guard::WriteGuard;

/// The reference of the saved files.
const OVERWRITTEN_REF: &str = "refs/palazzo/overwritten";

/// Saves those files of `edits` whose content is neither in `HEAD` nor in the index. The files must
/// have the expected content; one that is excluded by a sparse checkout is an error.
pub(crate) fn save_overwritten(
    repository: &Repository,
    change: &Changeset,
    edits: &[&FileEdit],
    guard: &WriteGuard,
) -> Result<(), Error> {
    let git = repository.git();
    let failed = |err| repository.git_error("save overwritten files", err);
    let index = load_or_rebuild_index(&git).map_err(failed)?;
    reject_outside_sparse_checkout(repository, &index, edits)?;
    let mut writer = ObjectWriter::new(repository, &git);
    let files = write_unsaved_blobs(repository, &mut writer, &index, edits).map_err(failed)?;
    if files.is_empty() {
        return Ok(());
    }
    let draft = overwritten_draft(repository, &git, change, files);
    let tip = references::find_ref(repository, OVERWRITTEN_REF)?;
    // `None`: the same content was saved last.
    let Some(new) = draft.write_trees_and_commit(&mut writer, None, tip).map_err(failed)? else {
        return Ok(());
    };
    let common_dir = repository.common_dir.as_path();
    writer.publish(common_dir, Vec::new())?;
    point_ref(repository, guard, OVERWRITTEN_REF, new)?;
    writer.restore_missing().map_err(failed)?;
    fsync::sync_file_systems_or_files(&[common_dir], || vec![common_dir.join(OVERWRITTEN_REF)])
}

/// Lists the files of which git has no copy, by their paths in the repository.
fn write_unsaved_blobs(
    repository: &Repository,
    writer: &mut ObjectWriter<'_>,
    index: &gix::index::State,
    edits: &[&FileEdit],
) -> gix::Result<Vec<(String, Option<BlobEntry>)>> {
    let git = writer.git();
    let tree = tree_lookup::tree_of_commit(git, crate::repo::repository::read_head(git)?)?;
    let mut files = Vec::new();
    for edit in edits {
        let Some(text) = &edit.was else { continue };
        let path = format!("{}{}", repository.prefix, edit.path);
        // A file with a filter may be a secret, which must not get into git unencrypted.
        if git_attributes::converting_attribute(git, index, &path)?.is_some() {
            continue;
        }
        let bytes = convert_to_git(git, index, &path, text)?;
        let id = tree_lookup::compute_blob_id(git, &bytes)?;
        let in_head = tree_lookup::find_blob_entry(git, tree, &path)?.map(|it| it.id);
        let staged = index.entry_by_path(path.as_str().into()).map(|it| it.id);
        if in_head != Some(id) && staged != Some(id) {
            let id = writer.write_blob(&bytes)?;
            files.push((path, Some(BlobEntry { kind: EntryKind::Blob, id })));
        }
    }
    Ok(files)
}

fn overwritten_draft(
    repository: &Repository,
    git: &gix::Repository,
    change: &Changeset,
    files: Vec<(String, Option<BlobEntry>)>,
) -> CommitDraft {
    let what = match files.as_slice() {
        [(path, _)] => path.strip_prefix(&repository.prefix).unwrap_or(path).to_owned(),
        files => format!("{} files", files.len()),
    };
    CommitDraft {
        files,
        author: GitIdentity::for_hand_edit(git),
        committer: GitIdentity::for_committer(git),
        seconds: change.at.timestamp(),
        message: format!("overwritten: {what}\n\nBefore: {}\n", change.subject.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok, try_git};

    const HALL: &str = "rooms/hall.yaml";

    fn uncommitted_change(was: Option<&str>, now: Option<&str>) -> Changeset {
        Changeset { commit: false, ..change_of_one_file(HALL, was, now) }
    }

    #[test]
    fn an_overwritten_uncommitted_edit_is_kept_on_a_hidden_reference() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let head = store.head().unwrap();
        scene.write_file("keep/rooms/hall.yaml", "by hand\n");
        assert_eq!(
            commit_ok(&mut store, &uncommitted_change(Some("by hand\n"), Some("2\n"))),
            None
        );
        commit_ok(&mut store, &uncommitted_change(Some("2\n"), None));
        assert_eq!(store.head().unwrap(), head);
        assert_eq!(scene.status(), " D keep/rooms/hall.yaml\n");
        assert_eq!(
            scene.git(&["log", "--format=%an: %s", OVERWRITTEN_REF]),
            "Ada: overwritten: rooms/hall.yaml\nAda: overwritten: rooms/hall.yaml\n"
        );
        let saved =
            |at: &str| scene.git(&["show", &format!("{OVERWRITTEN_REF}{at}:keep/rooms/hall.yaml")]);
        assert_eq!((saved("~1"), saved("")), ("by hand\n".to_owned(), "2\n".to_owned()));
        scene.assert_fsck_clean();
    }

    #[test]
    fn content_that_git_already_has_is_not_kept_again() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        commit_ok(&mut store, &uncommitted_change(Some("1\n"), Some("2\n")));
        scene.git(&["add", "keep"]);
        commit_ok(&mut store, &uncommitted_change(Some("2\n"), Some("3\n")));
        assert!(
            !try_git(&scene.home, &["rev-parse", "--verify", OVERWRITTEN_REF]).status.success()
        );
        assert_eq!(scene.status(), "MM keep/rooms/hall.yaml\n");
    }

    #[test]
    fn content_behind_a_git_filter_is_not_kept_in_plain_text() {
        let scene = TestHome::with_repository();
        scene.write_file(".gitattributes", "*.yaml filter=git-crypt\n");
        scene.write_file("keep/rooms/hall.yaml", "secret\n");
        commit_ok(&mut scene.palace("keep"), &uncommitted_change(Some("secret\n"), Some("2\n")));
        assert!(
            !try_git(&scene.home, &["rev-parse", "--verify", OVERWRITTEN_REF]).status.success()
        );
        scene.assert_fsck_clean();
    }
}
