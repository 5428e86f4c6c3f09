//! Lists the commits that changed the palace, newest first.

use std::collections::{HashMap, HashSet};

use gix::ObjectId;
use rayon::prelude::*;

use palazzo_core::model::{CommitDetails, CommitId, CommitSummary};

use crate::history::commits::{self, CommitNode, HistoryReader};
use crate::history::path_history;
use crate::history::path_history::PathLookup;
use crate::{Error, Store};

/// The size of the first batch of commits, small so that the newest few are returned quickly.
const FIRST_BATCH: usize = 32;
/// The maximum size of a batch.
const MAX_BATCH: usize = 8192;
/// The number of commits per thread and chunk.
const COMMITS_PER_CHUNK: usize = 256;

/// The ids of the objects at the queried paths, by commit.
type ObjectIdsByCommit = HashMap<ObjectId, Vec<Option<ObjectId>>>;

/// Commits and all their ancestors, without others and their ancestors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitRange {
    /// The commits that are listed with their ancestors; without any, the newest commit is.
    pub tips: Vec<CommitId>,
    /// The commits that are left out with their ancestors.
    pub hidden: Vec<CommitId>,
}

/// The maximum number of merges that are compared with their common ancestors.
const MAX_EXAMINED_MERGES: usize = 500;
/// The maximum number of commits that are searched for those that changed the palace.
const MAX_SCANNED_COMMITS: usize = 500;

impl Store {
    /// Calls `each` with every commit that changed any of the files at `paths`, or the palace if
    /// `paths` is empty, newest first, until it returns `false`. A path with a slash at its end is
    /// a folder.
    ///
    /// A single file is followed through renames: before the commit in which it appeared while a
    /// similar file disappeared, the commits of that other file are listed.
    pub fn log(
        &self,
        paths: &[&str],
        each: impl FnMut(CommitDetails) -> bool,
    ) -> Result<(), Error> {
        self.log_range(&CommitRange::default(), paths, each)
    }

    /// Calls `each` as [`Store::log`] does, with the commits of a range.
    pub fn log_range(
        &self,
        range: &CommitRange,
        paths: &[&str],
        mut each: impl FnMut(CommitDetails) -> bool,
    ) -> Result<(), Error> {
        let Some(repository) = self.repository()? else { return Ok(()) };
        let ids = |commits: &[CommitId]| -> gix::Result<Vec<_>> {
            commits.iter().map(commits::parse_commit_id).collect()
        };
        let newest = if range.tips.is_empty() { self.history_tip(&repository)? } else { None };
        let paths = paths.iter().map(|it| (*it).to_owned()).collect();
        repository.read_history("read the history", |past| {
            let tips = ids(&range.tips)?.into_iter().chain(newest).collect();
            walk_log(past, (tips, ids(&range.hidden)?), paths, &mut each)
        })
    }

    /// Lists the newest commits of a range that changed the palace, at most `limit`.
    pub fn newest_of_range(
        &self,
        range: &CommitRange,
        limit: usize,
    ) -> Result<Vec<CommitDetails>, Error> {
        let mut commits = Vec::new();
        self.log_range(range, &[], |it| {
            commits.push(it);
            commits.len() < limit
        })?;
        Ok(commits)
    }

    /// Returns the best common ancestor of two commits; `None`: there is none.
    pub fn common_ancestor(
        &self,
        one: &CommitId,
        other: &CommitId,
    ) -> Result<Option<CommitId>, Error> {
        let repository = self.require_repository()?;
        repository.read_history("find the common ancestor of two commits", |past| {
            let ids = (commits::parse_commit_id(one)?, commits::parse_commit_id(other)?);
            Ok(past.git.merge_base(ids.0, ids.1)?.map(|it| CommitId(it.to_string())))
        })
    }

