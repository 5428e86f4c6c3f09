//! Compares a commit with the palace on disk or as of a later commit.
//!
//! A comparison with the disk does not read files that git's index shows to be unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, SystemTime};

use gix::ObjectId;
use gix::index::entry::Stage;

use palazzo_core::model::{CommitDetails, CommitId, FileContent, FileDiff};

use crate::history::commits;
use crate::history::commits::{HistoryReader, PalaceTrees};
use crate::history::past_files;
use crate::repo::index_file;
use crate::repo::line_endings;
use crate::repo::line_endings::convert_to_git;
use crate::repo::note_files;
use crate::repo::palace_files;
use crate::repo::tree_diff::{TreeChange, TreeEntry};
use crate::{Error, ReadResult, Store};

impl Store {
    /// Lists the files that differ between the commit `since` and the palace as this store reads
    /// it, sorted by path. `None` stands for an empty palace.
    ///
    /// Compares all tracked files, and on disk also the untracked files of the palace that git does
    /// not ignore.
    pub fn diff_since(&self, since: Option<&CommitId>) -> Result<Vec<FileDiff>, Error> {
        let Some(repository) = self.repository()? else { return Ok(Vec::new()) };
        let now = if self.reads_disk() { None } else { self.head()? };
        repository.read_history("compare the palace with a commit", |past| {
            let was = palace_trees(past, since)?;
            match &now {
                Some(commit) => diff_trees(past, &was, &palace_trees(past, Some(commit))?),
                None => WorkingCopy::new(past)?.diff_with_trees(&was),
            }
        })
    }

    /// Returns the contents of the files at `paths` as this store reads them, with the line endings
    /// that git would store.
    pub fn contents_with_git_line_endings(
        &self,
        paths: &[&str],
    ) -> Result<Vec<FileContent>, Error> {
        if !self.reads_disk() {
            return Ok(paths.iter().map(|it| read_content(self.read_file(it))).collect());
        }
        let repository = self.require_repository()?;
        repository.read_history("compare the palace with a commit", |past| {
            let disk = WorkingCopy::new(past)?;
            paths.iter().map(|path| disk.read_with_git_line_endings(path)).collect()
        })
    }

    /// Returns a text stored in git with the line endings that the file at `path` has on disk; those
    /// in git, if this store does not write to the disk.
    pub fn convert_to_disk_line_endings(&self, path: &str, text: &str) -> Result<String, Error> {
        if !self.reads_disk() {
            return Ok(text.to_owned());
        }
        let repository = self.require_repository()?;
        let (git, tracked) = (repository.git(), repository.path_in_repository(path));
        let checked_out = || {
            let index = index_file::load_or_rebuild_index(&git)?;
            line_endings::convert_to_disk(&git, &index, &tracked, text)
        };
        checked_out().map_err(|err| repository.git_error("find the line ends of a file", err))
    }

    /// Lists the files that a commit changed compared with its first parent.
    pub fn diff_of_commit(&self, record: &CommitDetails) -> Result<Vec<FileDiff>, Error> {
        let repository = self.require_repository()?;
        repository.read_history("compare two commits", |past| {
            let was = palace_trees(past, record.parent.as_ref())?;
            diff_trees(past, &was, &palace_trees(past, Some(&record.summary.id))?)
        })
    }

    /// Lists the paths inside the palace that differ between two commits.
    pub fn changed_paths_between(
        &self,
        old: Option<&CommitId>,
        new: Option<&CommitId>,
    ) -> Result<Vec<String>, Error> {
        let Some(repository) = self.repository()? else { return Ok(Vec::new()) };
        if old == new {
            return Ok(Vec::new());
        }
        repository.read_history("compare two commits", |past| paths_changed_between(past, old, new))
    }
}

fn paths_changed_between(
    past: &HistoryReader<'_>,
    old: Option<&CommitId>,
    new: Option<&CommitId>,
) -> gix::Result<Vec<String>> {
    let (old, new) = (
        old.map(commits::parse_commit_id).transpose()?,
        new.map(commits::parse_commit_id).transpose()?,
    );
    // If the old commit does not exist any more, everything may have changed.
    let old = old.filter(|it| past.git.has_object(it));
    let side = |id: Option<ObjectId>| {
        id.map_or_else(|| Ok(PalaceTrees::default()), |it| past.palace_trees(it))
    };
    Ok(past.paths_changed_between_trees(&side(old)?, &side(new)?)?.into_iter().collect())
}

