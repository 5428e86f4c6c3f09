//! Counts how often each file of a palace was changed, and when.

use std::cmp::Reverse;
use std::collections::HashMap;

use gix::ObjectId;
use rayon::prelude::*;

use palazzo_core::model::{CommitId, FileHistories, FileHistory, RecentCommits};

use crate::history::commits;
use crate::history::commits::{CommitNode, HistoryReader};
use crate::history::file_history_cache;
use crate::history::file_history_cache::FileHistoryCache;
use crate::repo::repository::Repository;
use crate::repo::tree_lookup;
use crate::{Error, Store};

/// The maximum number of commits that [`linear_commits`] returns.
const MAX_LINEAR_COMMITS: usize = 32;
/// The number of commits per thread and chunk.
const COMMITS_PER_CHUNK: usize = 256;
/// The maximum number of new commits whose merges are compared with their common ancestors.
const MAX_EXAMINED_COMMITS: usize = 2_000;
/// How the changes of a merge are found.
#[derive(Clone, Copy)]
enum MergeChanges {
    /// Those where it is unlike its parents, and those where it took the older version.
    All,
    /// Those where it is unlike its parents: in a long history, its ancestors would take too long.
    UnlikeParents,
}
/// The number of counted commits after which the cache is saved.
const COMMITS_PER_SAVE: usize = 256;

impl Store {
    /// Updates `cache` to `HEAD`, reading only the new commits. An empty cache is first loaded from
    /// the repository, where another process may have saved it.
    pub fn update_file_history_cache(&self, cache: &mut FileHistoryCache) -> Result<(), Error> {
        self.update_file_history_cache_within(cache, usize::MAX)
    }

    /// Updates `cache` as [`update_file_history_cache`](Self::update_file_history_cache) does, unless
    /// more than `limit` commits are new; then it is left until a call without a limit.
    pub fn update_file_history_cache_within(
        &self,
        cache: &mut FileHistoryCache,
        limit: usize,
    ) -> Result<(), Error> {
        if cache.is_too_far_behind && limit < usize::MAX {
            return Ok(());
        }
        let Some(repository) = self.repository()? else {
            *cache = FileHistoryCache::default();
            return Ok(());
        };
        let failed = |err| repository.git_error("read the history", err);
        let head = self.history_tip(&repository)?;
        let boundary = hash_shallow_boundary(&repository.git()).map_err(failed)?;
        if cache.head.is_none() && self.reads_disk() {
            *cache = file_history_cache::load(&repository).unwrap_or_default();
        }
        let note_folders = repository.note_folders().to_key();
        if cache.shallow_boundary != boundary || cache.note_folders != note_folders {
            let new = FileHistoryCache::default();
            *cache = FileHistoryCache { shallow_boundary: boundary, note_folders, ..new };
        }
        let is_updated = update_cache_to_head(&repository, cache, head, limit).map_err(failed)?;
        cache.is_too_far_behind = !is_updated;
        if cache.unsaved_commits >= COMMITS_PER_SAVE && self.reads_disk() {
            cache.unsaved_commits = 0;
            // The cache only saves time: a full disk must not prevent reading.
            drop(file_history_cache::save(&repository, cache));
        }
        Ok(())
    }
}

/// Updates `cache` to `head`, unless more than `limit` commits are new; starts over if the cached
/// commit is not an ancestor of it. Returns whether it was updated.
fn update_cache_to_head(
    repository: &Repository,
    cache: &mut FileHistoryCache,
    head: Option<ObjectId>,
    limit: usize,
) -> gix::Result<bool> {
    let head_id = head.map(|id| CommitId(id.to_string()));
    if head_id == cache.head {
        return Ok(true);
    }
    let past = HistoryReader::new(repository);
    let old = cache.head.as_ref().and_then(|it| commits::parse_commit_id(it).ok());
    let linear = old.zip(head).and_then(|(old, head)| linear_commits(&past, old, head));
    let old =
        old.filter(|old| linear.is_some() || head.is_some_and(|head| past.is_ancestor(*old, head)));
    let steps: Vec<_> = match (linear, head) {
        (Some(steps), _) => steps,
        (None, Some(head)) => {
            let steps = past.walk_commits([head], old)?;
            steps.take(limit.saturating_add(1)).collect::<gix::Result<_>>()?
        }
        (None, None) => Vec::new(),
    };
    if steps.len() > limit {
        return Ok(false);
    }
    if old.is_none() {
        cache.history = FileHistories::new();
        cache.commits = Vec::new();
    }
    cache.unsaved_commits += steps.len();
    let counted = count_file_changes(&past, &steps)?;
    add_file_changes(cache, &steps, counted);
    cache.head = head_id;
    Ok(true)
}

