//! Lists the versions of the files in a folder, in the order in which they came into the palace.

use gix::ObjectId;

use palazzo_core::model::CommitId;

use crate::history::commits::{self, CommitNode, HistoryReader};
use crate::history::past_files;
use crate::history::path_history::PathLookup;
use crate::repo::tree_diff;
use crate::{Error, Store};

impl Store {
    /// Returns the texts of the files that each commit added to `folder`, which ends with a slash, or
    /// changed there. The commits are `newest`, its first parent, the first parent of that and so on,
    /// the oldest first: what a merge brings came with the merge.
    ///
    /// With `known`, only the commits after that one; `None`: it is not among them.
    pub fn file_versions(
        &self,
        folder: &str,
        newest: &CommitId,
        known: Option<&CommitId>,
    ) -> Result<Option<Vec<Vec<String>>>, Error> {
        let repository = self.require_repository()?;
        repository.read_history("read the history", |history| {
            let newest = commits::parse_commit_id(newest)?;
            let known = known.map(commits::parse_commit_id).transpose()?;
            let after = commits_after(history, newest, known)?;
            after.map(|it| read_versions(history, folder, &it)).transpose()
        })
    }
}

/// Returns the commits after `known` along the first parents up to `newest`, the newest first;
/// `None`: `known` is not among them.
fn commits_after(
    history: &HistoryReader<'_>,
    newest: ObjectId,
    known: Option<ObjectId>,
) -> gix::Result<Option<Vec<CommitNode>>> {
    let mut commits = Vec::new();
    for commit in history.walk_first_parents(newest)? {
        let commit = commit?;
        if Some(commit.id) == known {
            return Ok(Some(commits));
        }
        commits.push(commit);
    }
    Ok(known.is_none().then_some(commits))
}

fn read_versions(
    history: &HistoryReader<'_>,
    folder: &str,
    commits: &[CommitNode],
) -> gix::Result<Vec<Vec<String>>> {
    let mut lookup = PathLookup::for_file(history, folder);
    let mut find = |commit| lookup.find_in_tree(history.root_tree(commit)?);
    let parent = commits.last().and_then(|it| it.parents.first().copied());
    let mut before = parent.map(&mut find).transpose()?.flatten();
    let mut versions = Vec::new();
    for commit in commits.iter().rev() {
        let after = find(commit.id)?;
        let mut texts = Vec::new();
        for change in tree_diff::compare(&history.git, before, after)? {
            let Some(now) = change.now else { continue };
            let text = past_files::read_text_blob(history, &change.path, now.mode, now.id)?;
            texts.extend(text.ok());
        }
        if !texts.is_empty() {
            versions.push(texts);
        }
        before = after;
    }
    Ok(versions)
}

#[cfg(test)]
mod tests {
    use crate::test_repository::TestHome;
    use palazzo_core::model::CommitId;

    #[test]
    fn what_a_merge_brings_came_with_the_merge() {
        let scene = TestHome::with_repository();
        let commit = |name: &str| {
            scene.write_file(&format!("keep/rooms/{name}.yaml"), name);
            scene.git(&["add", "keep"]);
            scene.git(&["commit", "-qm", name]);
        };
        let head = || CommitId(scene.git(&["rev-parse", "HEAD"]).trim().to_owned());
        commit("zebra");
        let fork = head();
        scene.git(&["checkout", "-qb", "other"]);
        commit("older");
        scene.git(&["checkout", "-q", "-"]);
        commit("newer");
        let known = head();
        scene.git(&["merge", "-q", "--no-edit", "other"]);
        commit("last");
        let versions = |known: Option<&CommitId>| {
            let versions = scene.palace("keep").file_versions("rooms/", &head(), known).unwrap();
            versions.map(|it| it.concat())
        };
        assert_eq!(versions(None).unwrap(), ["zebra", "newer", "older", "last"]);
        assert_eq!(versions(Some(&known)).unwrap(), ["older", "last"]);
        assert_eq!(versions(Some(&head())).unwrap(), [""; 0]);
        assert_eq!(versions(Some(&fork)).unwrap(), ["newer", "older", "last"]);
        scene.git(&["checkout", "-q", "other"]);
        assert_eq!(versions(Some(&known)), None);
    }
}
