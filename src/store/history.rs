//! What git knows of the palace's past.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::diff::tree::Recorder;
use gix::diff::tree::recorder::Change as TreeChange;
use gix::objs::TreeRefIter;
use gix::revision::walk::{Info, Sorting};
use gix::traverse::commit::simple::CommitTimeOrder;

use crate::model::{CommitId, History, Moment, Versions};

use super::Error;
use super::repository::{self, Repository};

/// The past of the files, and the commit up to which it is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The commit `history` is valid for; `None`: nothing is known yet.
    pub head: Option<CommitId>,
    /// The past of each file.
    pub history: History,
}

/// How many commits are looked at for those that touched the palace.
const FARTHEST: usize = 500;
/// How many commits are few.
const FEW: usize = 32;
const CACHE: usize = 8 * 1024 * 1024;

/// Brings `known` up to `HEAD`; starts over if what is known is not part of its past.
pub(super) fn update(repository: &Repository, known: &mut Known) -> Result<(), Error> {
    let past = Past::new(repository);
    let failed = |err| repository.error("read the history", err);
    let head = repository::head(&past.git).map_err(failed)?;
    let named = |id: ObjectId| CommitId(id.to_string());
    if head.map(named) == known.head {
        return Ok(());
    }
    let old = known.head.as_ref().and_then(|it| ObjectId::from_hex(it.0.as_bytes()).ok());
    if let (Some(old), Some(head)) = (old, head)
        && let Some(line) = past.line(old, head)
    {
        for (commit, parent) in line {
            past.count(commit, &[parent], &mut known.history).map_err(failed)?;
        }
        known.head = Some(named(head));
        return Ok(());
    }
    let old = old.filter(|old| head.is_some_and(|head| past.is_ancestor(*old, head)));
    let mut history =
        if old.is_some() { std::mem::take(&mut known.history) } else { History::new() };
    if let Some(head) = head {
        past.walk(head, old, &mut history).map_err(failed)?;
    }
    *known = Known { head: head.map(named), history };
    Ok(())
}

/// Lists the paths inside the palace that differ between two commits.
pub(super) fn changed_between(
    repository: &Repository,
    old: Option<&CommitId>,
    new: Option<&CommitId>,
) -> Result<Vec<String>, Error> {
    if old == new {
        return Ok(Vec::new());
    }
    let past = Past::new(repository);
    let differing = || -> gix::Result<BTreeSet<String>> {
        let id = |commit: &CommitId| ObjectId::from_hex(commit.0.as_bytes());
        let (old, new) = (old.map(id).transpose()?, new.map(id).transpose()?);
        // One that is gone, cut off or cleared away, can tell nothing: then all may have changed.
        let old = old.filter(|it| past.git.has_object(it));
        let side = |id: Option<ObjectId>| id.map_or(Ok(None), |it| past.palace_at(it));
        past.differing(side(old)?, side(new)?)
    };
    let found = differing().map_err(|err| repository.error("compare two commits", err))?;
    Ok(found.into_iter().collect())
}

/// Returns the newest commits that touched the palace, newest first.
pub(super) fn recent(repository: &Repository, most: usize) -> Result<Vec<Moment>, Error> {
    let past = Past::new(repository);
    past.recent(most).map_err(|err| repository.error("read the history", err))
}

/// The commits of a repository, as seen from one palace.
struct Past<'a> {
    repository: &'a Repository,
    git: gix::Repository,
}

impl<'a> Past<'a> {
    fn new(repository: &'a Repository) -> Self {
        let mut git = repository.git();
        git.object_cache_size_if_unset(CACHE);
        Self { repository, git }
    }

    fn is_ancestor(&self, old: ObjectId, head: ObjectId) -> bool {
        // A commit that is gone, or has nothing in common with `HEAD`, is none.
        self.git.merge_base(old, head).is_ok_and(|base| base.is_some_and(|it| it == old))
    }

    /// Lists the commits after `old` up to `head`, each with its parent, if they are few and
    /// follow one upon the other: so it is after a write of ours, and then nothing else of the
    /// past need be looked at.
    fn line(&self, old: ObjectId, head: ObjectId) -> Option<Vec<(ObjectId, ObjectId)>> {
        let (mut line, mut commit) = (Vec::new(), head);
        while line.len() < FEW {
            let Ok(found) = self.git.find_commit(commit) else { break };
            let mut parents = found.parent_ids().map(gix::Id::detach);
            let (Some(parent), None) = (parents.next(), parents.next()) else { break };
            line.push((commit, parent));
            if parent == old {
                // Beyond the edge of a shallow clone there is nothing to compare with.
                return self.git.has_object(old).then_some(line);
            }
            commit = parent;
        }
        None
    }

