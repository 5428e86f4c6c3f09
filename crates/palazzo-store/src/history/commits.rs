//! Reads the commits of a repository from the point of view of one palace.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::commit::MessageRef;
use gix::objs::commit::message::BodyRef;
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;

use palazzo_core::model::{Author, CommitDetails, CommitId, CommitSummary};

use crate::Error;
use crate::repo::note_folders::{LocatedNoteFolder, LocatedNoteFolders};
use crate::repo::repository::Repository;
use crate::repo::tree_diff;
use crate::repo::tree_diff::TreeChange;
use crate::repo::tree_lookup::find_folder;

/// The size of the object cache in bytes: consecutive commits share most of their trees.
const OBJECT_CACHE_BYTES: usize = 8 * 1024 * 1024;

/// The last second of the year 9999.
pub(crate) const LAST_SECOND: i64 = 253_402_300_799;

/// The maximum number of bytes that are read of a commit's message, at its begin for the text, and
/// at its end for the trailers.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// Reads the commits of a repository from the point of view of one palace.
pub(crate) struct HistoryReader<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) git: gix::Repository,
    pub(crate) note_folders: Arc<LocatedNoteFolders>,
    /// Git's commit graph, which avoids reading the commits themselves.
    commit_graph: Option<gix::commitgraph::Graph>,
}

/// The trees in a commit that contain the files of the palace and the notes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PalaceTrees {
    /// The tree of the palace; `None`: the commit has none.
    pub(crate) palace: Option<ObjectId>,
    /// The trees of the folders of notes outside it, in the order of the settings.
    note_folders: Vec<Option<ObjectId>>,
}

/// A commit in a history walk.
#[derive(Clone, Debug)]
pub(crate) struct CommitNode {
    pub(crate) id: ObjectId,
    /// The parents; empty at the boundary of a shallow clone.
    pub(crate) parents: Vec<ObjectId>,
    /// The commit time in seconds since 1970.
    pub(crate) seconds: i64,
}

impl<'a> HistoryReader<'a> {
    pub(crate) fn new(repository: &'a Repository) -> Self {
        let mut git = repository.git();
        git.object_cache_size_if_unset(OBJECT_CACHE_BYTES);
        // In a shallow clone the commit graph may contain more commits than the clone has.
        let is_shallow = git.is_shallow().unwrap_or(true);
        let graph = if is_shallow { None } else { git.commit_graph_if_enabled().ok().flatten() };
        Self { repository, git, note_folders: repository.note_folders(), commit_graph: graph }
    }

    /// Iterates over `from` and their ancestors, newest first, without `known` and their ancestors.
    pub(crate) fn walk_commits(
        &self,
        from: impl IntoIterator<Item = ObjectId>,
        known: impl IntoIterator<Item = ObjectId>,
    ) -> gix::Result<impl Iterator<Item = gix::Result<CommitNode>>> {
        self.run_walk(self.git.rev_walk(from).with_hidden(known))
    }

    /// Iterates over `from`, its first parent, the first parent of that, and so on.
    pub(crate) fn walk_first_parents(
        &self,
        from: ObjectId,
    ) -> gix::Result<impl Iterator<Item = gix::Result<CommitNode>>> {
        self.run_walk(self.git.rev_walk([from]).first_parent_only())
    }

    /// Returns a commit with its parents and its time.
    pub(crate) fn read_commit_node(&self, id: ObjectId) -> gix::Result<CommitNode> {
        let cut = self.git.shallow_commits()?;
        let is_cut = cut.as_ref().is_some_and(|it| it.contains(&id));
        let commit = self.git.find_commit(id)?;
        let parents = commit.parent_ids().map(gix::Id::detach).filter(|_| !is_cut).collect();
        Ok(CommitNode { id, parents, seconds: commit.time()?.seconds })
    }

    /// Returns true if `old` is an ancestor of `head`.
    pub(crate) fn is_ancestor(&self, old: ObjectId, head: ObjectId) -> bool {
        // A missing commit, or one without a common ancestor, is none.
        self.git.merge_base(old, head).is_ok_and(|base| base.is_some_and(|it| it == old))
    }