    /// Lists the commits that changed the palace and are not ancestors of `known`, newest first.
    /// Examines at most the newest `limit` commits, and returns whether there are more. `None`:
    /// `known` does not exist any more.
    pub fn commits_since(
        &self,
        known: &CommitId,
        limit: usize,
    ) -> Result<Option<(Vec<CommitDetails>, bool)>, Error> {
        let Some(repository) = self.repository()? else { return Ok(None) };
        let past = HistoryReader::new(&repository);
        let known = commits::parse_commit_id(known).ok().filter(|it| past.git.has_object(*it));
        let (Some(known), Some(tip)) = (known, self.history_tip(&repository)?) else {
            return Ok(None);
        };
        let records = || -> gix::Result<_> {
            let mut records = Vec::new();
            let mut steps = past.walk_commits([tip], Some(known))?;
            for step in steps.by_ref().take(limit) {
                let record = past.read_commit_details(&step?)?;
                if !record.changed_files.is_empty() {
                    records.push(record);
                }
            }
            Ok((records, steps.next().is_some()))
        };
        records().map(Some).map_err(|err| repository.git_error("read the history", err))
    }

    /// Returns up to `limit` of the newest commits that changed the palace, newest first.
    pub fn recent_commits(&self, limit: usize) -> Result<Vec<CommitSummary>, Error> {
        let Some(repository) = self.repository()? else { return Ok(Vec::new()) };
        let Some(tip) = self.history_tip(&repository)? else { return Ok(Vec::new()) };
        repository.read_history("read the history", |past| find_recent_commits(past, tip, limit))
    }

    /// Returns true if `commit` is an ancestor of the newest commit.
    pub fn is_in_history(&self, commit: &CommitId) -> Result<bool, Error> {
        let Some(repository) = self.repository()? else { return Ok(false) };
        let Some(tip) = self.history_tip(&repository)? else { return Ok(false) };
        let id = commits::parse_commit_id(commit);
        Ok(id.is_ok_and(|it| HistoryReader::new(&repository).is_ancestor(it, tip)))
    }
}

fn walk_log(
    past: &HistoryReader<'_>,
    (tips, hidden): (Vec<ObjectId>, Vec<ObjectId>),
    mut paths: Vec<String>,
    each: &mut dyn FnMut(CommitDetails) -> bool,
) -> gix::Result<()> {
    let mut steps = past.walk_commits(tips, hidden)?;
    let (mut ids, mut size) = (ObjectIdsByCommit::new(), FIRST_BATCH);
    let is_followed = paths.len() == 1;
    let mut left_merges = MAX_EXAMINED_MERGES;
    loop {
        let batch: Vec<CommitNode> = steps.by_ref().take(size).collect::<gix::Result<_>>()?;
        if batch.is_empty() {
            return Ok(());
        }
        look_up_missing_object_ids(past, &batch, &paths, &mut ids)?;
        for (at, step) in batch.iter().enumerate() {
            let mut changed = changed_path(step, &ids);
            if changed.is_none() && left_merges > 0 && may_put_back(step, &ids) {
                left_merges -= 1;
                changed = path_put_back(past, step, &paths)?;
            }
            let Some(changed) = changed else { continue };
            let path = is_followed.then(|| paths[changed].clone());
            let details = past.read_commit_details(step)?;
            // A folder of notes contains other files, too.
            if paths.is_empty() && details.changed_files.is_empty() && !changes_palace(past, step)?
            {
                continue;
            }
            if !each(CommitDetails { path_at_commit: path.clone(), ..details }) {
                return Ok(());
            }
            let Some(path) = path else { continue };
            let older = paths_before_rename(past, step, &path)?;
            if !older.is_empty() {
                // In a merge the file has both paths in the commits before.
                paths.retain(|it| *it != path || step.parents.len() > 1);
                paths.extend(older);
                paths.dedup();
                ids = ObjectIdsByCommit::new();
                look_up_missing_object_ids(past, &batch[at + 1..], &paths, &mut ids)?;
            }
        }
        let done: HashSet<_> = batch.iter().map(|it| it.id).collect();
        ids.retain(|commit, _| !done.contains(commit));
        size = (size * 2).min(MAX_BATCH);
    }
}