    /// Counts what the commits from `head` back to `old` changed.
    fn walk(
        &self,
        head: ObjectId,
        old: Option<ObjectId>,
        history: &mut History,
    ) -> gix::Result<()> {
        for commit in self.git.rev_walk([head]).with_hidden(old).all()? {
            let commit = commit?;
            self.count(commit.id, self.parents(&commit)?, history)?;
        }
        Ok(())
    }

    /// Counts what one commit changed.
    fn count(
        &self,
        commit: ObjectId,
        parents: &[ObjectId],
        history: &mut History,
    ) -> gix::Result<()> {
        let paths = self.touched_by(commit, parents)?;
        if paths.is_empty() {
            return Ok(());
        }
        let at = time(&self.git.find_commit(commit)?)?;
        for path in paths {
            let fresh = Versions { count: 0, created: at, updated: at };
            let versions = history.entry(path).or_insert(fresh);
            versions.count += 1;
            versions.created = versions.created.min(at);
            versions.updated = versions.updated.max(at);
        }
        Ok(())
    }

    fn recent(&self, most: usize) -> gix::Result<Vec<Moment>> {
        let mut moments = Vec::new();
        let Some(head) = repository::head(&self.git)? else { return Ok(moments) };
        let newest = Sorting::ByCommitTime(CommitTimeOrder::NewestFirst);
        for commit in self.git.rev_walk([head]).sorting(newest).all()?.take(FARTHEST) {
            if moments.len() == most {
                break;
            }
            let commit = commit?;
            if self.touches(commit.id, self.parents(&commit)?)? {
                moments.push(moment(&commit.object()?)?);
            }
        }
        Ok(moments)
    }

    /// Returns a commit's parents; where a shallow clone was cut off, it has none.
    fn parents<'c>(&self, commit: &'c Info<'_>) -> gix::Result<&'c [ObjectId]> {
        let cut = self.git.shallow_commits()?;
        let is_cut = cut.is_some_and(|it| it.contains(&commit.id));
        Ok(if is_cut { &[] } else { &commit.parent_ids })
    }

    /// Lists the paths in which a commit differs from each of its parents.
    fn touched_by(&self, commit: ObjectId, parents: &[ObjectId]) -> gix::Result<BTreeSet<String>> {
        let here = self.palace_at(commit)?;
        let Some((first, others)) = parents.split_first() else {
            return self.differing(None, here);
        };
        let mut paths = self.differing(self.palace_at(*first)?, here)?;
        for other in others {
            if paths.is_empty() {
                break;
            }
            let also = self.differing(self.palace_at(*other)?, here)?;
            paths.retain(|path| also.contains(path));
        }
        Ok(paths)
    }

    fn touches(&self, commit: ObjectId, parents: &[ObjectId]) -> gix::Result<bool> {
        let here = self.palace_at(commit)?;
        for parent in parents {
            if self.palace_at(*parent)? == here {
                return Ok(false);
            }
        }
        Ok(!parents.is_empty() || here.is_some())
    }

    /// Returns the palace's tree in a commit.
    fn palace_at(&self, commit: ObjectId) -> gix::Result<Option<ObjectId>> {
        let root = self.git.find_commit(commit)?.tree_id()?;
        let folder = self.repository.prefix.trim_end_matches('/');
        if folder.is_empty() {
            return Ok(Some(root.detach()));
        }
        let found = self.git.find_tree(root)?.lookup_entry(folder.split('/'))?;
        Ok(found.filter(|it| it.mode().is_tree()).map(|it| it.object_id()))
    }

    /// Lists the files that differ between two trees.
    fn differing(
        &self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
    ) -> gix::Result<BTreeSet<String>> {
        if old == new {
            return Ok(BTreeSet::new());
        }
        let tree = |id: Option<ObjectId>| match id {
            Some(id) => self.git.find_tree(id),
            None => Ok(self.git.empty_tree()),
        };
        let (old, new) = (tree(old)?, tree(new)?);
        let mut changes = Recorder::default();
        let mut state = gix::diff::tree::State::default();
        let (old, new) = (entries(&old), entries(&new));
        gix::diff::tree(old, new, &mut state, &self.git.objects, &mut changes)
            .map_err(gix::Error::from_error)?;
        Ok(changes.records.into_iter().filter_map(file).collect())
    }
}