    /// Returns the root tree of a commit.
    pub(crate) fn root_tree(&self, commit: ObjectId) -> gix::Result<ObjectId> {
        match self.find_in_commit_graph(commit) {
            Some(known) => Ok(known.root_tree_id().to_owned()),
            None => Ok(self.git.find_commit(commit)?.tree_id()?.detach()),
        }
    }

    /// Returns the trees in a commit that contain the files of the palace and the notes.
    pub(crate) fn palace_trees(&self, commit: ObjectId) -> gix::Result<PalaceTrees> {
        let root = self.root_tree(commit)?;
        let folder = |path: &str| find_folder(&self.git, root, path);
        let notes = self.note_folders.outside_palace().map(|it| folder(&it.path_in_repository));
        let note_folders = notes.collect::<gix::Result<_>>()?;
        Ok(PalaceTrees { palace: folder(&self.repository.prefix)?, note_folders })
    }

    /// Returns the palace's tree in a commit; `None`: the commit has no palace.
    pub(crate) fn palace_tree(&self, commit: ObjectId) -> gix::Result<Option<ObjectId>> {
        find_folder(&self.git, self.root_tree(commit)?, &self.repository.prefix)
    }

    /// Lists the paths in which a commit differs from all of its parents. A merge has also changed those
    /// where it took the older version of two.
    pub(crate) fn paths_changed_by(
        &self,
        commit: ObjectId,
        parents: &[ObjectId],
    ) -> gix::Result<BTreeSet<String>> {
        let mut paths = self.paths_unlike_parents(commit, parents)?;
        if let [one, other] = *parents {
            paths.extend(self.paths_put_back(commit, [one, other])?);
        }
        Ok(paths)
    }

    /// Lists the paths of which a merge has the version of a parent, although that one had not changed it
    /// since the parents parted, and the other one had. Those that change a file that way can be told from
    /// those that merge only with the common ancestors.
    pub(crate) fn paths_put_back(
        &self,
        merge: ObjectId,
        parents: [ObjectId; 2],
    ) -> gix::Result<BTreeSet<String>> {
        let here = self.palace_trees(merge)?;
        let trees = [self.palace_trees(parents[0])?, self.palace_trees(parents[1])?];
        if trees[0] == trees[1] {
            return Ok(BTreeSet::new());
        }
        let [ours, theirs] = &trees;
        let unlike = [
            self.paths_changed_between_trees(ours, &here)?,
            self.paths_changed_between_trees(theirs, &here)?,
        ];
        let mut put_back = BTreeSet::new();
        // A path that is unlike one parent only has the version of the other one.
        for (side, tree) in [(0, theirs), (1, ours)] {
            put_back
                .extend(unlike[side].difference(&unlike[1 - side]).map(|it| (it.clone(), tree)));
        }
        if put_back.is_empty() {
            return Ok(BTreeSet::new());
        }
        let bases = self.git.merge_bases_many(parents[0], &[parents[1]])?;
        let mut changed = BTreeSet::new();
        for base in &bases {
            let base = self.palace_trees(base.detach())?;
            for tree in &trees {
                let paths = self.paths_changed_between_trees(&base, tree)?;
                changed.extend(paths.into_iter().map(|it| (it, tree)));
            }
        }
        let has_base = !bases.is_empty();
        let put_back = put_back.into_iter().filter(|it| has_base && !changed.contains(it));
        Ok(put_back.map(|(path, _)| path).collect())
    }

    /// Lists the paths in which a commit differs from all of its parents.
    pub(crate) fn paths_unlike_parents(
        &self,
        commit: ObjectId,
        parents: &[ObjectId],
    ) -> gix::Result<BTreeSet<String>> {
        let here = self.palace_trees(commit)?;
        let Some((first, others)) = parents.split_first() else {
            return self.paths_changed_between_trees(&PalaceTrees::default(), &here);
        };
        let mut paths = self.paths_changed_between_trees(&self.palace_trees(*first)?, &here)?;
        for other in others {
            if paths.is_empty() {
                break;
            }
            let also = self.paths_changed_between_trees(&self.palace_trees(*other)?, &here)?;
            paths.retain(|path| also.contains(path));
        }
        Ok(paths)
    }

