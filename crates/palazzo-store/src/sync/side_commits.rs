//! Reads the commits that one side of a synchronization has and the other has not.

use std::collections::HashMap;

use gix::ObjectId;
use gix::bstr::ByteSlice as _;

use crate::history::commits::{HistoryReader, utc_time};
use crate::history::palaces_in_trees::PalacesInTrees;
use palazzo_core::model::{LastChange, commit_trailers};

/// Maximum number of commits of one file that are searched for the change of a field.
const MAX_COMMITS_OF_FILE: usize = 200;
/// The commits that one side has and the other has not.
#[derive(Debug, Default)]
pub(crate) struct SideCommits {
    /// The number of commits.
    pub(crate) count: usize,
    /// The commits that change files.
    commits: Vec<ChangingCommit>,
    /// The indexes of the commits that change each file, newest first.
    commits_by_path: HashMap<String, Vec<usize>>,
    /// The merges by sync that change each file, newest first. The merged commits have the authors of the
    /// merged values, if there are any.
    merges_by_path: HashMap<String, Vec<usize>>,
    /// The newest commit of the side.
    tip: LastChange,
    /// The first commit found that changes a file of no palace that is no note, and the file.
    pub(crate) other_file: Option<(ObjectId, String)>,
    /// The commit with the greatest version of the rules of merging, and the version.
    pub(crate) newest_rules: Option<(ObjectId, u32)>,
}

/// A commit that changes files.
#[derive(Debug)]
struct ChangingCommit {
    id: ObjectId,
    parents: Vec<ObjectId>,
    change: LastChange,
}

/// The contents of a file after and before a commit; `None` where there is no such file.
#[derive(Clone, Debug, Default)]
pub struct FileChange {
    /// The content after the commit.
    pub after: Option<Vec<u8>>,
    /// The content in each parent.
    pub before: Vec<Option<Vec<u8>>>,
}

/// What the message of a commit says.
struct CommitNote {
    change: LastChange,
    merge_rules: Option<u32>,
}

impl SideCommits {
    /// Reads the commits that only `ours` has, and those that only `theirs` has.
    pub(crate) fn of_both_sides(
        history: &HistoryReader<'_>,
        ours: ObjectId,
        theirs: Option<ObjectId>,
    ) -> gix::Result<[Self; 2]> {
        let trees = [Some(ours), theirs].into_iter().flatten().map(|it| history.root_tree(it));
        let folders = PalacesInTrees::new(&history.git, &trees.collect::<gix::Result<Vec<_>>>()?);
        let theirs_range = match theirs {
            Some(theirs) => Self::between(history, &folders, theirs, [ours])?,
            None => Self::default(),
        };
        Ok([Self::between(history, &folders, ours, theirs)?, theirs_range])
    }

    /// Reads the commits of `tip` that are not in `hidden`.
    fn between(
        history: &HistoryReader<'_>,
        folders: &PalacesInTrees<'_>,
        tip: ObjectId,
        hidden: impl IntoIterator<Item = ObjectId>,
    ) -> gix::Result<Self> {
        let mut range = Self { tip: read_note(history, tip)?.change, ..Self::default() };
        let notes = history.repository.synced_notes();
        for step in history.walk_commits([tip], hidden)? {
            let step = step?;
            range.count += 1;
            let note = read_note(history, step.id)?;
            let is_newer = |version: u32| range.newest_rules.is_none_or(|(_, it)| version > it);
            let merge_rules = note.merge_rules.filter(|_| step.parents.len() > 1);
            if let Some(version) = merge_rules.filter(|it| is_newer(*it)) {
                range.newest_rules = Some((step.id, version));
            }
            let index = range.commits.len();
            for path in history.paths_changed_by(step.id, &step.parents)? {
                let is_other = !notes.contains(&path) && folders.palace_of(&path)?.is_none();
                if range.other_file.is_none() && is_other {
                    range.other_file = Some((step.id, path.clone()));
                }
                let commits = match merge_rules {
                    Some(_) => range.merges_by_path.entry(path).or_default(),
                    None => range.commits_by_path.entry(path).or_default(),
                };
                if commits.len() < MAX_COMMITS_OF_FILE {
                    commits.push(index);
                }
            }
            let (id, parents, change) = (step.id, step.parents, note.change);
            range.commits.push(ChangingCommit { id, parents, change });
        }
        Ok(range)
    }

    /// Returns the last change to a file; of a file that the side has not changed, its newest
    /// commit.
    pub(crate) fn last_change(&self, path: &str) -> &LastChange {
        self.commits_of_file(path).next().map_or(&self.tip, |it| &it.change)
    }