fn entries<'a>(tree: &'a gix::Tree<'_>) -> TreeRefIter<'a> {
    TreeRefIter::from_bytes(&tree.data, tree.id.kind())
}

/// Returns the path of a change if it is a file's.
fn file(change: TreeChange) -> Option<String> {
    let (mode, path) = match change {
        TreeChange::Addition { entry_mode, path, .. }
        | TreeChange::Deletion { entry_mode, path, .. }
        | TreeChange::Modification { entry_mode, path, .. } => (entry_mode, path),
    };
    (!mode.is_tree()).then(|| path.to_str_lossy().into_owned())
}

fn moment(commit: &gix::Commit<'_>) -> gix::Result<Moment> {
    let subject = commit.message()?.summary().to_str_lossy().into_owned();
    let by = commit.author()?.name.to_str_lossy().into_owned();
    Ok(Moment { subject, by, at: time(commit)? })
}

fn time(commit: &gix::Commit<'_>) -> gix::Result<DateTime<Utc>> {
    Ok(DateTime::from_timestamp(commit.time()?.seconds, 0).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::super::scene::{Scene, change, changes, done};
    use super::*;

    const HALL: &str = "rooms/hall.yaml";

    fn at(
        store: &mut Store,
        minute: i64,
        was: Option<&str>,
        now: Option<&str>,
    ) -> Option<CommitId> {
        let mut change = change(HALL, was, now);
        change.at = minutes(minute);
        done(store, &change)
    }

    fn minutes(minute: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_900_000_000 + 60 * minute, 0).unwrap()
    }

    fn told(store: &Store, known: &mut Known) -> String {
        store.history(known).unwrap();
        let minute = |at: DateTime<Utc>| (at - minutes(0)).num_minutes();
        let line = |(path, it): (&String, &Versions)| {
            format!("{path} {} {} {}\n", it.count, minute(it.created), minute(it.updated))
        };
        known.history.iter().map(line).collect::<Vec<_>>().concat()
    }

    #[test]
    fn versions_grow_with_each_commit_and_only_new_ones_are_looked_at() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        let mut known = Known::default();
        assert_eq!(told(&store, &mut known), "");
        at(&mut store, 1, None, Some("1\n"));
        assert_eq!(told(&store, &mut known), "rooms/hall.yaml 1 1 1\n");
        at(&mut store, 2, Some("1\n"), Some("2\n"));
        at(&mut store, 3, Some("2\n"), None);
        at(&mut store, 4, None, Some("1\n"));
        scene.put("notes.md", "more\n");
        scene.git(&["commit", "-qam", "notes"]);
        assert_eq!(told(&store, &mut known), "rooms/hall.yaml 4 1 4\n");
        assert_eq!(known.head, store.head().unwrap());
        // What was known is taken on trust, and not counted again.
        known.history.get_mut(HALL).unwrap().count = 10;
        at(&mut store, 5, Some("1\n"), Some("5\n"));
        assert_eq!(told(&store, &mut known), "rooms/hall.yaml 11 1 5\n");
        assert_eq!(told(&store, &mut Known::default()), "rooms/hall.yaml 5 1 5\n");
    }

    #[test]
    fn a_rewritten_past_is_told_anew() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        at(&mut store, 1, None, Some("1\n"));
        at(&mut store, 2, Some("1\n"), Some("2\n"));
        let mut known = Known::default();
        assert_eq!(told(&store, &mut known), "rooms/hall.yaml 2 1 2\n");
        scene.git(&["commit", "-q", "--amend", "-m", "amended"]);
        store.history(&mut known).unwrap();
        assert_eq!(known.history[HALL].count, 2);
        scene.git(&["reset", "-q", "--hard", "HEAD~1"]);
        assert_eq!(told(&store, &mut known), "rooms/hall.yaml 1 1 1\n");
        scene.git(&["update-ref", "-d", "HEAD"]);
        assert_eq!(told(&store, &mut known), "");
        assert_eq!(known, Known::default());
    }

    #[test]
    fn a_merge_counts_only_where_it_differs_from_all_it_merges() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(
            &mut store,
            &changes(&[(HALL, None, Some("1\n")), ("rooms/b.yaml", None, Some("1\n"))]),
        );
        scene.git(&["checkout", "-qb", "side"]);
        scene.put("keep/rooms/b.yaml", "side\n");
        scene.git(&["commit", "-qam", "side"]);
        scene.git(&["checkout", "-q", "main"]);
        scene.put("keep/rooms/hall.yaml", "main\n");
        scene.git(&["commit", "-qam", "main"]);
        let mut known = Known::default();
        store.history(&mut known).unwrap();
        scene.git(&["merge", "-q", "--no-edit", "side"]);
        store.history(&mut known).unwrap();
        let counts: Vec<_> = known.history.values().map(|it| it.count).collect();
        assert_eq!(counts, [2, 2]);
        let subjects: Vec<_> = store.recent(9).unwrap().into_iter().map(|it| it.subject).collect();
        assert_eq!(subjects.len(), 4, "{subjects:?}");
    }

    #[test]
    fn the_paths_between_two_commits_are_those_inside_the_palace() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        let begin = store.head().unwrap();
        let first = at(&mut store, 1, None, Some("1\n"));
        scene.put("notes.md", "more\n");
        scene.put("keep/scrolls/hall/one.md", "one\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "by hand"]);
        let second = store.head().unwrap();
        let between = |old: &Option<CommitId>, new: &Option<CommitId>| {
            store.changed_between(old.as_ref(), new.as_ref()).unwrap().join(" ")
        };
        assert_eq!(between(&begin, &first), HALL);
        assert_eq!(between(&first, &second), "scrolls/hall/one.md");
        assert_eq!(between(&None, &second), "rooms/hall.yaml scrolls/hall/one.md");
        assert_eq!(between(&second, &begin), "rooms/hall.yaml scrolls/hall/one.md");
        assert_eq!(between(&second, &second), "");
        let unknown = CommitId("0123456789012345678901234567890123456789".to_owned());
        assert!(store.changed_between(second.as_ref(), Some(&unknown)).is_err());
        let unknown = Some(unknown);
        assert_eq!(between(&unknown, &second), "rooms/hall.yaml scrolls/hall/one.md");
    }

    #[test]
    fn recent_moments_are_those_of_the_palace_newest_first() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        at(&mut store, 1, None, Some("1\n"));
        scene.git(&["commit", "-q", "--allow-empty", "-m", "elsewhere"]);
        at(&mut store, 2, Some("1\n"), Some("2\n"));
        let moments = store.recent(5).unwrap();
        let moment = |minute| Moment {
            subject: "room hall: build".to_owned(),
            by: "Claude Desktop".to_owned(),
            at: minutes(minute),
        };
        assert_eq!(moments, [moment(2), moment(1)]);
        assert_eq!(store.recent(1).unwrap(), [moment(2)]);
        assert_eq!(store.recent(0).unwrap(), []);
    }

    #[test]
    fn the_past_of_a_shallow_clone_begins_where_it_was_cut_off() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        let first = at(&mut store, 1, None, Some("1\n"));
        at(&mut store, 2, Some("1\n"), Some("2\n"));
        let third = at(&mut store, 3, Some("2\n"), Some("3\n"));
        let origin = format!("file://{}", scene.home.display());
        scene.git(&["clone", "-q", "--depth", "2", &origin, "../shallow"]);
        let mut shallow = scene.store(&scene.home.with_file_name("shallow").join("keep"));
        let mut known = Known::default();
        assert_eq!(told(&shallow, &mut known), "rooms/hall.yaml 2 2 3\n");
        assert_eq!(shallow.recent(9).unwrap().len(), 2);
        let changed = shallow.changed_between(first.as_ref(), third.as_ref()).unwrap();
        assert_eq!(changed, [HALL]);
        known.history.get_mut(HALL).unwrap().count = 10;
        at(&mut shallow, 4, Some("3\n"), Some("4\n"));
        assert_eq!(told(&shallow, &mut known), "rooms/hall.yaml 11 2 4\n");
        // What was known before it was cut off is not known any more.
        let mut known = Known { head: first, ..Known::default() };
        assert_eq!(told(&shallow, &mut known), "rooms/hall.yaml 3 2 4\n");
    }
}