    /// Lists the paths of the files that differ between two versions of the palace.
    pub(crate) fn paths_changed_between_trees(
        &self,
        old: &PalaceTrees,
        new: &PalaceTrees,
    ) -> gix::Result<BTreeSet<String>> {
        Ok(self.compare_palace_trees(old, new)?.into_iter().map(|it| it.path).collect())
    }

    /// Compares two versions of the palace, file by file; of the folders outside it only the notes.
    pub(crate) fn compare_palace_trees(
        &self,
        old: &PalaceTrees,
        new: &PalaceTrees,
    ) -> gix::Result<Vec<TreeChange>> {
        let mut changes = tree_diff::compare(&self.git, old.palace, new.palace)?;
        for (at, folder) in self.note_folders.outside_palace().enumerate() {
            let [was, now] = [old, new].map(|it| it.note_folders.get(at).copied().flatten());
            for change in tree_diff::compare(&self.git, was, now)? {
                let path = folder.path_from_palace(&change.path);
                let is_note = self.note_folders.is_note_of(folder, &path);
                if is_note && !self.is_in_palace(folder, &change) {
                    changes.push(TreeChange { path, ..change });
                }
            }
        }
        Ok(changes)
    }

    /// Returns whether a change in a folder around the palace is one of the palace.
    fn is_in_palace(&self, folder: &LocatedNoteFolder, change: &TreeChange) -> bool {
        let path = match folder.path_in_repository.as_str() {
            "" => change.path.clone(),
            around => format!("{around}/{}", change.path),
        };
        path.starts_with(&self.repository.prefix)
    }

    /// Returns a commit's id, subject, author and time.
    pub(crate) fn read_commit_summary(&self, commit: ObjectId) -> gix::Result<CommitSummary> {
        let found = self.git.find_commit(commit)?;
        Ok(CommitSummary {
            id: CommitId(commit.to_string()),
            short: found.id().shorten_or_id().to_string(),
            subject: message_begin(&found)?.summary().to_str_lossy().into_owned(),
            by: found.author()?.name.to_str_lossy().into_owned(),
            at: utc_time(found.time()?.seconds),
        })
    }

    /// Returns a commit with its trailers and the palace files that it changed.
    pub(crate) fn read_commit_details(&self, step: &CommitNode) -> gix::Result<CommitDetails> {
        let found = self.git.find_commit(step.id)?;
        let message = message_begin(&found)?;
        let text = |it: &[u8]| it.to_str_lossy().into_owned();
        let trailers = message_end(&found)?.trailers();
        let trailers = trailers.map(|it| (text(it.token), text(&it.value)));
        Ok(CommitDetails {
            summary: self.read_commit_summary(step.id)?,
            body: message.body.unwrap_or_default().to_str_lossy().into_owned(),
            parent: step.parents.first().map(|it| CommitId(it.to_string())),
            is_merge: step.parents.len() > 1,
            trailers: trailers.collect(),
            changed_files: self.paths_changed_by(step.id, &step.parents)?.into_iter().collect(),
            is_by_client: Author::is_client_email(&found.author()?.email.to_str_lossy()),
            path_at_commit: None,
        })
    }

    fn commit_time(&self, commit: ObjectId) -> gix::Result<i64> {
        let known =
            self.find_in_commit_graph(commit).map(|it| it.committer_timestamp().cast_signed());
        known.map_or_else(|| Ok(self.git.find_commit(commit)?.time()?.seconds), Ok)
    }