/// Adds the changes counted in `steps`, where the number of a commit is its place in `steps`.
fn add_file_changes(cache: &mut FileHistoryCache, steps: &[CommitNode], counted: FileHistories) {
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let commits = &mut cache.commits;
    let mut number_of = |place: u32| {
        *numbers.entry(place).or_insert_with(|| {
            commits.push(steps[place as usize].id);
            last_index(commits.len())
        })
    };
    for (path, more) in counted {
        let known = cache.history.get(&path);
        // What is new is no ancestor of what is known, whatever its date says.
        let first_commit = match known {
            Some(known) => known.first_commit,
            None => number_of(more.first_commit),
        };
        let last_commit = match known.filter(|it| it.updated > more.updated) {
            Some(known) => known.last_commit,
            None => number_of(more.last_commit),
        };
        let newer: Vec<_> = more.recent.numbers().map(&mut number_of).collect();
        let older: Vec<_> = known.into_iter().flat_map(|it| it.recent.numbers()).collect();
        let recent = RecentCommits::from_newest(newer.into_iter().chain(older));
        let versions = cache.history.entry(path).or_insert(FileHistory { count: 0, ..more });
        *versions = FileHistory {
            recent,
            count: versions.count + more.count,
            created: versions.created.min(more.created),
            updated: versions.updated.max(more.updated),
            first_commit,
            last_commit,
        };
    }
}

/// Returns the last index of a list with `length` items.
fn last_index(length: usize) -> u32 {
    u32::try_from(length.saturating_sub(1)).unwrap_or(u32::MAX)
}

/// Returns the commits after `old` up to `head` if they are few and have one parent each. That is
/// the usual case after a write by Palazzo, and avoids a walk of the whole history.
fn linear_commits(
    past: &HistoryReader<'_>,
    old: ObjectId,
    head: ObjectId,
) -> Option<Vec<CommitNode>> {
    let mut steps = Vec::new();
    // Beyond the boundary of a shallow clone there is nothing to compare with.
    if !past.git.has_object(old) {
        return None;
    }
    for step in past.walk_first_parents(head).ok()?.take(MAX_LINEAR_COMMITS) {
        let step = step.ok()?;
        let [parent] = step.parents[..] else { return None };
        steps.push(step);
        if parent == old {
            return Some(steps);
        }
    }
    None
}

/// Counts the changes of `steps`, which are sorted from the newest to the oldest, in parallel if
/// there are many. The number of a commit is its place in `steps`.
fn count_file_changes(
    past: &HistoryReader<'_>,
    steps: &[CommitNode],
) -> gix::Result<FileHistories> {
    let merges = match steps.len() {
        ..=MAX_EXAMINED_COMMITS => MergeChanges::All,
        _ => MergeChanges::UnlikeParents,
    };
    if steps.len() <= COMMITS_PER_CHUNK {
        return count_chunk_file_changes(past, (steps, 0), merges);
    }
    let repository = past.repository;
    let count = |(chunk, steps): (usize, &[CommitNode])| {
        let first = chunk * COMMITS_PER_CHUNK;
        count_chunk_file_changes(&HistoryReader::new(repository), (steps, first), merges)
    };
    steps.par_chunks(COMMITS_PER_CHUNK).enumerate().map(count).try_reduce(
        FileHistories::new,
        |mut all, part| {
            for (path, versions) in part {
                merge_file_history(&mut all, path, versions);
            }
            Ok(all)
        },
    )
}