/// Returns the position of the first path at which a commit's object differs from those of all its
/// parents.
fn changed_path(step: &CommitNode, ids: &ObjectIdsByCommit) -> Option<usize> {
    let here = ids.get(&step.id).map(Vec::as_slice).unwrap_or_default();
    let there = |parent, at: usize| ids.get(parent).and_then(|it| it.get(at)).copied().flatten();
    let mut paths = here.iter().enumerate();
    let found = match step.parents.as_slice() {
        [] => paths.find(|(_, now)| now.is_some()),
        parents => paths.find(|(at, now)| parents.iter().all(|it| there(it, *at) != **now)),
    };
    found.map(|(at, _)| at)
}

/// Returns whether a merge has the version of one parent only.
fn may_put_back(step: &CommitNode, ids: &ObjectIdsByCommit) -> bool {
    let [one, other] = step.parents[..] else { return false };
    ids.get(&one) != ids.get(&other)
}

/// Returns the position of the first path of which a merge took the older version of two.
fn path_put_back(
    past: &HistoryReader<'_>,
    step: &CommitNode,
    paths: &[String],
) -> gix::Result<Option<usize>> {
    let [one, other] = step.parents[..] else { return Ok(None) };
    let put_back = past.paths_put_back(step.id, [one, other])?;
    Ok(match paths {
        [] => (!put_back.is_empty()).then_some(0),
        paths => paths.iter().position(|it| put_back.contains(it)),
    })
}

/// Lists the paths that the file at `path` had in the parents of a commit that renamed it.
fn paths_before_rename(
    past: &HistoryReader<'_>,
    step: &CommitNode,
    path: &str,
) -> gix::Result<Vec<String>> {
    let older = step
        .parents
        .iter()
        .map(|parent| path_history::path_before_rename(past, step, *parent, path));
    let older = older.collect::<gix::Result<Vec<_>>>()?;
    Ok(older.into_iter().flatten().collect())
}

/// Looks up the objects of `steps` and their parents at `paths`, as far as they are missing in
/// `ids`.
fn look_up_missing_object_ids(
    past: &HistoryReader<'_>,
    steps: &[CommitNode],
    paths: &[String],
    ids: &mut ObjectIdsByCommit,
) -> gix::Result<()> {
    let mut seen = HashSet::new();
    let all = steps.iter().flat_map(|it| [&it.id].into_iter().chain(&it.parents));
    let missing: Vec<_> = all.filter(|it| !ids.contains_key(*it) && seen.insert(**it)).collect();
    let found = match missing.len() {
        ..COMMITS_PER_CHUNK => vec![look_up_object_ids(past, &missing, paths)?],
        // Each thread reuses the lookups of one commit for the next.
        _ => {
            let chunks = missing.par_chunks(COMMITS_PER_CHUNK);
            let look_up =
                |chunk| look_up_object_ids(&HistoryReader::new(past.repository), chunk, paths);
            chunks.map(look_up).collect::<gix::Result<_>>()?
        }
    };
    ids.extend(found.into_iter().flatten());
    Ok(())
}

fn look_up_object_ids(
    past: &HistoryReader<'_>,
    commits: &[&ObjectId],
    paths: &[String],
) -> gix::Result<ObjectIdsByCommit> {
    let mut lookups: Vec<_> = match paths {
        [] => PathLookup::for_palace(past),
        paths => paths.iter().map(|it| PathLookup::for_file(past, it)).collect(),
    };
    let found = commits.iter().map(|commit| {
        let root = past.root_tree(**commit)?;
        let ids = lookups.iter_mut().map(|it| it.find_in_tree(root)).collect::<gix::Result<_>>()?;
        Ok((**commit, ids))
    });
    found.collect()
}