    fn find_in_commit_graph(&self, commit: ObjectId) -> Option<gix::commitgraph::file::Commit<'_>> {
        self.commit_graph.as_ref()?.commit_by_id(commit)
    }

    fn run_walk<'r>(
        &'r self,
        walk: gix::revision::walk::Platform<'r>,
    ) -> gix::Result<impl Iterator<Item = gix::Result<CommitNode>>> {
        let cut = self.git.shallow_commits()?;
        let newest = Sorting::ByCommitTime(CommitTimeOrder::NewestFirst);
        let walk = walk.sorting(newest).use_commit_graph(self.commit_graph.is_some()).all()?;
        Ok(walk.map(move |info| {
            let info = info?;
            let is_cut = cut.as_ref().is_some_and(|it| it.contains(&info.id));
            let parents = if is_cut { Vec::new() } else { info.parent_ids.to_vec() };
            // For first-parent walks gix leaves the time out.
            let at = info.commit_time.map_or_else(|| self.commit_time(info.id), Ok)?;
            Ok(CommitNode { id: info.id, parents, seconds: at })
        }))
    }
}

impl Repository {
    /// Reads the history by `read`, whose errors are those of the operation.
    pub(crate) fn read_history<T>(
        &self,
        operation: &'static str,
        read: impl FnOnce(&HistoryReader<'_>) -> gix::Result<T>,
    ) -> Result<T, Error> {
        read(&HistoryReader::new(self)).map_err(|err| self.git_error(operation, err))
    }
}

/// Returns the message of a commit, of a long one its begin: some repositories have messages of
/// hundreds of megabytes.
fn message_begin<'c>(commit: &'c gix::Commit<'_>) -> gix::Result<MessageRef<'c>> {
    let raw = commit.message_raw()?;
    Ok(MessageRef::from_bytes(&raw[..raw.len().min(MAX_MESSAGE_BYTES)]))
}

/// Returns the body of the message of a commit, of a long one its end.
fn message_end<'c>(commit: &'c gix::Commit<'_>) -> gix::Result<BodyRef<'c>> {
    let raw = commit.message_raw()?;
    let body = match raw.len() > MAX_MESSAGE_BYTES {
        true => &raw[raw.len() - MAX_MESSAGE_BYTES..],
        false => commit.message()?.body.map_or(&[][..], |it| it.as_bytes()),
    };
    Ok(BodyRef::from_bytes(body))
}

/// Parses a commit id.
pub(crate) fn parse_commit_id(commit: &CommitId) -> gix::Result<ObjectId> {
    ObjectId::from_hex(commit.0.as_bytes())
}

/// Returns the first digits of the id of a commit.
pub(crate) fn short_id(id: ObjectId) -> String {
    id.to_hex_with_len(12).to_string()
}

/// Converts seconds since 1970 to a time. One beyond the year 9999 is the end of that year, so that
/// it stays in the future.
pub(crate) fn utc_time(seconds: i64) -> DateTime<Utc> {
    // The first second of the year 1.
    const FIRST_SECOND: i64 = -62_135_596_800;
    DateTime::from_timestamp(seconds.clamp(FIRST_SECOND, LAST_SECOND), 0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    #[test]
    fn times_out_of_range_are_not_in_1970() {
        let shown = |seconds| utc_time(seconds).to_rfc3339();
        assert_eq!(shown(0), "1970-01-01T00:00:00+00:00");
        assert_eq!(shown(315_537_897_600_000), "9999-12-31T23:59:59+00:00");
        assert_eq!(shown(i64::MAX), "9999-12-31T23:59:59+00:00");
        assert_eq!(shown(i64::MIN), "0001-01-01T00:00:00+00:00");
    }

    #[test]
    fn of_a_long_message_the_begin_and_the_trailers_are_read() {
        let scene = TestHome::with_repository();
        let message = format!("subject\n\n{}\n\nPalazzo-Tool: try\n", "body ".repeat(40_000));
        scene.git_with_input(&["commit", "-q", "--allow-empty", "-F", "-"], &message);
        let store = scene.palace("keep");
        let repository = store.require_repository().unwrap();
        let history = HistoryReader::new(&repository);
        let node = history.read_commit_node(repository.head().unwrap().unwrap()).unwrap();
        let details = history.read_commit_details(&node).unwrap();
        assert_eq!(details.summary.subject, "subject");
        assert_eq!(details.body.len(), 64 * 1024 - "subject\n\n".len());
        assert_eq!(details.trailers, [("Palazzo-Tool".to_owned(), "try".to_owned())]);
    }
}