/// Returns the outcome of reading a file as one side of a comparison.
fn read_content(read: ReadResult) -> FileContent {
    match read {
        Ok(Some(text)) => FileContent::Text(text),
        Ok(None) => FileContent::Missing,
        Err(finding) => FileContent::Unreadable(finding.message),
    }
}

/// Returns the palace's trees in a commit.
fn palace_trees(past: &HistoryReader<'_>, commit: Option<&CommitId>) -> gix::Result<PalaceTrees> {
    let commit = commit.map(commits::parse_commit_id).transpose()?;
    Ok(commit.map(|it| past.palace_trees(it)).transpose()?.unwrap_or_default())
}

/// Compares two versions of the palace.
fn diff_trees(
    past: &HistoryReader<'_>,
    was: &PalaceTrees,
    now: &PalaceTrees,
) -> gix::Result<Vec<FileDiff>> {
    let mut changes = past.compare_palace_trees(was, now)?;
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    let differing = changes.into_iter().map(|TreeChange { path, was, now, .. }| {
        let side = |entry| read_entry_content(past, &path, entry);
        let (was, now) = (side(was)?, side(now)?);
        Ok(FileDiff { path, was, now })
    });
    differing.collect()
}

fn read_entry_content(
    past: &HistoryReader<'_>,
    path: &str,
    entry: Option<TreeEntry>,
) -> gix::Result<FileContent> {
    let Some(TreeEntry { mode, id }) = entry else { return Ok(FileContent::Missing) };
    Ok(match past_files::read_text_blob(past, path, mode, id)? {
        Ok(text) => FileContent::Text(text),
        Err(finding) => FileContent::Unreadable(finding.message),
    })
}

/// The palace on disk, with git's index.
pub(crate) struct WorkingCopy<'p> {
    history: &'p HistoryReader<'p>,
    index: gix::index::File,
    /// When the index was written; it cannot show that a file modified since then is unchanged.
    index_time: Option<Duration>,
}

