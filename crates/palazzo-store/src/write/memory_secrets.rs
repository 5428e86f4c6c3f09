//! Keeps secrets of the host's memory out of commits.
//!
//! A host writes its memory without asking anybody, and nobody reads it before it is committed. So
//! no change records a file of the memory with a secret, unless that text is committed already.

use gix::ObjectId;

use palazzo_core::model::{FileEdit, has_secret_of_memory};

use crate::Error;
use crate::repo::repository::Repository;
use crate::repo::tree_lookup;

/// Fails if the commit of these edits on top of `head` would record a secret of the host's memory.
/// The text on disk before the change counts too: it is committed as a hand edit.
pub(crate) fn reject_secrets_of_memory(
    repository: &Repository,
    head: Option<ObjectId>,
    edits: &[&FileEdit],
) -> Result<(), Error> {
    for edit in edits {
        let texts = [&edit.was, &edit.now].into_iter().flatten();
        for text in texts.filter(|it| has_secret_of_memory(&edit.path, it)) {
            let is_committed = is_committed(repository, head, &edit.path, text);
            if !is_committed.map_err(|err| repository.git_error("read the last commit", err))? {
                return Err(Error::SecretInMemory { path: edit.path.clone() });
            }
        }
    }
    Ok(())
}

fn is_committed(
    repository: &Repository,
    head: Option<ObjectId>,
    path: &str,
    text: &str,
) -> gix::Result<bool> {
    let git = repository.git();
    let tree = tree_lookup::tree_of_commit(&git, head)?;
    let path = format!("{}{path}", repository.prefix);
    let committed = tree_lookup::find_blob_entry(&git, tree, &path)?;
    let id = tree_lookup::compute_blob_id(&git, text.as_bytes())?;
    Ok(committed.is_some_and(|it| it.id == id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};
    use palazzo_core::model::Changeset;

    const MEMORY: &str = "drawers/claude/memory/login.md";

    fn secret() -> String {
        format!("export DB_PASSWORD={}\n", "Tr0ub4dor-and-3")
    }

    #[test]
    fn a_change_of_the_memory_records_no_secret_that_is_on_disk() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let secret = secret();
        scene.write_file("keep/drawers/claude/memory/login.md", &secret);
        for (now, commit) in [(Some("x\n"), true), (None, true), (Some("x\n"), false)] {
            let change = Changeset { commit, ..change_of_one_file(MEMORY, Some(&secret), now) };
            let refused = store.commit(&change).unwrap_err();
            assert!(matches!(refused, Error::SecretInMemory { .. }), "{refused}");
        }
        let written = change_of_one_file(MEMORY, Some(&secret), Some(&secret));
        assert!(store.commit_written_files(&written).is_err());
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "by hand"]);
        commit_ok(&mut store, &change_of_one_file(MEMORY, Some(&secret), Some("x\n")));
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_staged_secret_of_the_memory_is_not_committed() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        scene.write_file("keep/drawers/claude/memory/login.md", &secret());
        scene.git(&["add", "."]);
        scene.write_file("keep/drawers/claude/memory/login.md", "x\n");
        commit_ok(&mut store, &change_of_one_file(MEMORY, Some("x\n"), Some("y\n")));
        assert!(!scene.git(&["log", "-p"]).contains("Tr0ub4dor"));
    }

    #[test]
    fn files_that_the_author_has_written_are_committed_as_they_are() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let place = scene.home.join("keep/drawers/claude/memory/login.md");
        scene.write_file("keep/drawers/claude/memory/login.md", "By card.\r\n");
        let before = std::fs::metadata(&place).unwrap().modified().unwrap();
        let found = change_of_one_file(MEMORY, Some("By card.\r\n"), Some("By card.\r\n"));
        store.commit_written_files(&found).unwrap();
        assert_eq!(std::fs::metadata(&place).unwrap().modified().unwrap(), before);
        assert_eq!(
            scene.git(&["log", "-1", "--format=%an: %s"]),
            "Claude Desktop: room hall: build\n"
        );
        assert_eq!(scene.status(), "");
        std::fs::remove_file(&place).unwrap();
        store.commit_written_files(&change_of_one_file(MEMORY, None, None)).unwrap();
        assert_eq!(scene.status(), "");
        assert!(place.parent().unwrap().is_dir());
        assert_eq!(scene.git(&["ls-tree", "-r", "--name-only", "HEAD", "keep"]), "");
        scene.assert_fsck_clean();
    }
}