/// Counts the changes of a part of the steps; `first` is the place of its first step.
fn count_chunk_file_changes(
    past: &HistoryReader<'_>,
    (steps, first): (&[CommitNode], usize),
    merges: MergeChanges,
) -> gix::Result<FileHistories> {
    let mut history = FileHistories::new();
    for (place, step) in steps.iter().enumerate() {
        let at = commits::utc_time(step.seconds);
        let commit = last_index(first + place + 1);
        let paths = match merges {
            MergeChanges::All => past.paths_changed_by(step.id, &step.parents)?,
            MergeChanges::UnlikeParents => past.paths_unlike_parents(step.id, &step.parents)?,
        };
        for path in paths {
            let (first_commit, last_commit) = (commit, commit);
            let recent = RecentCommits::from_newest([commit]);
            let (created, updated) = (at, at);
            let one = FileHistory { count: 1, created, updated, first_commit, last_commit, recent };
            merge_file_history(&mut history, path, one);
        }
    }
    Ok(history)
}

/// Adds the changes `more` of a file. The first commit is that with the highest number, whatever its
/// date says; of two last ones at the same time, that with the lower number is the later one.
fn merge_file_history(history: &mut FileHistories, path: String, more: FileHistory) {
    let new = FileHistory { count: 0, recent: RecentCommits::default(), ..more };
    let versions = history.entry(path).or_insert(new);
    versions.count += more.count;
    let mut numbers: Vec<_> = versions.recent.numbers().chain(more.recent.numbers()).collect();
    numbers.sort_unstable();
    versions.recent = RecentCommits::from_newest(numbers);
    versions.first_commit = versions.first_commit.max(more.first_commit);
    versions.created = versions.created.min(more.created);
    let last = |it: &FileHistory| (it.updated, Reverse(it.last_commit));
    if last(&more) > last(versions) {
        (versions.updated, versions.last_commit) = (more.updated, more.last_commit);
    }
}