impl<'p> WorkingCopy<'p> {
    pub(crate) fn new(past: &'p HistoryReader<'p>) -> gix::Result<Self> {
        let index = index_file::load_or_rebuild_index(&past.git)?;
        let written = fs::metadata(past.git.index_path()).and_then(|it| it.modified()).ok();
        let index_time = written.and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok());
        Ok(Self { history: past, index, index_time })
    }

    /// Compares the palace on disk with a version of the palace.
    fn diff_with_trees(&self, trees: &PalaceTrees) -> gix::Result<Vec<FileDiff>> {
        let was = self.history.compare_palace_trees(&PalaceTrees::default(), trees)?;
        let was: BTreeMap<_, _> =
            was.into_iter().filter_map(|it| Some((it.path, it.now?))).collect();
        let mut paths: BTreeSet<String> = was.keys().cloned().collect();
        let repository = self.history.repository;
        let mut here = palace_files::list_paths(&repository.palace);
        let notes = note_files::list_notes(&repository.work, &self.history.note_folders, "");
        here.extend(notes.stamps.into_keys());
        let new = here.into_iter().filter(|it| !was.contains_key(it)).collect();
        paths.extend(self.without_ignored(new)?);
        let mut differing = Vec::new();
        for path in paths {
            let old = was.get(&path).copied();
            // Links and submodules are not palace files.
            let is_file = old.is_none_or(|it| it.mode.is_blob());
            if !is_file || self.is_unchanged_per_index(&path, old)? {
                continue;
            }
            let (was, now) = (
                read_entry_content(self.history, &path, old)?,
                self.read_with_git_line_endings(&path)?,
            );
            if was != now {
                differing.push(FileDiff { path, was, now });
            }
        }
        Ok(differing)
    }

    /// Returns true if the index shows that the file is unchanged.
    pub(crate) fn is_unchanged_per_index(
        &self,
        path: &str,
        old: Option<TreeEntry>,
    ) -> gix::Result<bool> {
        let tracked = self.history.repository.path_in_repository(path);
        let entry =
            self.index.entry_by_path_and_stage(tracked.as_str().into(), Stage::Unconflicted);
        let (Some(entry), Some(old)) = (entry, old) else { return Ok(false) };
        let Some(stat) = index_file::stat_file(&self.history.repository.work.join(&tracked)) else {
            return Ok(index_file::is_outside_sparse_checkout(&self.index, &tracked));
        };
        let written = Duration::new(stat.mtime.secs.into(), stat.mtime.nsecs);
        let options = self.history.git.stat_options()?;
        let is_trusted = self.index_time.is_some_and(|it| written < it);
        Ok(is_trusted && entry.id == old.id && entry.stat.matches(&stat, options))
    }

    /// Reads a file with the line endings that git would store.
    pub(crate) fn read_with_git_line_endings(&self, path: &str) -> gix::Result<FileContent> {
        let text = match read_content(self.history.repository.read_file(path)) {
            FileContent::Text(text) => text,
            other => return Ok(other),
        };
        let text = convert_to_git(
            &self.history.git,
            &self.index,
            &self.history.repository.path_in_repository(path),
            &text,
        )?;
        Ok(FileContent::Text(String::from_utf8_lossy(&text).into_owned()))
    }

    /// Removes untracked paths that git ignores.
    pub(crate) fn without_ignored(&self, mut paths: Vec<String>) -> gix::Result<Vec<String>> {
        let source = gix::worktree::stack::state::ignore::Source::WorktreeThenIdMappingIfNotSkipped;
        let mut excludes = self.history.git.excludes(&self.index, None, source)?;
        let mut ignored = BTreeSet::new();
        for path in &paths {
            let tracked = self.history.repository.path_in_repository(path);
            let is_tracked = self.index.entry_range(tracked.as_str().into()).is_some();
            let mode = Some(gix::index::entry::Mode::FILE);
            if !is_tracked && excludes.at_path(tracked.as_str(), mode)?.is_excluded() {
                ignored.insert(path.clone());
            }
        }
        paths.retain(|it| !ignored.contains(it));
        Ok(paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";

    fn format_diff(differing: &[FileDiff]) -> String {
        let side = |it: &FileContent| match it {
            FileContent::Missing => "-".to_owned(),
            FileContent::Text(text) => text.trim().to_owned(),
            FileContent::Unreadable(why) => format!("({why})"),
        };
        let line = |it: &FileDiff| format!("{}: {} → {}\n", it.path, side(&it.was), side(&it.now));
        differing.iter().map(line).collect()
    }

    fn diff_with_head(store: &Store) -> String {
        format_diff(&store.diff_since(store.head().unwrap().as_ref()).unwrap())
    }

    #[test]
    fn the_diff_of_two_commits_lists_every_changed_palace_file() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let first = store.head().unwrap();
        scene.write_file("keep/rooms/hall.yaml", "2\n");
        scene.write_file("keep/README.md", "read me\n");
        scene.write_file("notes.md", "not the palace's\n");
        std::fs::write(scene.home.join("keep/rooms/latin.yaml"), b"tw\xf6\n").unwrap();
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "more"]);
        scene.git(&["rm", "-q", "keep/rooms/hall.yaml"]);
        scene.git(&["commit", "-qm", "less"]);
        let store = scene.palace("keep");
        let second = store.as_of(&commit_id(&scene, "HEAD~1")).unwrap();
        assert_eq!(
            format_diff(&second.diff_since(first.as_ref()).unwrap()),
            "README.md: - → read me\nrooms/hall.yaml: 1 → 2\n\
             rooms/latin.yaml: - → (line 1 is not UTF-8)\n"
        );
        let now = store.as_of(&commit_id(&scene, "HEAD")).unwrap();
        assert_eq!(
            format_diff(&now.diff_since(second.head().unwrap().as_ref()).unwrap()),
            "rooms/hall.yaml: 2 → -\n"
        );
        assert_eq!(format_diff(&second.diff_since(None).unwrap()).lines().count(), 3);
    }

    fn commit_id(scene: &TestHome, revision: &str) -> CommitId {
        CommitId(scene.git(&["rev-parse", revision]).trim().to_owned())
    }

    #[test]
    fn changed_paths_between_commits_are_limited_to_the_palace() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let begin = store.head().unwrap();
        let first = commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        scene.write_file("notes.md", "more\n");
        scene.write_file("keep/scrolls/hall/one.md", "one\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "by hand"]);
        let second = store.head().unwrap();
        let between = |old: &Option<CommitId>, new: &Option<CommitId>| {
            store.changed_paths_between(old.as_ref(), new.as_ref()).unwrap().join(" ")
        };
        assert_eq!(between(&begin, &first), HALL);
        assert_eq!(between(&first, &second), "scrolls/hall/one.md");
        assert_eq!(between(&None, &second), "rooms/hall.yaml scrolls/hall/one.md");
        assert_eq!(between(&second, &begin), "rooms/hall.yaml scrolls/hall/one.md");
        assert_eq!(between(&second, &second), "");
        let missing = CommitId("0123456789012345678901234567890123456789".to_owned());
        assert!(store.changed_paths_between(second.as_ref(), Some(&missing)).is_err());
        let missing = Some(missing);
        assert_eq!(between(&missing, &second), "rooms/hall.yaml scrolls/hall/one.md");
    }

    #[test]
    fn uncommitted_edits_differ_from_the_last_commit() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        for path in [HALL, "rooms/gone.yaml", "rooms/staged.yaml", "rooms/same.yaml"] {
            commit_ok(&mut store, &change_of_one_file(path, None, Some("1\n")));
        }
        scene.write_file("keep/README.md", "1\n");
        scene.write_file(".gitignore", "*.secret.yaml\nkeep/diary\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "more"]);
        assert_eq!(diff_with_head(&store), "");
        scene.write_file("keep/rooms/hall.yaml", "2\n");
        scene.write_file("keep/rooms/new.yaml", "new\n");
        scene.write_file("keep/rooms/new.secret.yaml", "ignored\n");
        scene.write_file("keep/diary/me/1.md", "ignored\n");
        scene.write_file("keep/untracked.txt", "no file of the palace\n");
        scene.write_file("keep/README.md", "2\n");
        scene.write_file("keep/rooms/staged.yaml", "2\n");
        scene.git(&["add", "keep/rooms/staged.yaml"]);
        std::fs::remove_file(scene.home.join("keep/rooms/gone.yaml")).unwrap();
        assert_eq!(
            diff_with_head(&store),
            "README.md: 1 → 2\nrooms/gone.yaml: 1 → -\nrooms/hall.yaml: 1 → 2\n\
             rooms/new.yaml: - → new\nrooms/staged.yaml: 1 → 2\n"
        );
        // Restored files are unchanged, whatever the index contains.
        for (path, text) in [
            ("README.md", "1\n"),
            ("rooms/hall.yaml", "1\n"),
            ("rooms/gone.yaml", "1\n"),
            ("rooms/staged.yaml", "1\n"),
        ] {
            scene.write_file(&format!("keep/{path}"), text);
        }
        assert_eq!(diff_with_head(&store), "rooms/new.yaml: - → new\n");
    }

    #[test]
    fn an_edit_of_the_same_size_in_the_same_clock_tick_is_seen() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        for it in 0..20 {
            let (was, now) = (format!("{it:03}\n"), format!("{:03}\n", it + 1));
            commit_ok(
                &mut store,
                &change_of_one_file(HALL, (it > 0).then_some(was.as_str()), Some(&now)),
            );
            scene.write_file("keep/rooms/hall.yaml", "abc\n");
            assert_eq!(diff_with_head(&store), format!("rooms/hall.yaml: {} → abc\n", now.trim()));
            scene.write_file("keep/rooms/hall.yaml", &now);
        }
    }

    #[test]
    fn converted_line_endings_are_not_a_difference() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("a\nb\n")));
        scene.git(&["config", "core.autocrlf", "true"]);
        scene.write_file("keep/rooms/hall.yaml", "a\r\nb\r\n");
        assert_eq!(diff_with_head(&scene.palace("keep")), "");
        scene.write_file("keep/rooms/hall.yaml", "a\r\nc\r\n");
        assert_eq!(diff_with_head(&scene.palace("keep")), "rooms/hall.yaml: a\nb → a\nc\n");
        scene.git(&["config", "core.autocrlf", "false"]);
        scene.write_file("keep/rooms/hall.yaml", "a\r\nb\r\n");
        assert_eq!(diff_with_head(&scene.palace("keep")), "rooms/hall.yaml: a\nb → a\r\nb\n");
    }

    #[test]
    fn before_the_first_commit_everything_is_new() {
        let scene = TestHome::new();
        scene.init_repository();
        scene.write_file("keep/palace.toml", "name = \"Keep\"\n");
        assert_eq!(diff_with_head(&scene.palace("keep")), "palace.toml: - → name = \"Keep\"\n");
        assert_eq!(diff_with_head(&TestHome::new().palace("keep")), "");
    }
}