fn find_recent_commits(
    past: &HistoryReader<'_>,
    tip: ObjectId,
    limit: usize,
) -> gix::Result<Vec<CommitSummary>> {
    let mut summaries = Vec::new();
    for step in past.walk_commits([tip], None)?.take(MAX_SCANNED_COMMITS) {
        if summaries.len() == limit {
            break;
        }
        let step = step?;
        if touches_palace(past, &step)? {
            summaries.push(past.read_commit_summary(step.id)?);
        }
    }
    Ok(summaries)
}

/// Returns whether a commit changed the palace, or a note outside it.
fn touches_palace(past: &HistoryReader<'_>, step: &CommitNode) -> gix::Result<bool> {
    if past.note_folders.outside_palace().next().is_none() {
        return changes_palace(past, step);
    }
    Ok(changes_palace(past, step)? || !past.paths_changed_by(step.id, &step.parents)?.is_empty())
}

/// Returns whether the palace in a commit differs from that in all of its parents.
fn changes_palace(past: &HistoryReader<'_>, step: &CommitNode) -> gix::Result<bool> {
    let here = past.palace_tree(step.id)?;
    for parent in &step.parents {
        if past.palace_tree(*parent)? == here {
            return Ok(false);
        }
    }
    Ok(!step.parents.is_empty() || here.is_some())
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use palazzo_core::model::Changeset;

    use super::*;
    use crate::Store;
    use crate::test_repository::{TestHome, change_of_files, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";

    /// Returns the ids of the logged commits, one per line, as git prints them.
    fn logged_commits(store: &Store, paths: &[&str]) -> String {
        let mut ids = String::new();
        store
            .log(paths, |it| {
                ids.push_str(&format!("{}\n", it.summary.id));
                true
            })
            .unwrap();
        ids
    }

    /// A history with a merge, a file that is deleted and created again, commits outside the
    /// palace, and enough commits that several threads process them.
    fn scene_with_long_history() -> TestHome {
        let scene = TestHome::with_repository();
        let mut script = String::new();
        let mut commit = |mark: usize, from: Option<usize>, merge: Option<usize>, file: String| {
            let at = 1_900_000_000 + mark;
            script.push_str(&format!(
                "commit refs/heads/long\nmark :{mark}\ncommitter Ada <a@b> {at} +0000\ndata 1\nx\n"
            ));
            let from =
                from.map_or("from refs/heads/main\n".to_owned(), |it| format!("from :{it}\n"));
            let merge = merge.map_or(String::new(), |it| format!("merge :{it}\n"));
            script.push_str(&(from + &merge + &file));
        };
        let put = |path: &str, text: usize| {
            format!("M 100644 inline {path}\ndata {}\n{text}\n\n", text.to_string().len() + 1)
        };
        for mark in 1..=1_000 {
            let file = match mark {
                mark if mark % 97 == 0 => put("keep/rooms/hall.yaml", mark),
                500 => "D keep/rooms/hall.yaml\n".to_owned(),
                mark if mark % 3 == 0 => put("notes.md", mark),
                mark => put(&format!("keep/rooms/w{}/r{}.yaml", mark % 7, mark % 11), mark),
            };
            match mark {
                1 => commit(mark, None, None, file),
                // Two branches from 200 on, merged again in 301.
                201 => commit(mark, Some(100), None, file),
                301 => commit(mark, Some(300), Some(200), file),
                _ => commit(mark, Some(mark - 1), None, file),
            }
        }
        scene.fast_import(&script);
        scene.git(&["checkout", "-q", "long"]);
        scene
    }

    #[test]
    fn the_log_lists_the_same_commits_as_git_in_the_same_order() {
        let scene = scene_with_long_history();
        let store = scene.palace("keep");
        // Git also lists merges in which only one side changed something.
        let merge = scene.git(&["rev-list", "--merges", "HEAD"]);
        for packed in [false, true] {
            for paths in [
                &["rooms/hall.yaml"][..],
                &[],
                &["rooms/w2/r3.yaml", "rooms/hall.yaml"],
                &["rooms/none.yaml"],
            ] {
                let tracked: Vec<_> = paths.iter().map(|it| format!("keep/{it}")).collect();
                let mut args = vec!["log", "--full-history", "--format=%H", "--"];
                args.extend(tracked.iter().map(String::as_str));
                if paths.is_empty() {
                    args.push("keep");
                }
                let (ours, gits) = (logged_commits(&store, paths), scene.git(&args));
                let differ = ours.replace(&merge, "") != gits.replace(&merge, "");
                assert!(!differ, "{paths:?}, packed: {packed}");
                assert_eq!(ours.contains(&merge), paths.is_empty());
            }
            scene.git(&["gc", "-q"]);
            scene.git(&["commit-graph", "write", "--reachable"]);
        }
    }

    #[test]
    fn a_log_record_has_author_subject_trailers_and_files() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let edits = [(HALL, None, Some("1\n")), ("rooms/attic.yaml", None, Some("1\n"))];
        commit_ok(&mut store, &change_of_files(&edits));
        let mut records = Vec::new();
        store
            .log(&[HALL], |it| {
                records.push(it);
                true
            })
            .unwrap();
        let [record] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!(record.changed_files, ["rooms/attic.yaml", HALL]);
        assert_eq!(record.trailer("palazzo-tool"), Some("build_room"));
        assert_eq!(record.trailer("Palazzo-Undoes"), None);
        assert_eq!(
            (record.summary.by.as_str(), record.summary.subject.as_str()),
            ("Claude Desktop", "room hall: build")
        );
        let parent = record.parent.as_ref().unwrap();
        assert_eq!(parent.0, scene.git(&["rev-parse", "HEAD~1"]).trim());
    }

    #[test]
    fn the_log_follows_renames_as_git_does() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let text = |first: &str| format!("{first}\n{}", "a line that stays\n".repeat(10));
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some(&text("1"))));
        commit_ok(&mut store, &change_of_one_file(HALL, Some(&text("1")), Some(&text("2"))));
        std::fs::create_dir(scene.home.join("keep/rooms/east")).unwrap();
        scene.git(&["mv", "keep/rooms/hall.yaml", "keep/rooms/east/hall.yaml"]);
        scene.write_file("keep/rooms/east/hall.yaml", &text("moved"));
        scene.write_file("keep/rooms/other.yaml", "other\n");
        scene.git(&["add", "keep"]);
        scene.git(&["commit", "-qam", "move"]);
        commit_ok(
            &mut store,
            &change_of_one_file("rooms/east/hall.yaml", Some(&text("moved")), Some(&text("3"))),
        );
        let follow = ["log", "--follow", "--format=%H", "--", "keep/rooms/east/hall.yaml"];
        let followed = scene.git(&follow);
        assert_eq!(followed.lines().count(), 4);
        assert_eq!(logged_commits(&store, &["rooms/east/hall.yaml"]), followed);
        let mut paths = Vec::new();
        let all = store.log(&["rooms/east/hall.yaml"], |it| {
            paths.extend(it.path_at_commit);
            true
        });
        all.unwrap();
        assert_eq!(paths, ["rooms/east/hall.yaml", "rooms/east/hall.yaml", HALL, HALL]);
        assert_eq!(logged_commits(&store, &["rooms/other.yaml"]).lines().count(), 1);
        assert_eq!(
            logged_commits(&store, &[HALL]).lines().count(),
            3,
            "the file was deleted once and existed twice"
        );
    }

    #[test]
    fn the_log_follows_both_paths_of_a_file_that_one_branch_renamed() {
        let scene = TestHome::with_merged_rename();
        let logged = logged_commits(&scene.palace("keep"), &["rooms/new.yaml"]);
        let commit = |it| scene.git(&["rev-parse", it]).trim().to_owned();
        for expected in ["HEAD", "HEAD^1", "side", "side~1"] {
            assert!(logged.contains(&commit(expected)), "{expected}: {logged}");
        }
        assert_eq!(logged.lines().count(), 4);
    }

    #[test]
    fn the_log_stops_when_the_callback_returns_false() {
        let scene = scene_with_long_history();
        let mut calls = 0;
        scene
            .palace("keep")
            .log(&[], |_| {
                calls += 1;
                calls < 3
            })
            .unwrap();
        assert_eq!(calls, 3);
    }

    fn format_commits_since(store: &Store, known: &CommitId, limit: usize) -> String {
        let Some((records, are_more)) = store.commits_since(known, limit).unwrap() else {
            return "?".to_owned();
        };
        let line = |it: CommitDetails| format!("{}: {}", it.summary.by, it.changed_files.join(" "));
        let lines: Vec<_> = records.into_iter().map(line).collect();
        lines.join("; ") + if are_more { "; …" } else { "" }
    }

    #[test]
    fn commits_since_a_commit_are_listed_with_author_and_files() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let begin = store.head().unwrap().unwrap();
        assert_eq!(format_commits_since(&store, &begin, 9), "");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let first = store.head().unwrap().unwrap();
        scene.git(&["commit", "-q", "--allow-empty", "-m", "elsewhere"]);
        scene.write_file("keep/scrolls/hall/one.md", "one\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "by hand"]);
        assert_eq!(format_commits_since(&store, &first, 9), "Ada: scrolls/hall/one.md");
        assert_eq!(
            format_commits_since(&store, &begin, 9),
            "Ada: scrolls/hall/one.md; Claude Desktop: rooms/hall.yaml"
        );
        assert_eq!(format_commits_since(&store, &begin, 2), "Ada: scrolls/hall/one.md; …");
    }

    #[test]
    fn merged_commits_are_listed_even_if_they_are_older() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        scene.git(&["switch", "-qc", "side"]);
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        scene.git(&["switch", "-q", "main"]);
        scene.write_file("notes.md", "more\n");
        scene.git(&["commit", "-qam", "main"]);
        let known = store.head().unwrap().unwrap();
        scene.git(&["merge", "-q", "--no-edit", "side"]);
        assert_eq!(format_commits_since(&store, &known, 9), "Claude Desktop: rooms/hall.yaml");
    }

    #[test]
    fn an_unknown_commit_returns_nothing() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let gone = CommitId("0123456789012345678901234567890123456789".to_owned());
        assert_eq!(format_commits_since(&store, &gone, 9), "?");
        assert_eq!(format_commits_since(&store, &CommitId("no commit".to_owned()), 9), "?");
    }

    #[test]
    fn recent_commits_are_those_of_the_palace_newest_first() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let minutes = |it: i64| DateTime::from_timestamp(1_900_000_000 + 60 * it, 0).unwrap();
        let mut commit_at_minute = |minute: i64, was: Option<&str>, now: Option<&str>| {
            let change = change_of_one_file(HALL, was, now);
            commit_ok(&mut store, &Changeset { at: minutes(minute), ..change });
        };
        commit_at_minute(1, None, Some("1\n"));
        scene.git(&["commit", "-q", "--allow-empty", "-m", "elsewhere"]);
        commit_at_minute(2, Some("1\n"), Some("2\n"));
        let commits = store.recent_commits(5).unwrap();
        let line = |it: &CommitSummary| format!("{} {}: {}", it.short, it.by, it.subject);
        let lines: Vec<_> = commits.iter().map(line).collect();
        let log = scene.git(&["log", "--format=%h %an: %s", "--", "keep"]);
        assert_eq!(lines, log.lines().collect::<Vec<_>>());
        assert_eq!(commits.iter().map(|it| it.at).collect::<Vec<_>>(), [minutes(2), minutes(1)]);
        assert_eq!(store.recent_commits(1).unwrap(), commits[..1]);
        assert_eq!(store.recent_commits(0).unwrap(), []);
    }
}