/// Hashes the boundary commits of a shallow clone.
fn hash_shallow_boundary(git: &gix::Repository) -> gix::Result<Option<ObjectId>> {
    let Some(boundary) = git.shallow_commits()? else { return Ok(None) };
    let names: Vec<_> = boundary.iter().map(ObjectId::to_string).collect();
    tree_lookup::compute_blob_id(git, names.concat().as_bytes()).map(Some)
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::Store;
    use crate::test_repository::{TestHome, change_of_files, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";

    fn commit_at_minute(
        store: &mut Store,
        minute: i64,
        was: Option<&str>,
        now: Option<&str>,
    ) -> Option<CommitId> {
        let mut change = change_of_one_file(HALL, was, now);
        change.at = minutes(minute);
        commit_ok(store, &change)
    }

    fn minutes(minute: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_900_000_000 + 60 * minute, 0).unwrap()
    }

    fn format_history(store: &Store, cache: &mut FileHistoryCache) -> String {
        store.update_file_history_cache(cache).unwrap();
        let minute = |at: DateTime<Utc>| (at - minutes(0)).num_minutes();
        let line = |(path, it): (&String, &FileHistory)| {
            format!("{path} {} {} {}\n", it.count, minute(it.created), minute(it.updated))
        };
        cache.history.iter().map(line).collect::<Vec<_>>().concat()
    }

    #[test]
    fn version_counts_grow_and_only_new_commits_are_read() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let mut cache = FileHistoryCache::default();
        assert_eq!(format_history(&store, &mut cache), "");
        commit_at_minute(&mut store, 1, None, Some("1\n"));
        assert_eq!(format_history(&store, &mut cache), "rooms/hall.yaml 1 1 1\n");
        commit_at_minute(&mut store, 2, Some("1\n"), Some("2\n"));
        commit_at_minute(&mut store, 3, Some("2\n"), None);
        commit_at_minute(&mut store, 4, None, Some("1\n"));
        scene.write_file("notes.md", "more\n");
        scene.git(&["commit", "-qam", "notes"]);
        assert_eq!(format_history(&store, &mut cache), "rooms/hall.yaml 4 1 4\n");
        assert_eq!(cache.head, store.head().unwrap());
        // Cached counts are trusted and not counted again.
        cache.history.get_mut(HALL).unwrap().count = 10;
        commit_at_minute(&mut store, 5, Some("1\n"), Some("5\n"));
        assert_eq!(format_history(&store, &mut cache), "rooms/hall.yaml 11 1 5\n");
        assert_eq!(
            format_history(&store, &mut FileHistoryCache::default()),
            "rooms/hall.yaml 5 1 5\n"
        );
    }

    #[test]
    fn a_rewritten_history_is_counted_again() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_at_minute(&mut store, 1, None, Some("1\n"));
        commit_at_minute(&mut store, 2, Some("1\n"), Some("2\n"));
        let mut cache = FileHistoryCache::default();
        assert_eq!(format_history(&store, &mut cache), "rooms/hall.yaml 2 1 2\n");
        scene.git(&["commit", "-q", "--amend", "-m", "amended"]);
        store.update_file_history_cache(&mut cache).unwrap();
        assert_eq!(cache.history[HALL].count, 2);
        scene.git(&["reset", "-q", "--hard", "HEAD~1"]);
        assert_eq!(format_history(&store, &mut cache), "rooms/hall.yaml 1 1 1\n");
        scene.git(&["update-ref", "-d", "HEAD"]);
        assert_eq!(format_history(&store, &mut cache), "");
        assert_eq!(cache.head, None);
    }

    #[test]
    fn a_merge_counts_only_files_that_differ_from_all_parents() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(
            &mut store,
            &change_of_files(&[(HALL, None, Some("1\n")), ("rooms/b.yaml", None, Some("1\n"))]),
        );
        scene.git(&["checkout", "-qb", "side"]);
        scene.write_file("keep/rooms/b.yaml", "side\n");
        scene.git(&["commit", "-qam", "side"]);
        scene.git(&["checkout", "-q", "main"]);
        scene.write_file("keep/rooms/hall.yaml", "main\n");
        scene.git(&["commit", "-qam", "main"]);
        let mut cache = FileHistoryCache::default();
        store.update_file_history_cache(&mut cache).unwrap();
        scene.git(&["merge", "-q", "--no-edit", "side"]);
        store.update_file_history_cache(&mut cache).unwrap();
        let counts: Vec<_> = cache.history.values().map(|it| it.count).collect();
        assert_eq!(counts, [2, 2]);
        let subjects: Vec<_> =
            store.recent_commits(9).unwrap().into_iter().map(|it| it.subject).collect();
        assert_eq!(subjects.len(), 4, "{subjects:?}");
    }

    #[test]
    fn the_history_of_a_shallow_clone_begins_at_its_boundary() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let first = commit_at_minute(&mut store, 1, None, Some("1\n"));
        commit_at_minute(&mut store, 2, Some("1\n"), Some("2\n"));
        let third = commit_at_minute(&mut store, 3, Some("2\n"), Some("3\n"));
        let origin = format!("file://{}", scene.home.display());
        scene.git(&["clone", "-q", "--depth", "2", &origin, "../shallow"]);
        let mut shallow = scene.store(&scene.home.with_file_name("shallow").join("keep"));
        let mut cache = FileHistoryCache::default();
        assert_eq!(format_history(&shallow, &mut cache), "rooms/hall.yaml 2 2 3\n");
        assert_eq!(shallow.recent_commits(9).unwrap().len(), 2);
        let changed = shallow.changed_paths_between(first.as_ref(), third.as_ref()).unwrap();
        assert_eq!(changed, [HALL]);
        cache.history.get_mut(HALL).unwrap().count = 10;
        commit_at_minute(&mut shallow, 4, Some("3\n"), Some("4\n"));
        assert_eq!(format_history(&shallow, &mut cache), "rooms/hall.yaml 11 2 4\n");
        // Counts from before the clone was cut off are discarded.
        let mut cache = FileHistoryCache { head: first, ..FileHistoryCache::default() };
        assert_eq!(format_history(&shallow, &mut cache), "rooms/hall.yaml 3 2 4\n");
    }
}