    /// Returns the last change to a file that `is_wanted`, among the newest ones.
    pub(crate) fn find_last_change(
        &self,
        history: &HistoryReader<'_>,
        path: &str,
        is_wanted: &dyn Fn(&FileChange) -> bool,
    ) -> Option<&LastChange> {
        let content = |commit: ObjectId| read_file_at(history, commit, path).ok().flatten();
        let mut commits = self.commits_of_file(path);
        let found = commits.find(|it| {
            let before = it.parents.iter().map(|it| content(*it)).collect();
            is_wanted(&FileChange { after: content(it.id), before })
        });
        found.map(|it| &it.change)
    }

    fn commits_of_file(&self, path: &str) -> impl Iterator<Item = &ChangingCommit> {
        let commits = self.commits_by_path.get(path).or_else(|| self.merges_by_path.get(path));
        commits.into_iter().flatten().map(|it| &self.commits[*it])
    }
}

/// Reads a file of a commit; `None`: there is no such file.
fn read_file_at(
    history: &HistoryReader<'_>,
    commit: ObjectId,
    path: &str,
) -> gix::Result<Option<Vec<u8>>> {
    let root = history.git.find_tree(history.root_tree(commit)?)?;
    let Some(entry) = root.lookup_entry(path.split('/'))? else { return Ok(None) };
    if !entry.mode().is_blob() {
        return Ok(None);
    }
    Ok(Some(history.git.find_blob(entry.object_id())?.take_data()))
}

/// Returns the version of the rules by which a commit was merged; `None`: it is no such merge.
pub(crate) fn merge_rules_of_commit(
    history: &HistoryReader<'_>,
    commit: ObjectId,
) -> gix::Result<Option<u32>> {
    Ok(read_note(history, commit)?.merge_rules)
}

fn read_note(history: &HistoryReader<'_>, id: ObjectId) -> gix::Result<CommitNote> {
    let commit = history.git.find_commit(id)?;
    let (message, author) = (commit.message()?, commit.author()?);
    let trailers = message.body().into_iter().flat_map(|it| {
        it.trailers().map(|it| (it.token.to_owned(), it.value.to_vec())).collect::<Vec<_>>()
    });
    let trailers: Vec<_> = trailers.collect();
    let find = |name: &str| {
        let found = trailers.iter().find(|(token, _)| token.eq_ignore_ascii_case(name.as_bytes()));
        found.map(|(_, value)| value.to_str_lossy().into_owned())
    };
    let change = LastChange {
        author: author.name.to_str_lossy().into_owned(),
        at: utc_time(author.seconds()),
        is_by_hand: find(commit_trailers::TOOL).is_none(),
        commit: id.to_string(),
    };
    let merge_rules = find(commit_trailers::MERGE_RULES).and_then(|it| it.trim().parse().ok());
    Ok(CommitNote { change, merge_rules })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    const HALL: &str = "keep/rooms/hall.yaml";

    fn commit(scene: &TestHome, text: &str) -> String {
        scene.write_file(HALL, text);
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", text]);
        scene.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Returns the last commit of the branch that has added a line.
    fn last_addition(scene: &TestHome, base: &str, line: &str) -> Option<String> {
        let store = scene.palace("keep").for_whole_repository().unwrap().unwrap();
        let repository = store.require_repository().unwrap();
        let history = HistoryReader::new(&repository);
        let id = |it: &str| ObjectId::from_hex(it.as_bytes()).unwrap();
        let tip = id(scene.git(&["rev-parse", "HEAD"]).trim());
        let folders = PalacesInTrees::new(&history.git, &[history.root_tree(tip).unwrap()]);
        let range = SideCommits::between(&history, &folders, tip, [id(base)]).unwrap();
        let has_line = |it: &Option<Vec<u8>>| {
            it.as_ref().is_some_and(|it| String::from_utf8_lossy(it).contains(line))
        };
        let is_addition = |it: &FileChange| has_line(&it.after) && !it.before.iter().any(has_line);
        let found = range.find_last_change(&history, HALL, &is_addition);
        found.map(|it| it.commit.clone())
    }

    #[test]
    fn the_commit_that_added_a_line_is_found_behind_later_ones_and_merges() {
        let scene = TestHome::with_repository();
        scene.write_file("keep/palace.toml", "name = \"T\"\n");
        let base = commit(&scene, "1\n");
        let second = commit(&scene, "1\n2\n");
        let third = commit(&scene, "1\n2\n3\n");
        assert_eq!(last_addition(&scene, &base, "2"), Some(second));
        scene.git(&["checkout", "-q", "-b", "side", &base]);
        scene.write_file("keep/rooms/loft.yaml", "loft\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "loft"]);
        scene.git(&["merge", "-q", "--no-edit", &third]);
        assert_eq!(last_addition(&scene, &base, "3"), Some(third));
        assert_eq!(last_addition(&scene, &base, "1"), None);
    }
}
